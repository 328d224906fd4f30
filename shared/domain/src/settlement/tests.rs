use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::outbox::Origin;

mod answer;
mod asked;

const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);
const ORIGIN: Origin = [1; 8];

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

const TIMING: Timing = Timing {
    lease: Duration::from_secs(45),
    settle_margin: Duration::from_secs(5),
    clock_skew: Duration::from_secs(5),
    first_due: Duration::from_secs(60),
    no_destination_hold: Duration::from_secs(3600),
};

fn terms(policy: &DeliveryPolicy) -> Terms<'_> {
    Terms {
        policy,
        timing: &TIMING,
    }
}

fn policy(idempotency: Idempotency, on_unknown: OnUnknown) -> DeliveryPolicy {
    DeliveryPolicy {
        idempotency,
        on_unknown,
        timeout: secs(10),
        retry_for: secs(3 * 86_400),
        backoff: Backoff {
            first: secs(30),
            max: secs(3600),
        },
    }
}

fn window() -> DeliveryPolicy {
    policy(Idempotency::Window(secs(86_400)), OnUnknown::Retry)
}

fn none() -> DeliveryPolicy {
    policy(Idempotency::None, OnUnknown::Hold)
}

fn claimed() -> Standing {
    Standing {
        state: EntryState::Claimed,
        fence: 1,
        accepted_at: NOW.minus(secs(2)),
        due_at: Some(NOW.plus(secs(58))),
        claim: Some((NOW.minus(secs(1)), NOW.plus(secs(44)))),
        first_uncertain_at: None,
        cleared_fence: 0,
        origin: Some(ORIGIN),
        redriven_at: None,
        is_vouched: false,
        is_replaced: false,
    }
}

fn pending() -> Standing {
    Standing {
        state: EntryState::Pending,
        claim: None,
        due_at: Some(NOW),
        ..claimed()
    }
}

fn ended(standing: &Standing, outcome: &AttemptOutcome, policy: &DeliveryPolicy) -> Settled {
    let attempt = EndedAttempt {
        claimed_at: NOW.minus(secs(1)),
        outcome,
        jitter: 0.0,
    };
    settle(standing, &attempt, terms(policy), NOW)
}

fn holds(reason: Reason, standing: &Standing) -> ClaimDecision {
    let held = Settlement::Held(reason);
    ClaimDecision::Settle(Settled::new(held, standing.first_uncertain_at))
}

fn outcome(kind: OutcomeKind, status: Option<u16>) -> AttemptOutcome {
    AttemptOutcome::new(kind, status, "")
}

#[test]
fn a_success_is_delivered_and_leaves_no_doubt() {
    let settled = ended(
        &claimed(),
        &outcome(OutcomeKind::Succeeded, Some(200)),
        &none(),
    );
    assert_eq!(settled.settlement, Settlement::Delivered);
    assert_eq!(settled.first_uncertain_at, None);
}

#[test]
fn what_never_arrived_is_retried_freely_until_retry_for_ends() {
    for kind in [OutcomeKind::NotSent, OutcomeKind::Busy] {
        let settled = ended(&claimed(), &outcome(kind, None), &none());
        assert_eq!(
            settled.settlement,
            Settlement::Retry {
                due_at: NOW.plus(secs(30))
            }
        );
        assert_eq!(settled.first_uncertain_at, None);
        let old = Standing {
            accepted_at: NOW.minus(secs(3 * 86_400)),
            ..claimed()
        };
        let settled = ended(&old, &outcome(kind, None), &none());
        assert_eq!(
            settled.settlement,
            Settlement::Dead(Reason::RetriesExhausted)
        );
    }
}

#[test]
fn a_destination_without_keys_is_held_after_anything_that_may_have_arrived() {
    for (kind, status) in [
        (OutcomeKind::Unknown, None),
        (OutcomeKind::Unknown, Some(500)),
        (OutcomeKind::Rejected, Some(409)),
    ] {
        let settled = ended(&claimed(), &outcome(kind, status), &none());
        assert_eq!(
            settled.settlement,
            Settlement::Held(Reason::OutcomeUnknown),
            "{kind}"
        );
        assert_eq!(settled.first_uncertain_at, Some(NOW.minus(secs(1))));
    }
}

