//! What a receiver would make of a message that is proven: which actions, under which keys, or which job's end. Told to the
//! person who asks, decided by the same rules; nothing is written.

use ackbox_config::SourceConfig;
use ackbox_domain::job::{self, JobWord, Known};
use ackbox_domain::observation::Problem;
use ackbox_domain::{
    Action, Document, Fact, Malformed, Observation, Payload, Scalar, Source, Timestamp,
};
use ackbox_signature::Verified;
use serde_json::{Value, json};

use crate::output::escaped;

/// What one fact of the message leads to.
#[derive(Debug)]
pub(super) enum Consequence {
    /// An action.
    Action {
        rule: String,
        key: String,
        parts: Vec<(String, String)>,
        destination: String,
        event: Option<String>,
        /// What would be sent, where a template renders it.
        rendered: Option<String>,
    },
    /// The end of a job.
    Ended {
        job: String,
        account: String,
        outcome: String,
        event: Option<String>,
    },
    /// A job goes on.
    Progress { event: Option<String> },
    /// No rule wants it.
    Unwanted { event: Option<String> },
    /// The sender tests the connection.
    Test { event: Option<String> },
    /// It cannot be used.
    Malformed { problem: String },
    /// It is older than its source allows.
    TooOld { problem: String },
}

/// Follows a proven message through the source's rules.
pub(super) fn follow(
    configured: &SourceConfig,
    verified: &Verified<'_>,
    now: Timestamp,
) -> Vec<Consequence> {
    let source = &configured.source;
    let bytes = verified.message().body.len();
    if bytes > source.max_body {
        let problem = format!(
            "the body has {bytes} bytes, over the source's `max_body` of {}: answered with 413, before its signature is looked at",
            source.max_body
        );
        return vec![Consequence::Malformed { problem }];
    }
    let document = Document::read(source, verified);
    ackbox_domain::follow(source, &document, now)
        .into_iter()
        .flat_map(|fact| match fact {
            Ok(fact) => {
                let word = job_word(source, &fact.observation, verified.secret_label(), now);
                Consequence::of(source, fact, word)
            }
            Err(malformed) => vec![malformed.into()],
        })
        .collect()
}

/// What the receiver would take a fact for, where the source's facts speak of jobs.
fn job_word(
    source: &Source,
    observation: &Observation<'_>,
    secret: &str,
    now: Timestamp,
) -> Result<JobWord, Malformed> {
    let Some(jobs) = &source.jobs else {
        return Ok(JobWord::Nothing);
    };
    let known = Known {
        secret: Some(secret),
        asked: None,
    };
    job::word(jobs, source, observation, known, now)
}

impl From<Malformed> for Consequence {
    fn from(malformed: Malformed) -> Self {
        let problem = malformed.to_string();
        match malformed.problem {
            Problem::TooOld { .. } => Self::TooOld { problem },
            _ => Self::Malformed { problem },
        }
    }
}

/// The body that a template makes. The others are what came, as it stands there.
fn rendered(source: &Source, action: &Action) -> Option<String> {
    let rule = source.rules.iter().find(|rule| rule.name == action.rule)?;
    let is_template = matches!(rule.payload, Payload::Template(_));
    is_template.then(|| String::from_utf8_lossy(&action.body.bytes).into_owned())
}

impl Consequence {
    fn of(source: &Source, fact: Fact<'_>, word: Result<JobWord, Malformed>) -> Vec<Self> {
        let event = fact.observation.event;
        if fact.observation.is_test {
            return vec![Self::Test { event }];
        }
        let of_job = match word {
            Ok(JobWord::Ended(end)) => Some(Self::Ended {
                job: end.job.to_string(),
                account: end.account,
                outcome: end.outcome.to_string(),
                event: event.clone(),
            }),
            Ok(JobWord::Progress) => Some(Self::Progress {
                event: event.clone(),
            }),
            Ok(JobWord::Nothing) => None,
            Err(malformed) => Some(malformed.into()),
        };
        if fact.actions.is_empty() && of_job.is_none() {
            return vec![Self::Unwanted { event }];
        }
        let consequence = |made: Result<Action, Malformed>| {
            made.map_or_else(Self::from, |action| Self::action(source, action))
        };
        let by_rules = fact.actions.into_iter().map(consequence);
        by_rules.chain(of_job).collect()
    }

    fn action(source: &Source, action: Action) -> Self {
        let part = |(name, value): (String, Scalar)| (name, value.as_str().to_owned());
        Self::Action {
            rule: action.rule.to_string(),
            key: action.key.to_string(),
            destination: action.destination.to_string(),
            rendered: rendered(source, &action),
            parts: action.parts.into_iter().map(part).collect(),
            event: action.event,
        }
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let of = |event: &Option<String>| match event {
            Some(event) => format!("event {}", escaped(event)),
            None => "event without a type".to_owned(),
        };
        match self {
            Self::Action {
                rule,
                key,
                parts,
                destination,
                event,
                rendered,
            } => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(name, value)| format!("{} = {}", escaped(name), escaped(value)))
                    .collect();
                let sends = rendered.as_ref().map_or(String::new(), |body| {
                    format!("\n    sends {}", escaped(body))
                });
                format!(
                    "{}: rule {rule} makes {key} ({}) for {destination}{sends}",
                    of(event),
                    parts.join(", ")
                )
            }
            Self::Ended {
                job,
                account,
                outcome,
                event,
            } => format!(
                "{}: the job {} of the account {} has ended: {outcome}; its binding says what follows",
                of(event),
                escaped(job),
                escaped(account)
            ),
            Self::Progress { event } => format!("{}: a job goes on (progress)", of(event)),
            Self::Unwanted { event } => format!("{}: no rule wants it (ignored)", of(event)),
            Self::Test { event } => format!("{}: the sender's test event (ignored)", of(event)),
            Self::Malformed { problem } => {
                format!("it could not be used: {}", escaped(problem))
            }
            Self::TooOld { problem } => {
                format!("it would be refused (too-old): {}", escaped(problem))
            }
        }
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Action {
                rule,
                key,
                parts,
                destination,
                event,
                rendered,
            } => {
                let parts: Vec<Value> = parts
                    .iter()
                    .map(|(name, value)| json!({"part": name, "value": value}))
                    .collect();
                json!({"becomes": "action", "event": event, "rule": rule, "key": key, "parts": parts, "destination": destination, "renders": rendered})
            }
            Self::Ended {
                job,
                account,
                outcome,
                event,
            } => {
                json!({"becomes": "end", "event": event, "job": job, "account": account, "outcome": outcome})
            }
            Self::Progress { event } => json!({"becomes": "progress", "event": event}),
            Self::Unwanted { event } => json!({"becomes": "ignored", "event": event}),
            Self::Test { event } => json!({"becomes": "test", "event": event}),
            Self::Malformed { problem } => json!({"becomes": "malformed", "problem": problem}),
            Self::TooOld { problem } => json!({"becomes": "too-old", "problem": problem}),
        }
    }
}
