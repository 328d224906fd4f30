//! A template, and the action and the fact that it is rendered for, come in; the exact bytes of the body go
//! out. What comes out is bounded, and no value can change the shape around it.

use std::borrow::Cow;

use super::fill::Found;
use super::text::Piece;
use super::{Hole, Node, Shape, Template, Text};
use crate::action::{Action, RenderedBody};
use crate::json::Scalar;
use crate::observation::{Malformed, Observation, Problem};
use crate::source::Source;

/// Renders the body of an action whose identity is complete.
pub(crate) fn render(
    template: &Template,
    source: &Source,
    action: &Action,
    observation: &Observation<'_>,
) -> Result<RenderedBody, Malformed> {
    let mut renderer = Renderer {
        source,
        action,
        observation,
        max: source.max_body.max(Template::RENDERED_MAX),
        path: vec!["payload".to_owned()],
        out: String::new(),
    };
    match &template.shape {
        Shape::Json(node) => renderer.within("json", |r| r.document(node))?,
        Shape::Form(fields) => renderer.within("form", |r| r.form(fields))?,
        Shape::Text(text) => renderer.within("text", |r| {
            let text = r.text(text)?;
            r.push(&text)
        })?,
    }
    Ok(RenderedBody {
        bytes: renderer.out.into_bytes(),
        content_type: Some(template.content_type.clone()),
        content_encoding: None,
    })
}

pub(super) struct Renderer<'r> {
    pub(super) source: &'r Source,
    pub(super) action: &'r Action,
    pub(super) observation: &'r Observation<'r>,
    /// The most bytes that may come out.
    max: usize,
    /// Where in the template the renderer is, for messages.
    pub(super) path: Vec<String>,
    out: String,
}

impl<'r> Renderer<'r> {
    fn within(
        &mut self,
        name: &str,
        render: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.path.push(name.to_owned());
        render(self)?;
        self.path.pop();
        Ok(())
    }

    /// The JSON document: it is there in any case, so a hole that is all of it must be filled.
    fn document(&mut self, node: &Node) -> Result<(), Malformed> {
        match only_hole(node) {
            Some(hole) => match self.fill(hole)? {
                Some(found) => self.json_of(hole, found),
                None => Err(self.unfilled(hole, hole.reading.to_string(), Problem::Missing)),
            },
            None => self.json(node),
        }
    }

    fn json(&mut self, node: &Node) -> Result<(), Malformed> {
        match node {
            Node::Text(text) => {
                let text = self.text(text)?;
                self.push_quoted(&text)
            }
            Node::Number(number) => self.push(&number.0),
            Node::Bool(true) => self.push("true"),
            Node::Bool(false) => self.push("false"),
            Node::List(nodes) => {
                let members = nodes.iter().enumerate();
                let members = members.map(|(n, node)| (n.to_string(), None, node));
                self.members("[", members, "]")
            }
            Node::Object(nodes) => {
                let members = nodes
                    .iter()
                    .map(|(name, node)| (name.clone(), Some(name.as_str()), node));
                self.members("{", members, "}")
            }
        }
    }

    /// What stands in a list or an object. A member that is one hole which may stay empty is left out then.
    fn members<'n>(
        &mut self,
        open: &str,
        members: impl Iterator<Item = (String, Option<&'n str>, &'n Node)>,
        close: &str,
    ) -> Result<(), Malformed> {
        self.push(open)?;
        let mut is_first = true;
        for (step, name, node) in members {
            self.within(&step, |r| {
                let hole = only_hole(node);
                let found = match hole {
                    Some(hole) => match r.fill(hole)? {
                        None => return Ok(()),
                        found => found,
                    },
                    None => None,
                };
                if !std::mem::take(&mut is_first) {
                    r.push(",")?;
                }
                if let Some(name) = name {
                    r.push_quoted(name)?;
                    r.push(":")?;
                }
                match hole.zip(found) {
                    Some((hole, found)) => r.json_of(hole, found),
                    None => r.json(node),
                }
            })?;
        }
        self.push(close)
    }

    /// The value of a hole that stands alone: of the body as its sender wrote it, numbers with every digit.
    fn json_of(&mut self, hole: &Hole, found: Found<'_>) -> Result<(), Malformed> {
        if hole.as_text {
            let text = self.text_of(hole, found)?;
            return self.push_quoted(&text);
        }
        match found {
            Found::Raw(raw) => self.push(&raw),
            Found::Scalar(Scalar::Text(text)) => self.push_quoted(&text),
            Found::Scalar(scalar) => self.push(scalar.as_str()),
        }
    }

    fn form(&mut self, fields: &[(String, Text)]) -> Result<(), Malformed> {
        let mut is_first = true;
        for (name, text) in fields {
            self.within(name, |r| {
                let value = match text.only_hole() {
                    Some(hole) => match r.fill(hole)? {
                        Some(found) => r.text_of(hole, found)?,
                        None => return Ok(()),
                    },
                    None => r.text(text)?,
                };
                if !std::mem::take(&mut is_first) {
                    r.push("&")?;
                }
                for encoded in form_urlencoded::byte_serialize(name.as_bytes()) {
                    r.push(encoded)?;
                }
                r.push("=")?;
                for encoded in form_urlencoded::byte_serialize(value.as_bytes()) {
                    r.push(encoded)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Characters and filled holes, one behind the other.
    fn text(&self, text: &Text) -> Result<String, Malformed> {
        let mut out = String::new();
        for piece in &text.0 {
            let added = match piece {
                Piece::Literal(literal) => Cow::Borrowed(literal.as_str()),
                Piece::Hole(hole) => match self.fill(hole)? {
                    Some(found) => Cow::Owned(self.text_of(hole, found)?),
                    None => Cow::Borrowed(""),
                },
            };
            self.room(out.len() + added.len())?;
            out.push_str(&added);
        }
        Ok(out)
    }

    fn push_quoted(&mut self, text: &str) -> Result<(), Malformed> {
        // Checked before it is escaped, which makes it at most six times as long.
        self.room(self.out.len() + text.len())?;
        let quoted = serde_json::to_string(text).expect("a text is always JSON");
        self.push(&quoted)
    }

    fn push(&mut self, text: &str) -> Result<(), Malformed> {
        self.room(self.out.len() + text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    fn room(&self, bytes: usize) -> Result<(), Malformed> {
        if bytes <= self.max {
            return Ok(());
        }
        Err(Malformed {
            rule: Some(self.action.rule.clone()),
            what: "what the template renders".to_owned(),
            place: self.path.join("."),
            problem: Problem::Oversize(self.max),
        })
    }
}

fn only_hole(node: &Node) -> Option<&Hole> {
    match node {
        Node::Text(text) => text.only_hole(),
        _ => None,
    }
}
