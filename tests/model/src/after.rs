//! What the world is after a step. A step that cannot happen, or that changes nothing, has no after.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::{ClaimDecision, Reason, Settled, Settlement};

use crate::clock::{Steps, at, pass};
use crate::decide::Rules;
use crate::destination::Leaving;
use crate::state::{Attempt, Broken, Dispatcher, End, Place, State, Word};
use crate::step::Step;
use crate::table::DecidedOn;

impl Rules {
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
                let mark = state.entry.first_uncertain_at.map(at);
                let settled = Settled::new(Settlement::Held(Reason::WindowEnded), mark);
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
