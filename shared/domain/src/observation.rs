//! A verified document becomes observations: facts in one normal form, whatever the sender's envelope.
//! One bad element of a batch must not keep its neighbours from being accepted.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::acceptance::Hash;
use crate::carriage::Unfit;
use crate::document::{Document, Unread};
use crate::json::{self, NotAScalar, Pointer, Scalar};
use crate::name::Name;
use crate::source::{Locator, Source};
use crate::time::Timestamp;

/// Whether a fact ends the matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Something is under way.
    Progress,
    /// It has ended, one way or the other.
    Terminal,
}

/// One fact, normalised, and the bytes in which it came.
#[derive(Clone, Debug)]
pub struct Observation<'d> {
    /// The document it was read from.
    pub document: &'d Document<'d>,
    /// The batch's element, where the source says `each`.
    pub element: Option<&'d str>,
    /// The event's type.
    pub event: Option<String>,
    /// Whether it ends the matter.
    pub phase: Phase,
    /// Whether the sender only tests the connection.
    pub is_test: bool,
    /// SHA-256 of the raw bytes (of the element, where there is one).
    pub digest: Hash,
}

/// A message, or one fact in it, that cannot be used. Tells which part, where it was looked for, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what} ({place}) {problem}", match .rule { Some(rule) => format!("rule {rule}: "), None => String::new() })]
pub struct Malformed {
    /// The rule that reads the part, if a rule does.
    pub rule: Option<Name>,
    /// What was wanted, e.g. `key part "message:id"`.
    pub what: String,
    /// Where it was looked for, e.g. `header webhook-id` or a pointer.
    pub place: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a wanted value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not there.
    #[error("is missing")]
    Missing,
    /// The empty text.
    #[error("is empty")]
    Empty,
    /// Only white space or invisible characters.
    #[error("is blank")]
    Blank,
    /// Longer than a key part may be.
    #[error("is {0} bytes long; a key part has at most {max} bytes", max = crate::action::ActionKey::PART_MAX)]
    TooLong(usize),
    /// `null`, a container, or a string that is not Unicode.
    #[error(transparent)]
    NotAScalar(#[from] NotAScalar),
    /// A header whose bytes are not visible ASCII or UTF-8.
    #[error("is not valid text")]
    NotText,
    /// A header that stands there more than once.
    #[error("stands there more than once")]
    Repeated,
    /// The body cannot be read there.
    #[error("cannot be read: {0}")]
    Unread(#[from] Unread),
    /// The way to the destination cannot carry the body.
    #[error(transparent)]
    Unfit(Box<Unfit>),
    /// Neither RFC 3339 nor a number of seconds, milliseconds or microseconds since 1970.
    #[error("is no time: neither RFC 3339 nor a number since 1970")]
    NotATime,
    /// The fact is older than its source allows. No repetition can mend that.
    #[error("is {at}, longer ago than the source's `max_age` of {}", humantime::format_duration(*.most))]
    TooOld {
        /// The fact's own time.
        at: Timestamp,
        /// How old it may be.
        most: Duration,
    },
    /// The fact is dated ahead of now, by more than clocks may differ.
    #[error("is {at}, more than {} ahead of now, which the source's `tolerance` does not allow", humantime::format_duration(*.most))]
    Ahead {
        /// The fact's own time.
        at: Timestamp,
        /// How far ahead it may be.
        most: Duration,
    },
    /// The batch is no array.
    #[error("is no array")]
    NotAnArray,
    /// The batch has more elements than the source allows.
    #[error("has more than {max} elements, the source's `max_each`")]
    TooMany {
        /// How many it may have.
        max: usize,
    },
    /// Another account than that of the secret that signed, or another job or account than was asked for.
    #[error("is another one than this can speak of")]
    Another,
    /// A job's status that is neither an outcome nor progress.
    #[error("is {0:?}, which is neither an outcome nor progress; add it to the source's `job`")]
    UnknownStatus(String),
    /// What would be sent is larger than a template may render.
    #[error("would have more than {0} bytes")]
    Oversize(usize),
}

/// The observations of one document, in the order of its batch; each usable or not by itself.
///
/// Fails as a whole only where the batch itself cannot be read. A message without a batch is one observation.
pub fn observe<'d>(
    source: &Source,
    document: &'d Document<'d>,
) -> Result<Vec<Result<Observation<'d>, Malformed>>, Malformed> {
    let Some(each) = &source.each else {
        return Ok(vec![observation(source, document, None)]);
    };
    let batch = |problem| Malformed {
        rule: None,
        what: "the batch".to_owned(),
        place: each.pointer.to_string(),
        problem,
    };
    let raw = document
        .find(&each.pointer)
        .map_err(|e| batch(e.into()))?
        .ok_or_else(|| batch(Problem::Missing))?;
    let elements = json::elements(raw, each.max)
        .map_err(|e| batch(Unread::from(e).into()))?
        .ok_or_else(|| batch(Problem::NotAnArray))?;
    if elements.len() > each.max {
        return Err(batch(Problem::TooMany { max: each.max }));
    }
    Ok(elements
        .into_iter()
        .map(|element| observation(source, document, Some(element)))
        .collect())
}

