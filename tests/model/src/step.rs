//! The steps: what may happen next in a state.

use ackbox_domain::settlement::Word as Said;

use crate::clock::Steps;
use crate::decide::Rules;
use crate::state::{End, Place, State, Word};

/// One thing that happens. The number is a dispatcher's, a reconciler's or an operator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Time goes on by one step.
    TimePasses,
    /// A stream record comes, by an invocation whose clock is off so far: the entry as it was
    /// accepted. The decision follows at once.
    Record(usize, Steps),
    /// A sweep, by an invocation whose clock is off so far, finds the entry due, reads and decides.
    Sweep(usize, Steps),
    /// The write on its way reaches the table, and its answer comes back.
    Write(usize),
    /// The claim on its way commits, and its answer is lost.
    WriteUnanswered(usize),
    /// A claim without an answer is sent again.
    WriteAgain(usize),
    /// The request leaves, checked in the same step.
    Leave(usize),
    /// The request does not leave: no connection, or the claim no longer covers it.
    NotSent(usize),
    /// The request ends so for us; whether the destination carries it out.
    End(usize, End, bool),
    /// The request of a dead dispatcher ends; whether the destination carries it out.
    OrphanEnds(usize, bool),
    /// What is known of the attempt is settled (whether or not the answer comes back: nothing follows).
    Settle(usize),
    /// A dispatcher dies. Also: it gives up a write that it could not bring to the table in time.
    Crash(usize),
    /// A reconciler whose clock is off so far reads the entry, asks, and hears this.
    Ask(usize, Steps, Said),
    /// A reconciler settles the answer.
    Answer(usize),
    /// A reconciler dies with the answer.
    ReconcilerDies(usize),
    /// An operator whose clock is off so far reads the entry and decides; and writes it, where states are
    /// simplified.
    Operator(Word, Steps),
    /// An operator's write reaches the table.
    OperatorWrites(usize),
}

const ENDS: [(End, bool); 6] = [
    (End::Succeeded, true),
    (End::Unknown, true),
    (End::Unknown, false),
    (End::Rejected, false),
    (End::RejectedForNow, false),
    (End::Busy, false),
];

impl Rules {
    /// Everything that may happen next; some of it may turn out to change nothing.
    pub(crate) fn steps(&self, state: &State, steps: &mut Vec<Step>) {
        steps.push(Step::TimePasses);
        for who in 0..self.bounds.dispatchers {
            self.steps_of(state, who, steps);
        }
        self.steps_of_reconcilers(state, steps);
        self.steps_of_operators(state, steps);
    }

    fn steps_of(&self, state: &State, who: usize, steps: &mut Vec<Step>) {
        let dispatcher = &state.dispatchers[who];
        match dispatcher.at {
            Place::Idle => {
                for clock_off in 0..=self.bounds.clock_off {
                    if state.records > 0 {
                        steps.push(Step::Record(who, clock_off));
                    }
                    if state.entry.is_swept(clock_off) {
                        steps.push(Step::Sweep(who, clock_off));
                    }
                }
                return;
            }
            Place::Claiming { .. } => {
                steps.extend([Step::Write(who), Step::WriteUnanswered(who)]);
            }
            Place::Expiring { .. } | Place::Holding { .. } => steps.push(Step::Write(who)),
            Place::Unanswered { .. } => steps.push(Step::WriteAgain(who)),
            Place::Claimed(attempt) => {
                if self.may_begin(&state.entry, &attempt, dispatcher.clock_off) {
                    steps.push(Step::Leave(who));
                }
                steps.push(Step::NotSent(who));
            }
            Place::Sent(..) => {
                steps.extend(ENDS.map(|(end, executed)| Step::End(who, end, executed)));
            }
            Place::Orphan(..) => {
                steps.extend([true, false].map(|executed| Step::OrphanEnds(who, executed)));
                return;
            }
            Place::Ended(..) => steps.push(Step::Settle(who)),
        }
        if state.crashes > 0 {
            steps.push(Step::Crash(who));
        }
    }
}
