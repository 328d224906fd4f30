//! The exact transaction, approved. If a snapshot changes, bump `schema::SCHEMA_VERSION`: tables in
//! the field hold items of the shape that was.

use std::collections::BTreeMap;

use ackbox_domain::{Action, OutcomeKind};
use serde_json::Value;

use crate::action::{NOW, TIMING, accepted, action, attempt, change, claimed, dead, noise, secs};
use crate::engine::{Engine, soon};
use crate::notice::telling;
use crate::recorder::Recorder;

/// JSON with its names in order: the SDK writes them in any.
fn ordered(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            let ordered = members.into_iter().map(|(name, v)| (name, ordered(v)));
            Value::Object(ordered.collect())
        }
        Value::Array(elements) => elements.into_iter().map(ordered).collect(),
        other => other,
    }
}

async fn transaction(body: &[u8]) -> String {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let mut action = action("msg_1", body);
    action.account = Some("acct_1".to_owned());
    assert_eq!(action.accepted_at, NOW);
    store.accept(&action, &TIMING, soon()).await.unwrap();
    last(&engine, &recorder)
}

/// The last transaction that was sent.
fn last(engine: &Engine, recorder: &Recorder) -> String {
    let (name, mut json) = recorder.requests().pop().unwrap();
    assert_eq!(name, "TransactWriteItems");
    let token = json["ClientRequestToken"].as_str().unwrap();
    assert!((32..=36).contains(&token.len()));
    json["ClientRequestToken"] = "a random token".into();
    for write in json["TransactItems"].as_array_mut().unwrap() {
        // How well it is deflated is its library's business.
        if let Some(body) = write.pointer_mut("/Update/ExpressionAttributeValues/:body_z/B") {
            *body = "the notice".into();
        }
    }
    let text = serde_json::to_string_pretty(&ordered(json)).unwrap();
    text.replace(engine.store.table(), "the table")
}

#[tokio::test]
async fn an_inline_acceptance_is_this_transaction() {
    insta::assert_snapshot!(transaction(b"{\"a\":1}").await);
}

#[tokio::test]
async fn an_acceptance_with_a_payload_item_is_this_transaction() {
    insta::assert_snapshot!(transaction(&noise(1000)).await);
}

#[tokio::test]
async fn a_settlement_and_its_notice_are_this_transaction() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let store = telling(&store);
    let read = accepted(&store, &action("msg_1", b"{}")).await;
    let mine = claimed(&store, &read, "claim").await;
    let record = attempt(1, OutcomeKind::Rejected, Some(422));
    let (dead, attempt) = (dead(), Some((&record, "no such mailbox")));
    let settled = store.settle(&mine, change(&dead, attempt), soon()).await;
    settled.unwrap();
    insta::assert_snapshot!(last(&engine, &recorder));
}

#[tokio::test]
async fn a_conflict_and_its_notice_are_this_transaction() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let store = telling(&store);
    accepted(&store, &action("msg_1", b"1")).await;
    let other = Action {
        accepted_at: NOW.plus(secs(1)),
        ..action("msg_1", b"2")
    };
    store.accept(&other, &TIMING, soon()).await.unwrap();
    insta::assert_snapshot!(last(&engine, &recorder));
}
