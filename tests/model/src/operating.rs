//! The operators: they read the entry and decide in one step, and write in another one, or never. Where states
//! are simplified, both are one step.
//!
//! That takes nothing away. The write commits only where state and fence stand as they were read, and under one
//! fence an entry never comes back to a state that it has left (this is part of the measure that every step
//! grows); so nothing has happened to it since but that an unknown one's next question was moved, which no word
//! looks at. What was decided on it then is what would be decided now, but for the time; and that is the time of
//! a run in which the word is written at once, and nobody looks at the entry until then. Nothing arrives in between
//! either: an entry of which an operator may speak has no request on its way, which is a property here
//! (`NOT_SPOKEN_OVER`).

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Settled;

use crate::clock::{Steps, steps_to};
use crate::decide::Rules;
use crate::state::{Broken, Entry, Permission, State, Word};
use crate::step::Step;

/// A word that is decided, and not on the table yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unwritten {
    /// What the operator said.
    pub word: Word,
    /// The state that was read.
    pub state: EntryState,
    /// The fence that was read.
    pub fence: u8,
    /// The state that the entry is to have.
    pub becomes: EntryState,
    /// When it is to be due.
    pub due_at: Steps,
    /// The number up to which attempts are to be cleared; 0: nothing new is said of that.
    pub cleared_fence: u8,
    /// Whether only the operator vouches for that.
    pub is_vouched: bool,
    /// When it was decided, by the operator's clock.
    pub decided_at: Steps,
    /// Whether nothing was on its way then, and nothing has arrived since. For the properties alone.
    pub is_fresh: bool,
}

const WORDS: [Word; 5] = [
    Word::Redrive,
    Word::RedriveAllTheSame,
    Word::Applied,
    Word::NotApplied,
    Word::Dead,
];

impl Rules {
    /// What operators may do next: try any word in any state, and write what was decided.
    pub(crate) fn steps_of_operators(&self, state: &State, steps: &mut Vec<Step>) {
        if state.operator_acts > 0 && state.operators.iter().any(Option::is_none) {
            for clock_off in 0..=self.bounds.clock_off {
                steps.extend(WORDS.map(|word| Step::Operator(word, clock_off)));
            }
        }
        for (who, _) in state
            .operators
            .iter()
            .enumerate()
            .filter(|(_, o)| o.is_some())
        {
            steps.push(Step::OperatorWrites(who));
        }
    }

    /// An operator reads the entry and decides; `None` where the word does not fit.
    pub(crate) fn operator(&self, state: &mut State, word: Word, clock_off: Steps) -> Option<()> {
        let settled = self.hear(&state.entry, word, clock_off)?;
        let is_fresh = state.in_flight() == 0;
        let unwritten = Unwritten::new(&state.entry, word, &settled, clock_off, is_fresh);
        state.operator_acts -= 1;
        if self.simplifies {
            self.written(state, &unwritten);
        } else {
            let free = state.operators.iter_mut().find(|o| o.is_none())?;
            *free = Some(unwritten);
        }
        Some(())
    }

    /// An operator's write reaches the table.
    pub(crate) fn operator_writes(&self, state: &mut State, who: usize) -> Option<()> {
        let unwritten = state.operators[who].take()?;
        self.written(state, &unwritten);
        Some(())
    }

    fn written(&self, state: &mut State, unwritten: &Unwritten) {
        if !state.entry.takes_word(unwritten, &self.guards) {
            return;
        }
        state.entry.hear(unwritten, &self.guards);
        let is_under_way = state.in_flight() > 0;
        let truth = &mut state.truth;
        truth.broken.add(Broken::SPOKEN_OVER, is_under_way);
        let word = unwritten.word;
        truth.word = matches!(word, Word::Applied | Word::Dead).then_some(word);
        // Inside the window the operator risks nothing, and allows nothing.
        let permits = match word {
            Word::RedriveAllTheSame => unwritten.is_vouched,
            Word::NotApplied => true,
            Word::Redrive | Word::Applied | Word::Dead => false,
        };
        if permits && unwritten.is_fresh {
            truth.permission = Permission::Known;
        }
    }
}

impl Unwritten {
    fn new(entry: &Entry, word: Word, settled: &Settled, now: Steps, is_fresh: bool) -> Self {
        use ackbox_domain::settlement::Settlement::Retry;
        Self {
            word,
            state: entry.state,
            fence: entry.fence,
            becomes: settled.settlement.state(),
            due_at: match settled.settlement {
                Retry { due_at } => steps_to(due_at),
                _ => 0,
            },
            cleared_fence: settled
                .cleared_fence
                .map_or(0, |fence| u8::try_from(fence).unwrap_or(u8::MAX)),
            is_vouched: settled.is_vouched,
            decided_at: now,
            is_fresh,
        }
    }
}
