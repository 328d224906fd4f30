//! The table's conditional writes, as guarded steps that happen whole or not at all. The conditions
//! mirror those of the store's `claim`, `settle` and `decide`; each can be taken away by a guard.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::{Settled, Settlement};

use crate::bounds::Guards;
use crate::clock::{Steps, at, steps_to};
use crate::operating::Unwritten;
use crate::state::Entry;

/// The standing that a settlement was decided on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecidedOn {
    pub state: EntryState,
    pub fence: u8,
    /// Who settles.
    pub by: By,
}

/// Who settles: the table takes some words for more than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The holder of the claim, who knows the attempt's end.
    Holder,
    /// Whoever found the claim run out: it speaks for a holder that nobody has heard of.
    Expiry,
    /// A dispatcher that may not attempt it any more.
    NoAttempt,
    /// A reconciler, with the destination's word.
    Answer,
}

/// What became of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It holds.
    Settlement,
    /// It was refused, and left a mark where there was none.
    MarkAlone,
    /// It was refused.
    Nothing,
}

impl Entry {
    /// Whether a claim that was decided on the fence `seen` commits: the entry is pending, and nobody
    /// had an attempt since.
    pub(crate) fn takes_claim(&self, seen: u8, guards: &Guards) -> bool {
        (!guards.claim_state || self.state == EntryState::Pending)
            && (!guards.claim_fence || self.fence == seen)
    }

    /// The claim's write: the note that an attempt may have begun.
    pub(crate) fn claim(&mut self, seen: u8, claimed_at: Steps) {
        self.state = EntryState::Claimed;
        self.fence = seen + 1;
        self.claimed_at = claimed_at;
    }

    /// Whether the claim that stands is the one that was decided on `seen`. `committed`: that claim's
    /// write did commit, which its unique id tells; without the id, the number alone is looked at.
    pub(crate) fn holds_claim_on(&self, seen: u8, committed: bool, guards: &Guards) -> bool {
        self.state == EntryState::Claimed
            && self.fence == seen + 1
            && (committed || !guards.claim_id)
    }

    /// Whether a settlement commits: for exactly the standing that it was decided on, except that a
    /// success proves arrival under any fence and in any state.
    pub(crate) fn takes_settlement(
        &self,
        on: DecidedOn,
        settlement: &Settlement,
        guards: &Guards,
    ) -> bool {
        let (state, fence) = match on.by {
            By::Answer => (guards.answer_state, guards.answer_fence),
            _ => (guards.settle_state, guards.settle_fence),
        };
        let stands_so = (!state || self.state == on.state) && (!fence || self.fence == on.fence);
        let late_success = guards.late_success
            && *settlement == Settlement::Delivered
            && self.state != EntryState::Delivered;
        stands_so || late_success
    }

    /// The settlement's write; where it is refused, its mark is still put on the record, unless it
    /// only says that nothing was heard (then somebody has been heard since), or there was no attempt
    /// that it could be the mark of.
    pub(crate) fn settle(&mut self, on: DecidedOn, settled: &Settled, guards: &Guards) -> Written {
        let takes = self.takes_settlement(on, &settled.settlement, guards);
        let leaves_evidence = match on.by {
            By::Holder => true,
            By::Expiry => !guards.expiry_yields,
            By::NoAttempt | By::Answer => false,
        };
        if !takes && !leaves_evidence {
            return Written::Nothing;
        }
        if (takes || !guards.overtaken_clears_nothing)
            && let Some(fence) = settled.cleared_fence
        {
            self.cleared_fence = u8::try_from(fence).unwrap_or(u8::MAX);
        }
        if takes {
            self.state = settled.settlement.state();
            self.due_at = match settled.settlement {
                Settlement::Retry { due_at }
                | Settlement::Unknown { due_at }
                | Settlement::NoDestination { due_at } => steps_to(due_at),
                Settlement::Delivered | Settlement::Dead(_) | Settlement::Held(_) => 0,
            };
            self.claimed_at = 0;
        }
        let sets_mark = guards.first_uncertain_at
            && self.first_uncertain_at.is_none()
            && settled.first_uncertain_at.is_some();
        if sets_mark {
            self.first_uncertain_at = settled.first_uncertain_at.map(steps_to);
        }
        match (takes, sets_mark) {
            (true, _) => Written::Settlement,
            (false, true) => Written::MarkAlone,
            (false, false) => Written::Nothing,
        }
    }

    /// Whether an operator's word commits: for exactly the standing that was read.
    pub(crate) fn takes_word(&self, word: &Unwritten, guards: &Guards) -> bool {
        (!guards.word_state || self.state == word.state)
            && (!guards.word_fence || self.fence == word.fence)
    }

    /// An operator's write. It takes a number of its own.
    pub(crate) fn hear(&mut self, word: &Unwritten, guards: &Guards) {
        self.state = word.becomes;
        self.due_at = word.due_at;
        self.claimed_at = 0;
        let mut cleared = word.cleared_fence;
        if guards.word_takes_number {
            self.fence = word.fence + 1;
        } else {
            cleared = cleared.min(self.fence);
        }
        if cleared > 0 {
            self.cleared_fence = cleared;
        }
        self.is_vouched |= word.is_vouched;
        if word.becomes == EntryState::Pending {
            self.redriven_at = Some(word.decided_at);
        }
    }

    /// Whether the index shows the entry to a sweep at `now`: pending and claimed entries, once due.
    pub(crate) fn is_swept(&self, clock_off: Steps) -> bool {
        matches!(self.state, EntryState::Pending | EntryState::Claimed)
            && at(self.due_at) <= at(clock_off)
    }
}