fn observation<'d>(
    source: &Source,
    document: &'d Document<'d>,
    element: Option<&'d str>,
) -> Result<Observation<'d>, Malformed> {
    let digest = element.map_or_else(|| document.digest(), |e| Sha256::digest(e).into());
    let mut observation = Observation {
        document,
        element,
        event: None,
        phase: Phase::Terminal,
        is_test: false,
        digest,
    };
    let event = observation
        .located(&source.event)
        .map_err(|(place, problem)| Malformed {
            rule: None,
            what: "the event type".to_owned(),
            place,
            problem,
        })?;
    let event = event.map(|scalar| scalar.as_str().to_owned());
    let is_one_of = |names: &[String]| event.as_ref().is_some_and(|e| names.contains(e));
    observation.is_test = is_one_of(&source.test_events);
    if is_one_of(&source.progress_events) {
        observation.phase = Phase::Progress;
    }
    observation.event = event;
    Ok(observation)
}

impl<'d> Observation<'d> {
    /// The whole of a document as one fact, whatever the source says of batches.
    ///
    /// # Errors
    /// The event's type cannot be read.
    pub fn whole(source: &Source, document: &'d Document<'d>) -> Result<Self, Malformed> {
        observation(source, document, None)
    }
}

impl Observation<'_> {
    /// The readable text of the fact: of the element, else of the body; empty where it cannot be read.
    pub fn readable(&self) -> &[u8] {
        match self.element {
            Some(element) => element.as_bytes(),
            None => self.document.text().unwrap_or_default(),
        }
    }

    /// The raw bytes of the fact: of the element, else of the body as it came.
    pub fn raw(&self) -> &[u8] {
        self.element
            .map_or_else(|| self.document.raw(), str::as_bytes)
    }

    /// The raw text of a value of the fact: of the element, else of the body.
    pub fn find(&self, pointer: &Pointer) -> Result<Option<&str>, Unread> {
        match self.element {
            Some(element) => Ok(json::find(element.as_bytes(), pointer)?),
            None => self.document.find(pointer),
        }
    }

    /// The first value that one of the locators finds; `None` where none does (`null` is no value).
    /// An error carries the place that could not be read.
    pub fn located(&self, locators: &[Locator]) -> Result<Option<Scalar>, (String, Problem)> {
        for locator in locators {
            let found = match locator {
                Locator::Header { name, .. } => self.header(name),
                Locator::Body(pointer) => self.value(pointer),
            };
            if let Some(scalar) = found.map_err(|problem| (locator.to_string(), problem))? {
                return Ok(Some(scalar));
            }
        }
        Ok(None)
    }

    /// The text that a locator finds, for people to read; nothing depends on it.
    pub fn told(&self, locators: &[Locator]) -> Option<String> {
        let scalar = self.located(locators).ok().flatten()?;
        let text: String = scalar.as_str().chars().take(256).collect();
        (!text.trim().is_empty()).then_some(text)
    }

    fn header(&self, name: &str) -> Result<Option<Scalar>, Problem> {
        let mut values = self.document.headers().get_all(name);
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(_), Some(_)) => Err(Problem::Repeated),
            (Some(value), None) => std::str::from_utf8(value)
                .map(|text| Some(Scalar::Text(text.trim().to_owned())))
                .map_err(|_| Problem::NotText),
        }
    }

    fn value(&self, pointer: &Pointer) -> Result<Option<Scalar>, Problem> {
        let Some(raw) = self.find(pointer)? else {
            return Ok(None);
        };
        match Scalar::from_raw(raw) {
            Ok(scalar) => Ok(Some(scalar)),
            Err(NotAScalar::Null) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}
