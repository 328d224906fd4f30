//! What became of the entries of one run, counted.

use serde::Serialize;

/// What became of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    /// The destination has it: delivered.
    Applied,
    /// The destination does not have it: pending again.
    NotApplied,
    /// It could not say: asked again later.
    StillUnknown,
    /// It is not asked any more: held, or settled as a changed configuration says.
    Held,
    /// Nothing was to be asked after all.
    PassedOver,
    /// Somebody else settled it first.
    Overtaken,
    /// Left for the next run for want of time.
    Left,
    /// Our own failure left it undone.
    Failed,
}

/// What a run did, by what became of each entry that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reconciled {
    /// Found applied: delivered.
    pub applied: u64,
    /// Found not applied: pending again.
    pub not_applied: u64,
    /// Asked without a clear word.
    pub still_unknown: u64,
    /// Not asked any more.
    pub held: u64,
    /// Not to be asked after all.
    pub passed_over: u64,
    /// Settled by somebody else first.
    pub overtaken: u64,
    /// Left for the next run.
    pub left: u64,
    /// Entries or pages that our own failure left undone.
    pub failed: u64,
}

impl Reconciled {
    pub(crate) fn count(&mut self, became: Became) {
        *match became {
            Became::Applied => &mut self.applied,
            Became::NotApplied => &mut self.not_applied,
            Became::StillUnknown => &mut self.still_unknown,
            Became::Held => &mut self.held,
            Became::PassedOver => &mut self.passed_over,
            Became::Overtaken => &mut self.overtaken,
            Became::Left => &mut self.left,
            Became::Failed => &mut self.failed,
        } += 1;
    }

    pub(crate) const fn add(mut self, other: &Self) -> Self {
        self.applied += other.applied;
        self.not_applied += other.not_applied;
        self.still_unknown += other.still_unknown;
        self.held += other.held;
        self.passed_over += other.passed_over;
        self.overtaken += other.overtaken;
        self.left += other.left;
        self.failed += other.failed;
        self
    }
}
