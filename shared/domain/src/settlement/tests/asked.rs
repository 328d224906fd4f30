//! What a destination's word means for an entry.

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

fn asks(idempotency: Idempotency) -> DeliveryPolicy {
    policy(idempotency, OnUnknown::Reconcile)
}

fn unknown() -> Standing {
    Standing {
        state: EntryState::Unknown,
        first_uncertain_at: Some(NOW.minus(secs(60))),
        claim: None,
        due_at: Some(NOW),
        ..claimed()
    }
}

fn word(standing: &Standing, word: Word, now: Timestamp) -> Settled {
    let policy = asks(Idempotency::None);
    settle_asked(standing, word, DAY, terms(&policy), 0.5, now)
}

#[test]
fn an_uncertain_attempt_of_a_destination_that_is_asked_is_unknown_and_due() {
    for idempotency in [Idempotency::None, Idempotency::Window(DAY)] {
        let policy = asks(idempotency);
        let outcome = AttemptOutcome::new(OutcomeKind::Unknown, None, "");
        let settled = ended(&claimed(), &outcome, &policy);
        assert!(matches!(settled.settlement, Settlement::Unknown { due_at } if due_at > NOW));
        assert_eq!(settled.first_uncertain_at, Some(NOW.minus(secs(1))));
    }
}

#[test]
fn it_is_asked_when_its_time_has_come_and_not_before() {
    let policy = asks(Idempotency::None);
    let ask = |standing: &Standing, now| may_ask(standing, terms(&policy), ORIGIN, now);
    assert_eq!(ask(&unknown(), NOW), AskDecision::Ask);
    let due_at = NOW;
    let before = NOW.minus(secs(1));
    assert_eq!(ask(&unknown(), before), AskDecision::NotDue { due_at });
    assert_eq!(
        ask(&pending(), NOW),
        AskDecision::NotUnknown(EntryState::Pending)
    );
}

#[test]
fn where_there_is_nobody_to_ask_an_unknown_entry_waits_and_is_then_held_and_others_are_left_alone()
{
    let decision = |standing: &Standing, now| may_ask_nobody(standing, &TIMING, now);
    let hold = TIMING.no_destination_hold;
    let until = NOW.plus(hold);
    let just_before = until.minus(secs(1));
    assert_eq!(
        decision(&unknown(), just_before),
        AskDecision::NotDue { due_at: until }
    );
    let AskDecision::Settle(settled) = decision(&unknown(), until) else {
        panic!("held in the end");
    };
    assert_eq!(
        settled.settlement,
        Settlement::Held(Reason::NoSuchDestination)
    );
    assert_eq!(settled.first_uncertain_at, unknown().first_uncertain_at);
    for standing in [pending(), claimed()] {
        let state = standing.state;
        let late = until.plus(hold);
        assert_eq!(decision(&standing, late), AskDecision::NotUnknown(state));
    }
}

#[test]
fn another_origin_is_not_asked_about_what_it_was_never_sent() {
    let policy = asks(Idempotency::None);
    let decision = may_ask(&unknown(), terms(&policy), [2; 8], NOW);
    let AskDecision::Settle(settled) = decision else {
        panic!("{decision:?}");
    };
    assert_eq!(settled.settlement, Settlement::Held(Reason::OriginChanged));
}

#[test]
fn a_destination_that_is_asked_no_more_goes_by_its_new_policy() {
    let settled = |policy: &DeliveryPolicy| match may_ask(&unknown(), terms(policy), ORIGIN, NOW) {
        AskDecision::Settle(settled) => settled.settlement,
        other => panic!("{other:?}"),
    };
    assert_eq!(settled(&none()), Settlement::Held(Reason::OutcomeUnknown));
    assert_eq!(settled(&window()), Settlement::Retry { due_at: NOW });
}

#[test]
fn applied_is_delivered_and_keeps_its_record() {
    let settled = word(&unknown(), Word::Applied, NOW);
    assert_eq!(settled.settlement, Settlement::Delivered);
    assert_eq!(settled.first_uncertain_at, unknown().first_uncertain_at);
    assert_eq!(settled.cleared_fence, None);
}

