//! What is explored: the bounds of one run, the policy and timing that it hands to the decisions, and
//! the guards that can be taken away one at a time.

use std::time::Duration;

use ackbox_domain::settlement::{Backoff, DeliveryPolicy, Idempotency, OnUnknown, Timing};

use crate::clock::{Steps, lasting};

/// What the destination does with a repeated key, and what the policy says of an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Keeps no keys; an unknown outcome is held.
    None,
    /// Keeps keys for [`Bounds::window`]; an unknown outcome is retried inside it.
    WindowRetry,
    /// Keeps keys for [`Bounds::window`]; an unknown outcome is held.
    WindowHold,
    /// Keeps no keys, and says truly what became of an action; an unknown outcome is asked about.
    Asked,
}

/// The bounds of one run. Times are in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Which destination.
    pub destination: Destination,
    /// How many invocations work side by side, at most 3.
    pub dispatchers: usize,
    /// How many reconcilers ask side by side, at most 2; none where the destination is not asked.
    pub reconcilers: usize,
    /// How many of all these die, at any step.
    pub crashes: u8,
    /// How often the stream hands out the one record of the entry.
    pub records: u8,
    /// How often operators act.
    pub operator_acts: u8,
    /// How far a clock may be ahead of the slowest: two clocks differ by up to this, either way.
    pub clock_off: Steps,
    /// How long one request may take.
    pub timeout: u8,
    /// The settle margin.
    pub margin: u8,
    /// How long a claim lasts.
    pub lease: u8,
    /// How long the destination keeps a key.
    pub window: u8,
    /// How long after acceptance attempts are made.
    pub retry_for: u8,
    /// The wait between attempts: together with `retry_for` it bounds the attempts to three where
    /// each is answered.
    pub backoff: u8,
    /// How long after the first attempt that may have arrived the destination is asked.
    pub give_up: u8,
}

impl Bounds {
    /// The widest bounds: three dispatchers, two crashes, any two clocks one step
    /// apart either way. A claim that dies can be taken over twice before `retry_for` ends, and the
    /// third attempt still fits into the window.
    #[must_use]
    pub const fn full(destination: Destination) -> Self {
        if matches!(destination, Destination::Asked) {
            return Self::asked();
        }
        Self {
            destination,
            dispatchers: 3,
            reconcilers: 0,
            crashes: 2,
            records: 2,
            operator_acts: 1,
            clock_off: 1,
            timeout: 1,
            margin: 1,
            lease: 4,
            window: 14,
            retry_for: 11,
            backoff: 6,
            give_up: 0,
        }
    }

    /// Two reconcilers as well, and a shorter wait: four attempts on three words fit in.
    const fn asked() -> Self {
        Self {
            destination: Destination::Asked,
            dispatchers: 3,
            reconcilers: 2,
            crashes: 2,
            records: 2,
            operator_acts: 1,
            clock_off: 1,
            timeout: 1,
            margin: 1,
            lease: 4,
            window: 0,
            retry_for: 11,
            backoff: 3,
            give_up: 9,
        }
    }

    /// The same with shorter times, which leave room for an operator: two attempts where one dies, two of them on
    /// a word where the destination is asked. An operator who has it sent again begins all that anew.
    #[must_use]
    pub const fn shorter(self) -> Self {
        if self.is_asked() {
            return Self {
                retry_for: 7,
                backoff: 2,
                give_up: 7,
                ..self
            };
        }
        Self {
            window: 9,
            retry_for: 6,
            backoff: 3,
            ..self
        }
    }

    /// The bounds that `make model` explores with operators: shorter times; without keys, where there are the fewest
    /// states, two operators.
    #[must_use]
    pub const fn operated(destination: Destination) -> Self {
        let bounds = Self::full(destination).shorter();
        Self {
            operator_acts: match destination {
                Destination::None => 2,
                _ => 1,
            },
            ..bounds
        }
    }

    /// The same without an operator.
    #[must_use]
    pub const fn alone(self) -> Self {
        Self {
            operator_acts: 0,
            ..self
        }
    }

    /// The same with clocks one step off true time either way, so that two may be two steps apart.
    #[must_use]
    pub const fn wider_clocks(destination: Destination) -> Self {
        Self {
            clock_off: 2,
            lease: 5,
            window: 12,
            retry_for: 8,
            backoff: 4,
            ..Self::full(destination)
        }
    }

