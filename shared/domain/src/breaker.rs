//! When a destination is paused: outcomes of its attempts and what the table says come in, whether a
//! request may be made, and what the table is to say next, goes out. What must never happen: a pause
//! that does not end in a probe, unless an operator made it.
//!
//! Failures in a row are counted by each process for itself, in its memory: on the table they would
//! cost a write each. The pause itself is on the table, so that all of them see it. When its time is
//! over, one of them makes the probe, a single attempt; its answer ends the pause, anything else
//! begins the next and longer one. A probe has a time of its own: when it is never heard of, that
//! runs out as a pause does, and another is made.
//!
//! A pause is a courtesy, and no attempt's safety rests on it: that is what claims are for. So clocks
//! that differ, and readings that are a second old, make it begin or end a little early or late for
//! some, and nothing worse.

mod operator;

pub use operator::OperatorPause;

use std::time::Duration;

use crate::delivery::{AttemptOutcome, OutcomeKind};
use crate::time::Timestamp;

/// When a destination is paused, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Breaker {
    /// After how many failures in a row, seen by one process; at least 1.
    pub after: u32,
    /// How long the first pause is.
    pub pause: Duration,
    /// How long a pause is at most. Each is twice as long as the one before.
    pub max_pause: Duration,
}

impl Breaker {
    /// How long the pause of this number lasts, from 1. A destination that says itself how long to
    /// wait (`asked`) is left alone for so long, within `max_pause`.
    pub fn wait(&self, number: u32, asked: Option<Duration>) -> Duration {
        let doubled = 2_u32
            .checked_pow(number.saturating_sub(1))
            .and_then(|factor| self.pause.checked_mul(factor))
            .unwrap_or(self.max_pause);
        doubled.max(asked.unwrap_or_default()).min(self.max_pause)
    }
}

/// What one attempt's end says of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// It does not work now: it could not be reached, said "later", or failed (5xx).
    Failure,
    /// It works: it did the action, or said no to it.
    Answer,
    /// Neither. A timeout or a lost connection after the request left may be of that one request: a
    /// long piece of work, an answer lost on the way. Were it a failure, a few slow actions would
    /// pause all others; were it an answer, silence would be taken for a word.
    Neither,
}

impl Sign {
    /// What this outcome says.
    pub fn of(outcome: &AttemptOutcome) -> Self {
        match (outcome.kind, outcome.status) {
            (OutcomeKind::Succeeded | OutcomeKind::Rejected, _) => Self::Answer,
            (OutcomeKind::NotSent | OutcomeKind::Busy, _) => Self::Failure,
            (OutcomeKind::Unknown, Some(500..=599)) => Self::Failure,
            (OutcomeKind::Unknown, _) => Self::Neither,
        }
    }
}

/// How many failures in a row one process has seen of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Failures(u32);

impl Failures {
    /// With one more attempt's end.
    #[must_use]
    pub const fn and(self, sign: Sign) -> Self {
        match sign {
            Sign::Failure => Self(self.0.saturating_add(1)),
            Sign::Answer => Self(0),
            Sign::Neither => self,
        }
    }

    /// Whether they are enough for a pause.
    pub const fn are_enough(self, breaker: &Breaker) -> bool {
        self.0 >= breaker.after
    }
}

/// A pause as it stands on the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pause {
    /// Since when the destination is paused, the pauses before this one included.
    pub since: Timestamp,
    /// When it is over; of a probe: when it counts as never heard of.
    pub until: Timestamp,
    /// The how many-th pause in a row it is, from 1.
    pub number: u32,
    /// Whether somebody makes the probe.
    pub is_probing: bool,
    /// Why, in our own words: an outcome's kind, and its status or what stood in the way.
    pub why: String,
}

impl Pause {
    /// The pause that begins with this attempt's end, the last of enough failures.
    pub fn begin(breaker: &Breaker, last: &AttemptOutcome, now: Timestamp) -> Self {
        Self {
            since: now,
            until: now.plus(breaker.wait(1, last.retry_after)),
            number: 1,
            is_probing: false,
            why: in_words(last),
        }
    }

    /// The same pause while a probe is under way that will be over by `until`.
    #[must_use]
    pub fn probed(&self, until: Timestamp) -> Self {
        Self {
            until,
            is_probing: true,
            ..self.clone()
        }
    }

    /// What comes after the probe: none where the destination answered, else a longer one. Only an
    /// answer ends a pause: after a timeout, which begins none, nobody knows more than before.
    pub fn after_probe(
        &self,
        breaker: &Breaker,
        probe: &AttemptOutcome,
        now: Timestamp,
    ) -> Option<Self> {
        if Sign::of(probe) == Sign::Answer {
            return None;
        }
        let number = self.number.saturating_add(1);
        Some(Self {
            since: self.since,
            until: now.plus(breaker.wait(number, probe.retry_after)),
            number,
            is_probing: false,
            why: in_words(probe),
        })
    }
}

/// How long a probe has, from when it is taken until it counts as never heard of: the claim's own
/// lease, and the writes around it.
pub fn probe_span(lease: Duration, settle_margin: Duration, clock_skew: Duration) -> Duration {
    lease + settle_margin + clock_skew
}

/// What the table says of one destination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PauseRecord {
    /// How often it was changed; 0: never written. Every change is for exactly the one that was read.
    pub fence: u64,
    /// The breaker's pause that stands.
    pub pause: Option<Pause>,
    /// The operator's pause that stands, instead of a breaker's.
    pub operator: Option<OperatorPause>,
}

/// Whether a destination may be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// As it comes.
    Open,
    /// Not before this time.
    Paused {
        /// When the pause, or the time of the probe that is under way, is over; `None`: when an operator says so.
        until: Option<Timestamp>,
    },
    /// The pause is over, and nobody knows more yet: by whoever takes the probe, once.
    Over,
}

impl PauseRecord {
    /// Whether the destination may be spoken to at `now`. An operator's pause that is over leaves it open: it
    /// was no sign that the destination does not work, and nothing is to be found out.
    pub fn gate(&self, now: Timestamp) -> Gate {
        if let Some(pause) = self.operator_pause(now) {
            return Gate::Paused { until: pause.until };
        }
        match &self.pause {
            None => Gate::Open,
            Some(pause) if now < pause.until => Gate::Paused {
                until: Some(pause.until),
            },
            Some(_) => Gate::Over,
        }
    }
}

/// What a destination answered stays out of it: answers often repeat what they were sent.
fn in_words(outcome: &AttemptOutcome) -> String {
    match outcome.status {
        Some(status) => format!("{} ({status})", outcome.kind),
        None => format!("{}: {}", outcome.kind, outcome.detail),
    }
}

#[cfg(test)]
mod tests;
