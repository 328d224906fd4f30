//! Runs the checker: a model comes in, out comes what was visited and the verdict on each property.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use stateright::{Checker, Expectation, Model, Path, Representative};

use crate::Protocol;
use crate::state::State;
use crate::step::Step;
use crate::story::story;

/// What a run has found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// How many states were generated, repetitions among them.
    pub states: usize,
    /// How many different states were visited, up to the names of the dispatchers.
    pub unique: usize,
    /// The longest run, in steps.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// What was found of each property, in their order.
    pub verdicts: Vec<(&'static str, Verdict)>,
}

/// What was found of one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in every state.
    Holds,
    /// There is a state in which it does not.
    Violated,
    /// It says nothing of this model.
    NotAsked,
    /// It was seen.
    Seen,
    /// It was not seen anywhere: what should have been tried was not.
    NeverSeen,
}

impl Explored {
    /// Whether a property does not hold somewhere.
    #[must_use]
    pub fn has_violation(&self) -> bool {
        self.has(Verdict::Violated)
    }

    /// Whether everything that should be tried was.
    #[must_use]
    pub fn has_seen_everything(&self) -> bool {
        !self.has(Verdict::NeverSeen)
    }

    fn has(&self, wanted: Verdict) -> bool {
        self.verdicts.iter().any(|(_, verdict)| *verdict == wanted)
    }
}

/// Visits every state.
#[must_use]
pub fn explore(model: Protocol, threads: usize) -> Explored {
    let started = Instant::now();
    let checker = model
        .checker()
        .threads(threads)
        .symmetry()
        .spawn_dfs()
        .join();
    let found = checker.discoveries();
    Explored {
        states: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: started.elapsed(),
        verdicts: verdicts(&model, &found),
    }
}

fn verdicts(
    model: &Protocol,
    found: &HashMap<&'static str, Path<State, Step>>,
) -> Vec<(&'static str, Verdict)> {
    let verdict = |expectation: &Expectation, found: bool| match (expectation, found) {
        (Expectation::Sometimes, true) => Verdict::Seen,
        (Expectation::Sometimes, false) => Verdict::NeverSeen,
        (_, true) => Verdict::Violated,
        (_, false) => Verdict::Holds,
    };
    model
        .properties()
        .iter()
        .map(|p| match model.judges(p.name) {
            true => (p.name, verdict(&p.expectation, found.contains_key(p.name))),
            false => (p.name, Verdict::NotAsked),
        })
        .collect()
}

/// The shortest run to a violation: which properties it breaks, and what happens, a line a step.
/// Breadth first and in one thread; `None` where every state was visited and every property holds.
#[must_use]
pub fn shortest_violation(model: Protocol) -> Option<(Vec<&'static str>, String)> {
    let mut properties = model.properties();
    properties.retain(|property| property.expectation != Expectation::Sometimes);
    let mut visited = HashSet::new();
    let mut reached: Vec<Reached> = Vec::new();
    for state in model.init_states() {
        visited.insert(state.representative());
        reached.push(Reached { state, from: None });
    }
    let mut next = 0;
    while let Some(&Reached { state, .. }) = reached.get(next) {
        let broken: Vec<_> = properties
            .iter()
            .filter(|property| !(property.condition)(&model, &state))
            .map(|property| property.name)
            .collect();
        if !broken.is_empty() {
            return Some((broken, story(&run_to(&reached, next))));
        }
        for (step, state) in model.next_steps(&state) {
            if visited.insert(state.representative()) {
                reached.push(Reached {
                    state,
                    from: Some((next, step)),
                });
            }
        }
        next += 1;
    }
    None
}

/// A state, and the first way to it that was found.
#[derive(Clone, Copy, Debug)]
struct Reached {
    state: State,
    from: Option<(usize, Step)>,
}

/// The states on the way to `end`, each with the step that led to it.
fn run_to(reached: &[Reached], end: usize) -> Vec<(State, Option<Step>)> {
    let mut run = Vec::new();
    let mut at = Some(end);
    while let Some(here) = at.and_then(|index| reached.get(index)) {
        run.push((here.state, here.from.map(|(_, step)| step)));
        at = here.from.map(|(before, _)| before);
    }
    run.reverse();
    run
}
