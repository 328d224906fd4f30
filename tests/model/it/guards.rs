//! Each guard taken away once. The comment at each says what happens then; the assertion says which
//! property catches it, at the end of the shortest run.

use ackbox_model::{
    Bounds, Destination, Guards, INSIDE_LEASE, INSIDE_WINDOW, KNOWN, NOT_LOST, NOT_REPEATED,
    ONE_AT_ONCE, Protocol, REMEMBERED, STAYS_CLOSED, shortest_violation,
};

/// Two dispatchers and one record, no crash: what lets a guard be missed with the fewest helpers.
const fn two(destination: Destination) -> Bounds {
    Bounds {
        dispatchers: 2,
        crashes: 0,
        records: 1,
        operator_acts: 0,
        ..Bounds::full(destination)
    }
}

const fn one(destination: Destination) -> Bounds {
    Bounds {
        dispatchers: 1,
        ..two(destination)
    }
}

fn without(guards: Guards, bounds: Bounds, caught_by: &str) {
    let (broken, story) = shortest_violation(Protocol::new(bounds, guards)).unwrap_or_default();
    assert!(
        broken.contains(&caught_by),
        "{guards:?} {broken:?}\n{story}"
    );
}

/// A dispatcher that sleeps between its decision and its request sends after its lease has ended.
#[test]
fn without_the_lease_check_a_request_begins_past_its_lease() {
    let guards = Guards {
        lease_check: false,
        ..Guards::ALL
    };
    without(guards, one(Destination::None), INSIDE_LEASE);
    without(guards, one(Destination::WindowRetry), INSIDE_LEASE);
}

/// A dispatcher whose clock is ahead takes over while the last request of the lease is on its way.
#[test]
fn without_the_skew_on_top_of_a_lease_two_requests_are_on_their_way() {
    let guards = Guards {
        expiry_skew: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), ONE_AT_ONCE);
}

/// A late sweep repeats a request that the destination has forgotten, or is about to.
#[test]
fn without_the_window_check_a_repeated_request_begins_past_the_window() {
    let guards = Guards {
        window_check: false,
        ..Guards::ALL
    };
    without(guards, one(Destination::WindowRetry), INSIDE_WINDOW);
}

/// The mark was set by a clock that is ahead: the window ends earlier than it says.
#[test]
fn without_the_skew_inside_a_window_a_repeated_request_begins_past_it() {
    let guards = Guards {
        window_skew: false,
        ..Guards::ALL
    };
    without(guards, one(Destination::WindowRetry), INSIDE_WINDOW);
}

/// With keys: the action is carried out, its claim expires, the next attempt is refused by the
/// destination, and the entry is dead as if nothing had ever arrived. Without keys: a plain redrive
/// sends it again, though nobody permitted that.
#[test]
fn without_first_uncertain_at_an_action_is_lost_or_repeated() {
    let guards = Guards {
        first_uncertain_at: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), NOT_LOST);
    let redriven = Bounds {
        operator_acts: 1,
        ..one(Destination::None)
    };
    without(guards, redriven, NOT_REPEATED);
}

/// The record comes once more after the first claim expired: its claim takes a number that was taken,
/// and the first holder believes that claim to be its own.
#[test]
fn without_the_fence_on_claims_two_requests_are_on_their_way() {
    let guards = Guards {
        claim_fence: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), ONE_AT_ONCE);
}

/// A late success closes the entry between another's decision and claim.
#[test]
fn without_the_state_on_claims_a_closed_entry_reopens() {
    let guards = Guards {
        claim_state: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), STAYS_CLOSED);
}

/// Of two dispatchers that decided on one reading, the second takes the first's claim for its own.
#[test]
fn without_the_claims_id_two_requests_are_on_their_way() {
    let guards = Guards {
        claim_id: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::None), ONE_AT_ONCE);
    without(guards, two(Destination::WindowRetry), ONE_AT_ONCE);
}

/// A rejection whose claim has expired closes the entry under the next holder, who then delivers it.
#[test]
fn without_the_fence_on_settlements_an_action_is_lost() {
    let guards = Guards {
        settle_fence: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), NOT_LOST);
}

/// The settlement of an expired claim comes after the holder's own success.
#[test]
fn without_the_state_on_settlements_a_closed_entry_reopens() {
    let guards = Guards {
        settle_state: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::None), STAYS_CLOSED);
    without(guards, two(Destination::WindowRetry), STAYS_CLOSED);
}

/// A success that comes after its claim expired is refused like any other end.
#[test]
fn without_the_late_success_a_known_delivery_is_forgotten() {
    let guards = Guards {
        late_success: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::None), REMEMBERED);
    without(guards, two(Destination::WindowRetry), REMEMBERED);
}

/// A holder says late, but in time, that its request never left; a sweep that read its expired claim
/// marks the entry as uncertain all the same, and an entry that could be tried freely is held.
#[test]
fn where_an_expired_claim_does_not_yield_a_known_end_becomes_uncertain() {
    let guards = Guards {
        expiry_yields: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::None), KNOWN);
    without(guards, two(Destination::WindowRetry), KNOWN);
}

/// A permitted attempt does not leave; the next one takes the permission for its own.
#[test]
fn with_a_permission_for_good_a_repeated_request_begins_past_the_window() {
    let guards = Guards {
        permit_once: false,
        ..Guards::ALL
    };
    let redriven = Bounds {
        operator_acts: 1,
        ..one(Destination::WindowRetry)
    };
    without(guards, redriven, INSIDE_WINDOW);
}
