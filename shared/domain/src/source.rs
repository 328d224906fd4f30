//! A configured sender: where its facts are found, and which rules make actions of them.

use std::fmt;
use std::str::FromStr;

use crate::acceptance::Fingerprint;
use crate::carriage::Carriage;
use crate::freshness::MaxAge;
use crate::job::Jobs;
use crate::json::{NotAPointer, Pointer};
use crate::name::Name;
use crate::template::Template;

/// One configured sender, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name in the path: `POST /hooks/{name}`.
    pub name: Name,
    /// The names that it had before, the oldest first. It answers there too.
    pub previously: Vec<Name>,
    /// Where the message's own id stands; the first that is there.
    pub id: Vec<Locator>,
    /// Where the event's type stands.
    pub event: Vec<Locator>,
    /// Where the id of the thing stands that the fact is about.
    pub subject: Vec<Locator>,
    /// Where the account stands.
    pub account: Vec<Locator>,
    /// The senders' batches, where one message carries many facts.
    pub each: Option<Each>,
    /// Events that the sender fires to test the connection: acknowledged, never an action.
    pub test_events: Vec<String>,
    /// Events that tell of progress; all others are terminal.
    pub progress_events: Vec<String>,
    /// The field of a form-encoded body that holds the JSON, e.g. `payload`.
    pub form_field: Option<String>,
    /// The rules, in the order of the configuration.
    pub rules: Vec<Rule>,
    /// How its facts speak of jobs; `None`: they make actions by rules alone.
    pub jobs: Option<Jobs>,
    /// How old its facts may be; `None`: as old as they are.
    pub max_age: Option<MaxAge>,
    /// The largest body read, in bytes; also the bound of what a compressed body may expand to.
    pub max_body: usize,
}

impl Source {
    /// The name by which it is a part of identities: the first that it ever had. So a rename changes no key.
    pub fn identity(&self) -> &Name {
        self.previously.first().unwrap_or(&self.name)
    }

    /// Whether it has or had this name.
    pub fn is_called(&self, name: &Name) -> bool {
        self.name == *name || self.previously.contains(name)
    }

    /// Whether an event of this type could make anything: an action by a rule, or the end of a job.
    pub fn wants(&self, event: Option<&str>) -> bool {
        let of_jobs = self.jobs.iter().flat_map(|jobs| &jobs.on);
        let by_rules = self.rules.iter().flat_map(|rule| &rule.on);
        by_rules.chain(of_jobs).any(|on| on.matches(event))
    }
}

/// A value's place in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// A header.
    Header {
        /// Its name, lower-case.
        name: String,
        /// Whether the signature covers it.
        covered: bool,
    },
    /// A value of the body (of the element, where the source says `each`).
    Body(Pointer),
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { name, .. } => write!(f, "header {name}"),
            Self::Body(pointer) => write!(f, "{pointer}"),
        }
    }
}

/// A body that carries several facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Each {
    /// The array of facts.
    pub pointer: Pointer,
    /// The most elements that one message may have.
    pub max: usize,
}

/// Which observations become actions, under which key, and where those go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name, unique in its source.
    pub name: Name,
    /// The names that it had before, the oldest first.
    pub previously: Vec<Name>,
    /// Which events it wants.
    pub on: Vec<EventPattern>,
    /// The parts of the action key, in order.
    pub key: Vec<KeyPart>,
    /// The key's namespace: `source/rule`, each by the first name that it ever had, unless the rule names another.
    pub namespace: String,
    /// What must be the same on every repetition.
    pub fingerprint: Vec<FingerprintPart>,
    /// Where the action goes.
    pub destination: Name,
    /// What is sent there.
    pub payload: Payload,
    /// What the way there can carry; a message whose body does not fit is unusable.
    pub carriage: Carriage,
}

impl Rule {
    /// Whether it has or had this name.
    pub fn is_called(&self, name: &Name) -> bool {
        self.name == *name || self.previously.contains(name)
    }

    /// Whether the rule wants an observation with this event type.
    pub fn wants(&self, event: Option<&str>) -> bool {
        self.on.iter().any(|pattern| pattern.matches(event))
    }

    /// The identity of the fingerprint's recipe.
    pub fn recipe(&self) -> [u8; 8] {
        let parts: Vec<String> = self.fingerprint.iter().map(ToString::to_string).collect();
        Fingerprint::recipe_of(parts.iter().map(String::as_str))
    }
}

/// Which event types a rule wants: one by name, all with a prefix (`invoice.*`), or every one (`*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventPattern {
    /// Every event, also one without a type.
    Any,
    /// Events whose type starts with this text.
    Prefix(String),
    /// Events of exactly this type.
    Exact(String),
}

impl EventPattern {
    /// Whether the pattern takes an event of this type.
    pub fn matches(&self, event: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Prefix(prefix) => event.is_some_and(|event| event.starts_with(prefix)),
            Self::Exact(exact) => event == Some(exact),
        }
    }
}

