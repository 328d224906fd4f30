//! What the way to a destination can carry: the body that would be sent comes in, whether it fits goes
//! out. A body that does not fit is refused where the action is made, before anything is written, and
//! looked at once more before each attempt, since the configuration may have changed in between.

use serde::de::IgnoredAny;

use crate::action::RenderedBody;
use crate::json::{self, NotAScalar, Pointer, Scalar, Unreadable};

/// What the way to a destination can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carriage {
    /// The form that a body must have.
    pub form: Form,
    /// The most bytes that a body may have; `None`: the way sets no limit of its own.
    pub max: Option<usize>,
    /// Where in the body the value stands that groups messages ([`Carriage::group`]).
    pub group: Option<Pointer>,
}

/// The form that a body must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Any bytes.
    Bytes,
    /// Not empty, and made of the characters that XML 1.0 has: tab, line ends, U+0020 to U+D7FF, U+E000 to
    /// U+FFFD, and U+10000 and above.
    Text,
    /// One JSON value in UTF-8, without a byte order mark.
    Json,
}

/// Why a body cannot be carried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// More bytes than the way takes.
    #[error("has {found} bytes; the destination takes at most {max}")]
    TooLarge {
        /// How many it has.
        found: usize,
        /// How many it may have.
        max: usize,
    },
    /// Compressed, where only text can be sent.
    #[error(
        "is encoded ({0}), and the destination takes text only; turn compression off at the sender"
    )]
    Encoded(String),
    /// Not UTF-8, or empty.
    #[error("is no text, and the destination takes text only")]
    NotText,
    /// A character that the way would lose.
    #[error("has the character U+{:04X}, which the destination cannot carry", u32::from(*.0))]
    Character(char),
    /// Not JSON.
    #[error("is not JSON, and the destination takes JSON only")]
    NotJson,
    /// No value to group by.
    #[error("has no value at {0}, by which the destination groups its messages")]
    NoGroup(Pointer),
    /// A value that names no group.
    #[error("has a value at {0} that {1}: no group of messages can be named so")]
    NotAGroup(Pointer, NotAScalar),
    /// A value that is too long for a group's name, or has other characters.
    #[error(
        "has a value at {0} that names no group of messages: 1 to {max} letters, digits and ASCII punctuation",
        max = Carriage::GROUP_MAX
    )]
    GroupName(Pointer),
    /// The way to the group's value cannot be read.
    #[error("cannot be read on the way to {0}, by which the destination groups its messages: {1}")]
    Unreadable(Pointer, Unreadable),
}

impl Carriage {
    /// The longest name of a group of messages, in characters (Amazon SQS, SendMessage, MessageGroupId).
    pub const GROUP_MAX: usize = 128;

    /// A way that carries everything.
    pub const ANYTHING: Self = Self {
        form: Form::Bytes,
        max: None,
        group: None,
    };

    /// Whether a body can be carried.
    pub fn check(&self, body: &RenderedBody) -> Result<(), Unfit> {
        let found = body.bytes.len();
        if let Some(max) = self.max.filter(|max| found > *max) {
            return Err(Unfit::TooLarge { found, max });
        }
        if self.form != Form::Bytes {
            is_of(self.form, body)?;
        }
        self.group(body).map(drop)
    }

    /// The value that groups messages; `None` where the way groups by nothing in the body.
    pub fn group(&self, body: &RenderedBody) -> Result<Option<String>, Unfit> {
        let Some(pointer) = &self.group else {
            return Ok(None);
        };
        let raw = json::find(&body.bytes, pointer)
            .map_err(|why| Unfit::Unreadable(pointer.clone(), why))?
            .ok_or_else(|| Unfit::NoGroup(pointer.clone()))?;
        let value = Scalar::from_raw(raw).map_err(|why| Unfit::NotAGroup(pointer.clone(), why))?;
        let name = value.as_str();
        let is_name = (1..=Self::GROUP_MAX).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_name {
            Ok(Some(name.to_owned()))
        } else {
            Err(Unfit::GroupName(pointer.clone()))
        }
    }
}

fn is_of(form: Form, body: &RenderedBody) -> Result<(), Unfit> {
    if let Some(encoding) = &body.content_encoding {
        return Err(Unfit::Encoded(encoding.clone()));
    }
    let text = std::str::from_utf8(&body.bytes).map_err(|_| Unfit::NotText)?;
    match form {
        Form::Bytes => Ok(()),
        Form::Text if text.is_empty() => Err(Unfit::NotText),
        Form::Text => match text.chars().find(|c| !is_xml(*c)) {
            Some(other) => Err(Unfit::Character(other)),
            None => Ok(()),
        },
        Form::Json => serde_json::from_str::<IgnoredAny>(text)
            .map(drop)
            .map_err(|_| Unfit::NotJson),
    }
}

