//! Decides who may attempt a delivery, and what an attempt's end means for the entry. Pure: in come
//! the entry's standing, the outcome, the policy and `now`; out comes what the table is to say.
//!
//! The rule behind all of it: `first_uncertain_at` is set once, by the first attempt that may have
//! arrived, and never cleared. While it is unset a retry is free. Once it is set, only a destination
//! that keeps idempotency keys may be tried again, only inside its window, and the entry never
//! becomes `dead` by itself. A destination that is asked and says that nothing was applied allows one
//! attempt more, and clears nothing of the record.

mod answer;
mod asked;
mod claim;
mod overdue;
mod policy;
mod settled;

use std::time::Duration;

pub use answer::{Answer, AnswerRule, Flaw, fitting, meaning};
pub use asked::{AskDecision, Word, may_ask, may_ask_nobody, settle_asked, settle_unasked};
pub(crate) use claim::claimed as expiry;
pub use claim::{ClaimDecision, Standing, may_begin, may_claim};
pub use overdue::{OVERDUE_AFTER, is_overdue};
pub use policy::{Backoff, DeliveryPolicy, Idempotency, OnUnknown, Terms, Timing};
pub use settled::{Reason, Settled, Settlement};

use crate::delivery::{AttemptOutcome, OutcomeKind};
use crate::outbox::EntryState;
use crate::time::Timestamp;

/// One attempt that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedAttempt<'a> {
    /// When it was claimed: the earliest time at which the request can have left.
    pub claimed_at: Timestamp,
    /// What is known of it.
    pub outcome: &'a AttemptOutcome,
    /// A random number in `0.0..1.0` for the next wait.
    pub jitter: f64,
}

/// Decides what an attempt's end means.
pub fn settle(
    standing: &Standing,
    attempt: &EndedAttempt<'_>,
    terms: Terms<'_>,
    now: Timestamp,
) -> Settled {
    let outcome = attempt.outcome;
    let before = standing.first_uncertain_at;
    let mark = outcome
        .kind
        .may_have_arrived()
        .then_some(attempt.claimed_at);
    let first_uncertain_at = before.or(mark);
    // What the destination said before this attempt still holds where this one surely did not arrive.
    let is_clear = mark.is_none() && before.is_some() && standing.doubt().is_none();
    let settlement = match outcome.kind {
        OutcomeKind::Succeeded => Settlement::Delivered,
        OutcomeKind::Rejected if outcome.is_final_rejection() => {
            // Nothing before may have arrived, by the destination's own word where there was a doubt.
            let nothing_arrived = standing.doubt().is_none() && !standing.is_vouched;
            if before.is_none() || nothing_arrived {
                Settlement::Dead(Reason::Rejected)
            } else {
                Settlement::Held(Reason::RejectedAfterUncertain)
            }
        }
        _ => {
            let asked = outcome.retry_after.unwrap_or_default();
            let backoff = terms.policy.backoff;
            let wait = backoff.wait(standing.fence, attempt.jitter);
            let wait = wait.max(asked.min(backoff.max));
            let doubt = if is_clear { None } else { first_uncertain_at };
            again(standing, doubt, now.plus(wait), terms, now)
        }
    };
    Settled {
        settlement,
        // A success proves arrival and closes the entry; it leaves no doubt to mark.
        first_uncertain_at: match outcome.kind {
            OutcomeKind::Succeeded => before,
            _ => first_uncertain_at,
        },
        // A no to the only attempt that can have arrived is the destination's word about it: who sends it again
        // later need not ask what became of that one.
        cleared_fence: (is_clear || settlement == Settlement::Dead(Reason::Rejected))
            .then_some(standing.fence),
        is_vouched: false,
    }
}

/// Decides what a claim means that ran out without an end on record: its attempt may have arrived.
/// The lease was the wait, so a retry is due at once.
pub fn settle_expired(
    standing: &Standing,
    claimed_at: Timestamp,
    terms: Terms<'_>,
    now: Timestamp,
) -> Settled {
    let first_uncertain_at = standing.first_uncertain_at.or(Some(claimed_at));
    let settlement = again(standing, first_uncertain_at, now, terms, now);
    Settled::new(settlement, first_uncertain_at)
}

/// Decides what becomes of an entry whose destination the configuration does not know: it stays
/// pending, and is held once `no_destination_hold` has passed since that was noticed (`noticed_at`).
/// `None` where nothing is to be written now: not open to attempts, claimed by somebody, not due.
pub fn settle_no_destination(
    standing: &Standing,
    noticed_at: Option<Timestamp>,
    timing: &Timing,
    now: Timestamp,
) -> Option<Settled> {
    const LOOK_AGAIN: Duration = Duration::from_secs(300);
    let uncertain = match standing.state {
        EntryState::Pending => {
            let is_due = standing.due_at.is_none_or(|due_at| due_at <= now);
            if noticed_at.is_some() && !is_due {
                return None;
            }
            None
        }
        EntryState::Claimed => match claim::claimed(standing, timing, now) {
            ClaimDecision::Expired { claimed_at } => Some(claimed_at),
            _ => return None,
        },
        _ => return None,
    };
    let until = noticed_at.unwrap_or(now).plus(timing.no_destination_hold);
    let settlement = if now >= until {
        Settlement::Held(Reason::NoSuchDestination)
    } else {
        let due_at = now.plus(LOOK_AGAIN).min(until);
        Settlement::NoDestination { due_at }
    };
    let first_uncertain_at = standing.first_uncertain_at.or(uncertain);
    Some(Settled::new(settlement, first_uncertain_at))
}

/// Another attempt, if one is allowed; else where the entry goes instead. `doubt`: since when an attempt
/// may have arrived, the one that has just ended included.
fn again(
    standing: &Standing,
    doubt: Option<Timestamp>,
    due_at: Timestamp,
    terms: Terms<'_>,
    now: Timestamp,
) -> Settlement {
    let Terms { policy, timing } = terms;
    let last = standing.retried_since().plus(policy.retry_for);
    let Some(first) = doubt else {
        return if now < last {
            // The last attempt is made when `retry_for` ends, not skipped.
            let due_at = due_at.min(last);
            Settlement::Retry { due_at }
        } else if standing.first_uncertain_at.is_some() {
            // That nothing arrived is the destination's word, not ours.
            Settlement::Held(Reason::RetriesExhausted)
        } else {
            Settlement::Dead(Reason::RetriesExhausted)
        };
    };
    match (policy.idempotency, policy.on_unknown) {
        (_, OnUnknown::Reconcile) => Settlement::Unknown { due_at },
        (Idempotency::None, _) | (_, OnUnknown::Hold) => Settlement::Held(Reason::OutcomeUnknown),
        (Idempotency::Window(_), OnUnknown::Retry) if now >= last => {
            Settlement::Held(Reason::RetriesExhausted)
        }
        (Idempotency::Window(_), OnUnknown::Retry) if !terms.inside_window(first, now) => {
            Settlement::Held(Reason::WindowEnded)
        }
        (Idempotency::Window(window), OnUnknown::Retry) => {
            let closing = first
                .plus(window)
                .minus(policy.timeout)
                .minus(timing.clock_skew)
                .minus(Duration::from_millis(1));
            let due_at = due_at.min(last).min(closing).max(now);
            Settlement::Retry { due_at }
        }
    }
}

#[cfg(test)]
mod tests;
