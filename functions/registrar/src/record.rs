//! What the one log line of a request says: `register.answered`. Never a body, an input or an expected value.

use std::time::Duration;

use ackbox_domain::causes::in_one_line;
use ackbox_domain::job::JobRef;
use ackbox_edge::visible;
use ackbox_store::StoreError;

use crate::answer::Answer;
use crate::told::Told;

/// Collects what is worth saying of a request.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// What was asked for; empty where nothing was understood.
    pub(crate) route: &'static str,
    job: Option<String>,
    trouble: Vec<String>,
    keys: Vec<String>,
}

/// How many keys are told.
const KEPT: usize = 8;

impl Record {
    /// Which job it is about.
    pub(crate) fn about(&mut self, job: &JobRef) {
        self.job = Some(in_sight(&job.to_string()));
    }

    /// What became of an observation.
    pub(crate) fn became(&mut self, told: &Told) {
        let room = KEPT.saturating_sub(self.keys.len());
        let keys = told.actions().take(room);
        self.keys
            .extend(keys.map(|(key, became)| format!("{key} {became}")));
        self.trouble.extend(told.logged().map(in_sight));
    }

    /// The table's trouble, with everything behind it, and what is answered to it.
    pub(crate) fn failed(&mut self, error: &StoreError) -> Answer {
        self.trouble.push(in_sight(&in_one_line(error)));
        Answer::store(error)
    }

    /// Writes the line.
    pub(crate) fn log(&self, answer: &Answer, took: Duration) {
        let problem = answer.problem.as_deref().map(in_sight);
        let trouble: Vec<&str> = self
            .trouble
            .iter()
            .chain(&problem)
            .map(String::as_str)
            .collect();
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    name: "register.answered",
                    asked = self.route,
                    job = self.job.as_deref(),
                    outcome = answer.word,
                    status = answer.status.as_u16(),
                    detail = %trouble.join("; "),
                    action.keys = %self.keys.join(","),
                    duration_ms,
                    "register.answered"
                )
            };
        }
        if answer.status.is_server_error() {
            line!(error);
        } else if answer.status.is_client_error() || !trouble.is_empty() {
            line!(warn);
        } else {
            line!(info);
        }
    }
}

/// What came from outside, cut, and such that it steers no terminal.
fn in_sight(text: &str) -> String {
    text.chars().take(400).flat_map(visible).collect()
}
