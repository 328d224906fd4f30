//! An operator's words, decided: what each makes of an entry, and what no word does without naming its risk.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::settlement::{Backoff, DeliveryPolicy, OnUnknown, Timing, may_begin, may_claim};

const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);
const ORIGIN: Origin = [1; 8];
const RISK: Risk = Risk {
    past_window: true,
    elsewhere: true,
};

const TIMING: Timing = Timing {
    lease: Duration::from_secs(45),
    settle_margin: Duration::from_secs(5),
    clock_skew: Duration::from_secs(5),
    first_due: Duration::from_secs(60),
    no_destination_hold: Duration::from_secs(3600),
};

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
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

fn terms(policy: &DeliveryPolicy) -> Terms<'_> {
    Terms {
        policy,
        timing: &TIMING,
    }
}

fn way(policy: &DeliveryPolicy) -> Way<'_> {
    Way {
        terms: terms(policy),
        origin: ORIGIN,
        is_other: false,
    }
}

fn in_state(state: EntryState) -> Standing {
    Standing {
        state,
        fence: 3,
        accepted_at: NOW.minus(secs(100_000)),
        due_at: Some(NOW.minus(secs(1))),
        claim: None,
        first_uncertain_at: None,
        cleared_fence: 0,
        origin: Some(ORIGIN),
        redriven_at: None,
        is_vouched: false,
        is_replaced: false,
    }
}

fn in_doubt(state: EntryState, age: u64) -> Standing {
    Standing {
        first_uncertain_at: Some(NOW.minus(secs(age))),
        ..in_state(state)
    }
}

/// How an entry stands when a decision about it is written.
fn written(standing: &Standing, settled: &Settled) -> Standing {
    let due_at = match settled.settlement {
        Settlement::Retry { due_at } => Some(due_at),
        _ => None,
    };
    Standing {
        state: settled.settlement.state(),
        fence: standing.fence + 1,
        due_at,
        cleared_fence: settled.cleared_fence.unwrap_or(standing.cleared_fence),
        redriven_at: Some(NOW),
        ..*standing
    }
}

const WINDOW: Idempotency = Idempotency::Window(Duration::from_secs(86_400));

#[test]
fn what_was_given_up_is_sent_again_at_once_and_has_its_whole_time() {
    let policy = policy(WINDOW, OnUnknown::Retry);
    let dead = Standing {
        accepted_at: NOW.minus(secs(40 * 86_400)),
        ..in_state(EntryState::Dead)
    };
    let settled = redrive(&dead, &way(&policy), Risk::default(), NOW).unwrap();
    assert_eq!(settled.settlement, Settlement::Retry { due_at: NOW });
    assert_eq!(settled.cleared_fence, None);
    let after = written(&dead, &settled);
    let claim = may_claim(&after, terms(&policy), ORIGIN, NOW);
    assert_eq!(claim, ClaimDecision::Attempt);
    assert_eq!(after.retried_since(), NOW);
}

#[test]
fn inside_the_window_it_is_safe_and_is_not_sent_once_the_window_has_ended() {
    // Also where the policy holds what is in doubt: that was for an operator, who has spoken.
    for on_unknown in [OnUnknown::Retry, OnUnknown::Hold, OnUnknown::Reconcile] {
        let policy = policy(WINDOW, on_unknown);
        let held = in_doubt(EntryState::Held, 80_000);
        let settled = redrive(&held, &way(&policy), Risk::default(), NOW).unwrap();
        let after = written(&held, &settled);
        let claim = |now| may_claim(&after, terms(&policy), ORIGIN, now);
        assert_eq!(claim(NOW), ClaimDecision::Attempt, "{on_unknown:?}");
        let late = NOW.plus(secs(6_400));
        assert!(matches!(claim(late), ClaimDecision::Settle(_)));
        // The risk is not taken where there is none.
        let with_risk = redrive(&held, &way(&policy), RISK, NOW).unwrap();
        assert_eq!(with_risk, settled);
    }
}

