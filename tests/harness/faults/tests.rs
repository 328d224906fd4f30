use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::engine::{self, Engine, Table};

/// A proxy before an engine with a table, and a client of the proxy that does not repeat by itself.
async fn setting() -> (Engine, Faults, Table, aws_sdk_dynamodb::Client) {
    let engine = Engine::start().await;
    let faults = Faults::before(engine.endpoint()).await.unwrap();
    let client = engine::client(&faults.endpoint()).await;
    let name = engine::table_name();
    let store = ackbox_store::Store::new(client.clone(), &name);
    store.create_table().await.unwrap();
    let table = Table::new(engine.endpoint(), &name).await;
    faults.forget();
    (engine, faults, table, client)
}

async fn put(client: &aws_sdk_dynamodb::Client, table: &Table, pk: &str) -> Result<(), String> {
    use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    client
        .put_item()
        .table_name(table.name())
        .item("pk", text(pk))
        .item("sk", text("x"))
        .send()
        .await
        .map(|_| ())
        .map_err(|error| error.code().unwrap_or("no answer").to_owned())
}

#[tokio::test]
async fn a_call_that_no_rule_names_passes_and_is_counted() {
    let (_engine, faults, table, client) = setting().await;
    faults.inject(Rule::operation("GetItem"), Fault::Drop);
    put(&client, &table, "a").await.unwrap();
    assert_eq!(table.items().await.len(), 1);
    assert_eq!(faults.count("PutItem"), 1);
    assert_eq!(faults.calls().len(), 1);
}

#[tokio::test]
async fn a_rule_takes_the_calls_it_counts_and_no_others() {
    let (_engine, faults, table, client) = setting().await;
    let rule = Rule::operation("PutItem").containing("\"b\"").calls(2..=2);
    let injected = faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    put(&client, &table, "a").await.unwrap();
    put(&client, &table, "b").await.unwrap();
    assert_eq!(
        put(&client, &table, "b").await,
        Err("ThrottlingException".to_owned())
    );
    put(&client, &table, "b").await.unwrap();
    assert_eq!(injected.met(), 1);
}

#[tokio::test]
async fn a_dropped_call_is_not_carried_out_and_a_dropped_answer_is() {
    let (_engine, faults, table, client) = setting().await;
    faults.inject(Rule::operation("PutItem").once(), Fault::Drop);
    assert!(put(&client, &table, "a").await.is_err());
    assert!(table.items().await.is_empty());
    faults.inject(Rule::operation("PutItem").once(), Fault::DropAnswer);
    assert!(put(&client, &table, "a").await.is_err());
    assert_eq!(table.items().await.len(), 1);
}

#[tokio::test]
async fn a_stalled_call_goes_on_when_it_is_released_though_its_caller_is_gone() {
    let (_engine, faults, table, client) = setting().await;
    let stall = faults.inject(Rule::operation("PutItem").once(), Fault::Stall);
    let held = faults.inject(Rule::operation("PutItem").calls(2..=2), Fault::StallAnswer);
    let caller = tokio::spawn({
        let (client, table) = (client.clone(), table.clone());
        async move { put(&client, &table, "late").await }
    });
    stall.hit().await;
    caller.abort();
    assert!(caller.await.is_err());
    assert!(table.items().await.is_empty());
    stall.release();
    // The second call's answer is held: it was carried out, and its caller still waits.
    let caller = tokio::spawn({
        let (client, table) = (client.clone(), table.clone());
        async move { put(&client, &table, "held").await }
    });
    held.hit().await;
    assert!(!caller.is_finished());
    held.release();
    caller.await.unwrap().unwrap();
    while table.items().await.len() < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_altered_call_reaches_the_engine_as_it_was_altered() {
    let (_engine, faults, table, client) = setting().await;
    let times = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&times);
    let change = Fault::alter(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        call["Item"]["pk"]["S"] = "other".into();
    });
    faults.inject(Rule::operation("PutItem"), change);
    put(&client, &table, "a").await.unwrap();
    assert_eq!(table.items().await[0].pk(), "other");
    assert_eq!(times.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_the_engine_says_was_consumed_is_added_up() {
    let (_engine, faults, table, client) = setting().await;
    faults.measure();
    put(&client, &table, "a").await.unwrap();
    put(&client, &table, "b").await.unwrap();
    let consumed = faults.consumed();
    assert_eq!((consumed.writes, consumed.reads), (2.0, 0.0));
}

#[tokio::test]
async fn every_refusal_is_read_by_the_sdk_as_what_it_says() {
    let (_engine, faults, table, client) = setting().await;
    let expected = [
        (Refusal::Throttled, "ThrottlingException"),
        (
            Refusal::ThroughputExceeded,
            "ProvisionedThroughputExceededException",
        ),
        (
            Refusal::Cancelled(&["None"]),
            "TransactionCanceledException",
        ),
        (Refusal::TransactionConflict, "TransactionConflictException"),
        (
            Refusal::TransactionInProgress,
            "TransactionInProgressException",
        ),
        (Refusal::Internal, "InternalServerError"),
        (Refusal::AccessDenied, "AccessDeniedException"),
        (Refusal::Validation, "ValidationException"),
        (Refusal::NoTable, "ResourceNotFoundException"),
    ];
    for (refusal, code) in expected {
        faults.inject(Rule::any().once(), Fault::Refuse(refusal));
        assert_eq!(put(&client, &table, "a").await, Err(code.to_owned()));
    }
}
