//! An observation of a bound job comes in; out go the actions of the steps that its end qualifies for, or
//! what in it disagrees with the binding. Everything in an action is the binding's but the values that
//! a step asks for, so whoever observes first makes the same action.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::facts::is_null;
use super::{Binding, Expected, JobRef, NAMESPACE, SILENT, Step};
use crate::acceptance::{Fingerprint, Hash};
use crate::action::{Action, ActionKey, RenderedBody};
use crate::json::{self, Pointer, Scalar};
use crate::name::Name;
use crate::time::Timestamp;

/// The observed end of a job, whole: what it is judged by, and what is kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobObservation {
    /// The job.
    pub job: JobRef,
    /// The source that it came by.
    pub source: Name,
    /// The account that it speaks of.
    pub account: String,
    /// How the job ended.
    pub outcome: Name,
    /// The event's type, where it has one.
    pub event: Option<String>,
    /// The message's own id, where it has one.
    pub message_id: Option<String>,
    /// What it says under the source's names for values: raw JSON.
    pub values: BTreeMap<Name, String>,
    /// The fact as it came.
    pub body: RenderedBody,
    /// SHA-256 of the fact's raw bytes: two observations with one digest are one.
    pub digest: Hash,
    /// When it came.
    pub seen_at: Timestamp,
}

impl JobObservation {
    /// Its own identity: who told what, by which source, for whom. The bytes alone would not do, where another account signs the same.
    pub fn identity(&self) -> [u8; 16] {
        let digest = data_encoding::HEXLOWER.encode(&self.digest);
        let said = [
            self.source.as_str(),
            &self.account,
            self.outcome.as_str(),
            &digest,
        ];
        short("ackbox job observation 1", &said)
    }

    /// The identity of its disagreeing there ([`Mismatch::place`]): the same for whoever disagrees in that, however
    /// often and in whatever bytes.
    pub fn disagreement(&self, place: &str) -> [u8; 8] {
        short(
            "ackbox job disagreement 1",
            &[&self.account, self.outcome.as_str(), place],
        )
    }

    /// A value of the fact as it came: raw JSON. Where the fact cannot be read, something that nobody expects.
    fn find(&self, pointer: &Pointer) -> Option<&str> {
        json::find(&self.body.bytes, pointer).unwrap_or(Some("null"))
    }
}

/// What in an observation disagrees with the binding. It makes no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It speaks of another account's job.
    #[error("the job is bound to the account {bound:?}, and this is of {seen:?}")]
    Account {
        /// The binding's.
        bound: String,
        /// The observation's.
        seen: String,
    },
    /// It says other than was expected.
    #[error("{place} is {seen}, and {expected} was expected")]
    Expected {
        /// Where.
        place: String,
        /// What was expected, cut to 120 characters.
        expected: String,
        /// What stands there, cut to 120 characters.
        seen: String,
    },
    /// It lacks a value that a step delivers: whoever saw the job end in a shape with it makes the action.
    #[error("the step {step} delivers \"{value}\", and this does not tell it")]
    Missing {
        /// The step.
        step: Name,
        /// The value's name.
        value: Name,
    },
}

/// Whether an observed end agrees with what the application said of the job.
///
/// An expected value of which the observation says nothing is no mismatch: sources tell of one job in
/// several shapes.
///
/// # Errors
/// The first disagreement.
pub fn agree(binding: &Binding, observation: &JobObservation) -> Result<(), Mismatch> {
    if observation.account != binding.account {
        return Err(Mismatch::Account {
            bound: binding.account.clone(),
            seen: observation.account.clone(),
        });
    }
    for (place, expected) in &binding.expected {
        let seen = match place {
            Expected::Value(name) => observation.values.get(name).map(String::as_str),
            Expected::Pointer(pointer) => observation.find(pointer),
        };
        if let Some(seen) = seen
            && Scalar::from_raw(seen).as_ref() != Ok(expected)
        {
            return Err(Mismatch::Expected {
                place: place.to_string(),
                expected: cut(expected.as_str()),
                seen: cut(seen),
            });
        }
    }
    Ok(())
}

fn cut(text: &str) -> String {
    text.chars().take(120).collect()
}

impl Mismatch {
    /// What disagrees, without what was seen: the same for every observation that disagrees there.
    pub fn place(&self) -> String {
        match self {
            Self::Account { .. } => "account".to_owned(),
            Self::Expected { place, .. } => format!("expected {place}"),
            Self::Missing { step, value } => format!("value {step} {value}"),
        }
    }
}

/// The actions of an observed end: of the steps that wait for its outcome.
///
/// # Errors
/// The first disagreement, or the first value that a step delivers and this does not tell.
pub fn qualify(
    binding: &Binding,
    observation: &JobObservation,
    now: Timestamp,
) -> Result<Vec<Action>, Mismatch> {
    agree(binding, observation)?;
    let wanted = steps(binding, &observation.outcome);
    for step in wanted.clone() {
        let told = |value: &Name| observation.values.get(value).filter(|raw| !is_null(raw));
        let missing = |value: &&Name| told(value).is_none();
        if let Some(value) = step.values.iter().find(missing) {
            return Err(Mismatch::Missing {
                step: step.name.clone(),
                value: value.clone(),
            });
        }
    }
    Ok(wanted
        .map(|step| action(binding, step, observation, now))
        .collect())
}

