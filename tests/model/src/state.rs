//! One state of the world: the entry on the table, three dispatchers, two reconcilers, and the truth
//! about the destination that nobody in the protocol can see.

use ackbox_domain::{EntryState, OutcomeKind};

use crate::asking::Answer;
use crate::clock::Steps;
use crate::operating::Unwritten;

/// The outbox item, as far as decisions and conditions read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its state.
    pub state: EntryState,
    /// The number of claims; an operator's word takes a number too.
    pub fence: u8,
    /// When the open claim was taken, by its holder's clock; the lease follows from it.
    pub claimed_at: Steps,
    /// When it is due.
    pub due_at: Steps,
    /// The first attempt that may have arrived.
    pub first_uncertain_at: Option<Steps>,
    /// The last number that somebody's word covers: that attempt and those before it stand in nobody's
    /// way. 0 is none.
    pub cleared_fence: u8,
    /// When the action was accepted.
    pub accepted_at: Steps,
    /// When an operator last had it sent again.
    pub redriven_at: Option<Steps>,
    /// Whether an operator ever vouched for a repetition.
    pub is_vouched: bool,
}

/// One invocation of the dispatcher, with a clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dispatcher {
    /// Where it stands.
    pub at: Place,
    /// How far its clock is from true time.
    pub clock_off: Steps,
}

/// Where a dispatcher stands in its work on the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Nothing is on its way. Also after a crash: the next invocation takes this place.
    Idle,
    /// A claim is on its way, decided on this reading.
    Claiming {
        /// The fence that was read.
        seen: u8,
        /// When it decided, by its own clock.
        claimed_at: Steps,
    },
    /// The claim committed, and its answer was lost: it will be sent again.
    Unanswered {
        /// The fence that was read.
        seen: u8,
        /// When it decided.
        claimed_at: Steps,
    },
    /// The settlement of an expired claim is on its way.
    Expiring {
        /// The fence that was read.
        seen: u8,
    },
    /// A hold without an attempt is on its way.
    Holding {
        /// The fence that was read.
        seen: u8,
    },
    /// It holds the claim; no request has left.
    Claimed(Attempt),
    /// Its request is on its way, since then.
    Sent(Attempt, Steps),
    /// It died with its request on its way, since then.
    Orphan(Steps),
    /// It knows what it will ever know of its attempt.
    Ended(Attempt, End),
}

/// An attempt, as its claim's answer described the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt {
    /// Its number.
    pub fence: u8,
    /// When it was claimed, by its holder's clock.
    pub claimed_at: Steps,
    /// Whether an earlier attempt may have arrived.
    pub after_uncertain: bool,
    /// Whether that doubt was answered: the attempt is the one that somebody's word allows.
    pub on_word: bool,
}

/// What a dispatcher learns of its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A 2xx.
    Succeeded,
    /// A final no.
    Rejected,
    /// A no that another request may change (409).
    RejectedForNow,
    /// Later, please.
    Busy,
    /// It never left.
    NotSent,
    /// No answer, or one that proves nothing.
    Unknown,
}

impl End {
    pub(crate) const fn kind(self) -> OutcomeKind {
        match self {
            Self::Succeeded => OutcomeKind::Succeeded,
            Self::Rejected | Self::RejectedForNow => OutcomeKind::Rejected,
            Self::Busy => OutcomeKind::Busy,
            Self::NotSent => OutcomeKind::NotSent,
            Self::Unknown => OutcomeKind::Unknown,
        }
    }

    pub(crate) const fn status(self) -> Option<u16> {
        match self {
            Self::Succeeded => Some(200),
            Self::Rejected => Some(422),
            Self::RejectedForNow => Some(409),
            Self::Busy => Some(429),
            Self::NotSent | Self::Unknown => None,
        }
    }
}

/// What an operator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Send again, where the destination does not carry it out again.
    Redrive,
    /// Send again, also where it may be carried out again: the operator takes that risk.
    RedriveAllTheSame,
    /// It is applied.
    Applied,
    /// It is not applied: send it.
    NotApplied,
    /// It is not to be sent any more.
    Dead,
}