impl From<&str> for EventPattern {
    fn from(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some("") => Self::Any,
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Exact(text.to_owned()),
        }
    }
}

/// One named part of an action key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// `message:id`: the message's own id, where the source finds it.
    MessageId,
    /// `message:event`: the event's type.
    Event,
    /// `message:subject`: the id of the thing that the fact is about.
    Subject,
    /// `message:account`: the account.
    Account,
    /// `source`: the source's name, the first that it ever had.
    Source,
    /// `header:NAME`: a header's value.
    Header(String),
    /// `/pointer`: a value of the body, or of the element where the source says `each`.
    Value(Pointer),
    /// `body:/pointer`: a value of the whole body, where the source says `each`.
    BodyValue(Pointer),
}

/// A text that names no key part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKeyPart {
    /// None of the known words.
    #[error(
        "{0:?} names no key part: use \"message:id\", \"message:event\", \"message:subject\", \"message:account\", \"source\", \"header:NAME\" or a JSON pointer such as \"/data/id\""
    )]
    Unknown(String),
    /// A pointer that is none.
    #[error("{0:?}: {1}")]
    Pointer(String, NotAPointer),
}

impl FromStr for KeyPart {
    type Err = NotAKeyPart;

    fn from_str(text: &str) -> Result<Self, NotAKeyPart> {
        let pointer = |p: &str| {
            p.parse()
                .map_err(|e| NotAKeyPart::Pointer(text.to_owned(), e))
        };
        match text {
            "message:id" => Ok(Self::MessageId),
            "message:event" => Ok(Self::Event),
            "message:subject" => Ok(Self::Subject),
            "message:account" => Ok(Self::Account),
            "source" => Ok(Self::Source),
            _ => {
                if let Some(name) = text.strip_prefix("header:")
                    && !name.is_empty()
                {
                    Ok(Self::Header(name.to_ascii_lowercase()))
                } else if let Some(rest) = text.strip_prefix("body:") {
                    pointer(rest).map(Self::BodyValue)
                } else if text.starts_with('/') {
                    pointer(text).map(Self::Value)
                } else {
                    Err(NotAKeyPart::Unknown(text.to_owned()))
                }
            }
        }
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageId => f.write_str("message:id"),
            Self::Event => f.write_str("message:event"),
            Self::Subject => f.write_str("message:subject"),
            Self::Account => f.write_str("message:account"),
            Self::Source => f.write_str("source"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Value(pointer) => write!(f, "{pointer}"),
            Self::BodyValue(pointer) => write!(f, "body:{pointer}"),
        }
    }
}

/// One value that must be the same on every repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FingerprintPart {
    /// `body`: the raw bytes (of the element, where the source says `each`).
    Body,
    /// `/pointer`: the raw text of one value, which must be there.
    Value(Pointer),
    /// A value of some of the sender's shapes: absent counts as absent on both sides. Only a scheme's
    /// own recipe has these; where none of them is there, the raw bytes stand in for all.
    ValueIfThere(Pointer),
}

impl FromStr for FingerprintPart {
    type Err = NotAFingerprintPart;

    fn from_str(text: &str) -> Result<Self, NotAFingerprintPart> {
        if text == "body" {
            return Ok(Self::Body);
        }
        text.parse()
            .map(Self::Value)
            .map_err(|e| NotAFingerprintPart(text.to_owned(), e))
    }
}

/// A text that names no fingerprint part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no fingerprint part: use \"body\" or a JSON pointer ({1})")]
pub struct NotAFingerprintPart(String, NotAPointer);

impl fmt::Display for FingerprintPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("body"),
            Self::Value(pointer) => write!(f, "{pointer}"),
            Self::ValueIfThere(pointer) => write!(f, "{pointer} if there"),
        }
    }
}

/// What is sent to the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The bytes that came in, with their content type.
    Body,
    /// A JSON object: key, source, event, subject, accepted_at, data.
    Envelope,
    /// A shape of the user's own, with values of the message in it.
    Template(Template),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_a_name_a_prefix_or_everything() {
        assert!(EventPattern::from("*").matches(None));
        assert!(EventPattern::from("invoice.*").matches(Some("invoice.paid")));
        assert!(!EventPattern::from("invoice.*").matches(Some("invoices")));
        assert!(EventPattern::from("a.b").matches(Some("a.b")));
        assert!(!EventPattern::from("a.b").matches(Some("a.b.c")));
        assert!(!EventPattern::from("a.b").matches(None));
    }

    #[test]
    fn key_parts_are_read_back_as_they_were_written() {
        for text in [
            "message:id",
            "message:event",
            "message:subject",
            "message:account",
            "source",
            "header:x-id",
            "/data/id",
            "body:/account",
        ] {
            assert_eq!(text.parse::<KeyPart>().unwrap().to_string(), text);
        }
        for bad in ["", "id", "message:", "header:", "body:x", "/a~9"] {
            assert!(bad.parse::<KeyPart>().is_err(), "{bad}");
        }
    }
}
