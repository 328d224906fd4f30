//! What a decision goes by: the destination's policy, and the time relations of claims. Values, from
//! the configuration; nothing here looks at an entry.

use std::time::Duration;

use super::Reason;
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

/// What every decision about one destination's entries goes by.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// How the destination is to be delivered to.
    pub policy: &'a DeliveryPolicy,
    /// The time relations of claims.
    pub timing: &'a Timing,
}

impl Terms<'_> {
    /// Whether a request that opens at `at` ends while the destination still keeps a key that it may
    /// have seen first at `first`.
    pub(crate) fn inside_window(&self, first: Timestamp, at: Timestamp) -> bool {
        match self.policy.idempotency {
            Idempotency::None => false,
            Idempotency::Window(window) => {
                at.plus(self.policy.timeout).plus(self.timing.clock_skew) < first.plus(window)
            }
        }
    }

    /// Why nothing is repeated once [`Terms::inside_window`] says no.
    pub(super) const fn after_window(&self) -> Reason {
        match self.policy.idempotency {
            Idempotency::Window(_) => Reason::WindowEnded,
            Idempotency::None => Reason::OutcomeUnknown,
        }
    }
}