#[test]
fn a_destination_with_a_window_is_retried_inside_it_and_held_after_it() {
    let unknown = outcome(OutcomeKind::Unknown, None);
    let first = ended(&claimed(), &unknown, &window());
    assert_eq!(
        first.settlement,
        Settlement::Retry {
            due_at: NOW.plus(secs(30))
        }
    );
    assert_eq!(first.first_uncertain_at, Some(NOW.minus(secs(1))));

    let late = Standing {
        first_uncertain_at: Some(NOW.minus(secs(86_400 - 15))),
        ..claimed()
    };
    let settled = ended(&late, &unknown, &window());
    assert_eq!(settled.settlement, Settlement::Held(Reason::WindowEnded));
    assert_eq!(settled.first_uncertain_at, late.first_uncertain_at);
}

#[test]
fn the_last_retry_inside_a_window_is_early_enough_to_end_inside_it() {
    let standing = Standing {
        first_uncertain_at: Some(NOW.minus(secs(86_400 - 20))),
        ..claimed()
    };
    let settled = ended(&standing, &outcome(OutcomeKind::Unknown, None), &window());
    let Settlement::Retry { due_at } = settled.settlement else {
        panic!("{settled:?}");
    };
    let due = Standing {
        state: EntryState::Pending,
        due_at: Some(due_at),
        ..standing
    };
    assert_eq!(
        may_claim(&due, terms(&window()), ORIGIN, due_at),
        ClaimDecision::Attempt
    );
}

#[test]
fn a_second_rejection_is_final_where_nothing_arrived_by_the_destinations_own_word() {
    let no = outcome(OutcomeKind::Rejected, Some(422));
    let first = ended(&claimed(), &no, &none());
    assert_eq!(first.settlement, Settlement::Dead(Reason::Rejected));
    assert_eq!(first.cleared_fence, Some(1), "it spoke of that attempt");
    let again = Standing {
        fence: 3,
        first_uncertain_at: first.first_uncertain_at,
        // An operator's word carried it on, and took the number 2.
        cleared_fence: 2,
        ..claimed()
    };
    let second = ended(&again, &no, &none());
    assert_eq!(second.settlement, Settlement::Dead(Reason::Rejected));
    assert_eq!(second.cleared_fence, Some(3));
    // Where only an operator said so, it proves nothing.
    let vouched = Standing {
        is_vouched: true,
        ..again
    };
    let held = ended(&vouched, &no, &none()).settlement;
    assert_eq!(held, Settlement::Held(Reason::RejectedAfterUncertain));
}

#[test]
fn a_rejection_is_final_only_where_nothing_may_have_arrived_before() {
    let no = outcome(OutcomeKind::Rejected, Some(400));
    let settled = ended(&claimed(), &no, &window());
    assert_eq!(settled.settlement, Settlement::Dead(Reason::Rejected));
    let uncertain = Standing {
        first_uncertain_at: Some(NOW.minus(secs(5))),
        ..claimed()
    };
    let settled = ended(&uncertain, &no, &window());
    assert_eq!(
        settled.settlement,
        Settlement::Held(Reason::RejectedAfterUncertain)
    );
}

#[test]
fn an_expired_lease_is_an_attempt_that_may_have_arrived() {
    let standing = claimed();
    let at = NOW.plus(secs(100));
    assert_eq!(
        may_claim(&standing, terms(&window()), ORIGIN, at),
        ClaimDecision::Expired {
            claimed_at: NOW.minus(secs(1))
        }
    );
    let settled = settle_expired(&standing, NOW.minus(secs(1)), terms(&window()), at);
    assert_eq!(settled.settlement, Settlement::Retry { due_at: at });
    assert_eq!(settled.first_uncertain_at, Some(NOW.minus(secs(1))));
    let settled = settle_expired(&standing, NOW.minus(secs(1)), terms(&none()), at);
    assert_eq!(settled.settlement, Settlement::Held(Reason::OutcomeUnknown));
}

#[test]
fn a_lease_is_respected_by_the_clock_skew_too() {
    let standing = claimed();
    let until = NOW.plus(secs(44));
    for at in [until, until.plus(secs(4))] {
        assert_eq!(
            may_claim(&standing, terms(&window()), ORIGIN, at),
            ClaimDecision::InProgress { until }
        );
    }
    assert!(matches!(
        may_claim(&standing, terms(&window()), ORIGIN, until.plus(secs(5))),
        ClaimDecision::Expired { .. }
    ));
}

