//! Signed bytes, a key and candidate signatures in; whether any fits out. Every candidate is looked at, none ends
//! the work early, and every comparison is the MAC's own or `subtle`'s.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    HmacSha256,
    HmacSha1,
    Ed25519,
    /// The secret itself.
    Token,
}

impl Algorithm {
    pub(crate) const NAMES: [&'static str; 4] = ["hmac-sha256", "hmac-sha1", "ed25519", "token"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "hmac-sha256" => Some(Self::HmacSha256),
            "hmac-sha1" => Some(Self::HmacSha1),
            "ed25519" => Some(Self::Ed25519),
            "token" => Some(Self::Token),
            _ => None,
        }
    }

    /// The length of a signature; `None` where it is as long as the secret.
    pub(crate) fn signature_bytes(self) -> Option<usize> {
        match self {
            Self::HmacSha256 => Some(32),
            Self::HmacSha1 => Some(20),
            Self::Ed25519 => Some(64),
            Self::Token => None,
        }
    }
}

/// A decoded key. Wiped when dropped.
#[derive(Clone)]
pub(crate) enum Key {
    Shared(Zeroizing<Vec<u8>>),
    Public(VerifyingKey),
    Private(SigningKey),
}

impl Key {
    /// Whether a signature of this algorithm can be verified with this key.
    pub(crate) fn fits(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::Shared(_) => algorithm != Algorithm::Ed25519,
            Self::Public(_) | Self::Private(_) => algorithm == Algorithm::Ed25519,
        }
    }

    /// Whether this key verifies and cannot sign.
    pub(crate) fn is_public(&self) -> bool {
        matches!(self, Self::Public(_))
    }

    /// Whether any of the candidates is this key's signature over the parts. One pass over the parts for a MAC,
    /// one for each Ed25519 candidate (the hash begins with the signature).
    pub(crate) fn matches(
        &self,
        algorithm: Algorithm,
        parts: &[&[u8]],
        candidates: &[&[u8]],
    ) -> bool {
        match (self, algorithm) {
            (Self::Shared(key), Algorithm::HmacSha256) => {
                mac_matches(mac::<Hmac<Sha256>>(key, parts), candidates)
            }
            (Self::Shared(key), Algorithm::HmacSha1) => {
                mac_matches(mac::<Hmac<Sha1>>(key, parts), candidates)
            }
            (Self::Shared(key), Algorithm::Token) => {
                any(candidates, |token| same_token(key, token))
            }
            (Self::Public(key), Algorithm::Ed25519) => {
                any(candidates, |sig| ed25519_matches(key, parts, sig))
            }
            (Self::Private(key), Algorithm::Ed25519) => any(candidates, |sig| {
                ed25519_matches(&key.verifying_key(), parts, sig)
            }),
            _ => false,
        }
    }

    /// This key's signature over the parts; `None` where the key cannot make one.
    pub(crate) fn sign(&self, algorithm: Algorithm, parts: &[&[u8]]) -> Option<Vec<u8>> {
        match (self, algorithm) {
            (Self::Shared(key), Algorithm::HmacSha256) => {
                mac::<Hmac<Sha256>>(key, parts).map(|mac| mac.finalize().into_bytes().to_vec())
            }
            (Self::Shared(key), Algorithm::HmacSha1) => {
                mac::<Hmac<Sha1>>(key, parts).map(|mac| mac.finalize().into_bytes().to_vec())
            }
            (Self::Shared(key), Algorithm::Token) => Some(key.to_vec()),
            // Signing reads the bytes twice, so they are put together here; verifying does not.
            (Self::Private(key), Algorithm::Ed25519) => {
                Some(key.sign(&parts.concat()).to_bytes().to_vec())
            }
            _ => None,
        }
    }
}

