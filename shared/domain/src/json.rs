//! Finds values in raw JSON text by walking it: in comes the text and a pointer, out comes the one value.
//!
//! No tree is built. Only what stands on the way to the value is read, so the depth, the surrogates
//! and the encoding of everything else in a body cannot make a message unusable. A name that stands
//! twice in an object on the way is an error: two readers could see two different values.

mod object;

pub use object::Object;

use std::fmt;
use std::str::FromStr;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

/// A JSON pointer (RFC 6901) of at most [`Pointer::MAX_TOKENS`] tokens; the empty text is the whole document.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

/// A text that is not a usable JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPointer {
    /// It does not start with a slash.
    #[error("a JSON pointer starts with '/', as in \"/data/id\"")]
    NoSlash,
    /// A tilde that is not `~0` or `~1`.
    #[error("in a JSON pointer '~' is written \"~0\" and '/' inside a name \"~1\"")]
    Escape,
    /// Deeper than [`Pointer::MAX_TOKENS`].
    #[error(
        "a JSON pointer may go at most {} levels deep here",
        Pointer::MAX_TOKENS
    )]
    TooDeep,
}

impl Pointer {
    /// How deep a pointer may go: the bound of the walk.
    pub const MAX_TOKENS: usize = 32;

    /// The pointer as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Pointer {
    type Err = NotAPointer;

    fn from_str(text: &str) -> Result<Self, NotAPointer> {
        let mut tokens = Vec::new();
        if !text.is_empty() {
            let rest = text.strip_prefix('/').ok_or(NotAPointer::NoSlash)?;
            for token in rest.split('/') {
                tokens.push(unescape(token)?);
            }
        }
        if tokens.len() > Self::MAX_TOKENS {
            return Err(NotAPointer::TooDeep);
        }
        let text = text.to_owned();
        Ok(Self { text, tokens })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn unescape(token: &str) -> Result<String, NotAPointer> {
    let mut pieces = token.split('~');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match (piece.strip_prefix('0'), piece.strip_prefix('1')) {
            (Some(rest), _) => out.extend(["~", rest]),
            (_, Some(rest)) => out.extend(["/", rest]),
            _ => return Err(NotAPointer::Escape),
        }
    }
    Ok(out)
}

/// A JSON text that could not be read on the way to a value. The text says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// The raw text of the value at `pointer`, `None` where there is none.
///
/// `text` may start with a byte order mark. Read are: the containers on the way, to their end (a
/// name on the way that comes twice is an error), and the value itself, which must be UTF-8.
pub fn find<'a>(text: &'a [u8], pointer: &Pointer) -> Result<Option<&'a str>, Unreadable> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let found = Walk(&pointer.tokens)
        .deserialize(&mut reader)
        .map_err(unreadable)?;
    reader.end().map_err(unreadable)?;
    Ok(found.map(RawValue::get))
}

fn unreadable(error: serde_json::Error) -> Unreadable {
    Unreadable(error.to_string())
}

/// The raw texts of an array's elements, in order; `None` where `text` is no array.
///
/// At most `max + 1` are read: one more than wanted says that there are too many, and how many more
/// there are is nobody's business.
pub fn elements(text: &str, max: usize) -> Result<Option<Vec<&str>>, Unreadable> {
    if !text.trim_start().starts_with('[') {
        return Ok(None);
    }
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader
        .deserialize_seq(Elements {
            found: &mut found,
            max,
        })
        .and_then(|()| reader.end());
    match read {
        // The reader was stopped, which it takes for an error.
        Err(_) if found.len() > max => Ok(Some(found)),
        Err(error) => Err(unreadable(error)),
        Ok(()) => Ok(Some(found)),
    }
}

/// Takes the elements of an array until there is one too many.
struct Elements<'o, 'de> {
    found: &'o mut Vec<&'de str>,
    max: usize,
}

impl<'de> Visitor<'de> for Elements<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<&RawValue>()? {
            self.found.push(element.get());
            if self.found.len() > self.max {
                return Err(A::Error::custom("too many elements"));
            }
        }
        Ok(())
    }
}

struct Walk<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            <&RawValue as serde::Deserialize>::deserialize(reader).map(Some)
        } else {
            reader.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((wanted, rest)) = self.0.split_first() else {
            return Ok(None);
        };
        let mut found: Option<Self::Value> = None;
        while let Some(is_wanted) = map.next_key_seed(IsName(wanted))? {
            if !is_wanted {
                map.next_value::<IgnoredAny>()?;
            } else if found.is_some() {
                return Err(A::Error::custom(format_args!(
                    "the name {wanted:?} stands twice in one object"
                )));
            } else {
                found = Some(map.next_value_seed(Walk(rest))?);
            }
        }
        Ok(found.flatten())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Some((wanted, rest)) = self.0.split_first() else {
            return Ok(None);
        };
        let wanted = array_index(wanted);
        let mut found = None;
        for index in 0_usize.. {
            if Some(index) == wanted {
                match seq.next_element_seed(Walk(rest))? {
                    Some(value) => found = value,
                    None => break,
                }
            } else if seq.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    // A scalar on the way: the pointer leads nowhere.
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// RFC 6901, section 4: digits without a leading zero.
fn array_index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with('0');
    (canonical && token.bytes().all(|b| b.is_ascii_digit()))
        .then(|| token.parse().ok())
        .flatten()
}

/// Compares an object's name as bytes, so that an odd name beside the way (a lone surrogate, bytes
/// that are not UTF-8) is simply another name.
struct IsName<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_bytes<E>(self, name: &[u8]) -> Result<bool, E> {
        Ok(name == self.0.as_bytes())
    }
    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

/// A value that can be part of an identity: a text, a number as it was written, or a truth value.
///
/// `1` and `"1"` are different scalars, and so are `1`, `1.0` and `1e0`: numbers keep the text of
/// their token, so that no large id is ever rounded into another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A JSON string, unescaped.
    Text(String),
    /// A JSON number, its token as written.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
}

/// Why a raw JSON value cannot be part of an identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAScalar {
    /// `null`.
    #[error("is null")]
    Null,
    /// An object or array.
    #[error("is an object or array; point to a text or number inside it")]
    Container,
    /// A string that has no Unicode reading (a lone surrogate).
    #[error("is a string that is not valid Unicode")]
    NotUnicode,
}

impl Scalar {
    /// Reads a raw JSON value.
    pub fn from_raw(raw: &str) -> Result<Self, NotAScalar> {
        match raw.bytes().next() {
            Some(b'"') => serde_json::from_str(raw)
                .map(Self::Text)
                .map_err(|_| NotAScalar::NotUnicode),
            Some(b't') => Ok(Self::Bool(true)),
            Some(b'f') => Ok(Self::Bool(false)),
            Some(b'-' | b'0'..=b'9') => Ok(Self::Number(raw.to_owned())),
            Some(b'n') => Err(NotAScalar::Null),
            _ => Err(NotAScalar::Container),
        }
    }

    /// The value's text: of a string its characters, of a number its token.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
        }
    }

    /// One byte per kind, so that `1` and `"1"` are told apart in an encoding.
    pub(crate) const fn tag(&self) -> u8 {
        match self {
            Self::Text(_) => b't',
            Self::Number(_) => b'n',
            Self::Bool(_) => b'b',
        }
    }
}

#[cfg(test)]
mod tests;
