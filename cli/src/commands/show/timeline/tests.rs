//! What a story says of attempts, words and what is to come.

use std::time::Duration;

use ackbox_domain::{RenderedBody, StoredBody};

use super::*;

fn entry() -> OutboxEntry {
    let at = Timestamp::from_unix_ms(1_000_000);
    let attempt = |number, kind, s| AttemptRecord {
        number,
        kind,
        status: None,
        began_after: Duration::from_secs(s),
    };
    OutboxEntry {
        key: format!("act_{}", "a".repeat(32)).parse().unwrap(),
        source: "stripe".parse().unwrap(),
        destination: "mailer".parse().unwrap(),
        state: EntryState::Held,
        reason: Some("outcome-unknown".to_owned()),
        fence: 2,
        claim: None,
        accepted_at: at,
        due_at: None,
        first_uncertain_at: Some(at.plus(Duration::from_millis(60_300))),
        cleared_fence: 0,
        origin: None,
        redriven_at: None,
        is_vouched: false,
        attempts: vec![
            attempt(1, OutcomeKind::NotSent, 0),
            attempt(2, OutcomeKind::Unknown, 60),
        ],
        last_detail: Some("timed out \u{1b}[2J".to_owned()),
        body: StoredBody::Inline(RenderedBody {
            bytes: b"{}".to_vec(),
            content_type: None,
            content_encoding: None,
        }),
        settled_at: Some(at.plus(Duration::from_secs(71))),
    }
}

#[test]
fn a_story_is_told_in_the_order_of_time() {
    let story = Story {
        outbox: Some(entry()),
        ..Story::default()
    };
    let moments = of(&story);
    let told: Vec<&str> = moments.iter().map(|moment| moment.what.as_str()).collect();
    assert_eq!(
        told,
        [
            "accepted (its record has expired)",
            "attempt 1: not_sent",
            "attempt 2: unknown: timed out \\u{1b}[2J; from here on it may have arrived",
            "held (outcome-unknown)",
        ]
    );
    assert!(moments.is_sorted_by_key(|moment| moment.at));
}

#[test]
fn a_waiting_entry_says_what_comes_next() {
    let mut entry = entry();
    entry.state = EntryState::Pending;
    entry.settled_at = None;
    entry.due_at = Some(entry.accepted_at.plus(Duration::from_secs(300)));
    let story = Story {
        outbox: Some(entry),
        ..Story::default()
    };
    let last = of(&story).pop().unwrap();
    assert_eq!(last.what, "due for its next attempt");
}

/// The words of an entry that was asked about, from its last attempt on.
fn told(state: EntryState, cleared_fence: u64, detail: &str) -> Vec<String> {
    let mut entry = entry();
    let at = entry.accepted_at.plus(Duration::from_secs(300));
    (entry.state, entry.cleared_fence, entry.reason) = (state, cleared_fence, None);
    entry.last_detail = Some(detail.to_owned());
    (entry.settled_at, entry.due_at) = match state {
        EntryState::Delivered => (Some(at), None),
        _ => (None, Some(at)),
    };
    let story = Story {
        outbox: Some(entry),
        ..Story::default()
    };
    let moments = of(&story).into_iter().skip(2);
    moments.map(|moment| moment.what).collect()
}

#[test]
fn an_unknown_entry_says_when_it_is_asked_about_and_lays_no_answer_at_an_attempts_door() {
    assert_eq!(
        told(EntryState::Unknown, 0, "asked, it said 503: busy"),
        [
            "attempt 2: unknown; from here on it may have arrived",
            "the destination is asked what became of it",
        ]
    );
    let own = told(EntryState::Unknown, 0, "the connection was closed");
    assert!(own[0].starts_with("attempt 2: unknown: the connection was closed;"));
}

#[test]
fn the_destinations_word_is_told_at_the_attempt_that_it_is_about() {
    assert_eq!(
        told(EntryState::Pending, 2, "asked, it said 404: none"),
        [
            "attempt 2: unknown; not applied, the destination said later",
            "due for one attempt more, by the destination's word",
        ]
    );
    assert_eq!(
        told(EntryState::Delivered, 0, "asked, it said 200: done"),
        [
            "attempt 2: unknown",
            "delivered: the destination was asked, and has it",
        ]
    );
    // Delivered by a late answer to an attempt: nobody's word was needed.
    let own = told(EntryState::Delivered, 0, "");
    assert_eq!(own.last().unwrap(), "delivered");
}
