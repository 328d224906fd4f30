//! What is told of trouble with a job: an observation that does not agree with it, or its silence.

use serde::Serialize;

use super::{Notify, Of, Trouble, plain};
use crate::action::Action;
use crate::job::{Binding, JobObservation, JobRef};
use crate::name::Name;
use crate::time::Timestamp;

/// What is told of a job.
#[derive(Serialize)]
struct OfJob<'a> {
    space: &'a str,
    job: String,
    account: String,
    became: &'a str,
    source: &'a str,
    outcome: Option<&'a str>,
    fingerprint: Option<&'a str>,
    asked: Option<u64>,
    detail: Option<String>,
    at: String,
}

impl Notify {
    /// The notice of an observation that does not agree with its job, and of why.
    ///
    /// The key is made of the job and of what disagrees: one notice, however often that is said.
    pub fn of_disagreement(&self, seen: &JobObservation, place: &str, why: &str) -> Option<Action> {
        let trouble = Trouble::Conflict;
        if !self.on.contains(&trouble) {
            return None;
        }
        let fingerprint = data_encoding::HEXLOWER.encode(&seen.disagreement(place));
        let told = OfJob {
            space: seen.job.space.as_str(),
            job: plain(&seen.job.id),
            account: plain(&seen.account),
            became: trouble.as_str(),
            source: seen.source.as_str(),
            outcome: Some(seen.outcome.as_str()),
            fingerprint: Some(&fingerprint),
            asked: None,
            detail: Some(plain(why)),
            at: seen.seen_at.to_string(),
        };
        let of = Of::Job(&seen.job);
        self.notice(trouble, of, Some(&fingerprint), &told, seen.seen_at)
    }

    /// The notice of a job that is given up at `now`, after it was asked about so often. `detail` is what was
    /// heard last.
    pub fn of_silence(
        &self,
        binding: &Binding,
        (source, asked): (&Name, u64),
        detail: Option<&str>,
        now: Timestamp,
    ) -> Option<Action> {
        let trouble = Trouble::Silent;
        if !self.on.contains(&trouble) {
            return None;
        }
        let told = OfJob {
            space: binding.job.space.as_str(),
            job: plain(&binding.job.id),
            account: plain(&binding.account),
            became: trouble.as_str(),
            source: source.as_str(),
            outcome: None,
            fingerprint: None,
            asked: Some(asked),
            detail: detail.map(plain),
            at: now.to_string(),
        };
        self.notice(trouble, Of::Job(&binding.job), None, &told, now)
    }

    pub(super) fn sample_of_job(&self, trouble: Trouble, text: Option<&str>) -> Option<Action> {
        let (at, name) = (Timestamp::from_unix_ms(0), "x");
        let told = OfJob {
            space: name,
            job: text.map_or_else(|| name.to_owned(), plain),
            account: text.map_or_else(|| name.to_owned(), plain),
            became: trouble.as_str(),
            source: name,
            outcome: text.map(|_| name),
            fingerprint: text.map(|_| name),
            asked: text.map(|_| 1),
            detail: text.map(plain),
            at: at.to_string(),
        };
        let job = JobRef {
            space: name.parse().ok()?,
            id: name.to_owned(),
            account: None,
        };
        self.notice(trouble, Of::Job(&job), Some(name), &told, at)
    }
}
