//! The exact transaction, approved. If a snapshot changes, bump `schema::SCHEMA_VERSION`: tables in
//! the field hold items of the shape that was.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::action::{NOW, TIMING, action, noise};
use crate::engine::{Engine, soon};

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
    let (name, mut json) = recorder.requests().pop().unwrap();
    assert_eq!(name, "TransactWriteItems");
    let token = json["ClientRequestToken"].as_str().unwrap();
    assert!((32..=36).contains(&token.len()));
    json["ClientRequestToken"] = "a random token".into();
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
