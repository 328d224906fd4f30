//! A destination's pause as a model of its own, explored state by state: a few processes, a few entries,
//! the one record on the table, clocks that differ, deaths, and a destination that fails for a while. The
//! decisions are those of `ackbox_domain::breaker`; what is modelled is what surrounds them.
//!
//! # What is modelled
//!
//! - **The table** ([`World::record`]): the pause's record with its number of changes. Every change is
//!   conditional on the number that was read, whole or not at all.
//! - **Processes** ([`Place`]): each looks at the record when what it knows is a step old or older, takes
//!   a free entry, takes the probe where the pause is over, sends, hears an end, and counts it or changes
//!   the pause. Any time may pass between any two of these, but that a request ends within its timeout. A
//!   process may die anywhere; its request lives on, its count and what it knew do not. One that lets the
//!   probe's time pass gives it back.
//! - **An operator** pauses the destination so often, until they end it or for a while, and ends whatever pauses
//!   it; in the end always. Theirs is the same conditional change, of what they have just read.
//! - **The destination** fails so often and says nothing so often, in any order; then it works.
//!
//! # What is left out
//!
//! An entry is free, under way or done, and free again at once when its attempt is over or its process
//! dead: what claims are for is the other model's matter. Each process makes one attempt at a time; that
//! several of one process share what it knows makes fewer cases of these. A lost answer of a change is a
//! death here: a test on an engine shows that it is recognised.
//!
//! # What is shown
//!
//! Five properties ([`Property`]) in every state, and of every run that it ends, with everything done:
//! there is no cycle among the states, and a state that nothing follows has nothing left to do. So no
//! pause stands in the way for ever, whoever dies.

mod explore;
mod operator;
mod rules;
mod simplify;
mod state;

pub use explore::{Explored, explore};
pub use state::{Place, Process, World};

/// How much of everything there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many processes, at most 3.
    pub processes: usize,
    /// How many entries, at most 3.
    pub entries: usize,
    /// After how many failures in a row the destination is paused.
    pub after: u32,
    /// How often the destination fails.
    pub failures: u8,
    /// How often it says nothing.
    pub silences: u8,
    /// How often a process dies, or lets a probe's time pass.
    pub deaths: u8,
    /// How often an operator pauses the destination, or ends a breaker's pause.
    pub operators: u8,
}

impl Bounds {
    /// What `make model` explores: two processes that count to two.
    pub const TWO: Self = Self {
        processes: 2,
        entries: 2,
        after: 2,
        failures: 4,
        silences: 1,
        deaths: 1,
        operators: 0,
    };

    /// The same for three that pause at once.
    pub const THREE: Self = Self {
        processes: 3,
        after: 1,
        failures: 2,
        silences: 0,
        ..Self::TWO
    };

    /// Those of a test, with an operator.
    pub const OPERATED: Self = Self {
        operators: 1,
        ..Self::SMALL
    };

    /// What a test explores.
    pub const SMALL: Self = Self {
        after: 1,
        failures: 2,
        ..Self::TWO
    };
}

/// What keeps the promise; a test takes one away and sees what falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    /// A change demands the number of changes that was read.
    pub fence: bool,
    /// What is known of a pause is looked up again when it is old.
    pub look: bool,
    /// A probe's request leaves only while its time covers it.
    pub probe_time: bool,
    /// A probe's time is longer than an attempt, by whatever clocks.
    pub span: bool,
    /// A probe whose process died is made again when its time is over.
    pub probe_ends: bool,
    /// Only an answer ends a pause.
    pub proof: bool,
    /// A breaker begins none over an operator's, until that is over by any clock.
    pub spares: bool,
}

impl Guards {
    /// The protocol as it is.
    pub const ALL: Self = Self {
        fence: true,
        look: true,
        probe_time: true,
        span: true,
        probe_ends: true,
        proof: true,
        spares: true,
    };
}

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// Two probes' requests are never on their way at once; one whose pause an operator has ended or replaced
    /// is none.
    OneProbe,
    /// Once a pause has stood for longer than a look may be old, no attempt begins but the probe.
    LeftAlone,
    /// A pause is ended by the probe that stands on the record, after an answer, and by nothing else.
    EndedByProof,
    /// An operator's pause is ended by an operator or by its time, and never replaced by a breaker's.
    OperatorsOwn,
    /// No pause and no probe reaches further than the longest may, by any clock.
    NeverLong,
    /// Where nothing follows, everything is done.
    AllDone,
    /// No run is endless.
    NoEndlessRun,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::OneProbe,
        Self::LeftAlone,
        Self::EndedByProof,
        Self::OperatorsOwn,
        Self::NeverLong,
        Self::AllDone,
        Self::NoEndlessRun,
    ];

    /// In words.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::OneProbe => "two probes are never on their way at once",
            Self::LeftAlone => "a destination that is known to be paused is left alone",
            Self::EndedByProof => "only its own probe's answer ends a pause",
            Self::OperatorsOwn => "no breaker ends or replaces an operator's pause",
            Self::NeverLong => "no pause reaches further than the longest",
            Self::AllDone => "every run ends with everything done",
            Self::NoEndlessRun => "no run is endless",
        }
    }
}
