//! One partition tells one story.

use ackbox_domain::Scalar;
use ackbox_store::{ItemError, outbox_from_item, schema};

use crate::action::{NOW, TIMING, accepted, action, noise};
use crate::engine::{Engine, soon};

#[tokio::test]
async fn a_story_has_everything_about_one_action_and_nothing_of_another() {
    let engine = Engine::start().await;
    let mut first = action("msg_1", &noise(5000));
    first.parts = vec![
        ("message:id".to_owned(), Scalar::Text("msg_1".to_owned())),
        ("/n".to_owned(), Scalar::Number("1.50e3".to_owned())),
        ("/b".to_owned(), Scalar::Bool(false)),
    ];
    first.account = Some("acct-ä".to_owned());
    let entry = accepted(&engine.store, &first).await;
    accepted(&engine.store, &action("msg_2", b"{}")).await;
    let mut other = first.clone();
    other.fingerprint = crate::action::fingerprint(b"other");
    other.body.bytes = b"other".to_vec();
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    let story = engine.store.story(&first.key).await.unwrap();
    let record = story.accepted.unwrap();
    assert_eq!(record.parts, first.parts);
    assert_eq!(
        (record.namespace, record.rule),
        (first.namespace, first.rule)
    );
    assert_eq!(
        (record.account, record.subject),
        (first.account, first.subject)
    );
    assert_eq!(
        (record.event, record.message_id),
        (first.event, first.message_id)
    );
    assert_eq!(
        (record.fingerprint, record.accepted_at),
        (first.fingerprint, NOW)
    );
    assert_eq!(
        (record.source, record.destination),
        (first.source, first.destination)
    );
    assert_eq!(story.outbox, Some(entry));
    assert_eq!(story.payload, Some(first.body));
    assert_eq!(story.conflicts.len(), 1);
    assert!(story.unreadable.is_empty());
}

#[tokio::test]
async fn a_story_of_nothing_is_empty() {
    let engine = Engine::start().await;
    let story = engine.store.story(&action("msg_1", b"").key).await.unwrap();
    assert!(story.accepted.is_none() && story.outbox.is_none() && story.unreadable.is_empty());
}

#[tokio::test]
async fn a_story_larger_than_a_page_is_read_to_its_end() {
    let engine = Engine::start().await;
    for n in 0..6_u8 {
        let mut body = noise(300_000);
        body[0] = n;
        let answer = engine
            .store
            .accept(&action("msg_1", &body), &TIMING, soon())
            .await;
        answer.unwrap();
    }
    let story = engine.store.story(&action("msg_1", b"").key).await.unwrap();
    assert_eq!(story.conflicts.len(), 5);
    assert!(story.payload.is_some() && story.outbox.is_some());
}

#[tokio::test]
async fn only_outbox_items_read_as_entries() {
    let engine = Engine::start().await;
    let entry = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let tombstone = engine
        .item(&entry.key, schema::kind::ACCEPTED)
        .await
        .unwrap();
    let read = outbox_from_item(tombstone.into());
    assert!(matches!(read, Err(ItemError::NotOutbox)));
    let item = engine.item(&entry.key, schema::kind::OUTBOX).await.unwrap();
    assert_eq!(outbox_from_item(item.clone().into()).unwrap(), entry);
    for name in item
        .keys()
        .filter(|name| !["due_at", "work_shard", "type", "sk"].contains(&name.as_str()))
    {
        let mut item = item.clone();
        item.insert(
            name.clone(),
            aws_sdk_dynamodb::types::AttributeValue::Bool(true),
        );
        let read = outbox_from_item(item.into());
        assert!(
            matches!(read, Err(ItemError::Broken { .. })),
            "{name}: {read:?}"
        );
    }
    let empty = crate::engine::Item::new();
    assert!(outbox_from_item(empty.into()).is_err());
}
