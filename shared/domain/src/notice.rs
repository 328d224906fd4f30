//! Trouble becomes an action of its own: an entry that is about to be dead, held or unknown, other
//! content under a known key, an observation that does not agree with its job, or a job that is given up, comes in; out goes what the destination for trouble is told, under a key
//! of its own. What must never happen: that trouble with a notice makes a notice, or that one trouble
//! is told under two keys.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::acceptance::Fingerprint;
use crate::action::{Action, ActionKey, RenderedBody, envelope};
use crate::carriage::{Carriage, Unfit, is_xml};
use crate::job::JobRef;
use crate::json::Scalar;
use crate::name::Name;
use crate::outbox::{AttemptRecord, EntryState, OutboxEntry};
use crate::settlement::Settled;
use crate::time::Timestamp;

mod job;

/// The source that notices come from. No configured source has this name.
pub const SOURCE: &str = "ackbox";
/// The rule that notices come from; with [`SOURCE`], their keys' namespace.
pub const RULE: &str = "notify";

/// The most characters of a text from outside that a notice has.
const TEXT_MAX: usize = 256;

/// What there is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trouble {
    /// An entry was given up.
    Dead,
    /// An entry waits for an operator.
    Held,
    /// An entry may have arrived, and its destination is asked.
    Unknown,
    /// Other content came under a known key, or an observation that does not agree with its job.
    Conflict,
    /// A job stayed silent, and was given up.
    Silent,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Trouble; 5] = [
        Self::Dead,
        Self::Held,
        Self::Unknown,
        Self::Conflict,
        Self::Silent,
    ];

    /// The word in the configuration and in the notice.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Held => "held",
            Self::Unknown => "unknown",
            Self::Conflict => "conflict",
            Self::Silent => "silent",
        }
    }

    const fn of(state: EntryState) -> Option<Self> {
        match state {
            EntryState::Dead => Some(Self::Dead),
            EntryState::Held => Some(Self::Held),
            EntryState::Unknown => Some(Self::Unknown),
            EntryState::Pending | EntryState::Claimed | EntryState::Delivered => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who is told of trouble, and of which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// The destination that is told.
    pub destination: Name,
    /// What it is told of.
    pub on: BTreeSet<Trouble>,
}

/// An attempt that led to a settlement, as far as a notice tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Last<'a> {
    /// The attempt.
    pub attempt: Option<&'a AttemptRecord>,
    /// What happened, in words.
    pub detail: Option<&'a str>,
}

/// What is told of an entry.
#[derive(Serialize)]
struct OfEntry<'a> {
    action: &'a str,
    became: &'a str,
    reason: Option<&'a str>,
    source: &'a str,
    destination: &'a str,
    accepted_at: String,
    first_uncertain_at: Option<String>,
    attempts: u64,
    last_status: Option<u16>,
    detail: Option<String>,
    at: String,
}

/// What is told of a conflict.
#[derive(Serialize)]
struct OfConflict<'a> {
    action: &'a str,
    became: &'a str,
    source: &'a str,
    rule: &'a str,
    destination: &'a str,
    accepted_at: String,
    fingerprint: &'a str,
    message_id: Option<String>,
    event: Option<String>,
    subject: Option<String>,
    at: String,
}

impl Notify {
    /// The notice of an entry that is settled so at `now`; `None` where there is nothing to tell: no
    /// trouble, none that is wanted, none that is new, or trouble with a notice.
    ///
    /// The key is made of the entry's key and its new state: however often an entry comes to that state, it is one
    /// notice.
    pub fn of_settlement(
        &self,
        entry: &OutboxEntry,
        settled: &Settled,
        last: Last<'_>,
        now: Timestamp,
    ) -> Option<Action> {
        let state = settled.settlement.state();
        let trouble = Trouble::of(state)?;
        let is_news = entry.state != state;
        if !is_news || !self.on.contains(&trouble) || is_notice(&entry.source) {
            return None;
        }
        let told = OfEntry {
            action: entry.key.as_str(),
            became: trouble.as_str(),
            reason: settled.settlement.reason().map(|reason| reason.as_str()),
            source: entry.source.as_str(),
            destination: entry.destination.as_str(),
            accepted_at: entry.accepted_at.to_string(),
            first_uncertain_at: settled.first_uncertain_at.map(|at| at.to_string()),
            attempts: entry.fence,
            last_status: last.attempt.and_then(|attempt| attempt.status),
            detail: last.detail.map(plain),
            at: now.to_string(),
        };
        self.notice(trouble, Of::Action(&entry.key), None, &told, now)
    }

    /// The notice of an action whose key was taken, at `original`, by other content.
    ///
    /// The key is made of the action's key and the other content's fingerprint: one notice, however often that
    /// content comes.
    pub fn of_conflict(&self, action: &Action, original: Timestamp) -> Option<Action> {
        let trouble = Trouble::Conflict;
        if !self.on.contains(&trouble) || is_notice(&action.source) {
            return None;
        }
        let fingerprint = action.fingerprint.short();
        let told = OfConflict {
            action: action.key.as_str(),
            became: trouble.as_str(),
            source: action.source.as_str(),
            rule: action.rule.as_str(),
            destination: action.destination.as_str(),
            accepted_at: original.to_string(),
            fingerprint: &fingerprint,
            message_id: action.message_id.as_deref().map(plain),
            event: action.event.as_deref().map(plain),
            subject: action.subject.as_deref().map(plain),
            at: action.accepted_at.to_string(),
        };
        let now = action.accepted_at;
        self.notice(
            trouble,
            Of::Action(&action.key),
            Some(&fingerprint),
            &told,
            now,
        )
    }

