//! Accepting: one action per key, whatever comes at it.

use ackbox_domain::{Acceptance, EntryState, StoredBody};
use ackbox_store::{Class, StoreError, schema};
use futures_util::future::join_all;

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, claim_of, claimed, dead, delivered,
    held, noise, secs, settled,
};
use crate::engine::{Engine, soon};

const FIRST: Acceptance = Acceptance::Duplicate {
    accepted_at: NOW,
    uncompared: false,
};

#[tokio::test]
async fn a_new_action_becomes_a_tombstone_and_a_promise() {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, Acceptance::Accepted);
    assert_eq!(engine.kinds().await, ["ACCEPTED", "OUTBOX"]);
    let entry = engine.store.entry(&action.key).await.unwrap().unwrap();
    assert_eq!(entry.state, EntryState::Pending);
    assert_eq!(
        (entry.fence, entry.claim, entry.first_uncertain_at),
        (0, None, None)
    );
    assert_eq!(entry.due_at, Some(NOW.plus(TIMING.first_due)));
    assert_eq!(entry.body, StoredBody::Inline(action.body.clone()));
    assert_eq!(
        (entry.source, entry.destination),
        (action.source, action.destination)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_concurrent_accepts_of_one_key_one_is_accepted() {
    let engine = Engine::start().await;
    let accepts = (0..64).map(|n| {
        let store = engine.store.clone();
        tokio::spawn(async move {
            let mut action = action("msg_1", b"{\"one\":1}");
            action.accepted_at = NOW.plus(secs(n));
            store.accept(&action, &TIMING, soon()).await.unwrap()
        })
    });
    let answers: Vec<_> = join_all(accepts)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let accepted = answers
        .iter()
        .filter(|a| **a == Acceptance::Accepted)
        .count();
    assert_eq!(accepted, 1);
    assert_eq!(engine.kinds().await, ["ACCEPTED", "OUTBOX"]);
    let entry = engine
        .store
        .entry(&action("msg_1", b"").key)
        .await
        .unwrap()
        .unwrap();
    let first = Acceptance::Duplicate {
        accepted_at: entry.accepted_at,
        uncompared: false,
    };
    assert_eq!(answers.iter().filter(|a| **a == first).count(), 63);
}

#[tokio::test]
async fn a_duplicate_writes_nothing() {
    let engine = Engine::start().await;
    let mut action = action("msg_1", &noise(3000));
    engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    let before = engine.items().await;
    action.accepted_at = NOW.plus(secs(500));
    let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, FIRST);
    assert_eq!(engine.items().await, before);
}

#[tokio::test]
async fn a_duplicate_of_a_settled_entry_changes_nothing() {
    let engine = Engine::start().await;
    let unknown = settled(ackbox_domain::Settlement::Unknown { due_at: NOW });
    for (id, settlement) in [
        ("a", delivered()),
        ("b", dead()),
        ("c", held()),
        ("d", unknown),
    ] {
        let action = action(id, b"{}");
        let entry = accepted(&engine.store, &action).await;
        let entry = claimed(&engine.store, &entry, "claim").await;
        let record = attempt(1, ackbox_domain::OutcomeKind::Unknown, None);
        let attempt = Some((&record, "what happened"));
        let settle = engine
            .store
            .settle(&entry, change(&settlement, attempt), soon());
        settle.await.unwrap();
        let before = engine.items().await;
        let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
        assert_eq!(answer, FIRST);
        assert_eq!(engine.items().await, before);
    }
}

#[tokio::test]
async fn a_duplicate_of_a_claimed_entry_changes_nothing() {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    let entry = accepted(&engine.store, &action).await;
    let claim = claim_of("claim", NOW);
    engine
        .store
        .claim(&entry, claim, ORIGIN, soon())
        .await
        .unwrap();
    let before = engine.items().await;
    let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, FIRST);
    assert_eq!(engine.items().await, before);
}

#[tokio::test]
async fn either_of_the_two_items_proves_the_acceptance() {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    for kind in [schema::kind::ACCEPTED, schema::kind::OUTBOX] {
        engine.store.accept(&action, &TIMING, soon()).await.unwrap();
        engine.delete(&action.key, kind).await;
        let before = engine.items().await;
        let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
        assert_eq!(answer, FIRST, "without {kind}");
        assert_eq!(engine.items().await, before, "without {kind}");
        let other = engine.items().await.remove(0);
        engine
            .delete(&action.key, other["sk"].as_s().unwrap())
            .await;
    }
}

#[tokio::test]
async fn a_transaction_that_fails_leaves_nothing_and_its_repetition_succeeds() {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    // Something stands where the outbox item belongs, so that its put fails.
    let mut other = engine_item(&engine, "msg_2").await;
    other.insert(
        "pk".to_owned(),
        aws_sdk_dynamodb::types::AttributeValue::S(schema::action_pk(&action.key)),
    );
    other.insert(
        "v".to_owned(),
        aws_sdk_dynamodb::types::AttributeValue::N("99".to_owned()),
    );
    engine.put(other).await;
    let error = engine
        .store
        .accept(&action, &TIMING, soon())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Item(_)), "{error:?}");
    assert!(engine.item(&action.key, "ACCEPTED").await.is_none());
    engine.delete(&action.key, "OUTBOX").await;
    let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, Acceptance::Accepted);
}

