//! Each guard taken away once. The comment at each says what happens then; the assertion says which
//! property catches it, at the end of the shortest run.

use ackbox_model::{
    Bounds, Destination, Guards, INSIDE_LEASE, INSIDE_WINDOW, KNOWN, NOT_GIVEN_UP, NOT_LOST,
    NOT_PASSED_OVER, NOT_REPEATED, ONE_AT_ONCE, Protocol, QUIET, REMEMBERED, STAYS_CLOSED,
    shortest_violation,
};

/// Two dispatchers and one record, no crash: what lets a guard be missed with the fewest helpers.
const fn two(destination: Destination) -> Bounds {
    Bounds {
        dispatchers: 2,
        crashes: 0,
        records: 1,
        reconcilers: 0,
        operator_acts: 0,
        ..Bounds::full(destination)
    }
}

/// One dispatcher, and reconcilers, with times that leave room for two attempts on a word.
const fn asked(reconcilers: usize) -> Bounds {
    Bounds {
        reconcilers,
        ..one(Destination::Asked).shorter()
    }
}

const fn one(destination: Destination) -> Bounds {
    Bounds {
        dispatchers: 1,
        ..two(destination)
    }
}

/// One dispatcher, and an operator.
const fn operated(destination: Destination) -> Bounds {
    Bounds {
        operator_acts: 1,
        ..one(destination).shorter()
    }
}

/// A reconciler as well, and times in which the first word comes too late for the policy.
const fn answered() -> Bounds {
    Bounds {
        reconcilers: 1,
        retry_for: 5,
        give_up: 5,
        ..operated(Destination::Asked)
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

/// The same takeover, where the destination is asked: it says truly that nothing was applied, and then
/// the request that was on its way is.
#[test]
fn without_the_skew_on_top_of_a_lease_a_destination_is_asked_too_early() {
    let guards = Guards {
        expiry_skew: false,
        ..Guards::ALL
    };
    let bounds = Bounds {
        dispatchers: 2,
        ..asked(1)
    };
    without(guards, bounds, QUIET);
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
    without(guards, operated(Destination::None), NOT_REPEATED);
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

/// A rejection whose claim has expired closes the entry under the next holder, who then delivers it; the
/// first that is broken is that what may have arrived is dead.
#[test]
fn without_the_fence_on_settlements_what_may_have_arrived_is_given_up() {
    let guards = Guards {
        settle_fence: false,
        ..Guards::ALL
    };
    without(guards, two(Destination::WindowRetry), NOT_GIVEN_UP);
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

/// The attempt on a word arrives, and nobody hears what became of it; the next one takes the same word
/// for its own. With keys: outside the window. Asked: once an operator has it sent again plainly.
#[test]
fn with_a_word_that_does_not_run_out_a_request_is_repeated() {
    let guards = Guards {
        one_attempt_a_word: false,
        ..Guards::ALL
    };
    without(guards, operated(Destination::WindowRetry), NOT_LOST);
    without(guards, answered(), NOT_REPEATED);
}

/// The attempt on a word does not leave, and the next one finds a doubt that the word had answered: the
/// entry is held, though it could be tried. Nothing is repeated or lost.
#[test]
fn without_carrying_a_word_on_an_entry_is_held_that_could_be_tried() {
    let guards = Guards {
        word_carried_on: false,
        ..Guards::ALL
    };
    without(guards, asked(1), NOT_PASSED_OVER);
}

/// The attempt on a first word does not leave, and says so late: after a second word, and an attempt
/// that carried it on. The number on the table goes back, and the entry is held, as above.
#[test]
fn where_an_overtaken_attempt_clears_an_entry_is_held_that_could_be_tried() {
    let guards = Guards {
        overtaken_clears_nothing: false,
        ..Guards::ALL
    };
    let bounds = Bounds {
        dispatchers: 2,
        retry_for: 8,
        give_up: 8,
        ..asked(1)
    };
    without(guards, bounds, NOT_PASSED_OVER);
}

/// Of two answers, "applied" closes the entry, and "still unknown" comes after it.
#[test]
fn without_the_state_on_answers_a_closed_entry_reopens() {
    let guards = Guards {
        answer_state: false,
        ..Guards::ALL
    };
    without(guards, asked(2), STAYS_CLOSED);
}

/// Of two answers of "not applied", the second comes after the attempt that the first allowed. It makes
/// the entry pending, but the number that it clears is not the last one: the doubt stands, and nothing is
/// sent. So the fence is the second of two guards here, and one breaks only without both.
#[test]
fn without_the_fence_on_answers_nothing_is_repeated_while_a_word_runs_out() {
    let guards = Guards {
        answer_fence: false,
        ..Guards::ALL
    };
    assert_eq!(shortest_violation(Protocol::new(asked(2), guards)), None);
    let neither = Guards {
        one_attempt_a_word: false,
        ..guards
    };
    without(neither, asked(2), NOT_REPEATED);
}

/// The destination's "not applied" comes when `retry_for` has passed, and the entry is held; an operator
/// has it sent again, which takes a number that no word spoke of, and it is held again.
#[test]
fn where_a_redrive_forgets_the_word_an_entry_is_held_that_could_be_tried() {
    let guards = Guards {
        redrive_keeps_word: false,
        ..Guards::ALL
    };
    without(guards, answered(), NOT_PASSED_OVER);
}

/// An attempt may have arrived, and the entry is held; an operator has it sent again without a word of the risk,
/// and it is.
#[test]
fn where_a_redrive_takes_a_risk_that_nobody_took_a_request_is_repeated() {
    let guards = Guards {
        risk_said: false,
        ..Guards::ALL
    };
    without(guards, operated(Destination::None), NOT_REPEATED);
    without(guards, operated(Destination::Asked), NOT_REPEATED);
    for destination in [Destination::WindowHold, Destination::WindowRetry] {
        without(guards, operated(destination), INSIDE_WINDOW);
    }
}

/// An operator reads an unknown entry; the destination says that it is applied, which closes it under the same
/// fence; and the word has it sent again.
#[test]
fn without_the_state_on_words_a_delivered_entry_reopens() {
    let guards = Guards {
        word_state: false,
        ..Guards::ALL
    };
    without(guards, answered(), STAYS_CLOSED);
}

/// An operator reads an unknown entry; the destination allows another attempt, of which nobody hears what became;
/// and the word is taken for one that speaks of that attempt as well.
#[test]
fn without_the_fence_on_words_a_request_is_repeated() {
    let guards = Guards {
        word_fence: false,
        ..Guards::ALL
    };
    without(guards, answered(), NOT_REPEATED);
}

/// A dispatcher that found the window ended is about to hold the entry; an operator says that nothing was applied;
/// and the hold comes after that, and undoes it.
#[test]
fn without_a_number_of_its_own_an_operators_word_is_undone() {
    let guards = Guards {
        word_takes_number: false,
        ..Guards::ALL
    };
    without(guards, operated(Destination::WindowRetry), NOT_PASSED_OVER);
}
