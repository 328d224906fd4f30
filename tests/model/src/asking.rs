//! The reconcilers: they read the entry and ask in one step, and settle the answer in another one, or
//! die before it.
//!
//! That a question on an older reading is not modelled takes nothing away: what it leads to commits only
//! where the reading still holds, and while an entry stays unknown under one fence, nothing arrives.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Word as Said;

use crate::clock::Steps;
use crate::decide::Rules;
use crate::state::{Broken, Permission, State};
use crate::step::Step;
use crate::table::{By, DecidedOn, Written};

/// An answer that is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The fence that was read.
    pub seen: u8,
    /// What the destination said.
    pub said: Said,
    /// How far the reconciler's clock is from true time.
    pub clock_off: Steps,
    /// Whether nothing was on its way when it was said, and nothing has arrived since. For the
    /// properties alone.
    pub is_fresh: bool,
}

impl Answer {
    /// An order of answers, for reconcilers whose names do not matter.
    pub(crate) const fn rank(&self) -> (u8, u8, Steps, bool) {
        let said = match self.said {
            Said::Applied => 0,
            Said::NotApplied => 1,
            Said::StillUnknown => 2,
        };
        (self.seen, said, self.clock_off, self.is_fresh)
    }
}

impl Rules {
    /// What the reconcilers may do next. Of two that do nothing, one is enough.
    pub(crate) fn steps_of_reconcilers(&self, state: &State, steps: &mut Vec<Step>) {
        let reconcilers = &state.reconcilers[..self.bounds.reconcilers];
        if let Some(who) = reconcilers.iter().position(Option::is_none) {
            for clock_off in 0..=self.bounds.clock_off {
                if self.may_ask(&state.entry, clock_off) {
                    let answers = state.truth.answers();
                    steps.extend(answers.map(|said| Step::Ask(who, clock_off, said)));
                }
            }
        }
        for (who, _) in reconcilers.iter().enumerate().filter(|(_, a)| a.is_some()) {
            steps.push(Step::Answer(who));
            if state.crashes > 0 {
                steps.push(Step::ReconcilerDies(who));
            }
        }
    }

    /// A reconciler reads the entry, asks, and hears `said`.
    pub(crate) fn ask(&self, state: &mut State, who: usize, clock_off: Steps, said: Said) {
        state.reconcilers[who] = Some(Answer {
            seen: state.entry.fence,
            said,
            clock_off,
            is_fresh: said == Said::NotApplied && state.in_flight() == 0,
        });
    }

    /// The answer is settled, for exactly the standing that was asked about.
    pub(crate) fn answer(&self, state: &mut State, who: usize) -> Option<()> {
        let answer = state.reconcilers[who].take()?;
        let on = DecidedOn {
            state: EntryState::Unknown,
            fence: answer.seen,
            by: By::Answer,
        };
        let settled = self.settle_asked(&state.entry, &answer);
        let written = state.entry.settle(on, &settled, &self.guards);
        if written == Written::Settlement && answer.is_fresh {
            state.truth.permission = Permission::Known;
        }
        let forgotten = answer.said == Said::Applied && state.entry.state != EntryState::Delivered;
        state.truth.broken.add(Broken::FORGOTTEN, forgotten);
        Some(())
    }
}
