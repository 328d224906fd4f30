//! Makes states equal that no later step and no property can tell apart. Only sound while every guard
//! stands: a write that can only be refused is known to be refused because fences never go back.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Word as Said;

use crate::clock::Steps;
use crate::decide::Rules;
use crate::state::{Attempt, Broken, Dispatcher, End, Permission, Place, State};

/// How far back points in time are told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oldest {
    /// A claim's start, as far as its lease matters: ended for every clock, with the allowed skew.
    pub lease: Steps,
    /// A mark: its window has ended for every clock, or the time of asking.
    pub mark: Steps,
    /// Due for every clock.
    pub due: Steps,
    /// `retry_for` has passed for every clock, since acceptance or since an operator had it sent again.
    pub accepted: Steps,
}

impl Rules {
    pub(crate) fn oldest(&self) -> Oldest {
        let bounds = &self.bounds;
        let lease = -(bounds.lease + bounds.skew()).cast_signed();
        Oldest {
            lease,
            mark: lease.min(-bounds.window.max(bounds.give_up).cast_signed()),
            due: 0,
            accepted: -bounds.retry_for.cast_signed(),
        }
    }

    pub(crate) fn simplify(&self, state: &mut State) {
        if !self.simplifies {
            return;
        }
        self.refuse(state);
        self.drop_marks(state);
        let state_is = state.entry.state;
        let has_work = |d: &Dispatcher| {
            !matches!(d.at, Place::Idle | Place::Sent(..) | Place::Orphan(..))
                && !matches!(d.at, Place::Ended(..))
        };
        if matches!(
            state_is,
            EntryState::Held | EntryState::Dead | EntryState::Delivered
        ) {
            state.entry.due_at = 0;
            // Only an operator has it sent again, with a time of its own.
            state.entry.redriven_at = None;
            state.entry.accepted_at = 0;
        }
        if state.entry.redriven_at.is_some() {
            state.entry.accepted_at = 0;
        }
        let for_good = state_is == EntryState::Delivered
            || (state.operator_acts == 0
                && matches!(state_is, EntryState::Held | EntryState::Dead));
        let is_answered = state.reconcilers.iter().any(Option::is_some);
        if for_good && !is_answered && !state.dispatchers.iter().any(has_work) {
            state.entry.first_uncertain_at = None;
            state.entry.is_vouched = false;
            state.crashes = 0;
            if state.in_flight() == 0 {
                state.truth.first_arrival = None;
                state.truth.permission = Permission::None;
            }
        }
        drop_words(state);
    }

    /// A write whose condition cannot hold any more is refused at once: that changes nothing on the
    /// table. The same holds of the stream's record once the entry is past its first claim.
    fn refuse(&self, state: &mut State) {
        let entry = state.entry;
        let is = |wanted: EntryState, fence: u8| (entry.state, entry.fence) == (wanted, fence);
        if !is(EntryState::Pending, 0) {
            state.records = 0;
        }
        for dispatcher in &mut state.dispatchers {
            let refused = match dispatcher.at {
                Place::Claiming { seen, .. } | Place::Holding { seen } => {
                    !is(EntryState::Pending, seen)
                }
                Place::Unanswered { seen, .. } => !is(EntryState::Claimed, seen + 1),
                Place::Expiring { seen } => !is(EntryState::Claimed, seen),
                Place::Ended(_, End::Succeeded) => entry.state == EntryState::Delivered,
                Place::Ended(attempt, _) => !is(EntryState::Claimed, attempt.fence),
                _ => false,
            };
            if refused {
                *dispatcher = Dispatcher::IDLE;
            }
        }
        for answer in &mut state.reconcilers {
            let refused = answer.is_some_and(|answer| match answer.said {
                Said::Applied => entry.state == EntryState::Delivered,
                Said::NotApplied | Said::StillUnknown => !is(EntryState::Unknown, answer.seen),
            });
            if refused {
                *answer = None;
            }
            // It holds whatever was asked about, and whenever.
            if let Some(answer) = answer
                && answer.said == Said::Applied
            {
                (answer.seen, answer.clock_off) = (0, 0);
            }
        }
    }

    /// Drops what a dispatcher and the entry know and will not use.
    fn drop_marks(&self, state: &mut State) {
        // Else only whether there was something matters, not when: nothing may follow.
        let keeps_keys = self.bounds.keeps_keys();
        let tells_when = keeps_keys || self.bounds.is_asked();
        let marked = state.entry.first_uncertain_at.is_some();
        let oldest = self.oldest();
        for dispatcher in &mut state.dispatchers {
            match &mut dispatcher.at {
                Place::Claiming { claimed_at, .. } | Place::Unanswered { claimed_at, .. } => {
                    *claimed_at = oldest.lease.max(*claimed_at);
                }
                Place::Claimed(attempt) => {
                    attempt.claimed_at = oldest.lease.max(attempt.claimed_at)
                }
                Place::Holding { .. } => dispatcher.clock_off = 0,
                Place::Ended(attempt, End::Succeeded) => {
                    *attempt = Attempt {
                        fence: 0,
                        claimed_at: 0,
                        after_uncertain: false,
                        on_word: false,
                    };
                    dispatcher.clock_off = 0;
                }
                Place::Ended(attempt, End::NotSent | End::Busy) => attempt.claimed_at = 0,
                Place::Sent(attempt, _) if marked || !tells_when => attempt.claimed_at = 0,
                Place::Ended(attempt, end) => {
                    // It may have arrived: the word does not cover it. A no is judged by what came before.
                    attempt.on_word &= *end == End::Rejected;
                    if marked || !tells_when {
                        attempt.claimed_at = 0;
                    }
                }
                _ => {}
            }
        }
        if state.entry.state != EntryState::Claimed {
            state.entry.claimed_at = 0;
        } else if marked || !tells_when {
            state.entry.claimed_at = state.entry.claimed_at.max(oldest.lease);
        }
        if !tells_when {
            state.entry.first_uncertain_at = state.entry.first_uncertain_at.map(|_| 0);
        }
        if !keeps_keys {
            state.truth.first_arrival = state.truth.first_arrival.map(|_| 0);
        }
    }

