//! The protocol as the checker takes it: where it starts, which steps there are, what must hold.

use stateright::{Model, Property, Representative};

use crate::asking::Answer;
use crate::bounds::{Bounds, Guards};
use crate::decide::Rules;
use crate::property::{NO_ENDLESS_RUN, properties};
use crate::state::State;
use crate::step::Step;

/// The model of one run.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    rules: Rules,
}

impl Protocol {
    /// The model of these bounds, with these guards.
    #[must_use]
    pub fn new(bounds: Bounds, guards: Guards) -> Self {
        Self {
            rules: Rules::new(bounds, guards),
        }
    }

    /// The same model with nothing simplified: more states, the same verdicts. It says nothing on
    /// endless runs.
    #[must_use]
    pub fn in_full(mut self) -> Self {
        self.rules.simplifies = false;
        self
    }

    /// Whether the property says something of this model: in full, nothing measures progress.
    pub(crate) fn judges(&self, property: &str) -> bool {
        property != NO_ENDLESS_RUN || self.rules.simplifies
    }

    /// Whether the bounds are wide enough for everything that is to be seen.
    #[must_use]
    pub const fn has_everything(&self) -> bool {
        let bounds = &self.rules.bounds;
        bounds.dispatchers > 1 && bounds.operator_acts > 0
    }

    /// Whether no operator has acted.
    pub(crate) fn is_untouched(&self, state: &State) -> bool {
        state.operator_acts == self.rules.bounds.operator_acts
    }

    /// Whether anything can happen after this state.
    pub(crate) fn goes_on(&self, state: &State) -> bool {
        let follows = |step| self.rules.after(state, step).is_some();
        if follows(Step::TimePasses) {
            return true;
        }
        let mut steps = Vec::new();
        self.rules.steps(state, &mut steps);
        steps.into_iter().any(follows)
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let bounds = &self.rules.bounds;
        vec![State::accepted(
            bounds.lease.cast_signed() + 1,
            bounds.crashes,
            bounds.records,
            bounds.operator_acts,
        )]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        self.rules.steps(state, actions);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        self.rules.after(state, step)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties(&self.rules.bounds)
    }
}

/// Which of the dispatchers is which does not matter, nor which of the reconcilers or the operators.
impl Representative for State {
    fn representative(&self) -> Self {
        let mut state = *self;
        state.dispatchers.sort_unstable();
        let rank = |answer: &Option<Answer>| answer.map(|a| a.rank());
        state.reconcilers.sort_unstable_by_key(rank);
        state.operators.sort_unstable();
        state
    }
}
