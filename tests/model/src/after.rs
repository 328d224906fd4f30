//! What the world is after a step. A step that cannot happen, or that changes nothing, has no after.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::{ClaimDecision, Reason, Settled, Settlement};

use crate::clock::{Steps, at, pass};
use crate::decide::Rules;
use crate::state::{Attempt, Broken, Dispatcher, End, Permission, Place, State};
use crate::step::Step;
use crate::table::{By, DecidedOn, Written};

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
            Step::Ask(who, clock_off, said) => self.ask(&mut state, who, clock_off, said),
            Step::Answer(who) => self.answer(&mut state, who)?,
            Step::ReconcilerDies(who) => {
                state.reconcilers[who] = None;
                state.crashes -= 1;
            }
            Step::Operator(word, clock_off) => self.operator(&mut state, word, clock_off)?,
            Step::OperatorWrites(who) => self.operator_writes(&mut state, who)?,
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
                Place::Sent(_, left) | Place::Orphan(left) if overdue(*left) => return None,
                Place::Sent(attempt, left) => {
                    pass(&mut attempt.claimed_at, oldest.mark);
                    pass(left, oldest.mark);
                }
                Place::Orphan(left) => pass(left, oldest.mark),
                _ => {}
            }
        }
        let entry = &mut state.entry;
        pass(&mut entry.claimed_at, oldest.mark);
        pass(&mut entry.due_at, oldest.due);
        pass(&mut entry.accepted_at, oldest.accepted);
        if let Some(redriven_at) = &mut entry.redriven_at {
            pass(redriven_at, oldest.accepted);
        }
        let truth = &mut state.truth;
        let marks = [&mut entry.first_uncertain_at, &mut truth.first_arrival];
        for point in marks.into_iter().flatten() {
            pass(point, oldest.mark);
        }
        for unwritten in state.operators.iter_mut().flatten() {
            pass(&mut unwritten.due_at, oldest.due);
            pass(&mut unwritten.decided_at, oldest.accepted);
        }
        Some(())
    }

    /// The record shows the entry as it was accepted, whatever has become of it.
    fn record(&self, state: &mut State, who: usize, clock_off: Steps) -> Option<()> {
        let mut image = state.entry;
        image.state = EntryState::Pending;
        image.fence = 0;
        image.first_uncertain_at = None;
        image.cleared_fence = 0;
        image.redriven_at = None;
        image.is_vouched = false;
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
                    by: By::Expiry,
                };
                let settled = self.settle_expired(&state.entry, clock_off);
                let written = state.entry.settle(on, &settled, &self.guards);
                let truth = &mut state.truth;
                truth
                    .broken
                    .add(Broken::MARKED, written == Written::MarkAlone);
                if written == Written::Settlement && truth.permission == Permission::Known {
                    truth.permission = Permission::RunOut;
                }
            }
            Place::Holding { seen } => {
                let on = DecidedOn {
                    state: EntryState::Pending,
                    fence: seen,
                    by: By::NoAttempt,
                };
                // As the dispatcher builds it; which reason does not matter here.
                let mark = state.entry.first_uncertain_at.map(at);
                let settled = Settled::new(Settlement::Held(Reason::WindowEnded), mark);
                let held = state.entry.settle(on, &settled, &self.guards) == Written::Settlement;
                let known = state.truth.permission == Permission::Known;
                state.truth.broken.add(Broken::PASSED_OVER, held && known);
            }
            _ => {}
        }
        state.dispatchers[who] = Dispatcher::IDLE;
    }

    fn claim(&self, state: &mut State, who: usize, seen: u8, claimed_at: Steps) {
        if state.entry.takes_claim(seen, &self.guards) {
            state.entry.claim(seen, claimed_at);
            state.dispatchers[who].at = self.started(state);
        } else if state.entry.holds_claim_on(seen, false, &self.guards) {
            state.dispatchers[who].at = self.started(state);
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
            state.dispatchers[who].at = self.started(state);
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
        let claimed_at = attempt.claimed_at - clock_off;
        state.truth.leaves(claimed_at, &self.bounds);
        state.dispatchers[who].at = Place::Sent(attempt, 0);
        Some(())
    }

    fn end(&self, state: &mut State, who: usize, end: End, executed: bool) -> Option<()> {
        let Place::Sent(attempt, left) = state.dispatchers[who].at else {
            return None;
        };
        if executed {
            state.truth.executes(&self.bounds);
        }
        if end != End::Busy {
            state.arrives(left);
        }
        state.dispatchers[who].at = Place::Ended(attempt, end);
        Some(())
    }

    fn orphan_ends(&self, state: &mut State, who: usize, executed: bool) -> Option<()> {
        let Place::Orphan(left) = state.dispatchers[who].at else {
            return None;
        };
        if executed {
            state.truth.executes(&self.bounds);
        }
        state.arrives(left);
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
            by: By::Holder,
        };
        let written = state.entry.settle(on, &settled, &self.guards);
        let marked = written == Written::MarkAlone;
        state.truth.broken.add(Broken::MARKED, marked);
        // A no to all that can have arrived is the destination's word about it.
        let is_word = settled.settlement == Settlement::Dead(Reason::Rejected);
        if written == Written::Settlement && is_word && settled.cleared_fence.is_some() {
            state.truth.permission = Permission::Known;
        }
        state.dispatchers[who] = Dispatcher::IDLE;
        let forgotten = end == End::Succeeded && state.entry.state != EntryState::Delivered;
        state.truth.broken.add(Broken::FORGOTTEN, forgotten);
        Some(())
    }

    fn crash(&self, state: &mut State, who: usize) {
        state.crashes -= 1;
        state.dispatchers[who] = match state.dispatchers[who].at {
            Place::Sent(_, left) => Dispatcher {
                at: Place::Orphan(left),
                clock_off: 0,
            },
            _ => Dispatcher::IDLE,
        };
    }

    /// The claim's answer: the entry as it stands now.
    fn started(&self, state: &State) -> Place {
        Place::Claimed(Attempt {
            fence: state.entry.fence,
            claimed_at: state.entry.claimed_at,
            after_uncertain: state.entry.first_uncertain_at.is_some(),
            on_word: self.is_answered(&state.entry),
        })
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

fn not_sent(state: &mut State, who: usize) -> Option<()> {
    let Place::Claimed(attempt) = state.dispatchers[who].at else {
        return None;
    };
    state.dispatchers[who].at = Place::Ended(attempt, End::NotSent);
    Some(())
}

/// A delivered entry stays delivered, whoever acts. But for an operator a closed one stays closed, what may have
/// arrived does not become dead (but by a no, where the destination has said that nothing before it had), and an
/// unknown entry is not attempted.
fn judge(before: &State, state: &mut State, step: Step) {
    let (was, is) = (before.entry.state, state.entry.state);
    let reopened = was.is_closed() && !is.is_closed();
    let undone = was == EntryState::Delivered && is != EntryState::Delivered;
    // By the destination's own word, nothing before the attempt that settles had arrived.
    let is_answered = match step {
        Step::Settle(who) => match before.dispatchers[who].at {
            Place::Ended(attempt, End::Rejected) => attempt.on_word && !before.entry.is_vouched,
            _ => false,
        },
        _ => false,
    };
    let is_uncertain = before.entry.first_uncertain_at.is_some() && !is_answered;
    let given_up = (is_uncertain && was != is && is == EntryState::Dead)
        || (was == EntryState::Unknown && is == EntryState::Claimed);
    let broken = &mut state.truth.broken;
    broken.add(Broken::REOPENED, undone);
    if !matches!(step, Step::Operator(..) | Step::OperatorWrites(_)) {
        broken.add(Broken::REOPENED, reopened);
        broken.add(Broken::GIVEN_UP, given_up);
    }
}
