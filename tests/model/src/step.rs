//! The steps: what can happen next, and what the world is afterwards.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::{ClaimDecision, Settled, Settlement};

use crate::clock::{Steps, at, pass};
use crate::decide::Rules;
use crate::destination::Leaving;
use crate::state::{Attempt, Broken, Dispatcher, End, Place, State, Word};
use crate::table::DecidedOn;

/// One thing that happens. `who` is a dispatcher.
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
    /// An operator acts.
    Operator(Word),
}

const ENDS: [(End, bool); 6] = [
    (End::Succeeded, true),
    (End::Unknown, true),
    (End::Unknown, false),
    (End::Rejected, false),
    (End::RejectedForNow, false),
    (End::Busy, false),
];

const WORDS: [Word; 5] = [
    Word::Redrive,
    Word::RedriveAllTheSame,
    Word::Applied,
    Word::NotApplied,
    Word::Dead,
];

impl Rules {
    /// Everything that may happen next; some of it may turn out to change nothing.
    pub(crate) fn steps(&self, state: &State, steps: &mut Vec<Step>) {
        steps.push(Step::TimePasses);
        for who in 0..self.bounds.dispatchers {
            self.steps_of(state, who, steps);
        }
        let waits = matches!(state.entry.state, EntryState::Held | EntryState::Dead);
        if waits && state.operator_acts > 0 {
            steps.extend(WORDS.map(Step::Operator));
        }
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

    /// The world after a step; `None` where it cannot happen or changes nothing.
    pub(crate) fn after(&self, before: &State, step: Step) -> Option<State> {
        let mut state = *before;
        state.truth.broken = Broken::NOTHING;
        match step {
            Step::TimePasses => self.time_passes(&mut state)?,
            Step::Record(who, clock_off) => self.record(&mut state, who, clock_off)?,
            Step::Sweep(who, clock_off) => {
                let decision = self.may_claim(&state.entry, clock_off);
                let seen = state.entry.fence;
                state.dispatchers[who] = decided(&decision, seen, clock_off)?;
            }
            Step::Write(who) => self.write(&mut state, who),
            Step::WriteUnanswered(who) => self.write_unanswered(&mut state, who)?,
            Step::WriteAgain(who) => self.write_again(&mut state, who)?,
            Step::Leave(who) => self.leave(&mut state, who)?,
            Step::NotSent(who) => not_sent(&mut state, who)?,
            Step::End(who, end, executed) => self.end(&mut state, who, end, executed)?,
            Step::OrphanEnds(who, executed) => self.orphan_ends(&mut state, who, executed)?,
            Step::Settle(who) => self.settles(&mut state, who)?,
            Step::Crash(who) => self.crash(&mut state, who),
            Step::Operator(word) => operator(&mut state, word),
        }
        judge(before, &mut state, step);
        self.simplify(&mut state);
        if state == *before {
            return None;
        }
        self.judge_progress(before, &mut state);
        Some(state)
    }

    fn time_passes(&self, state: &mut State) -> Option<()> {
        let oldest = self.oldest();
        // A request ends within its timeout: time does not pass over it.
        let overdue = |left: Steps| -left >= self.bounds.timeout.cast_signed();
        for dispatcher in &mut state.dispatchers {
            match &mut dispatcher.at {
                Place::Claiming { claimed_at, .. } | Place::Unanswered { claimed_at, .. } => {
                    pass(claimed_at, oldest.lease);
                }
                Place::Claimed(attempt) => pass(&mut attempt.claimed_at, oldest.lease),
                Place::Ended(attempt, _) => pass(&mut attempt.claimed_at, oldest.mark),
                Place::Sent(_, left) | Place::Orphan(left, _) if overdue(*left) => return None,
                Place::Sent(attempt, left) => {
                    pass(&mut attempt.claimed_at, oldest.mark);
                    pass(left, oldest.mark);
                }
                Place::Orphan(left, _) => pass(left, oldest.mark),
                _ => {}
            }
        }
        let entry = &mut state.entry;
        pass(&mut entry.claimed_at, oldest.mark);
        pass(&mut entry.due_at, oldest.due);
        pass(&mut entry.accepted_at, oldest.accepted);
        let truth = &mut state.truth;
        let marks = [&mut entry.first_uncertain_at, &mut truth.first_arrival];
        for point in marks.into_iter().flatten() {
            pass(point, oldest.mark);
        }
        Some(())
    }

    /// The record shows the entry as it was accepted, whatever has become of it.
    fn record(&self, state: &mut State, who: usize, clock_off: Steps) -> Option<()> {
        let mut image = state.entry;
        image.state = EntryState::Pending;
        image.fence = 0;
        image.first_uncertain_at = None;
        image.permitted = 0;
        state.dispatchers[who] = decided(&self.may_claim(&image, clock_off), 0, clock_off)?;
        state.records -= 1;
        Some(())
    }

    fn write(&self, state: &mut State, who: usize) {
        let Dispatcher {
            at: place,
            clock_off,
        } = state.dispatchers[who];
        match place {
            Place::Claiming { seen, claimed_at } => {
                self.claim(state, who, seen, claimed_at);
                return;
            }
            Place::Expiring { seen } => {
                let on = DecidedOn {
                    state: EntryState::Claimed,
                    fence: seen,
                    expired: true,
                };
                let settled = self.settle_expired(&state.entry, clock_off);
                let marked = state.entry.settle(on, &settled, &self.guards);
                state.truth.broken.add(Broken::MARKED, marked);
            }
            Place::Holding { seen } => {
                let on = DecidedOn {
                    state: EntryState::Pending,
                    fence: seen,
                    expired: false,
                };
                // As the dispatcher builds it; which reason does not matter here.
                let settled = Settled {
                    settlement: Settlement::Held(ackbox_domain::settlement::Reason::WindowEnded),
                    first_uncertain_at: state.entry.first_uncertain_at.map(at),
                };
                state.entry.settle(on, &settled, &self.guards);
            }
            _ => {}
        }
        state.dispatchers[who] = Dispatcher::IDLE;
    }

    fn claim(&self, state: &mut State, who: usize, seen: u8, claimed_at: Steps) {
        if state.entry.takes_claim(seen, &self.guards) {
            state.entry.claim(seen, claimed_at);
            state.dispatchers[who].at = started(state);
        } else if state.entry.holds_claim_on(seen, false, &self.guards) {
            state.dispatchers[who].at = started(state);
        } else {
            state.dispatchers[who] = Dispatcher::IDLE;
        }
    }

    fn write_unanswered(&self, state: &mut State, who: usize) -> Option<()> {
        let Place::Claiming { seen, claimed_at } = state.dispatchers[who].at else {
            return None;
        };
        if !state.entry.takes_claim(seen, &self.guards) {
            return None;
        }
        state.entry.claim(seen, claimed_at);
        state.dispatchers[who].at = Place::Unanswered { seen, claimed_at };
        Some(())
    }

    /// The claim is sent again: refused, since it stands already, and recognised where it still does.
    fn write_again(&self, state: &mut State, who: usize) -> Option<()> {
        let Place::Unanswered { seen, claimed_at } = state.dispatchers[who].at else {
            return None;
        };
        if state.entry.holds_claim_on(seen, true, &self.guards) {
            state.dispatchers[who].at = started(state);
        } else {
            self.claim(state, who, seen, claimed_at);
        }
        Some(())
    }

    fn leave(&self, state: &mut State, who: usize) -> Option<()> {
        let Dispatcher { at, clock_off } = state.dispatchers[who];
        let Place::Claimed(attempt) = at else {
            return None;
        };
        let leaving = Leaving {
            claimed_at: attempt.claimed_at - clock_off,
            permitted: state.entry.permitted == attempt.fence,
        };
        state.truth.leaves(leaving, &self.bounds);
        state.dispatchers[who].at = Place::Sent(attempt, 0);
        Some(())
    }

    fn end(&self, state: &mut State, who: usize, end: End, executed: bool) -> Option<()> {
        let Place::Sent(attempt, left) = state.dispatchers[who].at else {
            return None;
        };
        let permitted = state.entry.permitted == attempt.fence;
        if executed {
            state.truth.executes(permitted, &self.bounds);
        }
        if end != End::Busy {
            state.truth.arrives(left);
        }
        state.dispatchers[who].at = Place::Ended(attempt, end);
        Some(())
    }

    fn orphan_ends(&self, state: &mut State, who: usize, executed: bool) -> Option<()> {
        let Place::Orphan(left, permitted) = state.dispatchers[who].at else {
            return None;
        };
        if executed {
            state.truth.executes(permitted, &self.bounds);
        }
        state.truth.arrives(left);
        state.dispatchers[who] = Dispatcher::IDLE;
        Some(())
    }

    fn settles(&self, state: &mut State, who: usize) -> Option<()> {
        let Dispatcher { at, clock_off } = state.dispatchers[who];
        let Place::Ended(attempt, end) = at else {
            return None;
        };
        let settled = self.settle(&state.entry, &attempt, end, clock_off);
        let on = DecidedOn {
            state: EntryState::Claimed,
            fence: attempt.fence,
            expired: false,
        };
        let marked = state.entry.settle(on, &settled, &self.guards);
        state.truth.broken.add(Broken::MARKED, marked);
        state.dispatchers[who] = Dispatcher::IDLE;
        let forgotten = end == End::Succeeded && state.entry.state != EntryState::Delivered;
        state.truth.broken.add(Broken::FORGOTTEN, forgotten);
        Some(())
    }

    fn crash(&self, state: &mut State, who: usize) {
        state.crashes -= 1;
        state.dispatchers[who] = match state.dispatchers[who].at {
            Place::Sent(attempt, left) => Dispatcher {
                at: Place::Orphan(left, state.entry.permitted == attempt.fence),
                clock_off: 0,
            },
            _ => Dispatcher::IDLE,
        };
    }
}

/// What a decision sets on its way; `None` where nothing is to be done.
fn decided(decision: &ClaimDecision, seen: u8, clock_off: Steps) -> Option<Dispatcher> {
    let at = match decision {
        ClaimDecision::Attempt => Place::Claiming {
            seen,
            claimed_at: clock_off,
        },
        ClaimDecision::Expired { .. } => Place::Expiring { seen },
        ClaimDecision::Settle(_) => Place::Holding { seen },
        ClaimDecision::NotDue { .. }
        | ClaimDecision::InProgress { .. }
        | ClaimDecision::NotOpen(_) => return None,
    };
    Some(Dispatcher { at, clock_off })
}

/// The claim's answer: the entry as it stands now.
const fn started(state: &State) -> Place {
    Place::Claimed(Attempt {
        fence: state.entry.fence,
        claimed_at: state.entry.claimed_at,
        after_uncertain: state.entry.first_uncertain_at.is_some(),
    })
}

fn not_sent(state: &mut State, who: usize) -> Option<()> {
    let Place::Claimed(attempt) = state.dispatchers[who].at else {
        return None;
    };
    state.dispatchers[who].at = Place::Ended(attempt, End::NotSent);
    Some(())
}

/// An operator's write: conditional on the state that was shown, and a new fence, so that nothing
/// that was decided before it matches any more.
fn operator(state: &mut State, word: Word) {
    state.operator_acts -= 1;
    state.truth.word = matches!(word, Word::Applied | Word::Dead).then_some(word);
    let entry = &mut state.entry;
    entry.fence += 1;
    entry.due_at = 0;
    match word {
        Word::Redrive => entry.state = EntryState::Pending,
        Word::RedriveAllTheSame | Word::NotApplied => {
            entry.state = EntryState::Pending;
            entry.permitted = entry.fence + 1;
        }
        Word::Applied => entry.state = EntryState::Delivered,
        Word::Dead => entry.state = EntryState::Dead,
    }
}

/// A closed entry stays closed, and a delivered one delivered, unless an operator acts.
fn judge(before: &State, state: &mut State, step: Step) {
    let (was, is) = (before.entry.state, state.entry.state);
    let reopened = was.is_closed() && !is.is_closed();
    let undone = was == EntryState::Delivered && is != EntryState::Delivered;
    let by_operator = matches!(step, Step::Operator(_));
    state
        .truth
        .broken
        .add(Broken::REOPENED, (reopened || undone) && !by_operator);
}
