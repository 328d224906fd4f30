//! What the one log line of a request says: `receive.answered`. Never a body, a secret or a signature.

use std::time::Duration;

use ackbox_domain::causes::in_one_line;
use ackbox_domain::job::JobObservation;
use ackbox_domain::observation::Problem;
use ackbox_domain::{Acceptance, Action, Malformed, Name, Observation, Source};
use ackbox_edge::visible;
use ackbox_signature::{Refusal, Verified};
use ackbox_store::{JobAcceptance, StoreError};

use crate::response::Outcome;

/// Collects what is worth saying while a message goes through its stages.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The source, as soon as the path has named one.
    pub(crate) source: Option<Name>,
    /// How often an event of this type was ignored in this process so far.
    pub(crate) ignored_so_far: Option<u64>,
    message_id: Option<String>,
    events: Vec<String>,
    secret: Option<String>,
    reason: Option<&'static str>,
    detail: Vec<String>,
    keys: Vec<String>,
    uncompared: usize,
    jobs: Vec<String>,
}

/// How much is kept of each kind: a batch of a hundred does not make a line of a hundred.
const KEPT: usize = 5;

impl Record {
    pub(crate) fn verified<'i>(&mut self, verified: Verified<'i>) -> Verified<'i> {
        self.secret = Some(verified.secret_label().to_owned());
        verified
    }

    pub(crate) fn refused(&mut self, refusal: &Refusal) -> Outcome {
        self.reason = Some(refusal.code());
        self.trouble(&refusal.to_string());
        Outcome::Refused
    }

    pub(crate) fn malformed(&mut self, malformed: Malformed) -> Outcome {
        let is_too_old = matches!(malformed.problem, Problem::TooOld { .. });
        // Not the signature's `too-old`: that is of the sending, and this of the fact.
        let reason = if is_too_old {
            "fact-too-old"
        } else {
            "unusable"
        };
        self.reason = Some(reason);
        self.trouble(&malformed.to_string());
        if is_too_old {
            Outcome::TooOld
        } else {
            Outcome::Malformed
        }
    }

    pub(crate) fn trouble(&mut self, why: &str) {
        if self.detail.len() < KEPT {
            self.detail
                .push(why.chars().take(400).flat_map(visible).collect());
        }
    }

    pub(crate) fn observe(&mut self, source: &Source, observation: &Observation<'_>) {
        if self.message_id.is_none() {
            let id = observation.told(&source.id);
            self.message_id = id.map(|id| id.chars().flat_map(visible).collect());
        }
        let event = observation.event.as_deref().unwrap_or("(none)");
        // Comes from outside, and may end on a terminal.
        let event = event.chars().take(100).flat_map(visible).collect();
        if self.events.len() < KEPT && !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    pub(crate) fn accept(
        &mut self,
        action: &Action,
        acceptance: &Result<Acceptance, StoreError>,
        outcome: &Outcome,
    ) {
        if self.keys.len() < KEPT {
            self.keys.push(format!("{} {}", action.key, outcome.word()));
        }
        match acceptance {
            Ok(Acceptance::Duplicate {
                uncompared: true, ..
            }) => self.uncompared += 1,
            Ok(_) => {}
            Err(error) => self.trouble(&in_one_line(error)),
        }
    }

    pub(crate) fn end(
        &mut self,
        end: &JobObservation,
        became: &Result<JobAcceptance, StoreError>,
        outcome: &Outcome,
    ) {
        if self.jobs.len() < KEPT {
            let job = format!("{} {} {}", end.job, end.outcome, outcome.word());
            self.jobs.push(job.chars().flat_map(visible).collect());
        }
        match became {
            Ok(JobAcceptance::Ended(actions)) => {
                for (key, acceptance) in actions.iter().take(KEPT - self.keys.len()) {
                    self.keys.push(format!("{key} {}", acceptance.word()));
                }
            }
            Ok(JobAcceptance::Disagrees(why)) => self.trouble(&why.without_values()),
            Ok(_) => {}
            Err(error) => self.trouble(&in_one_line(error)),
        }
    }

    /// Writes the line.
    pub(crate) fn log(&self, outcome: &Outcome, took: Duration) {
        let status = outcome.status().as_u16();
        let source = self.source.as_ref().map(Name::as_str);
        let message_id = self.message_id.as_deref();
        let event = self.events.join(",");
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    name: "receive.answered",
                    source,
                    message.id = message_id,
                    event,
                    outcome = outcome.word(),
                    status,
                    reason = self.reason,
                    detail = %self.detail.join("; "),
                    action.keys = %self.keys.join(","),
                    jobs = %self.jobs.join(","),
                    secret = self.secret.as_deref(),
                    uncompared = self.uncompared,
                    ignored.count = self.ignored_so_far,
                    duration_ms,
                    "receive.answered"
                )
            };
        }
        match outcome {
            Outcome::Unavailable | Outcome::Defect => line!(error),
            Outcome::Conflict { .. }
            | Outcome::Unbound { refuse: true }
            | Outcome::Malformed
            | Outcome::TooOld
            | Outcome::TooLarge => line!(warn),
            _ => line!(info),
        }
    }
}