    /// Whether a way can carry whatever would be told: what a notice may lack is not there, and what it may
    /// have is as long as it may be.
    ///
    /// # Errors
    /// The first thing about a notice that does not fit.
    pub fn check(&self, carriage: &Carriage) -> Result<(), Unfit> {
        let longest = "x".repeat(TEXT_MAX);
        for text in [None, Some(longest.as_str())] {
            for trouble in &self.on {
                for notice in self.samples(*trouble, text) {
                    carriage.check(&notice.body)?;
                }
            }
        }
        Ok(())
    }

    fn samples(&self, trouble: Trouble, text: Option<&str>) -> Vec<Action> {
        let of_job = || self.sample_of_job(trouble, text);
        let all = match trouble {
            Trouble::Silent => vec![of_job()],
            Trouble::Conflict => vec![self.sample_of_conflict(text), of_job()],
            Trouble::Dead | Trouble::Held | Trouble::Unknown => {
                vec![self.sample_of_entry(trouble, text)]
            }
        };
        all.into_iter().flatten().collect()
    }

    fn sample_of_conflict(&self, text: Option<&str>) -> Option<Action> {
        let (key, trouble) = (&ActionKey::new("", []), Trouble::Conflict);
        let (at, name, plain) = (Timestamp::from_unix_ms(0), "x", text.map(plain));
        let told = OfConflict {
            action: key.as_str(),
            became: trouble.as_str(),
            source: name,
            rule: name,
            destination: name,
            accepted_at: at.to_string(),
            fingerprint: name,
            message_id: plain.clone(),
            event: plain.clone(),
            subject: plain,
            at: at.to_string(),
        };
        self.notice(trouble, Of::Action(key), Some(name), &told, at)
    }

    fn sample_of_entry(&self, trouble: Trouble, text: Option<&str>) -> Option<Action> {
        let (key, at, name) = (&ActionKey::new("", []), Timestamp::from_unix_ms(0), "x");
        let told = OfEntry {
            action: key.as_str(),
            became: trouble.as_str(),
            reason: text.map(|_| name),
            source: name,
            destination: name,
            accepted_at: at.to_string(),
            first_uncertain_at: text.map(|_| at.to_string()),
            attempts: 0,
            last_status: text.map(|_| 200),
            detail: text.map(plain),
            at: at.to_string(),
        };
        self.notice(trouble, Of::Action(key), None, &told, at)
    }

    /// `None` only where a name of ours would be none, or plain texts would not be JSON.
    fn notice(
        &self,
        trouble: Trouble,
        of: Of<'_>,
        fingerprint: Option<&str>,
        told: &impl Serialize,
        now: Timestamp,
    ) -> Option<Action> {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let mut parts = of.parts();
        parts.push(("became".to_owned(), text(trouble.as_str())));
        parts.extend(fingerprint.map(|print| ("fingerprint".to_owned(), text(print))));
        let namespace = format!("{SOURCE}/{RULE}");
        let key = ActionKey::new(&namespace, parts.iter().map(|(_, value)| value));
        let mut notice = Action {
            // Two observers of one trouble tell it in other words, at other times, and the first one's stand.
            fingerprint: Fingerprint::of_our_own("notice", &key),
            key,
            namespace,
            parts,
            source: SOURCE.parse().ok()?,
            rule: RULE.parse().ok()?,
            account: None,
            subject: Some(of.subject()),
            event: Some(format!("{}.{trouble}", of.word())),
            message_id: None,
            destination: self.destination.clone(),
            body: RenderedBody {
                bytes: Vec::new(),
                content_type: None,
                content_encoding: None,
            },
            accepted_at: now,
        };
        notice.body = envelope::of_our_own(&notice, &to_raw_value(told).ok()?);
        Some(notice)
    }
}

/// What a notice is of.
#[derive(Clone, Copy)]
enum Of<'a> {
    Action(&'a ActionKey),
    Job(&'a JobRef),
}

impl Of<'_> {
    const fn word(self) -> &'static str {
        match self {
            Self::Action(_) => "action",
            Self::Job(_) => "job",
        }
    }

    /// The parts of the notice's key that name it.
    fn parts(self) -> Vec<(String, Scalar)> {
        let part = |name: &str, text: &str| (name.to_owned(), Scalar::Text(text.to_owned()));
        match self {
            Self::Action(key) => vec![part("action", key.as_str())],
            Self::Job(job) => {
                let mut parts = vec![part("space", job.space.as_str()), part("job", &job.id)];
                parts.extend(job.account.as_ref().map(|account| part("account", account)));
                parts
            }
        }
    }

    fn subject(self) -> String {
        match self {
            Self::Action(key) => key.to_string(),
            Self::Job(job) => plain(&job.to_string()),
        }
    }
}

/// A text from outside, as every way carries it: what XML has no character for is replaced, as SQS would, and
/// the rest is cut. A notice that cannot be sent would be told to nobody.
fn plain(text: &str) -> String {
    let carried = |c| {
        if is_xml(c) {
            c
        } else {
            char::REPLACEMENT_CHARACTER
        }
    };
    text.chars().map(carried).take(TEXT_MAX).collect()
}

pub(crate) fn is_notice(source: &Name) -> bool {
    source.as_str() == SOURCE
}

#[cfg(test)]
mod tests;
