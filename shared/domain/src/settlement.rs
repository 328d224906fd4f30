//! Decides who may attempt a delivery, and what an attempt's end means for the entry. Pure: in come
//! the entry's standing, the outcome, the policy and `now`; out comes what the table is to say.
//!
//! The rule behind all of it: `first_uncertain_at` is set once, by the first attempt that may have
//! arrived, and never cleared. While it is unset a retry is free. Once it is set, only a destination
//! that keeps idempotency keys may be tried again, only inside its window, and the entry never
//! becomes `dead` by itself.

use std::fmt;
use std::time::Duration;

use crate::delivery::{AttemptOutcome, OutcomeKind};
use crate::outbox::{EntryState, Origin, OutboxEntry};
use crate::time::Timestamp;

/// What a destination does with a key that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idempotency {
    /// A repetition under the same key within this time of the first is not executed again.
    Window(Duration),
    /// A repetition is executed again.
    None,
}

/// What happens to an action that may have arrived, where repeating it proves nothing or is not safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnUnknown {
    /// Repeat inside the idempotency window; hold when it has ended.
    Retry,
    /// Ask the destination what happened.
    Reconcile,
    /// Hold at once.
    Hold,
}

/// Exponential backoff with full jitter between `first` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    /// The shortest wait.
    pub first: Duration,
    /// The longest wait, also for a destination's own `Retry-After`.
    pub max: Duration,
}

impl Backoff {
    /// The wait after attempt `number` (from 1): between `first` and `first * 2^number`, at most `max`.
    ///
    /// `jitter` is a random number in `0.0..1.0`.
    pub fn wait(&self, number: u64, jitter: f64) -> Duration {
        let doubled = u32::try_from(number)
            .ok()
            .and_then(|n| 2_u32.checked_pow(n))
            .and_then(|factor| self.first.checked_mul(factor))
            .unwrap_or(self.max);
        let cap = doubled.min(self.max).max(self.first);
        self.first + (cap - self.first).mul_f64(jitter.clamp(0.0, 1.0))
    }
}

/// How one destination is to be delivered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryPolicy {
    /// What the destination does with a repeated key.
    pub idempotency: Idempotency,
    /// What happens to an action that may have arrived.
    pub on_unknown: OnUnknown,
    /// How long one attempt may take in all.
    pub timeout: Duration,
    /// How long after acceptance attempts are made at all.
    pub retry_for: Duration,
    /// The waits between attempts.
    pub backoff: Backoff,
}

/// The time relations of claims, the same for every destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// How long a claim lasts: longer than any timeout + `settle_margin` + `clock_skew`.
    pub lease: Duration,
    /// How long writing an attempt's end may take.
    pub settle_margin: Duration,
    /// How far two functions' clocks may differ.
    pub clock_skew: Duration,
    /// How long after acceptance the sweep takes up an entry that the stream lost: longer than `lease`.
    pub first_due: Duration,
    /// How long an entry without a known destination stays pending, from when that was noticed.
    pub no_destination_hold: Duration,
}

/// Why an entry stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The destination said no.
    Rejected,
    /// `retry_for` has passed.
    RetriesExhausted,
    /// It may have arrived, and the destination keeps no keys (or the policy says to hold).
    OutcomeUnknown,
    /// It may have arrived, and the destination's window has ended.
    WindowEnded,
    /// The destination said no after an attempt that may have arrived: that proves nothing.
    RejectedAfterUncertain,
    /// The destination's origin changed after an attempt that may have arrived.
    OriginChanged,
    /// The configuration knows no such destination.
    NoSuchDestination,
    /// The payload item is gone.
    PayloadMissing,
}

impl Reason {
    /// The word in the table, in logs and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::RetriesExhausted => "retries-exhausted",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::WindowEnded => "window-ended",
            Self::RejectedAfterUncertain => "rejected-after-uncertain",
            Self::OriginChanged => "origin-changed",
            Self::NoSuchDestination => "no-such-destination",
            Self::PayloadMissing => "payload-missing",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where an entry goes after an attempt, or without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// Closed: the destination has it.
    Delivered,
    /// Pending again, due at a time.
    Retry {
        /// When the next attempt is due.
        due_at: Timestamp,
    },
    /// May have arrived: the destination is to be asked, from a time on.
    Unknown {
        /// When to ask.
        due_at: Timestamp,
    },
    /// Pending, but the configuration knows no such destination; looked at again at a time.
    NoDestination {
        /// When to look again.
        due_at: Timestamp,
    },
    /// Closed: given up. Only ever for an action that cannot have arrived, or that was refused.
    Dead(Reason),
    /// An operator must look.
    Held(Reason),
}

