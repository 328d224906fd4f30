//! What the verdict looks at: the senders' ledger, what the destinations logged, and, for actions that no
//! destination confirmed, where the table says they stand.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_domain::settlement::Word;
use ackbox_domain::{Breaker, EntryState, OutcomeKind};
use serde_json::value::RawValue;

use super::destination::{Answered, Reply};
use super::job::Job;
use super::ledger::Sent;
use super::status::Said;

/// Everything that is known after a run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The senders' ledger.
    pub sent: Vec<Sent>,
    /// The destinations' logs: one destination after the other, each in the order of reading.
    pub attempts: Vec<Attempt>,
    /// The questions that they logged, in the same order.
    pub questions: Vec<Question>,
    /// Every entry that the table holds of what is not delivered, and of what the destinations saw.
    pub standing: Vec<Standing>,
    /// The jobs of the application.
    pub jobs: Vec<JobSeen>,
    /// The questions about jobs that their system's status service logged, in the order of reading.
    pub lookups: Vec<Lookup>,
}

/// One request that a destination read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Where.
    pub destination: String,
    /// When it was read, by the destination's own time.
    pub at: Duration,
    /// When the destination is to be paused; none, where never.
    pub breaker: Option<Breaker>,
    /// Whether the destination keeps idempotency keys.
    pub keeps_keys: bool,
    /// The key it came under.
    pub key: String,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// What it was answered.
    pub answered: Answered,
    /// Whether its signature verified, where the destination wants one.
    pub genuine: Option<bool>,
}

impl Attempt {
    /// Whether the destination said that it has the action.
    pub fn confirms(&self) -> bool {
        matches!(self.answered, Answered::Status(status) if (200..300).contains(&status))
    }

    /// What the one who sent this attempt can know of it, by the rules for answers.
    pub fn outcome(&self) -> OutcomeKind {
        match self.answered {
            Answered::Status(200..=299) => OutcomeKind::Succeeded,
            Answered::Status(429) => OutcomeKind::Busy,
            // Of a destination without keys, a bare 503 proves nothing.
            Answered::Status(503) if self.keeps_keys => OutcomeKind::Busy,
            Answered::Status(300..=499) => OutcomeKind::Rejected,
            Answered::Status(_) | Answered::Dropped | Answered::Stalled => OutcomeKind::Unknown,
        }
    }

    /// Whether this delivers that body of that source: as it is, or as the data of an envelope, which names
    /// its source. Two senders may send the same bytes.
    pub fn carries(&self, body: &[u8], source: &str) -> bool {
        let is_own = |(of, data): (&str, &[u8])| of == source && data == trimmed(body);
        self.body == body || self.enveloped().is_some_and(is_own)
    }

    /// Of which job this is a step, and which, where the body says so.
    pub fn step(&self) -> Option<StepOf> {
        serde_json::from_slice(&self.body).ok()
    }

    fn enveloped(&self) -> Option<(&str, &[u8])> {
        #[derive(serde::Deserialize)]
        struct Envelope<'a> {
            source: &'a str,
            #[serde(borrow)]
            data: &'a RawValue,
        }
        let envelope: Envelope<'_> = serde_json::from_slice(&self.body).ok()?;
        Some((envelope.source, trimmed(envelope.data.get().as_bytes())))
    }
}

/// One question that a destination read, and what it replied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Where.
    pub destination: String,
    /// The key that was asked about.
    pub key: String,
    /// How many attempts under this key the destination had read by then.
    pub after: usize,
    /// What it replied, and meant by it.
    pub reply: Reply,
}

impl Question {
    /// What the destination meant: its own word, whatever was made of it.
    pub fn means(&self) -> Word {
        self.reply.means()
    }
}

/// Which step of which job.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct StepOf {
    /// The job.
    pub job: JobName,
    /// The step's name.
    pub step: String,
}

/// Which job.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct JobName {
    /// The job space.
    pub space: String,
    /// The id in it.
    pub id: String,
}

impl JobName {
    /// Whether this names that job.
    pub fn is(&self, job: &Job) -> bool {
        self.space == job.space && self.id == job.id
    }
}

/// A job, and what was said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSeen {
    /// What the application knows.
    pub job: &'static Job,
    /// What the registrar answered; none, where it was not told.
    pub filed: Option<Filed>,
    /// Where the job stands in the end; none, where nobody knows it.
    pub stands: Option<Stands>,
}

/// What the registrar answered when it was told of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filed {
    /// The status; 0 where there was no answer.
    pub status: u16,
    /// The word in `ackbox-outcome`, or why there was no answer.
    pub outcome: String,
    /// The key of each step's action, by the step's name.
    pub keys: BTreeMap<String, String>,
    /// What became of each message that had waited for this.
    pub taken_up: Vec<String>,
}

/// Where a job stands by the registrar's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stands {
    /// In a word.
    pub state: String,
    /// How it ended.
    pub end: Option<String>,
    /// The ends that were told, and are on the record as not agreeing with it.
    pub disagree: Vec<String>,
}

/// One question about a job, and what its system said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The job's id, as the question's path has it.
    pub id: String,
    /// What was said.
    pub said: Said,
    /// Whether the question showed the secret that the system wants.
    pub shows_secret: bool,
}

fn trimmed(body: &[u8]) -> &[u8] {
    body.trim_ascii()
}

/// Where the table says that an action stands. It is believed only where no destination speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The action's key.
    pub key: String,
    /// Its entry's state.
    pub state: EntryState,
    /// The body that is to be sent.
    pub body: Vec<u8>,
}
