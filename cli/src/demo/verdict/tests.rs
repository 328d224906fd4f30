use std::time::Duration;

use super::*;
use crate::demo::destination::Reply;
use crate::demo::evidence::{Attempt, Question, Standing};
use crate::demo::ledger::{Answer, Kind, Sent};

mod asked;
mod jobs;
mod paused;

/// Three facts: one delivered at once, one repeated after a cut connection, one held.
fn good() -> (Evidence, Expected) {
    let evidence = Evidence {
        sent: vec![
            sent(Kind::New, "paid", 200, "accepted"),
            sent(Kind::Redelivery, "paid", 200, "duplicate"),
            sent(Kind::New, "cut", 200, "accepted"),
            sent(Kind::New, "mailed", 200, "accepted"),
            sent(Kind::Forged, "forged", 401, "refused"),
        ],
        attempts: vec![
            attempt("key-paid", "paid", Answered::Status(200)),
            attempt("key-cut", "cut", Answered::Dropped),
            attempt("key-cut", "cut", Answered::Status(200)),
            Attempt {
                keeps_keys: false,
                ..attempt("key-mailed", "mailed", Answered::Dropped)
            },
        ],
        standing: vec![
            standing("key-paid", "paid", EntryState::Delivered),
            standing("key-cut", "cut", EntryState::Delivered),
            standing("key-mailed", "mailed", EntryState::Held),
        ],
        ..Evidence::default()
    };
    let expected = Expected {
        counts: Counts {
            requests: 5,
            accepted: 3,
            duplicates: 1,
            refused: 1,
            delivered: 2,
            held: 1,
            ..Counts::default()
        },
        trouble: vec![Trouble {
            fact: "cut",
            attempts: vec![Answered::Dropped],
            words: Vec::new(),
        }],
    };
    (evidence, expected)
}

fn sent(kind: Kind, fact: &'static str, status: u16, outcome: &str) -> Sent {
    let outcome = outcome.to_owned();
    Sent {
        kind,
        source: "shop",
        fact,
        body: body(fact),
        answer: Ok(Answer { status, outcome }),
    }
}

fn body(fact: &str) -> Vec<u8> {
    format!("{{\"fact\":\"{fact}\"}}").into_bytes()
}

fn attempt(key: &str, fact: &str, answered: Answered) -> Attempt {
    Attempt {
        destination: "till".into(),
        at: Duration::ZERO,
        breaker: None,
        keeps_keys: true,
        key: key.into(),
        body: body(fact),
        answered,
        genuine: Some(true),
    }
}

fn standing(key: &str, fact: &str, state: EntryState) -> Standing {
    Standing {
        key: key.into(),
        state,
        body: body(fact),
    }
}

/// The claims that fail once the evidence is doctored, but for the one about the numbers.
fn failing(doctor: impl FnOnce(&mut Evidence)) -> Vec<&'static str> {
    failing_of(good(), doctor)
}

fn failing_of(
    (mut evidence, expected): (Evidence, Expected),
    doctor: impl FnOnce(&mut Evidence),
) -> Vec<&'static str> {
    doctor(&mut evidence);
    let verdict = judge(&evidence, &expected);
    assert!(!verdict.is_good());
    let failing = verdict.claims.iter().filter(|c| !c.against.is_empty());
    let words: Vec<_> = failing.map(|claim| claim.holds).collect();
    words
        .into_iter()
        .filter(|claim| *claim != NUMBERS)
        .collect()
}

const NUMBERS: &str = "every count is as it must be";

#[test]
fn a_run_in_which_all_is_well_is_good() {
    let (evidence, expected) = good();
    let verdict = judge(&evidence, &expected);
    assert!(verdict.is_good(), "{:#?}", verdict.claims);
    assert_eq!(verdict.actions.len(), 3);
}

#[test]
fn a_delivery_that_is_gone_from_the_log_is_lost_whatever_the_table_says() {
    let failing = failing(|evidence| {
        evidence.attempts.remove(0);
    });
    assert_eq!(failing, ["no accepted fact is lost"]);
}