impl Settlement {
    /// The state that the table will say.
    pub const fn state(&self) -> EntryState {
        match self {
            Self::Delivered => EntryState::Delivered,
            Self::Retry { .. } | Self::NoDestination { .. } => EntryState::Pending,
            Self::Unknown { .. } => EntryState::Unknown,
            Self::Dead(_) => EntryState::Dead,
            Self::Held(_) => EntryState::Held,
        }
    }

    /// The reason that the table will say.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Dead(reason) | Self::Held(reason) => Some(*reason),
            Self::NoDestination { .. } => Some(Reason::NoSuchDestination),
            Self::Delivered | Self::Retry { .. } | Self::Unknown { .. } => None,
        }
    }
}

/// A settlement, and the mark that it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    /// Where the entry goes.
    pub settlement: Settlement,
    /// When the first attempt that may have arrived began.
    pub first_uncertain_at: Option<Timestamp>,
}

/// What a decision needs to know of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The entry's state.
    pub state: EntryState,
    /// The number of claims so far.
    pub fence: u64,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it is due.
    pub due_at: Option<Timestamp>,
    /// When the last claim was taken, and until when it lasts.
    pub claim: Option<(Timestamp, Timestamp)>,
    /// When the first attempt that may have arrived began.
    pub first_uncertain_at: Option<Timestamp>,
    /// The origin that the last attempt spoke to.
    pub origin: Option<Origin>,
}

impl From<&OutboxEntry> for Standing {
    fn from(entry: &OutboxEntry) -> Self {
        Self {
            state: entry.state,
            fence: entry.fence,
            accepted_at: entry.accepted_at,
            due_at: entry.due_at,
            claim: entry.claim.as_ref().map(|c| (c.claimed_at, c.lease_until)),
            first_uncertain_at: entry.first_uncertain_at,
            origin: entry.origin,
        }
    }
}

/// Whether an attempt may be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaimDecision {
    /// One attempt may be claimed now.
    Attempt,
    /// Its time has not come.
    NotDue {
        /// When it comes.
        due_at: Timestamp,
    },
    /// Somebody else holds a claim.
    InProgress {
        /// Until when.
        until: Timestamp,
    },
    /// The last claim ran out without an end on record: that attempt may have arrived.
    Expired {
        /// When that attempt was claimed.
        claimed_at: Timestamp,
    },
    /// Nothing is to be attempted in this state.
    NotOpen(EntryState),
    /// No attempt is allowed any more; the entry settles so without one.
    Settle(Reason),
}

/// Decides whether an attempt may be claimed at `now`, for a destination of this `origin`.
///
/// A fresh entry (fence 0) may be attempted before its due time: that time is only the sweep's.
pub fn may_claim(
    standing: &Standing,
    policy: &DeliveryPolicy,
    timing: &Timing,
    origin: Origin,
    now: Timestamp,
) -> ClaimDecision {
    match standing.state {
        EntryState::Pending => {}
        EntryState::Claimed => return claimed(standing, timing, now),
        other => return ClaimDecision::NotOpen(other),
    }
    if let Some(due_at) = standing.due_at
        && standing.fence > 0
        && due_at > now
    {
        return ClaimDecision::NotDue { due_at };
    }
    if standing.first_uncertain_at.is_none() {
        return ClaimDecision::Attempt;
    }
    if standing.origin.is_some_and(|last| last != origin) {
        return ClaimDecision::Settle(Reason::OriginChanged);
    }
    // The policy may have become stricter since, or the entry came back from without a destination.
    if policy.on_unknown == OnUnknown::Hold {
        return ClaimDecision::Settle(Reason::OutcomeUnknown);
    }
    if inside_window(standing.first_uncertain_at, policy, timing, now) {
        ClaimDecision::Attempt
    } else {
        ClaimDecision::Settle(after_window(policy))
    }
}

fn claimed(standing: &Standing, timing: &Timing, now: Timestamp) -> ClaimDecision {
    // A claimed entry without a claim on record cannot be written by this code; the safe reading is
    // an attempt that began at acceptance.
    let (claimed_at, until) = standing
        .claim
        .unwrap_or((standing.accepted_at, standing.accepted_at));
    // The skew on top: the holder's clock may be behind ours.
    if until.plus(timing.clock_skew) > now {
        ClaimDecision::InProgress { until }
    } else {
        ClaimDecision::Expired { claimed_at }
    }
}