/// The actions of a job that is given up at `now`: of the steps that wait for [`SILENT`].
pub fn give_up(binding: &Binding, source: &Name, now: Timestamp) -> Vec<Action> {
    let Ok(outcome) = SILENT.parse::<Name>() else {
        return Vec::new();
    };
    let silence = JobObservation {
        job: binding.job.clone(),
        source: source.clone(),
        account: binding.account.clone(),
        outcome,
        event: None,
        message_id: None,
        values: BTreeMap::new(),
        body: RenderedBody {
            bytes: Vec::new(),
            content_type: None,
            content_encoding: None,
        },
        digest: Hash::default(),
        seen_at: now,
    };
    steps(binding, &silence.outcome)
        .map(|step| action(binding, step, &silence, now))
        .collect()
}

fn steps<'b>(binding: &'b Binding, outcome: &Name) -> impl Iterator<Item = &'b Step> + Clone {
    binding
        .steps
        .iter()
        .filter(|step| step.on.contains(outcome))
}

impl Binding {
    /// The key of the action that a step makes, however its job ends.
    pub fn key(&self, step: &Step) -> ActionKey {
        key(&parts(self, step))
    }
}

fn parts(binding: &Binding, step: &Step) -> Vec<(String, Scalar)> {
    let text = |text: &str| Scalar::Text(text.to_owned());
    vec![
        ("tenant".to_owned(), text(&binding.tenant)),
        ("attempt".to_owned(), binding.attempt.clone()),
        ("step".to_owned(), text(step.name.as_str())),
    ]
}

fn key(parts: &[(String, Scalar)]) -> ActionKey {
    ActionKey::new(NAMESPACE, parts.iter().map(|(_, value)| value))
}

fn action(binding: &Binding, step: &Step, observation: &JobObservation, now: Timestamp) -> Action {
    let parts = parts(binding, step);
    let key = key(&parts);
    let told = |text: &str| text.chars().take(256).collect::<String>();
    Action {
        body: envelope(&key, binding, step, observation),
        key,
        namespace: NAMESPACE.to_owned(),
        parts,
        fingerprint: fingerprint(binding, &observation.outcome),
        source: observation.source.clone(),
        rule: step.name.clone(),
        account: Some(binding.account.clone()),
        subject: Some(told(&binding.job.id)),
        event: observation.event.as_deref().map(told),
        message_id: observation.message_id.as_deref().map(told),
        destination: step.destination.clone(),
        accepted_at: now,
    }
}

/// What must agree for two observations to be of one action: the job and its end. Another job under the
/// same tenant, attempt and step is a conflict.
fn fingerprint(binding: &Binding, outcome: &Name) -> Fingerprint {
    let mut hasher = Sha256::new();
    hasher.update(b"ackbox workflow fingerprint 1");
    for text in [
        binding.job.space.as_str(),
        &binding.account,
        &binding.job.id,
        outcome.as_str(),
    ] {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    }
    let hash: Hash = hasher.finalize().into();
    Fingerprint {
        hash,
        recipe: Fingerprint::recipe_of(["job", "outcome"]),
        digest: hash,
    }
}

/// What a step delivers, in the order in which it is sent.
#[derive(Serialize)]
struct Envelope<'a> {
    key: &'a str,
    tenant: &'a str,
    attempt: Raw<'a>,
    step: &'a str,
    job: Job<'a>,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Raw<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<&'a str, Raw<'a>>,
}

#[derive(Serialize)]
struct Job<'a> {
    space: &'a str,
    id: &'a str,
    account: &'a str,
}

/// JSON that is sent as it was written.
enum Raw<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

impl Serialize for Raw<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(raw) => raw.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

/// Text that is no JSON, which neither a binding nor a source holds, is sent as a text.
fn raw(text: &str) -> Raw<'_> {
    serde_json::from_str(text).map_or(Raw::Text(text), Raw::Json)
}

fn envelope(
    key: &ActionKey,
    binding: &Binding,
    step: &Step,
    observation: &JobObservation,
) -> RenderedBody {
    let values = step.values.iter().filter_map(|name| {
        let value = observation.values.get(name)?;
        Some((name.as_str(), raw(value)))
    });
    let envelope = Envelope {
        key: key.as_str(),
        tenant: &binding.tenant,
        attempt: match &binding.attempt {
            Scalar::Text(text) => Raw::Text(text),
            other => raw(other.as_str()),
        },
        step: step.name.as_str(),
        job: Job {
            space: binding.job.space.as_str(),
            id: &binding.job.id,
            account: &binding.account,
        },
        outcome: observation.outcome.as_str(),
        input: step.input.as_deref().map(raw),
        values: values.collect(),
    };
    RenderedBody {
        bytes: serde_json::to_vec(&envelope).expect("texts and raw JSON always serialise"),
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
    }
}

/// The beginning of a hash of texts that cannot run into each other.
fn short<const N: usize>(what: &str, texts: &[&str]) -> [u8; N] {
    let mut hasher = Sha256::new();
    hasher.update(what);
    for text in texts {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    }
    let hash: Hash = hasher.finalize().into();
    let mut short = [0; N];
    short.copy_from_slice(&hash[..N]);
    short
}
