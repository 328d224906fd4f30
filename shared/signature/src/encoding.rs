//! Text to bytes and back, as senders write signatures and secrets. Takes what is unambiguous, refuses the rest.

use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL_NOPAD, Encoding as Alphabet, HEXLOWER_PERMISSIVE,
};

/// How bytes are written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The bytes themselves.
    Text,
    /// Hexadecimal, either case.
    Hex,
    /// RFC 4648, section 4. Padding is right or absent.
    Base64,
    /// RFC 4648, section 5. Padding is right or absent.
    Base64Url,
}

impl Encoding {
    pub(crate) const NAMES: [&'static str; 4] = ["text", "hex", "base64", "base64url"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "hex" => Some(Self::Hex),
            "base64" => Some(Self::Base64),
            "base64url" => Some(Self::Base64Url),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Hex => "hex",
            Self::Base64 => "base64",
            Self::Base64Url => "base64url",
        }
    }

    /// The bytes that this text stands for. Base64 whose last character carries stray bits is refused: else
    /// several texts would stand for one signature.
    pub(crate) fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Text => Some(text.to_vec()),
            Self::Hex => HEXLOWER_PERMISSIVE.decode(text).ok(),
            Self::Base64 => unpadded(&BASE64_NOPAD, text),
            Self::Base64Url => unpadded(&BASE64URL_NOPAD, text),
        }
    }

    /// The text that senders write for these bytes. `Text` is for tokens only, which are UTF-8 by construction.
    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Text => String::from_utf8_lossy(bytes).into_owned(),
            Self::Hex => HEXLOWER_PERMISSIVE.encode(bytes),
            Self::Base64 => BASE64.encode(bytes),
            Self::Base64Url => BASE64URL_NOPAD.encode(bytes),
        }
    }
}

fn unpadded(alphabet: &Alphabet, text: &[u8]) -> Option<Vec<u8>> {
    let bare = text
        .strip_suffix(b"=")
        .map_or(text, |t| t.strip_suffix(b"=").unwrap_or(t));
    if bare.len() != text.len() && !text.len().is_multiple_of(4) {
        return None;
    }
    alphabet.decode(bare).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_in_either_case_and_only_in_pairs() {
        assert_eq!(Encoding::Hex.decode(b"00fF"), Some(vec![0, 255]));
        assert_eq!(Encoding::Hex.decode(b"00f"), None);
        assert_eq!(Encoding::Hex.decode(b"0x"), None);
    }

    #[test]
    fn base64_padding_is_right_or_absent() {
        for good in [&b"TQ=="[..], b"TQ"] {
            assert_eq!(Encoding::Base64.decode(good), Some(b"M".to_vec()));
        }
        for bad in [&b"TQ="[..], b"TQ===", b"TR==", b"T", b"=", b"TWF=u"] {
            assert_eq!(Encoding::Base64.decode(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_two_base64_alphabets_are_not_mixed() {
        assert_eq!(Encoding::Base64.decode(b"-_-_"), None);
        assert_eq!(Encoding::Base64Url.decode(b"+/+/"), None);
        assert_eq!(
            Encoding::Base64Url.decode(b"-_-_"),
            Encoding::Base64.decode(b"+/+/")
        );
    }
}