    /// Every step comes nearer to the end, by a measure that has one: so no run is endless.
    pub(crate) fn judge_progress(&self, before: &State, state: &mut State) {
        if !self.simplifies {
            return;
        }
        let backwards = self.measure(before) >= self.measure(state);
        state.truth.broken.add(Broken::BACKWARDS, backwards);
    }

    /// What grows with every step, the weightiest first: what operators have done, the fence, how far
    /// the entry is within it, records and crashes used up, questions, work done by the dispatchers, time.
    fn measure(&self, state: &State) -> [i32; 9] {
        let entry = &state.entry;
        let within = match entry.state {
            EntryState::Claimed => 1,
            EntryState::Unknown => 2,
            EntryState::Pending => 3,
            EntryState::Held => 4,
            EntryState::Dead => 5,
            EntryState::Delivered => 6,
        };
        let mut work = 0;
        let mut age = 0;
        for dispatcher in &state.dispatchers {
            let overtaken = |attempt: &Attempt| {
                (entry.state, entry.fence) != (EntryState::Claimed, attempt.fence)
            };
            work += match dispatcher.at {
                Place::Claimed(attempt) if overtaken(&attempt) => -3,
                Place::Sent(attempt, _) if overtaken(&attempt) => -2,
                Place::Orphan(..) => 0,
                Place::Idle => 1,
                Place::Claiming { .. } | Place::Expiring { .. } | Place::Holding { .. } => 2,
                Place::Unanswered { .. } => 3,
                Place::Claimed(_) => 4,
                Place::Sent(..) => 5,
                Place::Ended(..) => 6,
            };
            age -= match dispatcher.at {
                Place::Claiming { claimed_at, .. } | Place::Unanswered { claimed_at, .. } => {
                    i32::from(claimed_at)
                }
                Place::Claimed(attempt) | Place::Ended(attempt, _) => i32::from(attempt.claimed_at),
                Place::Sent(attempt, left) => i32::from(attempt.claimed_at) + i32::from(left),
                Place::Orphan(left) => i32::from(left),
                _ => 0,
            };
        }
        for point in [entry.claimed_at, entry.due_at, entry.accepted_at] {
            age -= i32::from(point);
        }
        let truth = &state.truth;
        let marks = [
            entry.first_uncertain_at,
            entry.redriven_at,
            truth.first_arrival,
        ];
        for point in marks.into_iter().flatten() {
            age -= i32::from(point);
        }
        let [doubted, asked] = self.measure_of_asking(state);
        [
            -i32::from(state.operator_acts),
            i32::from(entry.fence),
            within,
            -i32::from(state.records),
            -i32::from(state.crashes),
            doubted,
            asked,
            work,
            age,
        ]
    }

    /// Of an unknown entry, the weightiest first: for how long it has been in doubt (when that is no
    /// longer told apart, until when it is not asked); how far away the next question is, and what is
    /// left of the ones before. An answer of "still unknown" moves the next question away, as far as no
    /// clock reaches, or else to where the clock that does gives up.
    fn measure_of_asking(&self, state: &State) -> [i32; 2] {
        let entry = &state.entry;
        let (EntryState::Unknown, Some(first)) = (entry.state, entry.first_uncertain_at) else {
            return [0, 0];
        };
        let mut doubted = -i32::from(first);
        if first <= self.oldest().mark {
            doubted += i32::from(Steps::MAX - entry.due_at);
        }
        let away = entry.due_at.clamp(0, self.bounds.clock_off + 1);
        let mut asked = 8 * i32::from(away);
        for answer in &state.reconcilers {
            asked += match answer {
                Some(answer) if answer.said != Said::Applied && answer.clock_off < away => 0,
                None => 1,
                Some(_) => 2,
            };
        }
        [doubted, asked]
    }
}

/// Forgets words that nobody will read any more: numbers only grow.
fn drop_words(state: &mut State) {
    let entry = &mut state.entry;
    let waits = |d: &Dispatcher| matches!(d.at, Place::Unanswered { .. });
    let is_read = match entry.state {
        // By the claim's answer, where it is still to come.
        EntryState::Claimed => {
            entry.cleared_fence + 1 >= entry.fence && state.dispatchers.iter().any(waits)
        }
        EntryState::Delivered => false,
        _ => entry.cleared_fence >= entry.fence,
    };
    if !is_read || entry.first_uncertain_at.is_none() {
        entry.cleared_fence = 0;
    }
    let truth = &mut state.truth;
    // Where nothing has arrived, nothing needs a permission; the next that arrives uses it up.
    let is_needed = truth.first_arrival.is_some()
        || (truth.permission == Permission::Known && entry.first_uncertain_at.is_some());
    if !is_needed {
        truth.permission = Permission::None;
    }
}
