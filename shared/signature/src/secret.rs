//! A secret as the operator pasted it in, a key ready for use out. Its value is never shown, and wiped when dropped.

use std::fmt;

use ed25519_dalek::{SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use crate::algorithm::{Algorithm, Key};
use crate::encoding::Encoding;

/// A decoded secret with the reference under which it is known. Made by [`Scheme::secret`](crate::Scheme::secret).
#[derive(Clone)]
pub struct Secret {
    label: String,
    key: Key,
    warning: Option<String>,
}

impl Secret {
    /// The reference under which the secret is known. Not secret.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What is doubtful about the secret, though it can be used: too short to resist guessing, white space at an
    /// end. Never shows the value.
    pub fn warning(&self) -> Option<String> {
        self.warning.clone()
    }

    /// The public half of an Ed25519 key, of a private one as of a public one: what whoever verifies needs. `None`
    /// for a shared key, which has none.
    pub fn public_key(&self) -> Option<[u8; 32]> {
        match &self.key {
            Key::Shared(_) => None,
            Key::Public(key) => Some(key.to_bytes()),
            Key::Private(key) => Some(key.verifying_key().to_bytes()),
        }
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// What a form's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Shared,
    Public,
    Private,
}

impl KeyKind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "shared" => Some(Self::Shared),
            "ed25519-public" => Some(Self::Public),
            "ed25519-private" => Some(Self::Private),
            _ => None,
        }
    }

    /// Whether keys of this kind belong to this algorithm.
    pub(crate) fn fits(self, algorithm: Algorithm) -> bool {
        (self == Self::Shared) == (algorithm != Algorithm::Ed25519)
    }
}

/// One form that a secret may have.
#[derive(Clone, Debug)]
pub(crate) struct SecretForm {
    pub(crate) prefix: Option<String>,
    pub(crate) prefix_optional: bool,
    pub(crate) decode: Encoding,
    pub(crate) kind: KeyKind,
    pub(crate) min_bytes: usize,
    pub(crate) max_bytes: Option<usize>,
}

impl SecretForm {
    /// The text behind the prefix, if this form may be the one.
    fn strip<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Some(prefix) = &self.prefix else {
            return Some(text);
        };
        text.strip_prefix(prefix.as_str())
            .or(self.prefix_optional.then_some(text))
    }

    pub(crate) fn takes_everything(&self) -> bool {
        self.prefix.is_none() || self.prefix_optional
    }

    /// The form in words.
    pub(crate) fn describe(&self) -> String {
        let prefix = match (&self.prefix, self.prefix_optional) {
            (None, _) => String::new(),
            (Some(prefix), false) => format!("`{prefix}` and then "),
            (Some(prefix), true) => format!("`{prefix}` (may be left out) and then "),
        };
        let content = match (self.decode, self.kind) {
            (Encoding::Text, _) => "the text as the sender shows it, whole".to_owned(),
            (encoding, KeyKind::Shared) => format!("{} of the key", encoding.name()),
            (encoding, KeyKind::Public) => {
                format!("{} of a 32-byte Ed25519 public key", encoding.name())
            }
            (encoding, KeyKind::Private) => {
                format!(
                    "{} of an Ed25519 private key (32-byte seed, or 64 bytes with the public half)",
                    encoding.name()
                )
            }
        };
        prefix + &content
    }

    fn key(&self, bytes: Zeroizing<Vec<u8>>) -> Result<Key, String> {
        match self.kind {
            KeyKind::Shared => Ok(Key::Shared(bytes)),
            KeyKind::Public => public(&bytes).map(Key::Public),
            KeyKind::Private => private(&bytes).map(Key::Private),
        }
    }

    fn warning(&self, text: &str, bytes: usize) -> Option<String> {
        if self.kind != KeyKind::Shared {
            return None;
        }
        if self.decode == Encoding::Text && text.trim() != text {
            return Some(
                "begins or ends with white space, which is part of the key: a pasted line end?"
                    .into(),
            );
        }
        if bytes < self.min_bytes {
            return Some(format!(
                "has a key of {bytes} bytes, too short to resist guessing: use at least {}",
                self.min_bytes
            ));
        }
        let max = self.max_bytes.filter(|max| bytes > *max)?;
        Some(format!(
            "has a key of {bytes} bytes, more than the {max} that senders of this scheme make"
        ))
    }
}

/// Every form in words, for messages.
pub(crate) fn describe_all<'f>(forms: impl IntoIterator<Item = &'f SecretForm>) -> String {
    let all: Vec<String> = forms.into_iter().map(SecretForm::describe).collect();
    all.join("; or ")
}

/// Reads a secret by the first form that may be the one. The error is the problem in words, without the value.
pub(crate) fn read(forms: &[SecretForm], label: &str, text: &str) -> Result<Secret, String> {
    if text.is_empty() {
        return Err("is empty".into());
    }
    let (form, rest) = forms
        .iter()
        .find_map(|form| form.strip(text).map(|rest| (form, rest)))
        .ok_or("has none of the known prefixes")?;
    let bytes = form
        .decode
        .decode(rest.as_bytes())
        .map(Zeroizing::new)
        .ok_or_else(|| {
            let space = rest.bytes().any(|byte| byte.is_ascii_whitespace());
            let hint = if space {
                " (it holds white space: a pasted line end?)"
            } else {
                ""
            };
            format!("is not {}{hint}", form.decode.name())
        })?;
    if bytes.is_empty() {
        return Err("is empty behind its prefix".into());
    }
    let warning = form.warning(text, bytes.len());
    Ok(Secret {
        label: label.to_owned(),
        key: form.key(bytes)?,
        warning,
    })
}

fn public(bytes: &[u8]) -> Result<VerifyingKey, String> {
    let bytes: &[u8; 32] = bytes.try_into().map_err(|_| {
        format!(
            "decodes to {} bytes, not the 32 of a public key",
            bytes.len()
        )
    })?;
    let key = VerifyingKey::from_bytes(bytes)
        .map_err(|_| "is not a point of the Ed25519 curve".to_owned())?;
    if key.is_weak() {
        // Anyone can make signatures that fit a key of small order.
        return Err("is a weak Ed25519 key (of small order)".into());
    }
    Ok(key)
}

fn private(bytes: &[u8]) -> Result<SigningKey, String> {
    if let Ok(seed) = bytes.try_into() {
        return Ok(SigningKey::from_bytes(seed));
    }
    let pair: &[u8; 64] = bytes.try_into().map_err(|_| {
        format!(
            "decodes to {} bytes, not the 32 or 64 of a private key",
            bytes.len()
        )
    })?;
    SigningKey::from_keypair_bytes(pair)
        .map_err(|_| "has a public half that does not belong to its seed".into())
}