#[test]
fn not_applied_allows_one_attempt_also_where_no_keys_are_kept() {
    let settled = word(&unknown(), Word::NotApplied, NOW);
    assert_eq!(settled.settlement, Settlement::Retry { due_at: NOW });
    assert_eq!(settled.cleared_fence, Some(1));
    assert_eq!(settled.first_uncertain_at, unknown().first_uncertain_at);
    let policy = asks(Idempotency::None);
    let again = Standing {
        cleared_fence: 1,
        ..Standing {
            state: EntryState::Pending,
            ..unknown()
        }
    };
    assert_eq!(
        may_claim(&again, terms(&policy), ORIGIN, NOW),
        ClaimDecision::Attempt
    );
    // The claim has the next number: the word covers what came before it.
    let claimed = Standing {
        state: EntryState::Claimed,
        fence: 2,
        ..again
    };
    assert!(may_begin(&claimed, NOW.plus(secs(45)), terms(&policy), NOW));
    // An attempt that may have arrived since is as doubtful as ever.
    let uncertain = AttemptOutcome::new(OutcomeKind::Unknown, None, "");
    let settled = ended(&claimed, &uncertain, &policy);
    assert!(matches!(settled.settlement, Settlement::Unknown { .. }));
    let later = Standing {
        state: EntryState::Pending,
        ..claimed
    };
    assert_eq!(
        may_claim(&later, terms(&policy), ORIGIN, NOW),
        holds(Reason::OutcomeUnknown, &later)
    );
}

#[test]
fn an_attempt_that_surely_did_not_arrive_keeps_the_word_standing() {
    let policy = asks(Idempotency::None);
    let standing = Standing {
        state: EntryState::Claimed,
        fence: 2,
        cleared_fence: 1,
        ..unknown()
    };
    let busy = AttemptOutcome::new(OutcomeKind::Busy, Some(429), "");
    let settled = ended(&standing, &busy, &policy);
    assert!(matches!(settled.settlement, Settlement::Retry { .. }));
    assert_eq!(settled.cleared_fence, Some(2));
    // Without the word, the same end leaves the doubt as it was.
    let uncleared = Standing {
        cleared_fence: 0,
        ..standing
    };
    let settled = ended(&uncleared, &busy, &policy);
    assert!(matches!(settled.settlement, Settlement::Unknown { .. }));
    assert_eq!(settled.cleared_fence, None);
}

#[test]
fn not_applied_after_the_last_attempt_is_held_and_not_dead() {
    let late = unknown().accepted_at.plus(secs(3 * 86_400));
    let settled = word(&unknown(), Word::NotApplied, late);
    let held = Settlement::Held(Reason::RetriesExhausted);
    assert_eq!(settled.settlement, held);
    let policy = asks(Idempotency::None);
    let standing = Standing {
        state: EntryState::Claimed,
        fence: 2,
        cleared_fence: 1,
        ..unknown()
    };
    let busy = AttemptOutcome::new(OutcomeKind::Busy, Some(429), "");
    let attempt = EndedAttempt {
        claimed_at: late,
        outcome: &busy,
        jitter: 0.5,
    };
    let settled = settle(&standing, &attempt, terms(&policy), late);
    assert_eq!(settled.settlement, held);
}

#[test]
fn what_stays_unknown_is_asked_less_and_less_often_and_then_held() {
    let mut standing = unknown();
    let (mut now, mut waits) = (NOW, Vec::new());
    let settled = loop {
        let settled = word(&standing, Word::StillUnknown, now);
        let Settlement::Unknown { due_at } = settled.settlement else {
            break settled;
        };
        waits.push(due_at.since(now));
        assert!(due_at > now, "it moves on");
        now = due_at;
        standing.due_at = Some(due_at);
    };
    assert_eq!(settled.settlement, Settlement::Held(Reason::OutcomeUnknown));
    let first = unknown().first_uncertain_at.unwrap();
    assert_eq!(
        now,
        first.plus(DAY),
        "the last question comes at the very end"
    );
    assert!(waits[0] < waits[5], "{waits:?}");
    assert!(waits.iter().all(|wait| *wait <= secs(3600)));
    assert!(waits.len() < 100, "{}", waits.len());
}

#[test]
fn what_there_is_never_time_to_ask_about_is_held_when_asking_would_have_ended() {
    let until = unknown().first_uncertain_at.unwrap().plus(DAY);
    let before = until.minus(Duration::from_millis(1));
    assert_eq!(settle_unasked(&unknown(), DAY, before), None);
    for now in [until, until.plus(DAY)] {
        let settled = settle_unasked(&unknown(), DAY, now).unwrap();
        assert_eq!(settled, word(&unknown(), Word::StillUnknown, now));
        assert_eq!(settled.settlement, Settlement::Held(Reason::OutcomeUnknown));
        assert_eq!(settled.first_uncertain_at, unknown().first_uncertain_at);
    }
}