#[test]
fn past_the_window_it_takes_a_word_which_is_for_one_attempt() {
    for (idempotency, window) in [(WINDOW, Some(secs(86_400))), (Idempotency::None, None)] {
        let policy = policy(idempotency, OnUnknown::Retry);
        let held = in_doubt(EntryState::Held, 90_000);
        let refused = redrive(&held, &way(&policy), Risk::default(), NOW);
        let since = NOW.minus(secs(90_000));
        assert_eq!(refused, Err(Refusal::PastWindow { since, window }));
        let settled = redrive(&held, &way(&policy), RISK, NOW).unwrap();
        assert!(settled.is_vouched, "the destination never said so");
        let after = written(&held, &settled);
        let claim = may_claim(&after, terms(&policy), ORIGIN, NOW);
        assert_eq!(claim, ClaimDecision::Attempt);
        let claimed = Standing {
            state: EntryState::Claimed,
            fence: after.fence + 1,
            ..after
        };
        assert!(may_begin(
            &claimed,
            NOW.plus(TIMING.lease),
            terms(&policy),
            NOW
        ));
        let next = Standing {
            state: EntryState::Pending,
            ..claimed
        };
        let claim = may_claim(&next, terms(&policy), ORIGIN, NOW);
        assert!(matches!(claim, ClaimDecision::Settle(_)), "{claim:?}");
    }
}

#[test]
fn a_risk_is_not_taken_again_by_a_word_that_does_not_say_so() {
    let policy = policy(WINDOW, OnUnknown::Retry);
    // Pending still, delivered elsewhere to a no, or given up: the first attempt is in doubt all the same.
    for (state, cleared_fence) in [
        (EntryState::Held, 0),
        (EntryState::Held, 3),
        (EntryState::Dead, 3),
        (EntryState::Pending, 3),
    ] {
        let vouched = Standing {
            is_vouched: true,
            cleared_fence,
            due_at: Some(NOW.plus(secs(60))),
            ..in_doubt(state, 10)
        };
        let again = redrive(&vouched, &way(&policy), Risk::default(), NOW);
        assert!(
            matches!(again, Err(Refusal::PastWindow { .. })),
            "{again:?}"
        );
        let elsewhere = Way {
            is_other: true,
            ..way(&policy)
        };
        let past_window = Risk {
            past_window: true,
            elsewhere: false,
        };
        let moved = redrive(&vouched, &elsewhere, past_window, NOW);
        assert!(matches!(moved, Err(Refusal::Elsewhere { .. })), "{moved:?}");
        if state != EntryState::Pending {
            let replaced = replace(&vouched, &TIMING, Risk::default(), NOW);
            assert!(matches!(replaced, Err(Refusal::NewKey { .. })));
        }
    }
}

#[test]
fn another_address_takes_a_word_of_its_own() {
    let policy = policy(WINDOW, OnUnknown::Retry);
    let held = in_doubt(EntryState::Held, 10);
    let moved = Way {
        origin: [2; 8],
        ..way(&policy)
    };
    let other = Way {
        is_other: true,
        ..way(&policy)
    };
    for way in [moved, other] {
        let past_window = Risk {
            past_window: true,
            elsewhere: false,
        };
        let since = NOW.minus(secs(10));
        let refused = redrive(&held, &way, past_window, NOW);
        assert_eq!(refused, Err(Refusal::Elsewhere { since }));
        assert!(redrive(&held, &way, RISK, NOW).is_ok());
        // Nothing may have arrived: there is nothing to risk.
        let dead = in_state(EntryState::Dead);
        assert!(redrive(&dead, &way, Risk::default(), NOW).is_ok());
    }
}

#[test]
fn an_answer_from_before_is_for_the_next_attempt() {
    let policy = policy(Idempotency::None, OnUnknown::Reconcile);
    let answered = Standing {
        cleared_fence: 3,
        ..in_doubt(EntryState::Held, 90_000)
    };
    let settled = redrive(&answered, &way(&policy), Risk::default(), NOW).unwrap();
    assert_eq!(
        (settled.cleared_fence, settled.is_vouched),
        (Some(4), false)
    );
}

#[test]
fn nobody_speaks_over_an_attempt_that_is_under_way() {
    let policy = policy(WINDOW, OnUnknown::Retry);
    for until in [NOW.plus(secs(20)), NOW.minus(secs(20))] {
        let claimed = Standing {
            claim: Some((NOW.minus(secs(25)), until)),
            ..in_state(EntryState::Claimed)
        };
        let under_way =
            |refused| matches!(refused, Err(Refusal::UnderWay { until }) if until > NOW);
        assert!(under_way(redrive(&claimed, &way(&policy), RISK, NOW)));
        for resolution in [
            Resolution::Applied,
            Resolution::NotApplied,
            Resolution::Dead,
        ] {
            assert!(under_way(resolve(&claimed, resolution, &TIMING, NOW)));
        }
        let replaced = replace(&claimed, &TIMING, RISK, NOW);
        assert!(matches!(replaced, Err(Refusal::UnderWay { .. })));
    }
}

