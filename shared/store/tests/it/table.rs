//! The table itself: created once, recognised, and missed in words that say what to do.

use ackbox_domain::OutcomeKind;
use ackbox_store::{Class, Created, StoreError};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ProjectionType,
    ScalarAttributeType, StreamViewType, TableDescription,
};

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, claim_of, name, retry,
};
use crate::engine::{Engine, soon};

async fn describe(engine: &Engine) -> TableDescription {
    let describe = engine
        .client
        .describe_table()
        .table_name(engine.store.table());
    describe.send().await.unwrap().table.unwrap()
}

#[tokio::test]
async fn a_table_is_created_once_as_the_schema_says() {
    let engine = Engine::empty().await;
    assert_eq!(engine.store.create_table().await.unwrap(), Created::New);
    assert_eq!(
        engine.store.create_table().await.unwrap(),
        Created::AlreadyThere
    );
    let table = describe(&engine).await;
    let stream = table.stream_specification().unwrap();
    assert_eq!(stream.stream_view_type(), Some(&StreamViewType::NewImage));
    assert!(table.latest_stream_arn().is_some());
    let [index] = table.global_secondary_indexes() else {
        panic!("one index")
    };
    let projection = index.projection().unwrap();
    assert_eq!(projection.projection_type(), Some(&ProjectionType::Include));
    assert_eq!(projection.non_key_attributes(), ["accepted_at"]);
    let expiry = engine
        .client
        .describe_time_to_live()
        .table_name(engine.store.table());
    let expiry = expiry
        .send()
        .await
        .unwrap()
        .time_to_live_description
        .unwrap();
    assert_eq!(expiry.attribute_name(), Some("expires_at"));
}

#[tokio::test]
async fn a_table_that_is_something_else_is_refused() {
    let engine = Engine::empty().await;
    let key = KeySchemaElement::builder()
        .attribute_name("id")
        .key_type(KeyType::Hash);
    let id = AttributeDefinition::builder()
        .attribute_name("id")
        .attribute_type(ScalarAttributeType::S);
    engine
        .client
        .create_table()
        .table_name(engine.store.table())
        .billing_mode(BillingMode::PayPerRequest)
        .key_schema(key.build().unwrap())
        .attribute_definitions(id.build().unwrap())
        .send()
        .await
        .unwrap();
    let error = engine.store.create_table().await.unwrap_err();
    assert!(
        matches!(error, StoreError::ForeignTable { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn every_operation_on_a_missing_table_names_it_and_is_not_repeated() {
    let there = Engine::start().await;
    let entry = accepted(&there.store, &action("msg_1", b"{}")).await;
    let engine = Engine::empty().await;
    let (store, recorder) = engine.recorded();
    let missing = |error: StoreError| {
        assert!(matches!(error, StoreError::NoTable { .. }), "{error:?}");
        assert!(error.to_string().contains(store.table()), "{error}");
        assert!(!error.is_retryable());
        assert_eq!(recorder.calls().len(), 1);
    };
    let action = action("msg_1", b"{}");
    missing(store.accept(&action, &TIMING, soon()).await.unwrap_err());
    let claim = claim_of("claim", NOW);
    missing(
        store
            .claim(&entry, claim, ORIGIN, soon())
            .await
            .unwrap_err(),
    );
    let record = attempt(1, OutcomeKind::Busy, None);
    let again = retry(NOW);
    let settle = store.settle(&entry, change(&again, Some((&record, ""))), soon());
    missing(settle.await.unwrap_err());
    missing(store.entry(&action.key).await.unwrap_err());
    missing(store.payload(&action.key).await.unwrap_err());
    missing(store.story(&action.key).await.unwrap_err());
    missing(store.meta().await.unwrap_err());
    let mut due = store.due(Class::Open, &name("mailer"), NOW);
    missing(due.next().await.unwrap_err());
}
