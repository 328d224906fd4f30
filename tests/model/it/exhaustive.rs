//! Small bounds, every state.

use std::collections::{BTreeSet, HashSet};

use ackbox_domain::EntryState;
use ackbox_model::state::{Broken, Permission, State};
use ackbox_model::{Bounds, Destination, Guards, Protocol, Verdict, explore, shortest_violation};
use stateright::{Model, Representative};

const DESTINATIONS: [Destination; 4] = [
    Destination::None,
    Destination::WindowHold,
    Destination::WindowRetry,
    Destination::Asked,
];

fn holds(bounds: Bounds) {
    assert!(bounds.is_allowed(), "{bounds:?}");
    let model = Protocol::new(bounds, Guards::ALL);
    let explored = explore(model, 2);
    if explored.has_violation() {
        // The story is what one wants to read; the assertion below would only say "true".
        let shortest = shortest_violation(model).unwrap_or_default();
        assert!(
            shortest.0.is_empty(),
            "{bounds:?} {:?}\n{}",
            shortest.0,
            shortest.1
        );
    }
    assert!(
        !explored.has_violation(),
        "{bounds:?} {:?}",
        explored.verdicts
    );
    if model.has_everything() {
        assert!(
            explored.has_seen_everything(),
            "{bounds:?} {:?}",
            explored.verdicts
        );
    }
}

#[test]
fn every_property_holds_without_an_operator() {
    for destination in DESTINATIONS {
        holds(Bounds {
            dispatchers: 2,
            crashes: 1,
            records: 2,
            operator_acts: 0,
            ..Bounds::full(destination)
        });
    }
}

#[test]
fn every_property_holds_with_two_operators_and_crashes_without_keys() {
    holds(Bounds {
        dispatchers: 2,
        operator_acts: 2,
        ..Bounds::full(Destination::None).shorter()
    });
}

#[test]
fn every_property_holds_with_an_operator_and_keys() {
    for destination in [Destination::WindowHold, Destination::WindowRetry] {
        holds(Bounds {
            dispatchers: 2,
            crashes: 1,
            records: 1,
            ..Bounds::full(destination).shorter()
        });
    }
}

#[test]
fn every_property_holds_with_an_operator_and_two_reconcilers() {
    holds(Bounds {
        dispatchers: 2,
        crashes: 1,
        records: 1,
        ..Bounds::full(Destination::Asked).shorter()
    });
}

#[test]
fn every_run_has_an_allowed_timing() {
    for destination in DESTINATIONS {
        assert!(Bounds::full(destination).is_allowed());
        assert!(Bounds::full(destination).shorter().is_allowed());
        assert!(Bounds::wider_clocks(destination).is_allowed());
    }
}

/// What one could see of a state from outside.
type Seen = BTreeSet<(EntryState, u8, u8, bool, usize, bool, Broken)>;

/// Whether a word on the table can be used: something may arrive that was not the first.
fn is_open(state: &State) -> bool {
    let entry = &state.entry;
    state.truth.first_arrival.is_some() && entry.state == EntryState::Pending
}

/// What is seen, and in how many states. A broken property is seen too.
fn seen(model: Protocol) -> (Seen, usize) {
    let mut left = model.init_states();
    let mut visited: HashSet<_> = left.iter().copied().collect();
    let mut seen = Seen::new();
    while let Some(state) = left.pop() {
        seen.insert((
            state.entry.state,
            state.entry.fence,
            state.truth.effects,
            state.entry.first_uncertain_at.is_some() || state.is_at_rest(),
            state.in_flight(),
            state.truth.permission == Permission::Known || !is_open(&state),
            state.truth.broken,
        ));
        for next in model.next_states(&state) {
            if visited.insert(next.representative()) {
                left.push(next);
            }
        }
    }
    (seen, visited.len())
}

#[test]
fn simplified_states_show_the_same_as_all_of_them() {
    for destination in DESTINATIONS {
        let bounds = Bounds {
            dispatchers: if destination == Destination::WindowRetry {
                1
            } else {
                2
            },
            crashes: u8::from(destination != Destination::WindowHold),
            records: 1,
            operator_acts: 0,
            ..Bounds::full(destination)
        };
        // Shorter times, for as many states as the others have.
        let bounds = match destination {
            Destination::Asked => Bounds {
                reconcilers: 1,
                retry_for: 5,
                backoff: 2,
                give_up: 6,
                ..bounds
            },
            _ => bounds,
        };
        shows_the_same(bounds);
    }
}

/// An operator's reading and write are two steps in full, and one where they are simplified.
#[test]
fn simplified_operators_show_the_same_as_those_who_write_late() {
    for destination in DESTINATIONS {
        let bounds = Bounds {
            dispatchers: 1,
            reconcilers: usize::from(destination == Destination::Asked),
            crashes: 0,
            records: 0,
            ..Bounds::full(destination).shorter()
        };
        shows_the_same(bounds);
    }
    // Two at once, and exact clocks, for as many states as the others have.
    shows_the_same(Bounds {
        dispatchers: 1,
        crashes: 0,
        records: 0,
        operator_acts: 2,
        clock_off: 0,
        lease: 3,
        retry_for: 4,
        backoff: 4,
        ..Bounds::full(Destination::None)
    });
}

fn shows_the_same(bounds: Bounds) {
    let model = Protocol::new(bounds, Guards::ALL);
    let (simplified, visited) = seen(model);
    let (full, visited_in_full) = seen(model.in_full());
    assert_eq!(simplified, full, "{bounds:?}");
    assert!(visited < visited_in_full, "{bounds:?}");
}

#[test]
fn a_property_that_cannot_be_seen_is_not_passed_over() {
    let bounds = Bounds {
        dispatchers: 1,
        crashes: 0,
        records: 1,
        operator_acts: 0,
        ..Bounds::full(Destination::None)
    };
    let explored = explore(Protocol::new(bounds, Guards::ALL), 1);
    let missing = |(_, verdict): &(_, Verdict)| *verdict == Verdict::NeverSeen;
    assert!(explored.verdicts.iter().any(missing));
    assert!(!explored.has_seen_everything());
}