#[test]
fn what_an_operator_knows_closes_or_frees_an_entry() {
    use EntryState::{Dead, Delivered, Held, Pending, Unknown};
    let policy = policy(WINDOW, OnUnknown::Hold);
    let decided = |standing: &Standing, resolution| {
        resolve(standing, resolution, &TIMING, NOW).map(|settled| settled.settlement)
    };
    for state in [Pending, Unknown, Held, Dead] {
        let applied = decided(&in_doubt(state, 10), Resolution::Applied);
        assert_eq!(applied, Ok(Settlement::Delivered));
    }
    for state in [Pending, Unknown, Held] {
        let standing = in_doubt(state, 90_000);
        let dead = decided(&standing, Resolution::Dead);
        assert_eq!(dead, Ok(Settlement::Dead(Reason::Operator)));
        let not_applied = resolve(&standing, Resolution::NotApplied, &TIMING, NOW).unwrap();
        let after = written(&standing, &not_applied);
        let claim = may_claim(&after, terms(&policy), ORIGIN, NOW);
        assert_eq!(claim, ClaimDecision::Attempt);
    }
    let all = [
        Resolution::Applied,
        Resolution::NotApplied,
        Resolution::Dead,
    ];
    assert_eq!(
        all.map(|resolution| decided(&in_state(Delivered), resolution)),
        [
            Err(Refusal::StandsSo(Delivered)),
            Err(Refusal::Delivered),
            Err(Refusal::Delivered)
        ]
    );
    let not_applied = |standing: &Standing| decided(standing, Resolution::NotApplied);
    assert_eq!(not_applied(&in_state(Dead)), Err(Refusal::IsDead));
    // Given up by an operator while it was in doubt.
    assert!(not_applied(&in_doubt(Dead, 90_000)).is_ok());
    let replaced = Standing {
        is_replaced: true,
        ..in_state(Dead)
    };
    for resolution in all {
        assert_eq!(decided(&replaced, resolution), Err(Refusal::Replaced));
    }
    let again = redrive(&replaced, &way(&policy), RISK, NOW);
    assert_eq!(again, Err(Refusal::Replaced));
    assert_eq!(not_applied(&in_state(Pending)), Err(Refusal::NoDoubt));
}

#[test]
fn only_what_is_not_to_be_sent_itself_is_replaced() {
    use EntryState::{Dead, Delivered, Held, Pending, Unknown};
    let replaced = |state| replace(&in_state(state), &TIMING, Risk::default(), NOW);
    for state in [Dead, Held, Unknown] {
        let settled = replaced(state).unwrap().unwrap();
        assert_eq!(settled.settlement, Settlement::Dead(Reason::Replaced));
    }
    assert_eq!(replaced(Delivered), Ok(None));
    for state in [Dead, Held, Unknown] {
        let doubted = in_doubt(state, 10);
        let replaced = |risk| replace(&doubted, &TIMING, risk, NOW);
        let since = NOW.minus(secs(10));
        assert_eq!(
            replaced(Risk::default()),
            Err(Refusal::NewKey { since }),
            "no window holds for a new key"
        );
        assert!(replaced(RISK).is_ok());
    }
    assert_eq!(replaced(Pending), Err(Refusal::StillOpen(Pending)));
}

fn any_state() -> impl Strategy<Value = EntryState> {
    prop::sample::select(EntryState::ALL.to_vec())
}

proptest! {
    /// Whatever an operator says without taking a risk: what may have arrived is sent again only inside the
    /// window, or on the word that it was not applied.
    #[test]
    fn no_word_but_a_risk_repeats_outside_the_window(
        state in any_state(),
        age in prop::option::of(0_u64..200_000),
        cleared in 0_u64..4,
        keeps in any::<bool>(),
        hold in any::<bool>(),
        later in 0_u64..200_000,
    ) {
        let idempotency = if keeps { WINDOW } else { Idempotency::None };
        let on_unknown = if hold { OnUnknown::Hold } else { OnUnknown::Retry };
        let policy = policy(idempotency, on_unknown);
        let standing = Standing {
            first_uncertain_at: age.map(|age| NOW.minus(secs(age))),
            cleared_fence: cleared,
            ..in_state(state)
        };
        let Ok(settled) = redrive(&standing, &way(&policy), Risk::default(), NOW) else {
            return Ok(());
        };
        let after = written(&standing, &settled);
        let then = NOW.plus(secs(later));
        if may_claim(&after, terms(&policy), ORIGIN, then) == ClaimDecision::Attempt
            && let Some(first) = standing.doubt()
        {
            prop_assert!(terms(&policy).inside_window(first, then));
        }
    }
}
