//! One state of the world: the record, the entries, the processes, and what is left to go wrong.

use ackbox_domain::breaker::{Failures, PauseRecord};

use crate::clock::Steps;

/// An entry, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// Due, and nobody's.
    Free,
    /// In somebody's hands.
    UnderWay,
    /// Delivered.
    Done,
}

/// The right to the probe, as its holder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// The number of changes, its own included.
    pub fence: u64,
    /// How long ago it was taken.
    pub age: Steps,
    /// An operator has changed the record since: what it holds is an attempt as any other. For the properties
    /// alone.
    pub is_overtaken: bool,
}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// It has nothing in hand.
    Idle,
    /// It is about to take the probe, for this entry.
    Taking(usize),
    /// It holds an entry, and nothing has left.
    Holding(usize, Option<Probe>),
    /// Its request is on its way, for so long.
    Sent(usize, Option<Probe>, Steps),
    /// It has heard an end, and has not done anything with it.
    Heard(Option<Probe>, End),
    /// It died; its request, a probe's or not, is on its way for so long.
    Orphan(bool, Steps),
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Done.
    Success,
    /// Busy.
    Failure,
    /// Nothing was heard.
    Silence,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Where it stands.
    pub at: Place,
    /// How far its clock is ahead.
    pub clock_off: Steps,
    /// What it has counted.
    pub failures: Failures,
    /// What it knows of the record.
    pub known: PauseRecord,
    /// Whether that is old.
    pub is_old: bool,
}

/// The world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// What the table says. Its times are relative to now, as everywhere.
    pub record: PauseRecord,
    /// The entries.
    pub entries: Vec<Entry>,
    /// The processes.
    pub processes: Vec<Process>,
    /// How often the destination can still fail.
    pub failures: u8,
    /// How often it can still say nothing.
    pub silences: u8,
    /// How often a process can still die.
    pub deaths: u8,
    /// How often an operator can still pause it, or end a breaker's pause.
    pub operators: u8,
    /// How long a pause has stood, up to two steps; for the properties alone.
    pub paused_for: Option<Steps>,
    /// What the last step broke; for the properties alone.
    pub broken: Option<super::Property>,
}
