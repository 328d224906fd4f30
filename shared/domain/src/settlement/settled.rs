//! Where an entry goes, and why: the words that the table, the log and the terminal use for a decision.

use std::fmt;

use crate::outbox::EntryState;
use crate::time::Timestamp;

/// Why an entry stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The destination said no.
    Rejected,
    /// `retry_for` has passed.
    RetriesExhausted,
    /// It may have arrived, and the destination keeps no keys (or the policy says to hold), or it was asked
    /// for as long as it is asked at all and never said.
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
    /// An operator said that it is not to be sent any more.
    Operator,
    /// An operator had a new action made of it.
    Replaced,
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
            Self::Operator => "operator",
            Self::Replaced => "replaced",
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
    /// The number of the last attempt of which it is known now that it, and all before it, was not
    /// applied; `None`: nothing new is known of that.
    pub cleared_fence: Option<u64>,
    /// Whether only an operator vouches for that: the destination never said so.
    pub is_vouched: bool,
}

impl Settled {
    /// A settlement that leaves this mark, and clears nothing.
    pub const fn new(settlement: Settlement, first_uncertain_at: Option<Timestamp>) -> Self {
        Self {
            settlement,
            first_uncertain_at,
            cleared_fence: None,
            is_vouched: false,
        }
    }
}
