//! Visits every state: bounds and guards come in, out comes how many there are, and the shortest run to
//! what is broken, if anything is.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::rules::{Rules, Step};
use super::state::{Entry, World};
use super::{Bounds, Guards, Property};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many different states there are; where something is broken, how many were visited by then.
    pub states: usize,
    /// The property that does not hold, and the shortest run that shows it, a line a step.
    pub broken: Option<(Property, String)>,
}

/// Every state that is reachable, breadth first.
struct Graph {
    worlds: Vec<World>,
    /// From where, and by which step, each was reached first.
    from: Vec<Option<(usize, Step)>>,
    /// What follows each.
    follows: Vec<Vec<usize>>,
}

/// Visits every state.
#[must_use]
pub fn explore(bounds: Bounds, guards: Guards) -> Explored {
    let rules = Rules { bounds, guards };
    let mut graph = Graph {
        worlds: Vec::new(),
        from: Vec::new(),
        follows: Vec::new(),
    };
    let mut numbers: HashMap<World, usize> = HashMap::new();
    for start in rules.starts() {
        numbers
            .entry(start.clone())
            .or_insert_with(|| graph.add(start, None));
    }
    let mut next = 0;
    while let Some(world) = graph.worlds.get(next).cloned() {
        if let Some(broken) = world.broken {
            return graph.broken(broken, next);
        }
        let mut follows = Vec::new();
        for step in rules.steps(&world) {
            let Some(after) = rules.after(&world, step) else {
                continue;
            };
            let number = match numbers.get(&after) {
                Some(number) => *number,
                None => {
                    let number = graph.add(after.clone(), Some((next, step)));
                    numbers.insert(after, number);
                    number
                }
            };
            follows.push(number);
        }
        let is_done = |world: &World| world.entries.iter().all(|entry| *entry == Entry::Done);
        if follows.is_empty() && !is_done(&world) {
            return graph.broken(Property::AllDone, next);
        }
        graph.follows[next] = follows;
        next += 1;
    }
    match graph.on_a_cycle() {
        Some(number) => graph.broken(Property::NoEndlessRun, number),
        None => Explored {
            states: graph.worlds.len(),
            broken: None,
        },
    }
}

impl Graph {
    fn add(&mut self, world: World, from: Option<(usize, Step)>) -> usize {
        self.worlds.push(world);
        self.from.push(from);
        self.follows.push(Vec::new());
        self.worlds.len() - 1
    }

    /// A state that comes after itself: what is left when whatever has nothing before it is taken away,
    /// again and again, and of that, whatever has nothing after it.
    fn on_a_cycle(&self) -> Option<usize> {
        let mut left = vec![true; self.worlds.len()];
        let mut before = vec![Vec::new(); self.worlds.len()];
        for (number, follows) in self.follows.iter().enumerate() {
            for next in follows {
                before[*next].push(number);
            }
        }
        take_away(&mut left, &before, &self.follows);
        take_away(&mut left, &self.follows, &before);
        left.iter().position(|left| *left)
    }

    fn broken(&self, property: Property, number: usize) -> Explored {
        let mut run = Vec::new();
        let mut at = Some(number);
        while let Some(number) = at {
            run.push(number);
            at = self.from[number].map(|(before, _)| before);
        }
        let mut story = String::new();
        for number in run.into_iter().rev() {
            let world = &self.worlds[number];
            let step = self.from[number].map(|(_, step)| step);
            let pause = world.record.pause.as_ref();
            let pause = pause.map(|p| (crate::clock::steps_to(p.until), p.is_probing));
            let operator = world.record.operator.as_ref();
            let operator = operator.map(|p| p.until.map(crate::clock::steps_to));
            let at: Vec<_> = world.processes.iter().map(|process| process.at).collect();
            let fence = world.record.fence;
            let _ = writeln!(story, "{step:?}: {fence} {pause:?} {operator:?} {at:?}");
        }
        Explored {
            states: self.worlds.len(),
            broken: Some((property, story)),
        }
    }
}

/// Takes away, again and again, what nothing that is left leads to.
fn take_away(left: &mut [bool], from: &[Vec<usize>], to: &[Vec<usize>]) {
    let many = |of: &Vec<usize>| of.iter().filter(|number| left[**number]).count();
    let mut leads: Vec<usize> = from.iter().map(many).collect();
    let mut free: Vec<usize> = (0..left.len())
        .filter(|number| left[*number] && leads[*number] == 0)
        .collect();
    while let Some(number) = free.pop() {
        left[number] = false;
        for next in to[number].iter().filter(|next| left[**next]) {
            leads[*next] -= 1;
            if leads[*next] == 0 {
                free.push(*next);
            }
        }
    }
}