/// Or over all candidates, without ending at the first that fits.
fn any(candidates: &[&[u8]], fits: impl Fn(&[u8]) -> bool) -> bool {
    candidates
        .iter()
        .fold(false, |found, candidate| found | fits(candidate))
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Option<M> {
    // HMAC takes keys of any length, so this is never `None`; were it, nothing would match.
    let mut mac = <M as KeyInit>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    Some(mac)
}

fn mac_matches<M: Mac + Clone>(mac: Option<M>, candidates: &[&[u8]]) -> bool {
    mac.is_some_and(|mac| any(candidates, |tag| mac.clone().verify_slice(tag).is_ok()))
}

/// Compares digests, so that neither content nor length of the secret shows in the time taken.
fn same_token(secret: &[u8], token: &[u8]) -> bool {
    Sha256::digest(secret).ct_eq(&Sha256::digest(token)).into()
}

/// Verifies in pieces, so that the body is not copied. Keys of small order are refused where a secret is read,
/// which is what makes this as strict as it needs to be: the signer is fixed by the operator, not by the message.
fn ed25519_matches(key: &VerifyingKey, parts: &[&[u8]], signature: &[u8]) -> bool {
    let Ok(signature) = Signature::from_slice(signature) else {
        return false;
    };
    let Ok(mut verifier) = key.verify_stream(&signature) else {
        return false;
    };
    parts.iter().for_each(|part| verifier.update(part));
    verifier.finalize_and_verify().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(key: &[u8]) -> Key {
        Key::Shared(Zeroizing::new(key.to_vec()))
    }

    fn hex(text: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap()
    }

    #[test]
    fn hmac_agrees_with_the_published_vectors_however_the_bytes_are_cut() {
        // RFC 4231, test case 2; RFC 2202, section 3, test case 2.
        let tag256 = hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let tag1 = hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        for parts in [
            &[&b"what do ya want for nothing?"[..]][..],
            &[b"what do ya", b"", b" want for nothing?"],
        ] {
            assert!(shared(b"Jefe").matches(Algorithm::HmacSha256, parts, &[&tag256]));
            assert!(shared(b"Jefe").matches(Algorithm::HmacSha1, parts, &[&[0; 20], &tag1]));
            assert!(!shared(b"jefe").matches(Algorithm::HmacSha256, parts, &[&tag256]));
        }
    }

    #[test]
    fn ed25519_agrees_with_the_published_vector() {
        // RFC 8032, section 7.1, test 2.
        let seed: [u8; 32] =
            hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
                .try_into()
                .unwrap();
        let signature = hex(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        );
        let private = Key::Private(SigningKey::from_bytes(&seed));
        let public = Key::Public(SigningKey::from_bytes(&seed).verifying_key());
        assert_eq!(
            private.sign(Algorithm::Ed25519, &[b"r"]),
            Some(signature.clone())
        );
        assert_eq!(public.sign(Algorithm::Ed25519, &[b"r"]), None);
        for key in [&private, &public] {
            assert!(key.matches(Algorithm::Ed25519, &[b"", b"r"], &[&signature]));
            assert!(!key.matches(Algorithm::Ed25519, &[b"s"], &[&signature]));
            assert!(!key.matches(Algorithm::Ed25519, &[b"r"], &[&signature[..63]]));
            assert!(!key.matches(Algorithm::HmacSha256, &[b"r"], &[&signature]));
        }
    }

    #[test]
    fn a_shorter_or_longer_tag_or_token_never_fits() {
        let tag = shared(b"k").sign(Algorithm::HmacSha256, &[b"m"]).unwrap();
        for cut in [0, 1, 16, 31] {
            assert!(!shared(b"k").matches(Algorithm::HmacSha256, &[b"m"], &[&tag[..cut]]));
        }
        assert!(shared(b"token").matches(Algorithm::Token, &[], &[b"token"]));
        for other in [&b""[..], b"toke", b"token ", b"Token"] {
            assert!(!shared(b"token").matches(Algorithm::Token, &[], &[other]));
        }
    }
}
