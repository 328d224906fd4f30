//! A hole comes in, the value that fills it goes out. A value that is not there is an error, never an empty
//! text, unless the hole says so.

use std::borrow::Cow;

use super::render::Renderer;
use super::{Hole, Reading};
use crate::document::Unread;
use crate::json::{NotAScalar, Pointer, Scalar};
use crate::observation::{Malformed, Observation, Problem};
use crate::source::Locator;

/// What a hole found.
pub(super) enum Found<'r> {
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
    pub(super) fn text_of(&self, hole: &Hole, found: Found<'_>) -> Result<String, Malformed> {
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
    pub(super) fn fill(&self, hole: &Hole) -> Result<Option<Found<'r>>, Malformed> {
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

    pub(super) fn unfilled(&self, hole: &Hole, place: String, problem: Problem) -> Malformed {
        Malformed {
            rule: Some(self.action.rule.clone()),
            what: format!("{hole} in {}", self.path.join(".")),
            place,
            problem,
        }
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
