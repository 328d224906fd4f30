//! An observation becomes actions: a key from named parts, a fingerprint, and the exact body that
//! will be sent, rendered now and once. A missing or blank part is an error, never an empty text.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::acceptance::{Fingerprint, Hash};
use crate::document::{Document, Unread};
use crate::json::Scalar;
use crate::name::Name;
use crate::observation::{Malformed, Observation, Problem};
use crate::source::{FingerprintPart, KeyPart, Locator, Payload, Rule, Source};
use crate::template;
use crate::time::Timestamp;

pub(crate) mod envelope;

/// The identity of an action: `act_` and 32 characters of lower-case base32 (RFC 4648), 160 bits of
/// SHA-256. 36 characters fit every common idempotency key limit (Square's 45 is the tightest
/// known), and it is a safe header value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionKey(String);

/// A text that is not an action key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an action key is \"act_\" followed by 32 characters of a-z and 2-7")]
pub struct NotAKey;

impl ActionKey {
    /// The most bytes that one key part may have.
    pub const PART_MAX: usize = 256;
    const PREFIX: &str = "act_";
    const BYTES: usize = 20;

    /// The key of these parts, in this order, in this namespace.
    ///
    /// Everything is length-prefixed and tagged by kind: `("a","bc")` and `("ab","c")` differ, and so
    /// do `1` and `"1"`; no character in a part can move the boundary between two parts.
    pub fn new<'a>(namespace: &str, parts: impl IntoIterator<Item = &'a Scalar>) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"ackbox action key 1");
        prefixed(&mut hasher, b's', namespace.as_bytes());
        for part in parts {
            prefixed(&mut hasher, part.tag(), part.as_str().as_bytes());
        }
        let digest: Hash = hasher.finalize().into();
        let text = data_encoding::BASE32_NOPAD.encode(&digest[..Self::BYTES]);
        Self(format!("{}{}", Self::PREFIX, text.to_ascii_lowercase()))
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn prefixed(hasher: &mut Sha256, tag: u8, bytes: &[u8]) {
    hasher.update([tag]);
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

impl FromStr for ActionKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let encoded = text.strip_prefix(Self::PREFIX).ok_or(NotAKey)?;
        let is_base32 = |b: u8| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b);
        if encoded.len() == 32 && encoded.bytes().all(is_base32) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAKey)
        }
    }
}

impl fmt::Display for ActionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The exact bytes that every attempt sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedBody {
    /// The body.
    pub bytes: Vec<u8>,
    /// Its content type.
    pub content_type: Option<String>,
    /// Its content encoding.
    pub content_encoding: Option<String>,
}

/// What must be done once: its identity, what must not differ, and what will be sent where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its identity.
    pub key: ActionKey,
    /// The key's namespace.
    pub namespace: String,
    /// The key's parts: how the rule names each, and its value.
    pub parts: Vec<(String, Scalar)>,
    /// What must be the same on every repetition.
    pub fingerprint: Fingerprint,
    /// The source.
    pub source: Name,
    /// The rule.
    pub rule: Name,
    /// The account, where the source tells.
    pub account: Option<String>,
    /// What the fact is about, where the source tells.
    pub subject: Option<String>,
    /// The event's type.
    pub event: Option<String>,
    /// The message's own id, where the source tells.
    pub message_id: Option<String>,
    /// Where it goes.
    pub destination: Name,
    /// What is sent.
    pub body: RenderedBody,
    /// When it is offered to the table.
    pub accepted_at: Timestamp,
}

/// The actions that a source's rules make of one observation, each usable or not by itself.
/// None where no rule wants it, or where the sender only tests the connection.
pub fn act(
    source: &Source,
    observation: &Observation<'_>,
    now: Timestamp,
) -> Vec<Result<Action, Malformed>> {
    if observation.is_test {
        return Vec::new();
    }
    source
        .rules
        .iter()
        .filter(|rule| rule.wants(observation.event.as_deref()))
        .map(|rule| action(source, rule, observation, now))
        .collect()
}

fn action(
    source: &Source,
    rule: &Rule,
    observation: &Observation<'_>,
    now: Timestamp,
) -> Result<Action, Malformed> {
    let parts = rule
        .key
        .iter()
        .map(|part| Ok((part.to_string(), key_part(source, rule, observation, part)?)))
        .collect::<Result<Vec<_>, Malformed>>()?;
    let key = ActionKey::new(&rule.namespace, parts.iter().map(|(_, value)| value));
    let mut action = Action {
        key,
        namespace: rule.namespace.clone(),
        parts,
        fingerprint: fingerprint(rule, observation)?,
        source: source.name.clone(),
        rule: rule.name.clone(),
        account: observation.told(&source.account),
        subject: observation.told(&source.subject),
        event: observation.event.clone(),
        message_id: observation.told(&source.id),
        destination: rule.destination.clone(),
        body: RenderedBody {
            bytes: Vec::new(),
            content_type: None,
            content_encoding: None,
        },
        accepted_at: now,
    };
    action.body = match &rule.payload {
        Payload::Envelope => envelope::render(&action, observation),
        Payload::Body => as_it_came(observation.document, observation),
        Payload::Template(template) => template::render(template, source, &action, observation)?,
    };
    carried(rule, &action.body)?;
    Ok(action)
}

