//! Decides who may attempt a delivery: an entry's standing, the terms and `now` come in, the decision
//! goes out. What must never happen: two attempts inside one lease, or a request that may end after
//! its claim or after the destination's window.

use super::policy::{OnUnknown, Terms, Timing};
use super::settled::{Reason, Settled, Settlement};
use crate::outbox::{EntryState, Origin, OutboxEntry};
use crate::time::Timestamp;

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
    /// The number of the last attempt that the destination has said was not applied; 0: none.
    pub cleared_fence: u64,
    /// The origin that the last attempt spoke to.
    pub origin: Option<Origin>,
    /// When an operator last had it sent again.
    pub redriven_at: Option<Timestamp>,
    /// Whether an operator ever vouched for a repetition of what may have arrived.
    pub is_vouched: bool,
    /// Whether an operator had a new action made in its place.
    pub is_replaced: bool,
}

impl Standing {
    /// Since when an attempt before the next one, or before the one that is claimed, may have arrived.
    /// `None` where none may have, or where the destination has said since that none was applied.
    ///
    /// What it has said holds for one attempt: the next claim has a number that it never spoke of.
    pub fn doubt(&self) -> Option<Timestamp> {
        let before = match self.state {
            EntryState::Claimed => self.fence.saturating_sub(1),
            _ => self.fence,
        };
        let is_cleared = self.cleared_fence > 0 && self.cleared_fence >= before;
        self.first_uncertain_at.filter(|_| !is_cleared)
    }

    /// From when its time for retries counts.
    pub fn retried_since(&self) -> Timestamp {
        self.redriven_at.unwrap_or(self.accepted_at)
    }
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
            cleared_fence: entry.cleared_fence,
            origin: entry.origin,
            redriven_at: entry.redriven_at,
            is_vouched: entry.is_vouched,
            is_replaced: entry.reason.as_deref() == Some(Reason::Replaced.as_str()),
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
    Settle(Settled),
}

/// Decides whether an attempt may be claimed at `now`, for a destination of this `origin`.
///
/// A fresh entry (fence 0) may be attempted before its due time: that time is only the sweep's.
pub fn may_claim(
    standing: &Standing,
    terms: Terms<'_>,
    origin: Origin,
    now: Timestamp,
) -> ClaimDecision {
    match standing.state {
        EntryState::Pending => {}
        EntryState::Claimed => return claimed(standing, terms.timing, now),
        other => return ClaimDecision::NotOpen(other),
    }
    if let Some(due_at) = standing.due_at
        && standing.fence > 0
        && due_at > now
    {
        return ClaimDecision::NotDue { due_at };
    }
    let Some(first) = standing.doubt() else {
        return ClaimDecision::Attempt;
    };
    let held = |reason| {
        let held = Settlement::Held(reason);
        ClaimDecision::Settle(Settled::new(held, standing.first_uncertain_at))
    };
    if standing.origin.is_some_and(|last| last != origin) {
        return held(Reason::OriginChanged);
    }
    // The policy may have become stricter since, or the entry came back from without a destination. What an
    // operator has sent again was held before, and is to be sent inside the window.
    if terms.policy.on_unknown == OnUnknown::Hold && standing.redriven_at.is_none() {
        return held(Reason::OutcomeUnknown);
    }
    if terms.inside_window(first, now) {
        ClaimDecision::Attempt
    } else {
        held(terms.after_window())
    }
}

/// What a claim means at `now`: somebody is at work, or it ran out.
pub(crate) fn claimed(standing: &Standing, timing: &Timing, now: Timestamp) -> ClaimDecision {
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
/// where an earlier attempt may have arrived, inside the destination's window.
pub fn may_begin(
    standing: &Standing,
    lease_until: Timestamp,
    terms: Terms<'_>,
    now: Timestamp,
) -> bool {
    let ends = now
        .plus(terms.policy.timeout)
        .plus(terms.timing.settle_margin);
    ends <= lease_until
        && standing
            .doubt()
            .is_none_or(|first| terms.inside_window(first, now))
}
