//! A text of a template as it is written comes in, its characters and holes go out. Whatever a hole could not
//! mean is refused here.

use std::fmt;
use std::str::FromStr;

use crate::json::{NotAPointer, Pointer};

/// Characters with holes in between: `Order {/data/order} is paid`. A brace itself is written twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub(super) Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Hole(Hole),
}

impl Text {
    /// Its holes, in order.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(hole),
            Piece::Literal(_) => None,
        })
    }

    /// The hole, where the text is nothing else.
    pub(super) fn only_hole(&self) -> Option<&Hole> {
        match self.0.as_slice() {
            [Piece::Hole(hole)] => Some(hole),
            _ => None,
        }
    }
}

/// A text whose holes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAText {
    /// A brace that opens or closes nothing.
    #[error("has a single `{0}`")]
    Brace(char),
    /// A hole that reads nothing that there is.
    #[error("has {{{0}}}, which reads nothing")]
    Hole(String),
    /// A hole that reads a header.
    #[error("has {{{0}}}: headers are not read by templates")]
    Header(String),
    /// A hole whose pointer is none.
    #[error("has {{{0}}}: {1}")]
    Pointer(String, NotAPointer),
}

impl FromStr for Text {
    type Err = NotAText;

    fn from_str(text: &str) -> Result<Self, NotAText> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(NotAText::Brace('}'));
            }
            let (inside, after) = rest.split_once('}').ok_or(NotAText::Brace('{'))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Hole(Hole::read(inside)?));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self(pieces))
    }
}

/// A place that a value of the message fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// What fills it.
    pub reading: Reading,
    /// `{?..}`: where there is no value, or `null`, the hole stays empty; a field that is this hole alone is
    /// left out. Without it, a missing value makes the message unusable.
    pub if_there: bool,
    /// `{text:..}`: a text in any case: a number as its token, a list or object as its JSON.
    pub as_text: bool,
}

impl Hole {
    fn read(inside: &str) -> Result<Self, NotAText> {
        let (if_there, rest) = match inside.strip_prefix('?') {
            Some(rest) => (true, rest),
            None => (false, inside),
        };
        let (as_text, rest) = match rest.strip_prefix("text:") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        Ok(Self {
            reading: Reading::named(rest, inside)?,
            if_there,
            as_text,
        })
    }
}

/// As it is written: `{?text:/data/id}`.
impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_there = if self.if_there { "?" } else { "" };
        let as_text = if self.as_text { "text:" } else { "" };
        write!(f, "{{{if_there}{as_text}{}}}", self.reading)
    }
}

/// What a hole reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `data`: the whole fact: the body, or the element where the source says `each`.
    Data,
    /// `key`: the action's key.
    Key,
    /// `accepted_at`: when the action was accepted, RFC 3339, UTC, milliseconds.
    AcceptedAt,
    /// `source`: the source's name.
    Source,
    /// `message:id`: the message's own id.
    MessageId,
    /// `message:event`: the event's type.
    Event,
    /// `message:subject`: the id of the thing that the fact is about.
    Subject,
    /// `message:account`: the account.
    Account,
    /// `/pointer`: a value of the fact.
    Value(Pointer),
    /// `body:/pointer`: a value of the whole body, where the source says `each`.
    BodyValue(Pointer),
}

impl Reading {
    fn named(name: &str, inside: &str) -> Result<Self, NotAText> {
        let pointer = |text: &str| {
            text.parse()
                .map_err(|e| NotAText::Pointer(inside.to_owned(), e))
        };
        Ok(match name {
            "data" => Self::Data,
            "key" => Self::Key,
            "accepted_at" => Self::AcceptedAt,
            "source" => Self::Source,
            "message:id" => Self::MessageId,
            "message:event" => Self::Event,
            "message:subject" => Self::Subject,
            "message:account" => Self::Account,
            _ if name.starts_with('/') => Self::Value(pointer(name)?),
            _ if name.starts_with("header:") => return Err(NotAText::Header(inside.to_owned())),
            _ => match name.strip_prefix("body:") {
                Some(rest) => Self::BodyValue(pointer(rest)?),
                None => return Err(NotAText::Hole(inside.to_owned())),
            },
        })
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data => f.write_str("data"),
            Self::Key => f.write_str("key"),
            Self::AcceptedAt => f.write_str("accepted_at"),
            Self::Source => f.write_str("source"),
            Self::MessageId => f.write_str("message:id"),
            Self::Event => f.write_str("message:event"),
            Self::Subject => f.write_str("message:subject"),
            Self::Account => f.write_str("message:account"),
            Self::Value(pointer) => write!(f, "{pointer}"),
            Self::BodyValue(pointer) => write!(f, "body:{pointer}"),
        }
    }
}