/// A body that cannot be sent is refused now, while the sender is still there to be told.
fn carried(rule: &Rule, body: &RenderedBody) -> Result<(), Malformed> {
    rule.carriage.check(body).map_err(|unfit| Malformed {
        rule: Some(rule.name.clone()),
        what: "the body".to_owned(),
        place: format!("for the destination {}", rule.destination),
        problem: Problem::Unfit(Box::new(unfit)),
    })
}

fn as_it_came(document: &Document<'_>, observation: &Observation<'_>) -> RenderedBody {
    let element = observation.element.is_some();
    RenderedBody {
        bytes: observation.raw().to_vec(),
        content_type: if element {
            Some("application/json".to_owned())
        } else {
            document.content_type().map(ToOwned::to_owned)
        },
        content_encoding: document
            .content_encoding()
            .filter(|_| !element)
            .map(ToOwned::to_owned),
    }
}

fn key_part(
    source: &Source,
    rule: &Rule,
    observation: &Observation<'_>,
    part: &KeyPart,
) -> Result<Scalar, Malformed> {
    let (place, found) = match part {
        KeyPart::Source => return Ok(Scalar::Text(source.identity().as_str().to_owned())),
        KeyPart::MessageId => located(observation, &source.id),
        KeyPart::Event => located(observation, &source.event),
        KeyPart::Subject => located(observation, &source.subject),
        KeyPart::Account => located(observation, &source.account),
        KeyPart::Header(name) => {
            let name = name.clone();
            located(
                observation,
                &[Locator::Header {
                    name,
                    covered: false,
                }],
            )
        }
        KeyPart::Value(pointer) => (pointer.to_string(), scalar(observation.find(pointer))),
        KeyPart::BodyValue(pointer) => (
            pointer.to_string(),
            scalar(observation.document.find_once(pointer)),
        ),
    };
    found.and_then(usable).map_err(|problem| Malformed {
        rule: Some(rule.name.clone()),
        what: format!("key part {:?}", part.to_string()),
        place,
        problem,
    })
}

fn located(
    observation: &Observation<'_>,
    locators: &[Locator],
) -> (String, Result<Scalar, Problem>) {
    let places: Vec<String> = locators.iter().map(ToString::to_string).collect();
    match observation.located(locators) {
        Ok(Some(scalar)) => (places.join(" or "), Ok(scalar)),
        Ok(None) => (places.join(" or "), Err(Problem::Missing)),
        Err((place, problem)) => (place, Err(problem)),
    }
}

fn scalar(found: Result<Option<impl AsRef<str>>, Unread>) -> Result<Scalar, Problem> {
    let raw = found?.ok_or(Problem::Missing)?;
    Ok(Scalar::from_raw(raw.as_ref())?)
}

/// A part that could stand for two different things is no identity.
fn usable(scalar: Scalar) -> Result<Scalar, Problem> {
    let text = scalar.as_str();
    if text.is_empty() {
        Err(Problem::Empty)
    } else if text.chars().all(is_invisible) {
        Err(Problem::Blank)
    } else if text.len() > ActionKey::PART_MAX {
        Err(Problem::TooLong(text.len()))
    } else {
        Ok(scalar)
    }
}

/// White space, control characters, and the format characters that print nothing (zero-width
/// spaces and joiners, directional marks, soft hyphen, byte order mark).
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{3164}'
        )
}

fn fingerprint(rule: &Rule, observation: &Observation<'_>) -> Result<Fingerprint, Malformed> {
    let mut hasher = Sha256::new();
    hasher.update(b"ackbox fingerprint 1");
    let mut holds_something = false;
    for part in &rule.fingerprint {
        let (pointer, must_be_there) = match part {
            FingerprintPart::Body => {
                prefixed(&mut hasher, b'd', &observation.digest);
                holds_something = true;
                continue;
            }
            FingerprintPart::Value(pointer) => (pointer, true),
            FingerprintPart::ValueIfThere(pointer) => (pointer, false),
        };
        let found = observation.find(pointer).map_err(Problem::from);
        let unusable = |problem| Malformed {
            rule: Some(rule.name.clone()),
            what: "fingerprint value".to_owned(),
            place: pointer.to_string(),
            problem,
        };
        match found.map_err(unusable)? {
            Some(raw) => {
                prefixed(&mut hasher, b'v', raw.as_bytes());
                holds_something = true;
            }
            None if must_be_there => return Err(unusable(Problem::Missing)),
            None => prefixed(&mut hasher, b'-', b""),
        }
    }
    if !holds_something {
        // None of the shapes that the recipe knows: only equal bytes are surely the same fact.
        prefixed(&mut hasher, b'd', &observation.digest);
    }
    Ok(Fingerprint {
        hash: hasher.finalize().into(),
        recipe: rule.recipe(),
        digest: observation.digest,
    })
}

#[cfg(test)]
pub(crate) mod tests;