#[test]
fn a_fresh_entry_may_be_attempted_before_the_sweep_would_take_it_up() {
    let due_later = Some(NOW.plus(secs(60)));
    let fresh = Standing {
        fence: 0,
        due_at: due_later,
        ..pending()
    };
    assert_eq!(
        may_claim(&fresh, terms(&none()), ORIGIN, NOW),
        ClaimDecision::Attempt
    );
    let retry = Standing {
        due_at: due_later,
        ..pending()
    };
    assert_eq!(
        may_claim(&retry, terms(&none()), ORIGIN, NOW),
        ClaimDecision::NotDue {
            due_at: NOW.plus(secs(60))
        }
    );
}

#[test]
fn another_origin_after_an_uncertain_attempt_is_held() {
    let uncertain = Standing {
        first_uncertain_at: Some(NOW.minus(secs(9))),
        ..pending()
    };
    assert_eq!(
        may_claim(&uncertain, terms(&window()), [2; 8], NOW),
        holds(Reason::OriginChanged, &uncertain)
    );
    assert_eq!(
        may_claim(&pending(), terms(&window()), [2; 8], NOW),
        ClaimDecision::Attempt
    );
}

#[test]
fn a_policy_that_holds_is_obeyed_by_an_entry_that_waits_with_a_mark() {
    let uncertain = Standing {
        first_uncertain_at: Some(NOW.minus(secs(9))),
        ..pending()
    };
    let hold = policy(Idempotency::Window(secs(86_400)), OnUnknown::Hold);
    assert_eq!(
        may_claim(&uncertain, terms(&hold), ORIGIN, NOW),
        holds(Reason::OutcomeUnknown, &uncertain)
    );
}

#[test]
fn nothing_is_claimed_for_a_destination_without_keys_after_an_uncertain_attempt() {
    let uncertain = Standing {
        first_uncertain_at: Some(NOW.minus(secs(9))),
        ..pending()
    };
    assert_eq!(
        may_claim(&uncertain, terms(&none()), ORIGIN, NOW),
        holds(Reason::OutcomeUnknown, &uncertain)
    );
}

#[test]
fn a_request_does_not_begin_when_the_lease_or_the_window_no_longer_covers_it() {
    let until = NOW.plus(secs(15));
    assert!(may_begin(&claimed(), until, terms(&window()), NOW));
    let later = NOW.plus(Duration::from_millis(1));
    assert!(!may_begin(&claimed(), until, terms(&window()), later));
    let uncertain = Standing {
        first_uncertain_at: Some(NOW.minus(secs(86_400 - 15))),
        ..claimed()
    };
    assert!(!may_begin(&uncertain, until, terms(&window()), NOW));
}

#[test]
fn a_destinations_own_wait_is_honoured_within_bounds() {
    let wait = |s| outcome(OutcomeKind::Busy, Some(503)).with_retry_after(Some(secs(s)));
    let due = |s| match ended(&claimed(), &wait(s), &none()).settlement {
        Settlement::Retry { due_at } => due_at.since(NOW),
        other => panic!("{other:?}"),
    };
    assert_eq!(due(1), secs(30));
    assert_eq!(due(90), secs(90));
    assert_eq!(due(1_000_000), secs(3600));
}

#[test]
fn an_entry_without_a_destination_is_held_after_an_hour_and_never_dead() {
    let settlement = |standing: &Standing, noticed| {
        settle_no_destination(standing, noticed, &TIMING, NOW).map(|s| s.settlement)
    };
    let waits = Settlement::NoDestination {
        due_at: NOW.plus(secs(300)),
    };
    assert_eq!(settlement(&pending(), None), Some(waits));
    let noticed = Some(NOW.minus(secs(3600)));
    let held = Settlement::Held(Reason::NoSuchDestination);
    assert_eq!(settlement(&pending(), noticed), Some(held));
    let later = Standing {
        due_at: Some(NOW.plus(secs(9))),
        ..pending()
    };
    assert_eq!(settlement(&later, noticed), None);
    assert_eq!(settlement(&claimed(), None), None);
    let delivered = Standing {
        state: EntryState::Delivered,
        ..pending()
    };
    assert_eq!(settlement(&delivered, noticed), None);
}

