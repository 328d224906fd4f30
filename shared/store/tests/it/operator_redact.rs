//! Bodies go, and what was accepted stays: nothing of what may still be sent, and all of what may go or none.

use ackbox_domain::Acceptance;
use ackbox_store::Redacted;
use ackbox_store::schema::{attribute, kind};
use aws_sdk_dynamodb::types::AttributeValue;

use crate::action::{TIMING, action, dead, held, noise};
use crate::engine::{Engine, soon};
use crate::operator::{again, decide, ended, word};

#[tokio::test]
async fn a_redacted_action_has_no_body_and_still_makes_a_duplicate() {
    for body in [b"{\"secret\":1}".to_vec(), noise(20_000)] {
        let engine = Engine::start().await;
        let first = action("msg_1", &body);
        let entry = ended(&engine, &body, &dead()).await;
        engine
            .store
            .accept(&action("msg_1", b"{\"secret\":2}"), &TIMING, soon())
            .await
            .unwrap();
        let story = engine.store.story(&entry.key).await.unwrap();
        let record = word("redact", &entry);
        let redact = || engine.store.redact(&entry.key, &story, &record, soon());
        assert_eq!(redact().await.unwrap(), Redacted::Done);
        for item in engine.items().await {
            for (name, value) in &item {
                let told = format!("{value:?}");
                assert!(!told.contains("secret"), "{name}: {told}");
            }
            assert!(
                !item.contains_key(attribute::BODY) && !item.contains_key(attribute::BODY_DEFLATED)
            );
        }
        let after = engine.store.story(&entry.key).await.unwrap();
        assert!(after.body().is_none() && after.conflicts[0].body.is_none());
        assert!(after.unreadable.is_empty(), "{:?}", after.unreadable);
        let repeated = engine.store.accept(&first, &TIMING, soon()).await.unwrap();
        assert!(
            matches!(repeated, Acceptance::Duplicate { .. }),
            "{repeated:?}"
        );
        // An operator opened it since it was read: its body stays.
        let other = Engine::start().await;
        let entry = ended(&other, &body, &dead()).await;
        let story = other.store.story(&entry.key).await.unwrap();
        decide(&other.store, &entry, &again(&entry)).await;
        let redacted = other.store.redact(&entry.key, &story, &record, soon());
        assert_eq!(redacted.await.unwrap(), Redacted::Moved);
        assert!(
            other
                .store
                .story(&entry.key)
                .await
                .unwrap()
                .body()
                .is_some()
        );
    }
}

#[tokio::test]
async fn nothing_is_redacted_where_something_cannot_be_read() {
    let engine = Engine::start().await;
    let entry = ended(&engine, &noise(20_000), &held()).await;
    let mut newer = engine.item(&entry.key, kind::OUTBOX).await.unwrap();
    newer.insert(
        attribute::VERSION.to_owned(),
        AttributeValue::N("99".to_owned()),
    );
    engine.put(newer).await;
    let record = word("redact", &entry);
    let story = engine.store.story(&entry.key).await.unwrap();
    let redacted = engine.store.redact(&entry.key, &story, &record, soon());
    assert_eq!(redacted.await.unwrap(), Redacted::Unreadable);
    assert!(engine.store.payload(&entry.key).await.unwrap().is_some());
    // Nor where an entry has appeared since.
    let mut gone = engine.store.story(&entry.key).await.unwrap();
    gone.unreadable.clear();
    let redacted = engine.store.redact(&entry.key, &gone, &record, soon());
    assert_eq!(redacted.await.unwrap(), Redacted::Moved);
    assert!(engine.store.payload(&entry.key).await.unwrap().is_some());
}

#[tokio::test]
async fn many_bodies_go_a_few_at_a_time_and_the_one_to_send_first() {
    let engine = Engine::start().await;
    let entry = ended(&engine, &noise(20_000), &dead()).await;
    for n in 0..25_u8 {
        let other = action("msg_1", &[b'{', n, b'}']);
        engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    }
    let record = word("redact", &entry);
    let story = engine.store.story(&entry.key).await.unwrap();
    let (store, requests) = engine.recorded();
    let redacted = store.redact(&entry.key, &story, &record, soon());
    assert_eq!(redacted.await.unwrap(), Redacted::Done);
    let bodies = requests.requests();
    assert!(bodies.len() >= 4, "{}", bodies.len());
    let first = bodies[0].1.to_string();
    assert!(
        first.contains("OUTBOX") && first.contains("PAYLOAD"),
        "{first}"
    );
    let after = engine.store.story(&entry.key).await.unwrap();
    assert!(after.body().is_none() && after.conflicts.iter().all(|one| one.body.is_none()));
    let said: Vec<_> = after
        .operators
        .iter()
        .filter_map(|one| one.detail.as_deref())
        .collect();
    // In one millisecond, they stand in no order.
    assert!(said.contains(&"1 body"), "{said:?}");
    assert_eq!(said.len(), bodies.len(), "each says how many: {said:?}");
}