/// The characters of XML 1.0 (section 2.2, `Char`). A `char` is never a surrogate.
pub(crate) const fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(bytes: &[u8]) -> RenderedBody {
        RenderedBody {
            bytes: bytes.to_vec(),
            content_type: None,
            content_encoding: None,
        }
    }

    fn way(form: Form, max: usize, group: Option<&str>) -> Carriage {
        Carriage {
            form,
            max: Some(max),
            group: group.map(|pointer| pointer.parse().unwrap()),
        }
    }

    #[test]
    fn a_body_may_have_as_many_bytes_as_the_way_takes_and_no_more() {
        let way = way(Form::Text, 4, None);
        assert_eq!(way.check(&body(b"1234")), Ok(()));
        let unfit = way.check(&body("1ää".as_bytes())).unwrap_err();
        assert_eq!(unfit, Unfit::TooLarge { found: 5, max: 4 });
    }

    #[test]
    fn only_text_that_arrives_as_it_is_counts_as_text() {
        let way = way(Form::Text, 100, None);
        assert_eq!(
            way.check(&body("a\t\r\nä\u{1f600}\u{fffd}".as_bytes())),
            Ok(())
        );
        for (bytes, unfit) in [
            (&b""[..], Unfit::NotText),
            (b"a\xff", Unfit::NotText),
            (b"a\0", Unfit::Character('\0')),
            (b"a\x1b[0m", Unfit::Character('\x1b')),
            ("\u{fffe}".as_bytes(), Unfit::Character('\u{fffe}')),
        ] {
            assert_eq!(way.check(&body(bytes)), Err(unfit));
        }
        let gzip = RenderedBody {
            content_encoding: Some("gzip".to_owned()),
            ..body(b"text")
        };
        assert_eq!(way.check(&gzip), Err(Unfit::Encoded("gzip".to_owned())));
    }

    #[test]
    fn json_is_one_value_and_nothing_else() {
        let way = way(Form::Json, 100, None);
        for good in ["{}", " 1 ", "null", "\"\\u0000\"", "[[[]]]"] {
            assert_eq!(way.check(&body(good.as_bytes())), Ok(()), "{good}");
        }
        for bad in ["", "{", "{} {}", "a=b", "\u{feff}{}", "'x'"] {
            assert_eq!(
                way.check(&body(bad.as_bytes())),
                Err(Unfit::NotJson),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_group_is_a_short_printable_value_that_is_there() {
        let way = way(Form::Text, 1000, Some("/tenant"));
        let group = |json: &str| way.group(&body(json.as_bytes()));
        for (json, name) in [
            (r#"{"tenant":"a-7"}"#, "a-7"),
            (r#"{"tenant":7.0}"#, "7.0"),
            (r#"{"tenant":true}"#, "true"),
        ] {
            assert_eq!(group(json), Ok(Some(name.to_owned())));
            assert_eq!(way.check(&body(json.as_bytes())), Ok(()));
        }
        let pointer: Pointer = "/tenant".parse().unwrap();
        let long = format!(r#"{{"tenant":"{}"}}"#, "x".repeat(129));
        for (json, unfit) in [
            ("{}", Unfit::NoGroup(pointer.clone())),
            (
                r#"{"tenant":null}"#,
                Unfit::NotAGroup(pointer.clone(), NotAScalar::Null),
            ),
            (
                r#"{"tenant":{}}"#,
                Unfit::NotAGroup(pointer.clone(), NotAScalar::Container),
            ),
            (r#"{"tenant":""}"#, Unfit::GroupName(pointer.clone())),
            (r#"{"tenant":"a b"}"#, Unfit::GroupName(pointer.clone())),
            (r#"{"tenant":"ä"}"#, Unfit::GroupName(pointer.clone())),
            (&long, Unfit::GroupName(pointer.clone())),
        ] {
            assert_eq!(group(json), Err(unfit.clone()), "{json}");
            assert_eq!(way.check(&body(json.as_bytes())), Err(unfit));
        }
        let unread = group(r#"{"tenant":1,"tenant":2}"#).unwrap_err();
        assert!(matches!(unread, Unfit::Unreadable(..)), "{unread}");
    }

    #[test]
    fn a_way_that_carries_everything_refuses_nothing() {
        assert_eq!(Carriage::ANYTHING.check(&body(b"\xff\0")), Ok(()));
    }
}
