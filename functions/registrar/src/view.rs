//! A job as the table holds it, in the words of the answers and of the command line. The bodies of
//! observations are not in it.

use ackbox_domain::Timestamp;
use ackbox_domain::job::{Binding, JobRef, SILENT};
use ackbox_store::{JobRecord, JobStory, Observed, ObservedRecord, OperatorRecord};
use serde::Serialize;
use serde_json::value::RawValue;

/// Which job.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JobName<'j> {
    space: &'j str,
    id: &'j str,
    account: &'j str,
}

impl<'j> JobName<'j> {
    pub(crate) fn of(job: &'j JobRef, account: &'j str) -> Self {
        Self {
            space: job.space.as_str(),
            id: &job.id,
            account,
        }
    }
}

/// The action of a step: its key is known before it is made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepKey<'b> {
    step: &'b str,
    key: String,
    on: Vec<&'b str>,
    destination: &'b str,
}

impl<'b> StepKey<'b> {
    pub(crate) fn all(binding: &'b Binding) -> Vec<Self> {
        let key = |step: &'b ackbox_domain::job::Step| Self {
            step: step.name.as_str(),
            key: binding.key(step).to_string(),
            on: step.on.iter().map(|on| on.as_str()).collect(),
            destination: step.destination.as_str(),
        };
        binding.steps.iter().map(key).collect()
    }
}

/// A bound job, whole.
#[derive(Clone, Debug, Serialize)]
pub struct JobView<'s> {
    job: JobName<'s>,
    /// `waiting`, `silent` or `ended`.
    pub state: &'static str,
    outcome: Option<&'s str>,
    ended_at: Option<String>,
    by: Option<&'s str>,
    registered_at: String,
    asked: u64,
    detail: Option<&'s str>,
    due_at: Option<String>,
    silent_at: Option<String>,
    /// Of the steps that wait for how the job has ended, or for its being given up.
    actions: Vec<StepKey<'s>>,
    observations: Vec<ObservedView<'s>>,
    operators: Vec<OperatorView<'s>>,
    unreadable: Vec<UnreadableView<'s>>,
    binding: Option<&'s RawValue>,
}

/// An observation that is kept, without its body.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedView<'s> {
    /// `seen`, `parked` or `disagrees`.
    kind: &'static str,
    source: &'s str,
    account: &'s str,
    outcome: &'s str,
    seen_at: String,
    last_seen: String,
    count: u64,
    why: Option<&'s str>,
    until: Option<String>,
    expired_at: Option<String>,
    /// By which an operator names one that disagrees.
    fingerprint: &'s str,
    /// What an operator made of it.
    resolution: Option<&'s str>,
}

/// What an operator did.
#[derive(Clone, Debug, Serialize)]
struct OperatorView<'s> {
    at: String,
    by: &'s str,
    did: &'s str,
    detail: Option<&'s str>,
    reason: Option<&'s str>,
}

impl<'s> OperatorView<'s> {
    fn all(story: &'s JobStory) -> Vec<Self> {
        let of = |record: &'s OperatorRecord| Self {
            at: record.at.to_string(),
            by: &record.by,
            did: &record.did,
            detail: record.detail.as_deref(),
            reason: record.reason.as_deref(),
        };
        story.operators.iter().map(of).collect()
    }
}

/// An item that this version cannot read.
#[derive(Clone, Debug, Serialize)]
struct UnreadableView<'s> {
    sort_key: &'s str,
    problem: String,
}

impl<'s> JobView<'s> {
    /// The job of a story; `None`: it is not bound.
    pub fn of(story: &'s JobStory) -> Option<Self> {
        let record = story.job.as_ref()?;
        let ended = record.ended.as_ref();
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        Some(Self {
            job: JobName::of(&record.binding.job, &record.binding.account),
            state: state(record),
            outcome: ended.map(|ended| ended.outcome.as_str()),
            ended_at: time(ended.map(|ended| ended.at)),
            by: ended.and_then(|ended| Some(ended.by.as_ref()?.as_str())),
            registered_at: record.registered_at.to_string(),
            asked: record.asked,
            detail: record.detail.as_deref(),
            due_at: time(record.due_at),
            silent_at: time(record.silent_at),
            actions: made(record),
            observations: ObservedView::all(story),
            operators: OperatorView::all(story),
            unreadable: UnreadableView::all(story),
            binding: serde_json::from_str(record.written()).ok(),
        })
    }
}

/// Where a bound job stands: `waiting`, `silent` or `ended`.
pub fn state(record: &JobRecord) -> &'static str {
    match (&record.ended, record.silent_at) {
        (Some(_), _) => "ended",
        (None, Some(_)) => "silent",
        (None, None) => "waiting",
    }
}

/// The actions of the steps that wait for what has happened.
fn made(record: &JobRecord) -> Vec<StepKey<'_>> {
    let outcome = record.ended.as_ref().map(|ended| ended.outcome.as_str());
    let silent = record.silent_at.map(|_| SILENT);
    let mut steps = StepKey::all(&record.binding);
    steps.retain(|step| {
        let happened = [outcome, silent].into_iter().flatten();
        happened.into_iter().any(|what| step.on.contains(&what))
    });
    steps
}

impl<'s> ObservedView<'s> {
    /// Every observation of a story, in the order of time.
    pub fn all(story: &'s JobStory) -> Vec<Self> {
        story.observed.iter().map(Self::of).collect()
    }

    fn of(record: &'s ObservedRecord) -> Self {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        Self {
            kind: match record.kind {
                Observed::Seen => "seen",
                Observed::Parked => "parked",
                Observed::Disagrees => "disagrees",
            },
            source: record.seen.source.as_str(),
            account: &record.seen.account,
            outcome: record.seen.outcome.as_str(),
            seen_at: record.seen.seen_at.to_string(),
            last_seen: record.last_seen.to_string(),
            count: record.count,
            why: record.why.as_deref(),
            until: time(record.until),
            fingerprint: record.print(),
            resolution: record.resolved.as_ref().map(|(how, _)| how.as_str()),
            expired_at: time(record.expired_at),
        }
    }
}

impl<'s> UnreadableView<'s> {
    fn all(story: &'s JobStory) -> Vec<Self> {
        let one = |(sort_key, problem): &'s (String, ackbox_store::ItemError)| Self {
            sort_key,
            problem: problem.to_string(),
        };
        story.unreadable.iter().map(one).collect()
    }
}

/// A job that is not bound, and what waits for that.
#[derive(Clone, Debug, Serialize)]
pub struct UnboundView<'s> {
    outcome: &'static str,
    parked: Vec<ObservedView<'s>>,
    unreadable: Vec<UnreadableView<'s>>,
}

impl<'s> UnboundView<'s> {
    /// Of the story of a job that is not bound.
    pub fn of(story: &'s JobStory) -> Self {
        Self {
            outcome: "unbound",
            parked: ObservedView::all(story),
            unreadable: UnreadableView::all(story),
        }
    }
}
