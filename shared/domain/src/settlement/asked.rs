//! Decides what a destination's own word means for an entry of which nobody knows whether it arrived.
//! In come the entry's standing, what the destination said, the terms and `now`; out comes what the
//! table is to say. Asking repeats nothing; only the destination's clear "not applied" allows a
//! further attempt, and exactly one.

use std::time::Duration;

use super::again;
use super::claim::Standing;
use super::policy::{OnUnknown, Terms, Timing};
use super::settled::{Reason, Settled, Settlement};
use crate::outbox::{EntryState, Origin};
use crate::time::Timestamp;

/// What a destination says of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// It has it.
    Applied,
    /// It does not have it, whatever was sent so far.
    NotApplied,
    /// It cannot say, or could not be asked.
    StillUnknown,
}

impl Word {
    /// The word in logs and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotApplied => "not_applied",
            Self::StillUnknown => "still_unknown",
        }
    }
}

/// Whether a destination is to be asked about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskDecision {
    /// Now.
    Ask,
    /// Later.
    NotDue {
        /// When.
        due_at: Timestamp,
    },
    /// It is not unknown.
    NotUnknown(EntryState),
    /// It cannot be asked any more; the entry settles so.
    Settle(Settled),
}

/// Decides whether to ask at `now` a destination of this `origin`.
pub fn may_ask(
    standing: &Standing,
    terms: Terms<'_>,
    origin: Origin,
    now: Timestamp,
) -> AskDecision {
    if standing.state != EntryState::Unknown {
        return AskDecision::NotUnknown(standing.state);
    }
    let settled = |settlement| Settled::new(settlement, standing.first_uncertain_at);
    // Whoever answers there now was never sent this action: its "no" proves nothing.
    if standing.origin.is_some_and(|last| last != origin) {
        return AskDecision::Settle(settled(Settlement::Held(Reason::OriginChanged)));
    }
    // The configuration has changed since: this destination is not asked any more.
    if terms.policy.on_unknown != OnUnknown::Reconcile {
        let settlement = again(standing, standing.first_uncertain_at, now, terms, now);
        return AskDecision::Settle(settled(settlement));
    }
    match standing.due_at {
        Some(due_at) if due_at > now => AskDecision::NotDue { due_at },
        _ => AskDecision::Ask,
    }
}

/// Decides about an entry whose destination the configuration does not know: there is nobody to ask. It waits
/// as a pending one does, from when it was to be asked; a configuration that comes back finds it as it was.
pub fn may_ask_nobody(standing: &Standing, timing: &Timing, now: Timestamp) -> AskDecision {
    if standing.state != EntryState::Unknown {
        return AskDecision::NotUnknown(standing.state);
    }
    let asked_at = standing.due_at.unwrap_or(standing.accepted_at);
    let due_at = asked_at.plus(timing.no_destination_hold);
    if due_at > now {
        return AskDecision::NotDue { due_at };
    }
    let held = Settlement::Held(Reason::NoSuchDestination);
    AskDecision::Settle(Settled::new(held, standing.first_uncertain_at))
}

/// Decides about an entry that was to be asked about at `now`, and of which no run is long enough for one
/// question: it waits for a configuration or a deployment in which there is time, and no longer than for a
/// destination that cannot say. `None`: it stays as it is.
pub fn settle_unasked(
    standing: &Standing,
    give_up_after: Duration,
    now: Timestamp,
) -> Option<Settled> {
    let held = Settlement::Held(Reason::OutcomeUnknown);
    (now >= asked_until(standing, give_up_after))
        .then(|| Settled::new(held, standing.first_uncertain_at))
}

/// When the last question is asked.
fn asked_until(standing: &Standing, give_up_after: Duration) -> Timestamp {
    let first = standing.first_uncertain_at.unwrap_or(standing.accepted_at);
    first.plus(give_up_after)
}

/// Decides what a destination's word means. `give_up_after`: for how long after the first attempt that
/// may have arrived it is asked at all; `jitter` is a random number in `0.0..1.0` for the next wait.
///
/// The waits grow with the time that has passed, between `backoff.first` and `backoff.max`.
pub fn settle_asked(
    standing: &Standing,
    word: Word,
    give_up_after: Duration,
    terms: Terms<'_>,
    jitter: f64,
    now: Timestamp,
) -> Settled {
    let first = standing.first_uncertain_at.unwrap_or(standing.accepted_at);
    let mut settled = Settled::new(Settlement::Delivered, standing.first_uncertain_at);
    match word {
        Word::Applied => {}
        Word::NotApplied => {
            settled.cleared_fence = Some(standing.fence);
            let last = standing.retried_since().plus(terms.policy.retry_for);
            settled.settlement = if now >= last {
                Settlement::Held(Reason::RetriesExhausted)
            } else {
                Settlement::Retry { due_at: now }
            };
        }
        Word::StillUnknown => {
            let last = asked_until(standing, give_up_after);
            settled.settlement = if now >= last {
                Settlement::Held(Reason::OutcomeUnknown)
            } else {
                let backoff = terms.policy.backoff;
                let cap = now.since(first).clamp(backoff.first, backoff.max);
                let wait = backoff.first + (cap - backoff.first).mul_f64(jitter.clamp(0.0, 1.0));
                // The last question is asked when the time is up, not skipped.
                let due_at = now.plus(wait).min(last);
                Settlement::Unknown { due_at }
            };
        }
    }
    settled
}
