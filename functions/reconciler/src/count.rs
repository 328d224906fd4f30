//! What became of the entries, parked observations and silent jobs of one run, counted.

use serde::Serialize;

/// What became of one of them.
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
    /// Parked observations of a job were taken up by it.
    TakenUp,
    /// A parked observation waits on.
    StillParked,
    /// A parked observation has waited its time.
    Expired,
    /// A silent job has ended: its source said so.
    JobEnded,
    /// A silent job is looked at again later.
    JobWaits,
    /// A silent job was given up.
    JobSilent,
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
    /// Jobs that took up what was parked of them.
    pub taken_up: u64,
    /// Parked observations that wait on.
    pub still_parked: u64,
    /// Parked observations that have waited their time.
    pub expired: u64,
    /// Silent jobs of which the source told the end.
    pub jobs_ended: u64,
    /// Silent jobs that are looked at again later.
    pub jobs_waiting: u64,
    /// Silent jobs that were given up.
    pub jobs_silent: u64,
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
            Became::TakenUp => &mut self.taken_up,
            Became::StillParked => &mut self.still_parked,
            Became::Expired => &mut self.expired,
            Became::JobEnded => &mut self.jobs_ended,
            Became::JobWaits => &mut self.jobs_waiting,
            Became::JobSilent => &mut self.jobs_silent,
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
        self.taken_up += other.taken_up;
        self.still_parked += other.still_parked;
        self.expired += other.expired;
        self.jobs_ended += other.jobs_ended;
        self.jobs_waiting += other.jobs_waiting;
        self.jobs_silent += other.jobs_silent;
        self.left += other.left;
        self.failed += other.failed;
        self
    }
}
