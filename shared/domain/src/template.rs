//! What a destination is to receive, where that is neither the body nor the envelope: a shape from the
//! configuration comes in, with holes where values of the message belong; it is rendered once for each action.
//!
//! A shape is JSON, a form or a text by its structure, not by its characters: a value fills one hole and can
//! never end the text, the field or the document around it. There are no conditions, loops or functions, so
//! that the work is bounded by the holes, and nothing is left to find out when a message comes.

use std::fmt;
use std::str::FromStr;

use crate::json::{NotAPointer, Pointer};

mod render;

pub(crate) use render::render;

/// What is rendered, and how it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The body's shape.
    pub shape: Shape,
    /// The body's content type.
    pub content_type: String,
}

impl Template {
    /// The most holes that one template may have. Each costs a walk over the body.
    pub const HOLES_MAX: usize = 64;
    /// How deep lists and objects may stand in one another.
    pub const DEPTH_MAX: usize = 32;
    /// How many bytes may be rendered; a source whose `max_body` is larger renders as much as that.
    pub const RENDERED_MAX: usize = 256 * 1024;

    /// Every hole, in the order of the template.
    pub fn holes(&self) -> Vec<&Hole> {
        match &self.shape {
            Shape::Json(node) => node.holes(),
            Shape::Form(fields) => fields.iter().flat_map(|(_, text)| text.holes()).collect(),
            Shape::Text(text) => text.holes().collect(),
        }
    }
}

/// The three shapes of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A JSON document.
    Json(Node),
    /// `application/x-www-form-urlencoded`: names and values.
    Form(Vec<(String, Text)>),
    /// One text.
    Text(Text),
}

/// One value of a JSON shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A text, or whatever stands at the one hole that it is made of.
    Text(Text),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// A list.
    List(Vec<Node>),
    /// An object: its names, each once, in the order in which they are sent.
    Object(Vec<(String, Node)>),
}

impl Node {
    fn holes(&self) -> Vec<&Hole> {
        match self {
            Self::Text(text) => text.holes().collect(),
            Self::Number(_) | Self::Bool(_) => Vec::new(),
            Self::List(nodes) => nodes.iter().flat_map(Self::holes).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, node)| node.holes()).collect(),
        }
    }
}

/// A JSON number, its token as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// A number of this token; `None` where JSON does not write numbers so (RFC 8259, section 6).
    pub fn new(token: &str) -> Option<Self> {
        let is_number = token.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && token.ends_with(|c: char| c.is_ascii_digit())
            && serde_json::from_str::<&serde_json::value::RawValue>(token).is_ok();
        is_number.then(|| Self(token.to_owned()))
    }
}

/// Characters with holes in between: `Order {/data/order} is paid`. A brace itself is written twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
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
    fn only_hole(&self) -> Option<&Hole> {
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

#[cfg(test)]
mod tests;