    /// How far two clocks may differ: what the configuration has to allow for.
    #[must_use]
    pub const fn skew(&self) -> u8 {
        self.clock_off.unsigned_abs()
    }

    pub(crate) const fn keeps_keys(&self) -> bool {
        matches!(
            self.destination,
            Destination::WindowRetry | Destination::WindowHold
        )
    }

    pub(crate) const fn is_asked(&self) -> bool {
        matches!(self.destination, Destination::Asked)
    }

    /// The timing of claims, in the relation that the configuration demands.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing {
            lease: lasting(self.lease),
            settle_margin: lasting(self.margin),
            clock_skew: lasting(self.skew()),
            first_due: lasting(self.lease + 1),
            no_destination_hold: Duration::MAX,
        }
    }

    /// The destination's policy.
    #[must_use]
    pub fn policy(&self) -> DeliveryPolicy {
        let window = Idempotency::Window(lasting(self.window));
        let (idempotency, on_unknown) = match self.destination {
            Destination::None => (Idempotency::None, OnUnknown::Hold),
            Destination::WindowRetry => (window, OnUnknown::Retry),
            Destination::WindowHold => (window, OnUnknown::Hold),
            Destination::Asked => (Idempotency::None, OnUnknown::Reconcile),
        };
        DeliveryPolicy {
            idempotency,
            on_unknown,
            timeout: lasting(self.timeout),
            retry_for: lasting(self.retry_for),
            backoff: Backoff {
                first: lasting(self.backoff),
                max: lasting(self.backoff),
            },
        }
    }

    /// Whether the relation holds without which a configuration does not start.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.lease > self.timeout + self.margin + self.skew()
            && self.dispatchers <= 3
            && self.reconcilers <= 2
    }
}

/// What keeps the promise. All are on in the protocol as it is; a test takes one away and sees which
/// property falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    /// `may_begin` is asked with the claim's lease right before a request leaves.
    pub lease_check: bool,
    /// An expired claim is taken over only after the allowed skew on top of its lease.
    pub expiry_skew: bool,
    /// The destination's window is looked at.
    pub window_check: bool,
    /// The window ends earlier by the allowed skew.
    pub window_skew: bool,
    /// The first attempt that may have arrived is recorded.
    pub first_uncertain_at: bool,
    /// A claim demands the fence that was read.
    pub claim_fence: bool,
    /// A claim demands that the entry is pending.
    pub claim_state: bool,
    /// Whose claim stands in the way is told by the claim's id.
    pub claim_id: bool,
    /// A settlement demands the fence of its own attempt.
    pub settle_fence: bool,
    /// A settlement demands the state that it was decided on.
    pub settle_state: bool,
    /// A success settles under any fence.
    pub late_success: bool,
    /// The settlement of an expired claim that comes after the holder's own leaves nothing.
    pub expiry_yields: bool,
    /// A word, an operator's or the destination's, allows one attempt.
    pub one_attempt_a_word: bool,
    /// An attempt that surely did not arrive carries the word on to the next one.
    pub word_carried_on: bool,
    /// A settlement that is refused says nothing of words: it may know an older one.
    pub overtaken_clears_nothing: bool,
    /// An answer's settlement demands the fence that was asked about.
    pub answer_fence: bool,
    /// An answer's settlement demands that the entry is still unknown.
    pub answer_state: bool,
    /// An operator's plain redrive of an entry whose doubt is answered keeps that answer.
    pub redrive_keeps_word: bool,
    /// What the destination may carry out again is sent again only where the operator takes that risk.
    pub risk_said: bool,
    /// An operator's word demands the state that was read.
    pub word_state: bool,
    /// An operator's word demands the fence that was read.
    pub word_fence: bool,
    /// An operator's word takes a number of its own.
    pub word_takes_number: bool,
}

impl Guards {
    /// The protocol as it is.
    pub const ALL: Self = Self {
        lease_check: true,
        expiry_skew: true,
        window_check: true,
        window_skew: true,
        first_uncertain_at: true,
        claim_fence: true,
        claim_state: true,
        claim_id: true,
        settle_fence: true,
        settle_state: true,
        late_success: true,
        expiry_yields: true,
        one_attempt_a_word: true,
        word_carried_on: true,
        overtaken_clears_nothing: true,
        answer_fence: true,
        answer_state: true,
        redrive_keeps_word: true,
        risk_said: true,
        word_state: true,
        word_fence: true,
        word_takes_number: true,
    };
}