/// Whether the request of a claimed attempt may open at `now`: it must end inside its lease, and,
/// after an uncertain attempt, inside the destination's window.
pub fn may_begin(
    standing: &Standing,
    lease_until: Timestamp,
    policy: &DeliveryPolicy,
    timing: &Timing,
    now: Timestamp,
) -> bool {
    let ends = now.plus(policy.timeout).plus(timing.settle_margin);
    ends <= lease_until
        && (standing.first_uncertain_at.is_none()
            || inside_window(standing.first_uncertain_at, policy, timing, now))
}

fn inside_window(
    first_uncertain_at: Option<Timestamp>,
    policy: &DeliveryPolicy,
    timing: &Timing,
    at: Timestamp,
) -> bool {
    match (first_uncertain_at, policy.idempotency) {
        (None, _) => true,
        (Some(_), Idempotency::None) => false,
        (Some(first), Idempotency::Window(window)) => {
            at.plus(policy.timeout).plus(timing.clock_skew) < first.plus(window)
        }
    }
}

const fn after_window(policy: &DeliveryPolicy) -> Reason {
    match policy.idempotency {
        Idempotency::Window(_) => Reason::WindowEnded,
        Idempotency::None => Reason::OutcomeUnknown,
    }
}

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
    policy: &DeliveryPolicy,
    timing: &Timing,
    now: Timestamp,
) -> Settled {
    let outcome = attempt.outcome;
    let before = standing.first_uncertain_at;
    let mark = outcome
        .kind
        .may_have_arrived()
        .then_some(attempt.claimed_at);
    let first_uncertain_at = before.or(mark);
    let settlement = match outcome.kind {
        OutcomeKind::Succeeded => Settlement::Delivered,
        OutcomeKind::Rejected if outcome.is_final_rejection() => match before {
            None => Settlement::Dead(Reason::Rejected),
            Some(_) => Settlement::Held(Reason::RejectedAfterUncertain),
        },
        _ => {
            let asked = outcome.retry_after.unwrap_or_default();
            let wait = policy.backoff.wait(standing.fence, attempt.jitter);
            let wait = wait.max(asked.min(policy.backoff.max));
            again(
                standing,
                first_uncertain_at,
                now.plus(wait),
                policy,
                timing,
                now,
            )
        }
    };
    Settled {
        settlement,
        // A success proves arrival and closes the entry; it leaves no doubt to mark.
        first_uncertain_at: match outcome.kind {
            OutcomeKind::Succeeded => before,
            _ => first_uncertain_at,
        },
    }
}

/// Decides what a claim means that ran out without an end on record: its attempt may have arrived.
/// The lease was the wait, so a retry is due at once.
pub fn settle_expired(
    standing: &Standing,
    claimed_at: Timestamp,
    policy: &DeliveryPolicy,
    timing: &Timing,
    now: Timestamp,
) -> Settled {
    let first_uncertain_at = standing.first_uncertain_at.or(Some(claimed_at));
    Settled {
        settlement: again(standing, first_uncertain_at, now, policy, timing, now),
        first_uncertain_at,
    }
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
        EntryState::Claimed => match claimed(standing, timing, now) {
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
    Some(Settled {
        settlement,
        first_uncertain_at: standing.first_uncertain_at.or(uncertain),
    })
}

/// Another attempt, if one is allowed; else where the entry goes instead.
fn again(
    standing: &Standing,
    first_uncertain_at: Option<Timestamp>,
    due_at: Timestamp,
    policy: &DeliveryPolicy,
    timing: &Timing,
    now: Timestamp,
) -> Settlement {
    let last = standing.accepted_at.plus(policy.retry_for);
    let Some(first) = first_uncertain_at else {
        return if now >= last {
            Settlement::Dead(Reason::RetriesExhausted)
        } else {
            // The last attempt is made when `retry_for` ends, not skipped.
            Settlement::Retry {
                due_at: due_at.min(last),
            }
        };
    };
    match (policy.idempotency, policy.on_unknown) {
        (_, OnUnknown::Reconcile) => Settlement::Unknown { due_at },
        (Idempotency::None, _) | (_, OnUnknown::Hold) => Settlement::Held(Reason::OutcomeUnknown),
        (Idempotency::Window(window), OnUnknown::Retry) => {
            if now >= last {
                Settlement::Held(Reason::RetriesExhausted)
            } else if !inside_window(Some(first), policy, timing, now) {
                Settlement::Held(Reason::WindowEnded)
            } else {
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
}

#[cfg(test)]
mod tests;
