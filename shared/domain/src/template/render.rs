//! A template, and the action and the fact that it is rendered for, come in; the exact bytes of the body go
//! out. A value that is not there is an error, never an empty text, unless the hole says so; what comes out is
//! bounded; and no value can change the shape around it.

use std::borrow::Cow;

use super::{Hole, Node, Piece, Reading, Shape, Template, Text};
use crate::action::{Action, RenderedBody};
use crate::document::Unread;
use crate::json::{NotAScalar, Pointer, Scalar};
use crate::observation::{Malformed, Observation, Problem};
use crate::source::{Locator, Source};

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

struct Renderer<'r> {
    source: &'r Source,
    action: &'r Action,
    observation: &'r Observation<'r>,
    /// The most bytes that may come out.
    max: usize,
    /// Where in the template the renderer is, for messages.
    path: Vec<String>,
    out: String,
}

/// What a hole found.
enum Found<'r> {
    /// A value of the body, as the text of its JSON.
    Raw(Cow<'r, str>),
    /// A value with a type of its own.
    Scalar(Scalar),
}

impl Found<'_> {
    fn is_null(&self) -> bool {
        matches!(self, Self::Raw(raw) if raw == "null")
    }
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

    fn text_of(&self, hole: &Hole, found: Found<'_>) -> Result<String, Malformed> {
        let raw = match found {
            Found::Scalar(scalar) => return Ok(scalar.as_str().to_owned()),
            Found::Raw(raw) => raw,
        };
        match Scalar::from_raw(&raw) {
            Ok(scalar) => Ok(scalar.as_str().to_owned()),
            Err(NotAScalar::Container) if hole.as_text => Ok(raw.into_owned()),
            Err(problem) => {
                let place = hole.reading.to_string();
                Err(self.unfilled(hole, place, problem.into()))
            }
        }
    }

    /// What fills a hole; `None` where nothing does and the hole may stay empty.
    fn fill(&self, hole: &Hole) -> Result<Option<Found<'r>>, Malformed> {
        let (place, found) = self.read(&hole.reading);
        match found {
            Ok(Some(found)) if hole.if_there && found.is_null() => Ok(None),
            Ok(Some(found)) => Ok(Some(found)),
            Ok(None) if hole.if_there => Ok(None),
            Ok(None) => Err(self.unfilled(hole, place, Problem::Missing)),
            Err(problem) => Err(self.unfilled(hole, place, problem)),
        }
    }

    fn read(&self, reading: &Reading) -> (String, Result<Option<Found<'r>>, Problem>) {
        let (source, observation) = (self.source, self.observation);
        let text = |text: &str| Ok(Some(Found::Scalar(Scalar::Text(text.to_owned()))));
        let found = match reading {
            Reading::Data => whole(observation),
            Reading::Key => text(self.action.key.as_str()),
            Reading::AcceptedAt => text(&self.action.accepted_at.to_string()),
            Reading::Source => text(source.name.as_str()),
            Reading::MessageId => return located(observation, &source.id),
            Reading::Event => return located(observation, &source.event),
            Reading::Subject => return located(observation, &source.subject),
            Reading::Account => return located(observation, &source.account),
            Reading::Value(pointer) => value(observation, pointer),
            Reading::BodyValue(pointer) => raw(observation.document.find_once(pointer)),
        };
        (reading.to_string(), found)
    }

    fn unfilled(&self, hole: &Hole, place: String, problem: Problem) -> Malformed {
        Malformed {
            rule: Some(self.action.rule.clone()),
            what: format!("{hole} in {}", self.path.join(".")),
            place,
            problem,
        }
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

fn whole<'r>(observation: &'r Observation<'_>) -> Result<Option<Found<'r>>, Problem> {
    match observation.element {
        Some(element) => Ok(Some(Found::Raw(Cow::Borrowed(element)))),
        None => {
            let found = observation.document.find(&Pointer::default())?;
            Ok(found.map(|raw| Found::Raw(Cow::Borrowed(raw))))
        }
    }
}

fn value<'r>(
    observation: &'r Observation<'_>,
    pointer: &Pointer,
) -> Result<Option<Found<'r>>, Problem> {
    match observation.element {
        Some(_) => {
            let found = observation.find(pointer)?;
            Ok(found.map(|raw| Found::Raw(Cow::Borrowed(raw))))
        }
        // Several holes, and several rules, may read one value of a large body.
        None => raw(observation.document.find_once(pointer)),
    }
}

fn raw<'r>(found: Result<Option<String>, Unread>) -> Result<Option<Found<'r>>, Problem> {
    Ok(found?.map(|raw| Found::Raw(Cow::Owned(raw))))
}

/// What the source knows of the message, with the place where it was looked for.
fn located<'r>(
    observation: &Observation<'_>,
    locators: &[Locator],
) -> (String, Result<Option<Found<'r>>, Problem>) {
    match observation.located(locators) {
        Ok(found) => {
            let places: Vec<String> = locators.iter().map(ToString::to_string).collect();
            (places.join(" or "), Ok(found.map(Found::Scalar)))
        }
        Err((place, problem)) => (place, Err(problem)),
    }
}
