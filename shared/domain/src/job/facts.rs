//! A source's fact comes in; out goes what it says of a job: nothing, that it goes on, or how it ended.
//! What must never happen: that a word which nobody explained is taken for an end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{DEFAULT_ACCOUNT, JobObservation, JobRef};
use crate::action::{RenderedBody, is_invisible};
use crate::json::{Pointer, Scalar};
use crate::name::Name;
use crate::observation::{Malformed, Observation, Phase, Problem};
use crate::source::{EventPattern, Locator, Source};
use crate::time::Timestamp;

/// How a source's facts speak of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// The space of its job ids.
    pub space: Name,
    /// Within what an id of the space is unique.
    pub ids: Ids,
    /// Which events are about jobs; all others say nothing of one.
    pub on: Vec<EventPattern>,
    /// The account of all that comes by this source, where nothing else tells it.
    pub account: Option<String>,
    /// The accounts of those that sign with a secret of their own, by the secret's reference.
    pub accounts: BTreeMap<String, String>,
    /// Where the job's status stands; the first that is there. It says more than the event's type does.
    pub status: Vec<Pointer>,
    /// What statuses and event types mean, in lower case: how the job ended.
    pub outcomes: BTreeMap<String, Name>,
    /// Statuses of a job that goes on, in lower case.
    pub progress: BTreeSet<String>,
    /// Values that steps may ask for, and that an application may expect, and where they stand in each
    /// shape in which the source tells them.
    pub values: BTreeMap<Name, Vec<Pointer>>,
    /// What becomes of the end of a job that is not bound.
    pub unbound: Unbound,
    /// How long such an end waits for its binding.
    pub parked_for: Duration,
}

/// Within what a job id is unique.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ids {
    /// The space: another account's fact of the same id disagrees.
    #[default]
    Shared,
    /// An account: another account's fact of the same id is of another job.
    PerAccount,
}

/// What becomes of the verified end of a job that is not bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unbound {
    /// It is kept until the job is bound.
    #[default]
    Park,
    /// The sender is told, and comes again.
    Refuse,
    /// It is acknowledged, and nothing is kept.
    Ignore,
}

/// What an answer about a job means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupMeaning {
    /// Its body is read as a fact of the source is.
    Status,
    /// The job is not known there yet, or goes on: it is asked again.
    NotYet,
    /// The job has ended so, whatever its body says.
    Outcome(Name),
}

/// What is known of a fact beside what stands in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'k> {
    /// The reference of the secret that proved it, where one did.
    pub secret: Option<&'k str>,
    /// Which job and account it is about, where that was asked for.
    pub asked: Option<(&'k str, &'k str)>,
}

/// What one fact says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobWord {
    /// Nothing.
    Nothing,
    /// It goes on.
    Progress,
    /// It has ended.
    Ended(Box<JobObservation>),
}

impl Jobs {
    /// The largest value that is kept under a name, in bytes of JSON. A larger one cannot be told, nor can one that
    /// does not read: it is neither what was expected nor delivered.
    pub const VALUE_MAX: usize = 4 * 1024;

    /// The account of whom the source itself speaks, where no fact says otherwise.
    pub fn own_account(&self) -> &str {
        self.account.as_deref().unwrap_or(DEFAULT_ACCOUNT)
    }

    /// What a status or an event's type says.
    fn meaning(&self, word: &str) -> Option<Meaning> {
        let word = word.trim().to_lowercase();
        if self.progress.contains(&word) {
            return Some(Meaning::Progress);
        }
        self.outcomes.get(&word).cloned().map(Meaning::Ended)
    }
}

const ID: &str = "the job's id";
const ACCOUNT: &str = "the account";

enum Meaning {
    Progress,
    Ended(Name),
}

/// Reads what a fact says of a job.
///
/// # Errors
/// A status that no one explained; an end without a usable job id or account.
pub fn word(
    jobs: &Jobs,
    source: &Source,
    observation: &Observation<'_>,
    known: Known<'_>,
    now: Timestamp,
) -> Result<JobWord, Malformed> {
    let event = observation.event.as_deref();
    let is_about_jobs = jobs.on.iter().any(|on| on.matches(event));
    // What was asked for is about a job, whatever type of event it is.
    if observation.is_test || (known.asked.is_none() && !is_about_jobs) {
        return Ok(JobWord::Nothing);
    }
    if let Some(asked) = known.asked {
        is_of(source, observation, asked)?;
    }
    if observation.phase == Phase::Progress {
        return Ok(JobWord::Progress);
    }
    let outcome = match said(jobs, observation)? {
        None => return Ok(JobWord::Nothing),
        Some(Meaning::Progress) => return Ok(JobWord::Progress),
        Some(Meaning::Ended(outcome)) => outcome,
    };
    let account = match known.asked {
        Some((_, account)) => account.to_owned(),
        None => account(jobs, source, observation, known.secret)?,
    };
    let id = match known.asked {
        Some((id, _)) => id.to_owned(),
        None => identity(observation, &source.subject, ID)?
            .ok_or_else(|| flaw(ID, places(&source.subject), Problem::Missing))?,
    };
    Ok(JobWord::Ended(Box::new(JobObservation {
        job: JobRef::new(jobs.space.clone(), id, &account, jobs.ids),
        source: source.name.clone(),
        account,
        outcome,
        event: event.map(ToOwned::to_owned),
        message_id: observation.told(&source.id),
        values: values(jobs, observation),
        body: RenderedBody {
            bytes: observation.readable().to_vec(),
            content_type: Some("application/json".to_owned()),
            content_encoding: None,
        },
        digest: observation.digest,
        seen_at: now,
    })))
}