/// The truth, for the properties alone: no step of the protocol reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Truth {
    /// How often the destination carried the action out, counted up to 2.
    pub effects: u8,
    /// When the first request left whose outcome was other than `busy`: the earliest time from which
    /// the destination can have counted its window.
    pub first_arrival: Option<Steps>,
    /// What an operator has said that settles the matter: applied, or dead.
    pub word: Option<Word>,
    /// What allows a request whatever came before.
    pub permission: Permission,
    /// What went wrong on the last step.
    pub broken: Broken,
}

/// Whether somebody's word on the table, an operator's or the destination's own, permits a request
/// whatever came before it. It does until a request comes that may have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// No word, or it was used up.
    None,
    /// It permits one, and what is on record says so.
    Known,
    /// It would, but a claim has run out since: the protocol takes it for used up.
    RunOut,
}

/// What a step broke. A bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Broken(pub u16);

impl Broken {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// A destination without keys got a request after one that may have arrived, and no word since
    /// then permitted it.
    pub const REPEATED: Self = Self(1);
    /// A request left that its lease does not cover.
    pub const PAST_LEASE: Self = Self(2);
    /// A request left that the window does not cover.
    pub const PAST_WINDOW: Self = Self(4);
    /// A second effect that no word permitted.
    pub const TWICE: Self = Self(8);
    /// A closed entry reopened, or a delivered one changed.
    pub const REOPENED: Self = Self(16);
    /// A success was settled, and the entry is not delivered.
    pub const FORGOTTEN: Self = Self(32);
    /// A refused settlement marked an entry as uncertain that was not.
    pub const MARKED: Self = Self(128);
    /// A step that does not come nearer to the end.
    pub const BACKWARDS: Self = Self(64);
    /// An entry was held for a doubt that somebody's word had answered.
    pub const PASSED_OVER: Self = Self(256);
    /// An entry that may have arrived became dead, or an unknown one was claimed, without an operator.
    pub const GIVEN_UP: Self = Self(512);
    /// An operator's word was written while a request was on its way.
    pub const SPOKEN_OVER: Self = Self(1024);

    pub(crate) fn add(&mut self, what: Self, when: bool) {
        if when {
            self.0 |= what.0;
        }
    }

    /// Whether this is among it.
    #[must_use]
    pub const fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }
}

/// The world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The table.
    pub entry: Entry,
    /// The invocations.
    pub dispatchers: [Dispatcher; 3],
    /// The reconcilers, each with the answer that it has not settled yet.
    pub reconcilers: [Option<Answer>; 2],
    /// The operators, each with the word that is not written yet; none where states are simplified.
    pub operators: [Option<Unwritten>; 2],
    /// How many crashes are left.
    pub crashes: u8,
    /// How often the stream's record can still come.
    pub records: u8,
    /// How often operators can still act.
    pub operator_acts: u8,
    /// What is true.
    pub truth: Truth,
}

impl Dispatcher {
    pub(crate) const IDLE: Self = Self {
        at: Place::Idle,
        clock_off: 0,
    };
}

impl State {
    /// Accepted just now: the entry is on the table, and nobody has read it.
    #[must_use]
    pub const fn accepted(first_due: Steps, crashes: u8, records: u8, operator_acts: u8) -> Self {
        Self {
            entry: Entry {
                state: EntryState::Pending,
                fence: 0,
                claimed_at: 0,
                due_at: first_due,
                first_uncertain_at: None,
                cleared_fence: 0,
                accepted_at: 0,
                redriven_at: None,
                is_vouched: false,
            },
            dispatchers: [Dispatcher::IDLE; 3],
            reconcilers: [None; 2],
            operators: [None; 2],
            crashes,
            records,
            operator_acts,
            truth: Truth {
                effects: 0,
                first_arrival: None,
                word: None,
                permission: Permission::None,
                broken: Broken::NOTHING,
            },
        }
    }

    /// How many requests are on their way, those of the dead among them.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let flies = |d: &&Dispatcher| matches!(d.at, Place::Sent(..) | Place::Orphan(..));
        self.dispatchers.iter().filter(flies).count()
    }

    /// Closed, or held.
    #[must_use]
    pub const fn is_at_rest(&self) -> bool {
        self.entry.state.is_closed() || matches!(self.entry.state, EntryState::Held)
    }
}