#[test]
fn a_claim_that_ran_out_without_a_destination_still_leaves_its_mark() {
    let at = NOW.plus(secs(100));
    let settled = settle_no_destination(&claimed(), None, &TIMING, at).unwrap();
    assert_eq!(settled.first_uncertain_at, Some(NOW.minus(secs(1))));
    assert_eq!(settled.settlement.state(), EntryState::Pending);
}

#[test]
fn waits_grow_from_first_to_max_and_no_further() {
    let backoff = Backoff {
        first: secs(30),
        max: secs(3600),
    };
    assert_eq!(backoff.wait(1, 0.0), secs(30));
    assert_eq!(backoff.wait(1, 1.0), secs(60));
    assert_eq!(backoff.wait(2, 1.0), secs(120));
    assert_eq!(backoff.wait(60, 1.0), secs(3600));
    assert_eq!(backoff.wait(u64::MAX, 1.0), secs(3600));
    let odd = Backoff {
        first: secs(60),
        max: secs(1),
    };
    assert_eq!(odd.wait(3, 1.0), secs(60));
}

fn any_policy() -> impl Strategy<Value = DeliveryPolicy> {
    let idempotency = prop_oneof![
        Just(Idempotency::None),
        (20_u64..200_000).prop_map(|s| Idempotency::Window(secs(s)))
    ];
    let unknown = prop_oneof![Just(OnUnknown::Retry), Just(OnUnknown::Hold)];
    (idempotency, unknown, 1_u64..400_000).prop_map(|(idempotency, on_unknown, retry_for)| {
        DeliveryPolicy {
            retry_for: secs(retry_for),
            ..policy(idempotency, on_unknown)
        }
    })
}

fn any_outcome() -> impl Strategy<Value = AttemptOutcome> {
    let kind = prop_oneof![
        Just(OutcomeKind::Rejected),
        Just(OutcomeKind::NotSent),
        Just(OutcomeKind::Busy),
        Just(OutcomeKind::Unknown)
    ];
    (
        kind,
        prop::option::of(prop_oneof![Just(400_u16), Just(409), Just(500), Just(503)]),
    )
        .prop_map(|(kind, status)| outcome(kind, status))
}

proptest! {
    /// Whatever comes back, an entry that is attempted whenever it may be ends closed or held.
    #[test]
    fn settling_always_ends(
        policy in any_policy(),
        outcomes in prop::collection::vec((any_outcome(), 0.0..1.0), 1..8),
    ) {
        let mut standing = Standing { fence: 0, accepted_at: NOW, ..pending() };
        let mut now = NOW;
        let mut tries = outcomes.iter().cycle();
        for _ in 0..100_000 {
            match may_claim(&standing, terms(&policy), ORIGIN, now) {
                ClaimDecision::NotDue { due_at } => { now = due_at; continue }
                ClaimDecision::Settle(_) => return Ok(()),
                ClaimDecision::Attempt => {}
                other => prop_assert!(false, "{other:?}"),
            }
            standing.fence += 1;
            let (outcome, jitter) = tries.next().unwrap();
            let attempt = EndedAttempt { claimed_at: now, outcome, jitter: *jitter };
            let settled = settle(&standing, &attempt, terms(&policy), now.plus(secs(1)));
            if let (Some(before), after) = (standing.first_uncertain_at, settled.first_uncertain_at) {
                prop_assert_eq!(after, Some(before), "the mark is never moved");
            }
            standing.first_uncertain_at = settled.first_uncertain_at;
            match settled.settlement {
                Settlement::Retry { due_at } => standing.due_at = Some(due_at),
                Settlement::Dead(_) => {
                    let arrived = standing.first_uncertain_at.is_some();
                    prop_assert!(!arrived || outcome.is_final_rejection());
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
        prop_assert!(false, "still open after 100,000 steps");
    }

    /// An entry that may have arrived never becomes dead by itself.
    #[test]
    fn what_may_have_arrived_is_never_dead(policy in any_policy(), outcome in any_outcome(), age in 0_u64..500_000) {
        let standing = Standing {
            first_uncertain_at: Some(NOW.minus(secs(age))),
            accepted_at: NOW.minus(secs(age + 1)),
            ..claimed()
        };
        let settled = ended(&standing, &outcome, &policy);
        prop_assert!(!matches!(settled.settlement, Settlement::Dead(_)), "{settled:?}");
    }
}