async fn engine_item(engine: &Engine, id: &str) -> crate::engine::Item {
    let action = action(id, b"{}");
    engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    engine.item(&action.key, "OUTBOX").await.unwrap()
}

#[tokio::test]
async fn bodies_of_every_size_come_back_byte_for_byte() {
    let engine = Engine::start().await;
    let json = format!("{{\"text\":\"{}\"}}", "x".repeat(900)).into_bytes();
    for (id, body, inline) in [
        ("empty", Vec::new(), true),
        ("small", b"{\"a\":1}".to_vec(), true),
        ("deflated", json, true),
        ("large", noise(2000), false),
        ("huge", noise(300_000), false),
        ("huge-deflated", b"0123456789".repeat(200_000), false),
    ] {
        let mut action = action(id, &body);
        action.body.content_type = Some("application/json; charset=utf-8".to_owned());
        if id == "large" {
            action.body.content_encoding = Some("gzip".to_owned());
        }
        let entry = accepted(&engine.store, &action).await;
        let stored = match entry.body {
            StoredBody::Inline(body) => {
                assert!(inline, "{id}");
                body
            }
            StoredBody::Payload => {
                assert!(!inline, "{id}");
                engine.store.payload(&action.key).await.unwrap().unwrap()
            }
        };
        assert!(stored == action.body, "{id}");
    }
}

#[tokio::test]
async fn an_absent_payload_is_none() {
    let engine = Engine::start().await;
    let key = action("msg_1", b"").key;
    assert_eq!(engine.store.payload(&key).await.unwrap(), None);
    assert_eq!(engine.store.entry(&key).await.unwrap(), None);
}

#[tokio::test]
async fn what_does_not_fit_an_item_is_refused_before_any_call() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let body = action("body", &noise(schema::ITEM_MAX));
    let mut event = action("event", b"{}");
    event.event = Some("e".repeat(schema::ITEM_MAX));
    for action in [body, event] {
        let error = store.accept(&action, &TIMING, soon()).await.unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
        assert!(!error.is_retryable());
    }
    assert!(recorder.calls().is_empty());
    assert!(engine.items().await.is_empty());
}

#[tokio::test]
async fn the_largest_action_that_is_accepted_can_also_be_recorded_as_a_conflict() {
    let engine = Engine::start().await;
    let mut longest = schema::ITEM_MAX - 1000;
    let accepted = loop {
        let action = action("msg_1", &noise(longest));
        match engine.store.accept(&action, &TIMING, soon()).await {
            Err(StoreError::TooLarge { bytes }) => longest -= bytes - schema::ITEM_MAX,
            other => break other.unwrap(),
        }
    };
    assert_eq!(accepted, Acceptance::Accepted);
    let mut body = noise(longest);
    body[0] ^= 1;
    let other = action("msg_1", &body);
    let answer = engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, Acceptance::Conflict { accepted_at: NOW });
    let story = engine.store.story(&other.key).await.unwrap();
    assert!(story.conflicts[0].body.as_ref() == Some(&other.body));
}

#[tokio::test]
async fn a_warm_accept_and_a_duplicate_are_one_call_each() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let accept = async |id| {
        store
            .accept(&action(id, b"{}"), &TIMING, soon())
            .await
            .unwrap()
    };
    accept("msg_1").await;
    let first = ["GetItem", "UpdateItem", "TransactWriteItems"];
    assert_eq!(
        recorder.calls(),
        first,
        "the first accept of a table's life"
    );
    accept("msg_2").await;
    assert_eq!(recorder.calls(), ["TransactWriteItems"]);
    accept("msg_2").await;
    assert_eq!(recorder.calls(), ["TransactWriteItems"]);
    let (store, recorder) = engine.recorded();
    let again = store.accept(&action("msg_2", b"{}"), &TIMING, soon()).await;
    assert_eq!(again.unwrap(), FIRST);
    let first = ["GetItem", "TransactWriteItems"];
    assert_eq!(recorder.calls(), first, "the first accept of a process");
}

#[tokio::test]
async fn meta_knows_every_source_and_destination_ever_used() {
    let engine = Engine::start().await;
    let meta = engine.store.meta().await.unwrap();
    assert_eq!(meta, ackbox_store::Meta::default());
    let mut action = action("msg_1", b"{}");
    engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    action.destination = crate::action::name("archive");
    let (other, _) = engine.recorded();
    other.accept(&action, &TIMING, soon()).await.unwrap();
    let meta = engine.store.meta().await.unwrap();
    assert_eq!(meta.schema_version, Some(schema::SCHEMA_VERSION));
    let names: Vec<_> = meta.destinations.iter().map(|n| n.as_str()).collect();
    assert_eq!(names, ["archive", "mailer"]);
    assert_eq!(meta.sources.len(), 1);
}

#[tokio::test]
async fn the_same_id_in_two_namespaces_is_two_actions() {
    let engine = Engine::start().await;
    let one = action("msg_1", b"{}");
    let mut two = action("msg_1", b"{}");
    let parts = two.parts.iter().map(|(_, value)| value);
    two.key = ackbox_domain::ActionKey::new("billing/ready", parts);
    for action in [one, two] {
        let answer = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
        assert_eq!(answer, Acceptance::Accepted);
    }
    assert_eq!(engine.listed(Class::Open, "mailer").await.len(), 2);
}
