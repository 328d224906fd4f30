//! What a second sight of an action is compared by, and what an acceptance can be. A decision, no I/O.

use sha2::{Digest, Sha256};

use crate::action::ActionKey;
use crate::time::Timestamp;

/// A SHA-256 digest.
pub type Hash = [u8; 32];

/// What must not differ between two sights of one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// SHA-256 over the length-prefixed values that must agree.
    pub hash: Hash,
    /// Which values those are: the first 8 bytes of the hash of the recipe's text. Two fingerprints
    /// with other recipes say nothing about each other.
    pub recipe: [u8; 8],
    /// SHA-256 of the raw bytes (of the body, or of the batch's element). Comparable always.
    pub digest: Hash,
}

impl Fingerprint {
    /// That of what is of our own making: it agrees with itself alone.
    pub(crate) fn of_our_own(what: &str, key: &ActionKey) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(format!("ackbox {what} 1"));
        hasher.update(key.as_str());
        let hash: Hash = hasher.finalize().into();
        Self {
            hash,
            recipe: Self::recipe_of([what]),
            digest: hash,
        }
    }

    /// The identity of a recipe: of its parts, in order.
    pub fn recipe_of<'a>(parts: impl IntoIterator<Item = &'a str>) -> [u8; 8] {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let full: Hash = hasher.finalize().into();
        let mut short = [0; 8];
        short.copy_from_slice(&full[..8]);
        short
    }

    /// The first 16 hex characters of the hash: how a fingerprint is shown and named in keys' company.
    pub fn short(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.hash[..8])
    }
}

/// What comparing two sights of one action says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The same fact again.
    Same,
    /// The same key with other content.
    Different,
    /// The recipe changed in between and the raw bytes differ, so nothing can be said.
    Uncompared,
}

/// Compares what the table holds with what has just come in.
///
/// Another recipe (an edited rule) is never compared blindly: equal raw bytes are the same fact
/// under any recipe, and where those differ too, the honest answer is [`Comparison::Uncompared`].
pub fn compare(stored: &Fingerprint, seen: &Fingerprint) -> Comparison {
    if stored.digest == seen.digest {
        return Comparison::Same;
    }
    match (stored.recipe == seen.recipe, stored.hash == seen.hash) {
        (true, true) => Comparison::Same,
        (true, false) => Comparison::Different,
        (false, _) => Comparison::Uncompared,
    }
}

/// What became of one action that was offered to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Accepted now; its delivery is promised.
    Accepted,
    /// Accepted before, with the same content. Nothing was written, unless `uncompared`.
    Duplicate {
        /// When it was first accepted.
        accepted_at: Timestamp,
        /// The rule's fingerprint recipe changed since, and the raw bytes differ: it is taken for a
        /// duplicate, and the other content is on the record beside it.
        uncompared: bool,
    },
    /// Accepted before with other content. The original is untouched; the conflict is on the record.
    Conflict {
        /// When the original was accepted.
        accepted_at: Timestamp,
    },
}

impl Acceptance {
    /// The word in answers and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Duplicate { .. } => "duplicate",
            Self::Conflict { .. } => "conflict",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(hash: u8, recipe: u8, digest: u8) -> Fingerprint {
        Fingerprint {
            hash: [hash; 32],
            recipe: [recipe; 8],
            digest: [digest; 32],
        }
    }

    #[test]
    fn one_recipe_compares_by_its_values() {
        assert_eq!(compare(&print(1, 0, 1), &print(1, 0, 2)), Comparison::Same);
        assert_eq!(
            compare(&print(1, 0, 1), &print(2, 0, 2)),
            Comparison::Different
        );
    }

    #[test]
    fn an_edited_recipe_is_never_compared_blindly() {
        assert_eq!(compare(&print(1, 0, 1), &print(9, 1, 1)), Comparison::Same);
        assert_eq!(
            compare(&print(1, 0, 1), &print(1, 1, 2)),
            Comparison::Uncompared
        );
    }

    #[test]
    fn recipes_differ_where_their_parts_are_cut_otherwise() {
        assert_ne!(
            Fingerprint::recipe_of(["/a", "/b"]),
            Fingerprint::recipe_of(["/a/b"])
        );
        assert_ne!(
            Fingerprint::recipe_of(["/a", "/b"]),
            Fingerprint::recipe_of(["/b", "/a"])
        );
    }
}
