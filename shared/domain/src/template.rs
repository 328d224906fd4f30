//! What a destination is to receive, where that is neither the body nor the envelope: a shape from the
//! configuration comes in, with holes where values of the message belong; it is rendered once for each action.
//!
//! A shape is JSON, a form or a text by its structure, not by its characters: a value fills one hole and can
//! never end the text, the field or the document around it. There are no conditions, loops or functions, so
//! that the work is bounded by the holes, and nothing is left to find out when a message comes.

mod fill;
mod render;
mod text;

pub(crate) use render::render;
pub use text::{Hole, NotAText, Reading, Text};

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
    /// How many bytes templates may render of one message in all: of every element of its batch, by every rule. A
    /// source of which twice the `max_body` is larger renders as much as that.
    pub const RENDERED_IN_ALL_MAX: usize = 16 * 1024 * 1024;

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

#[cfg(test)]
mod tests;