impl JobObservation {
    /// The end of a job that somebody told outright when asked for it.
    pub fn told(
        jobs: &Jobs,
        source: &Source,
        (id, account): (&str, &str),
        outcome: Name,
        body: &[u8],
        now: Timestamp,
    ) -> Self {
        Self {
            job: JobRef::new(jobs.space.clone(), id.to_owned(), account, jobs.ids),
            source: source.name.clone(),
            account: account.to_owned(),
            outcome,
            event: None,
            message_id: None,
            values: BTreeMap::new(),
            digest: Sha256::digest(body).into(),
            body: RenderedBody {
                bytes: body.to_vec(),
                content_type: None,
                content_encoding: None,
            },
            seen_at: now,
        }
    }
}

/// An answer that names a job or an account names those that were asked for.
fn is_of(
    source: &Source,
    observation: &Observation<'_>,
    (id, account): (&str, &str),
) -> Result<(), Malformed> {
    for (what, locators, asked) in [
        (ID, &source.subject, id),
        (ACCOUNT, &source.account, account),
    ] {
        let named = identity(observation, locators, what)?;
        if named.is_some_and(|named| named != asked) {
            return Err(flaw(what, places(locators), Problem::Another));
        }
    }
    Ok(())
}

/// What its status says; else what its event's type does.
fn said(jobs: &Jobs, observation: &Observation<'_>) -> Result<Option<Meaning>, Malformed> {
    const WHAT: &str = "the job's status";
    for pointer in &jobs.status {
        let wrong = |problem| flaw(WHAT, pointer.to_string(), problem);
        let raw = observation
            .find(pointer)
            .map_err(|error| wrong(error.into()))?;
        // What is no text or number is another field of that name.
        let Some(Ok(status)) = raw.map(Scalar::from_raw) else {
            continue;
        };
        let meaning = jobs.meaning(status.as_str());
        return meaning.map(Some).ok_or_else(|| {
            let seen = status.as_str().chars().take(60).collect();
            wrong(Problem::UnknownStatus(seen))
        });
    }
    Ok(observation
        .event
        .as_deref()
        .and_then(|event| jobs.meaning(event)))
}

fn account(
    jobs: &Jobs,
    source: &Source,
    observation: &Observation<'_>,
    secret: Option<&str>,
) -> Result<String, Malformed> {
    let told = identity(observation, &source.account, ACCOUNT)?;
    let of_secret = secret.and_then(|secret| jobs.accounts.get(secret));
    match (told, of_secret) {
        // Whoever has one account's secret speaks for that account alone.
        (Some(told), Some(of_secret)) if told != *of_secret => {
            Err(flaw(ACCOUNT, places(&source.account), Problem::Another))
        }
        (Some(account), _) => Ok(account),
        (None, Some(account)) => Ok(account.clone()),
        (None, None) => Ok(jobs.own_account().to_owned()),
    }
}

fn places(locators: &[Locator]) -> String {
    let places: Vec<String> = locators.iter().map(ToString::to_string).collect();
    places.join(", ")
}

/// A value that names something, where it is there.
fn identity(
    observation: &Observation<'_>,
    places: &[Locator],
    what: &str,
) -> Result<Option<String>, Malformed> {
    let found = observation
        .located(places)
        .map_err(|(place, problem)| flaw(what, place, problem))?;
    let Some(found) = found else {
        return Ok(None);
    };
    let text = found.as_str();
    let problem = if text.chars().all(is_invisible) {
        Problem::Blank
    } else if text.len() > JobRef::ID_MAX {
        Problem::TooLong(text.len())
    } else {
        return Ok(Some(text.to_owned()));
    };
    Err(flaw(what, self::places(places), problem))
}

fn values(jobs: &Jobs, observation: &Observation<'_>) -> BTreeMap<Name, String> {
    let told = |(name, pointers): (&Name, &Vec<Pointer>)| {
        let found = pointers.iter().find_map(|pointer| {
            let found = observation.find(pointer);
            found.map(|raw| raw.filter(|raw| !is_null(raw))).transpose()
        })?;
        let value = found.ok().and_then(value).unwrap_or_else(untold);
        Some((name.clone(), value))
    };
    jobs.values.iter().filter_map(told).collect()
}

/// A value as it is kept: the same text for whoever writes it, with whatever escapes. None: too large.
pub(super) fn value(raw: &str) -> Option<String> {
    let one = match serde_json::from_str::<String>(raw) {
        Ok(text) => serde_json::to_string(&text).ok()?,
        Err(_) => raw.to_owned(),
    };
    (one.len() <= Jobs::VALUE_MAX).then_some(one)
}

/// What stands for a value that is there and cannot be told. No source tells it: `null` is no value.
fn untold() -> String {
    "null".to_owned()
}

/// Whether a kept value is [`untold`].
pub(super) fn is_null(raw: &str) -> bool {
    raw.trim() == "null"
}

fn flaw(what: &str, place: String, problem: Problem) -> Malformed {
    Malformed {
        rule: None,
        what: what.to_owned(),
        place,
        problem,
    }
}

#[cfg(test)]
mod tests;