#[test]
fn a_fact_that_neither_the_log_nor_the_table_knows_is_lost_and_counted() {
    let (mut evidence, expected) = good();
    evidence.attempts.remove(0);
    evidence.standing.remove(0);
    let verdict = judge(&evidence, &expected);
    assert_eq!(verdict.counts.lost, 1);
    assert_eq!(verdict.counts.delivered, 1);
}

#[test]
fn a_fact_that_waits_in_the_table_unsent_is_not_lost_and_not_settled_either() {
    let failing = failing(|evidence| {
        evidence.attempts.remove(0);
        evidence.standing[0].state = EntryState::Pending;
    });
    assert_eq!(failing, ["whatever is not delivered has a reason"]);
}

#[test]
fn a_changed_key_is_seen() {
    let failing = failing(|evidence| evidence.attempts[2].key = "key-other".into());
    assert_eq!(failing, ["every fact kept one key"]);
}

#[test]
fn a_changed_body_is_seen() {
    let failing = failing(|evidence| evidence.attempts[2].body = body("Cut"));
    assert_eq!(failing, ["every attempt sent the same bytes"]);
}

#[test]
fn a_repetition_of_what_was_confirmed_is_seen() {
    let failing = failing(|evidence| {
        let again = evidence.attempts[0].clone();
        evidence.attempts.push(again);
    });
    assert_eq!(failing, ["every repetition has a reason"]);
}

#[test]
fn a_repetition_of_what_may_have_arrived_is_seen_where_no_keys_are_kept() {
    let failing = failing(|evidence| {
        let mut again = evidence.attempts[3].clone();
        again.answered = Answered::Status(200);
        evidence.attempts.push(again);
    });
    assert_eq!(failing, ["every repetition has a reason"]);
}

#[test]
fn a_delivery_of_what_nobody_was_promised_is_seen() {
    let failing = failing(|evidence| {
        let forged = attempt("key-forged", "forged", Answered::Status(200));
        evidence.attempts.push(forged);
    });
    assert_eq!(failing, ["nothing else was delivered"]);
}

#[test]
fn a_wrong_answer_to_a_sender_is_seen() {
    let failing =
        failing(|evidence| evidence.sent[4] = sent(Kind::Forged, "forged", 200, "ignored"));
    assert_eq!(failing, ["every sender was answered as it must be"]);
}

#[test]
fn a_fact_that_is_accepted_twice_is_seen() {
    let failing = failing(|evidence| {
        evidence.sent[1] = sent(Kind::AtOnce, "paid", 200, "accepted");
    });
    assert_eq!(failing, ["a fact was accepted once, however often it came"]);
}

#[test]
fn a_signature_that_does_not_verify_is_seen() {
    let failing = failing(|evidence| evidence.attempts[0].genuine = Some(false));
    assert_eq!(failing, ["every signed delivery verifies"]);
}

#[test]
fn an_action_that_is_given_up_without_a_refusal_is_seen() {
    let failing = failing(|evidence| evidence.standing[2].state = EntryState::Dead);
    assert_eq!(failing, ["whatever is not delivered has a reason"]);
}

#[test]
fn trouble_that_did_not_take_place_is_seen() {
    let failing = failing(|evidence| {
        evidence.attempts.remove(1);
    });
    assert_eq!(failing, ["the trouble took place as planned"]);
}

#[test]
fn a_number_that_is_not_as_expected_is_seen() {
    let (mut evidence, expected) = good();
    evidence.sent.remove(1);
    let verdict = judge(&evidence, &expected);
    let failing: Vec<_> = verdict
        .claims
        .iter()
        .filter(|c| !c.against.is_empty())
        .collect();
    assert_eq!(failing.len(), 1);
    assert_eq!(failing[0].holds, NUMBERS);
}

#[test]
fn an_envelope_carries_the_fact_that_is_its_data_of_the_source_that_it_names() {
    let mut enveloped = attempt("key", "paid", Answered::Status(200));
    enveloped.body = br#"{"key":"k","source":"shop","data":{"fact":"paid"}}"#.to_vec();
    assert!(enveloped.carries(b"{\"fact\":\"paid\"}\n", "shop"));
    assert!(!enveloped.carries(&body("other"), "shop"));
    assert!(!enveloped.carries(&body("paid"), "market"));
    enveloped.body = b"not JSON".to_vec();
    assert!(!enveloped.carries(&body("paid"), "shop"));
}
