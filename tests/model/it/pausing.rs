//! A destination's pause: everything holds within small bounds, and each guard is missed by the property
//! that its comment names.

use ackbox_model::pausing::{Bounds, Explored, Guards, Property, explore};

fn explored(guards: Guards) -> Explored {
    explore(Bounds::SMALL, guards)
}

fn without(guards: Guards, caught_by: Property) {
    let explored = explored(guards);
    let (broken, story) = explored
        .broken
        .unwrap_or((Property::AllDone, "nothing".to_owned()));
    assert_eq!(broken, caught_by, "{guards:?}\n{story}");
}

#[test]
fn no_pause_stands_in_the_way_for_ever_and_no_two_probe_at_once() {
    let explored = explored(Guards::ALL);
    assert_eq!(
        explored.broken,
        None,
        "{}",
        explored.broken.clone().unwrap().1
    );
    // Enough to have seen pauses, probes and deaths.
    assert!(explored.states > 10_000, "{}", explored.states);
}

/// What `make model` explores in full, small enough for a test.
const OPERATED: Bounds = Bounds {
    silences: 0,
    deaths: 0,
    ..Bounds::OPERATED
};

#[test]
fn an_operators_pause_is_nobody_elses_and_everything_is_done_after_it() {
    let explored = explore(OPERATED, Guards::ALL);
    assert_eq!(
        explored.broken,
        None,
        "{}",
        explored.broken.clone().unwrap().1
    );
    assert!(explored.states > 10_000, "{}", explored.states);
}

/// A process whose clock is ahead fails at a destination that is still paused by an operator.
#[test]
fn where_a_breaker_does_not_spare_an_operators_pause_it_replaces_one() {
    let guards = Guards {
        spares: false,
        ..Guards::ALL
    };
    let (broken, story) = explore(OPERATED, guards).broken.unwrap();
    assert_eq!(broken, Property::OperatorsOwn, "{story}");
}

/// Of two that find a pause over, both take the probe.
#[test]
fn without_the_condition_on_the_probe_two_are_on_their_way() {
    let guards = Guards {
        fence: false,
        ..Guards::ALL
    };
    without(guards, Property::OneProbe);
}

/// A process that has seen nothing goes on sending while the others have paused the destination.
#[test]
fn without_a_look_a_paused_destination_is_not_left_alone() {
    let guards = Guards {
        look: false,
        ..Guards::ALL
    };
    without(guards, Property::LeftAlone);
}

/// A process sleeps with the probe in its hands until another one has it, and then sends.
#[test]
fn without_the_probes_deadline_two_are_on_their_way() {
    let guards = Guards {
        probe_time: false,
        ..Guards::ALL
    };
    without(guards, Property::OneProbe);
}

/// The probe's time is over while its request is on its way, and another one makes the next.
#[test]
fn with_a_probes_time_that_is_shorter_than_an_attempt_two_are_on_their_way() {
    let guards = Guards {
        span: false,
        probe_time: false,
        ..Guards::ALL
    };
    without(guards, Property::OneProbe);
}

/// Whoever took the probe dies, and the destination stays paused for good: the others look for ever.
#[test]
fn where_a_probe_is_not_made_again_a_run_is_endless() {
    let guards = Guards {
        probe_ends: false,
        ..Guards::ALL
    };
    without(guards, Property::NoEndlessRun);
}

/// A probe that timed out ends the pause, as if silence were an answer.
#[test]
fn where_silence_is_taken_for_an_answer_a_pause_ends_without_proof() {
    let guards = Guards {
        proof: false,
        ..Guards::ALL
    };
    without(guards, Property::EndedByProof);
}
