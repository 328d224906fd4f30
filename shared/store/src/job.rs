//! Jobs: the application's record of one comes in, and every observed end of it; out goes what became of
//! the observation. What must never happen: that an end is acknowledged and neither on the record of its
//! job nor parked, or that a job's end is on the record without the actions that it makes.

use ackbox_domain::job::{Binding, JobObservation, JobRef, Mismatch};
use ackbox_domain::{Acceptance, ActionKey, Name, Timestamp};
use data_encoding::HEXLOWER;

use crate::item::decode;
use crate::item::job::JobItem;
use crate::item::observed::ObservedItem;
use crate::retry::read_deadline;
use crate::schema::{attribute, job_pk, kind};
use crate::size::Attributes;
use crate::{Deadline, ItemError, OperatorRecord, Store, StoreError, operator};

mod bind;
mod disagree;
mod end;
mod park;
mod wait;

pub use end::Offer;
pub(crate) use end::{Beside, Committed, unchanged};
pub use park::StillParked;

/// The place of a disagreement in how the job ended.
const OUTCOME: &str = "outcome";

/// A job as the table holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// What the application said of it.
    pub binding: Binding,
    /// When.
    pub registered_at: Timestamp,
    /// How it ended, once that is known.
    pub ended: Option<Ended>,
    /// When it was given up.
    pub silent_at: Option<Timestamp>,
    /// How often its system was asked.
    pub asked: u64,
    /// What it said last.
    pub detail: Option<String>,
    /// When it is looked at next; none: never.
    pub due_at: Option<Timestamp>,
    /// The binding as it was written, which no write of ours changes.
    pub(crate) text: String,
}

impl JobRecord {
    /// The binding's JSON, as the application wrote it.
    pub fn written(&self) -> &str {
        &self.text
    }
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Name,
    /// When that became known.
    pub at: Timestamp,
    /// By which source.
    pub by: Option<Name>,
}

/// What became of a binding that was offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The job is bound now.
    New,
    /// It was bound before, to the same; nothing was written.
    Same,
    /// It was bound before to something else; nothing was written.
    Other,
}

/// What became of an observed end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAcceptance {
    /// The end is on the record now, and with it these actions of its steps, if any.
    Ended(Vec<(ActionKey, Acceptance)>),
    /// The end was on the record before; nothing was written.
    Duplicate,
    /// It does not agree with the job, and that is on the record. No action.
    Disagrees(Disagreement),
    /// The job is not bound yet; the end waits for that.
    Parked {
        /// Whether it waited before.
        again: bool,
    },
    /// The job is not bound, and nothing was kept.
    Unbound,
}

/// What an observation does not agree in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// What the application said of the job.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// How the job ended.
    #[error("the job has ended as {known}, and this says {seen}")]
    Outcome {
        /// On the record.
        known: Name,
        /// As it says.
        seen: Name,
    },
}

impl Disagreement {
    /// In words for a log, which keeps no value of a body: what disagrees, and not what was seen there.
    pub fn without_values(&self) -> String {
        match self {
            Self::Mismatch(Mismatch::Expected { place, .. }) => {
                format!("it does not say what is expected at {place}")
            }
            other => other.to_string(),
        }
    }

    /// What disagrees, without what was seen.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Mismatch(mismatch) => mismatch.place(),
            Self::Outcome { .. } => OUTCOME.to_owned(),
        }
    }
}

/// Everything that the table holds about one job.
#[derive(Debug, Default)]
pub struct JobStory {
    /// The job.
    pub job: Option<JobRecord>,
    /// Observations of it, in the order of time.
    pub observed: Vec<ObservedRecord>,
    /// What operators did about it, in the order of time.
    pub operators: Vec<OperatorRecord>,
    /// Items that this version cannot read: sort key and reason.
    pub unreadable: Vec<(String, ItemError)>,
}

/// Why an observation is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// By it, the job's end became known.
    Seen,
    /// It waits for the job to be bound.
    Parked,
    /// It does not agree with the job.
    Disagrees,
}

/// An observation that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedRecord {
    /// Why.
    pub kind: Observed,
    /// Its sort key.
    pub sk: String,
    /// The observation.
    pub seen: JobObservation,
    /// Whether its body is there; one that had no room beside the rest is not.
    pub is_whole: bool,
    /// What it disagrees in.
    pub why: Option<String>,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// How often, at least.
    pub count: u64,
    /// Until when it waits, where it is parked.
    pub until: Option<Timestamp>,
    /// When it was given up.
    pub expired_at: Option<Timestamp>,
    /// What an operator made of it, and when.
    pub resolved: Option<(String, Timestamp)>,
}

impl ObservedRecord {
    /// Whether it disagrees in how the job ended, and in nothing else.
    pub fn is_of_outcome(&self) -> bool {
        let outcome = self.seen.disagreement(OUTCOME);
        self.kind == Observed::Disagrees && self.print() == HEXLOWER.encode(&outcome)
    }

    /// What names it among the observations of its job: the end of its sort key.
    pub fn print(&self) -> &str {
        self.sk.rsplit('#').next().unwrap_or_default()
    }
}

impl Store {
    /// A job, read consistently; `None`: not bound.
    ///
    /// # Errors
    /// [`StoreError::Item`] for a record that cannot be read.
    pub async fn job(&self, job: &JobRef) -> Result<Option<JobRecord>, StoreError> {
        self.job_until(job, read_deadline()).await
    }

    async fn job_until(
        &self,
        job: &JobRef,
        deadline: Deadline,
    ) -> Result<Option<JobRecord>, StoreError> {
        let item = self.item(&job_pk(job), kind::JOB, deadline).await?;
        item.map(|item| record(item, job)).transpose()
    }

    /// Everything that the table holds about a job.
    pub async fn job_story(&self, job: &JobRef) -> Result<JobStory, StoreError> {
        let mut story = JobStory::default();
        for item in self.partition(&job_pk(job), None).await? {
            story.add(job, item);
        }
        story.observed.sort_by_key(|observed| observed.seen.seen_at);
        Ok(story)
    }
}

fn record(item: Attributes, job: &JobRef) -> Result<JobRecord, StoreError> {
    let read = decode::<JobItem>(item).and_then(|item| item.into_record(job));
    read.map_err(StoreError::Item)
}

impl JobStory {
    /// Takes up an item by its kind. What does not read is named, and hides nothing else.
    fn add(&mut self, job: &JobRef, item: Attributes) {
        let sk = match item.get(attribute::SK).map(|sk| sk.as_s()) {
            Some(Ok(sk)) => sk.clone(),
            _ => String::new(),
        };
        let kinds = [
            (kind::SEEN, Observed::Seen),
            (kind::PARKED, Observed::Parked),
            (kind::CONFLICT, Observed::Disagrees),
        ];
        let observed = kinds.into_iter().find(|(prefix, _)| sk.starts_with(prefix));
        let read = if sk == kind::JOB {
            let read = decode::<JobItem>(item).and_then(|item| item.into_record(job));
            read.map(|record| self.job = Some(record))
        } else if let Some((_, kind)) = observed {
            let read = decode::<ObservedItem>(item).and_then(|item| item.into_record(job, kind));
            read.map(|record| self.observed.push(record))
        } else if sk.starts_with(kind::OPERATOR) {
            operator::read(item).map(|record| self.operators.push(record))
        } else {
            Err(ItemError::Broken {
                what: "a kind of item that this version does not know".to_owned(),
            })
        };
        if let Err(error) = read {
            self.unreadable.push((sk, error));
        }
    }
}
