//! What engines do not do: collisions, throttles, refusals. A double stands in place of the service and
//! counts the calls.

use std::time::Duration;

use ackbox_domain::{Acceptance, OutcomeKind};
use ackbox_store::{Claimed, SettleResult, Store, StoreError};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::ErrorMetadata;
use aws_sdk_dynamodb::operation::get_item::GetItemOutput;
use aws_sdk_dynamodb::operation::transact_write_items::{
    TransactWriteItemsError, TransactWriteItemsOutput,
};
use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::error::{
    ConditionalCheckFailedException, TransactionCanceledException, TransactionConflictException,
};
use aws_sdk_dynamodb::types::{AttributeValue, CancellationReason};
use aws_smithy_mocks::{Rule, RuleMode, mock, mock_client};
use tokio::time::Instant;

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, claim_of, claimed, retry,
};
use crate::engine::{Engine, Item, soon};

/// META that knows the names and the rule of [`action`].
pub(crate) fn meta() -> Rule {
    let names = |name: &str| AttributeValue::Ss(vec![name.to_owned()]);
    let rule = ackbox_domain::RuleIdentity::of_action(&action("msg_1", b"{}"));
    let rule = rule.map(|rule| rule.to_string()).unwrap_or_default();
    mock!(Client::get_item).then_output(move || {
        GetItemOutput::builder()
            .item("destinations", names("mailer"))
            .item("sources", names("reports"))
            .item("rules", names(&rule))
            .build()
    })
}

pub(crate) fn store(rules: &[&Rule]) -> Store {
    let client = mock_client!(aws_sdk_dynamodb, RuleMode::MatchAny, rules, |config| {
        config.retry_config(aws_config::retry::RetryConfig::disabled())
    });
    Store::new(client, "table")
}

fn cancelled(codes: [&'static str; 2], item: Option<Item>) -> TransactWriteItemsError {
    let reasons = codes.map(|code| {
        let item = item.clone().filter(|_| code == "ConditionalCheckFailed");
        CancellationReason::builder()
            .code(code)
            .set_item(item)
            .build()
    });
    let exception = TransactionCanceledException::builder()
        .set_cancellation_reasons(Some(reasons.to_vec()))
        .build();
    TransactWriteItemsError::TransactionCanceledException(exception)
}

/// The accepted item that an engine has after the action of [`action`].
async fn tombstone() -> Item {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    accepted(&engine.store, &action).await;
    engine.item(&action.key, "ACCEPTED").await.unwrap()
}

/// A deadline that a test runs into.
fn shortly() -> Instant {
    Instant::now() + Duration::from_millis(200)
}

#[tokio::test]
async fn what_passes_is_repeated_with_one_token_until_the_transaction_commits() {
    let tokens = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = tokens.clone();
    let transact = mock!(Client::transact_write_items)
        .match_requests(move |input| {
            let token = input.client_request_token().unwrap().to_owned();
            seen.lock().unwrap().push(token);
            true
        })
        .sequence()
        .error(|| cancelled(["TransactionConflict", "None"], None))
        .error(|| cancelled(["None", "ThrottlingError"], None))
        .error(|| {
            cancelled(
                ["ProvisionedThroughputExceeded", "TransactionConflict"],
                None,
            )
        })
        .http_status(400, Some(error_body("TransactionInProgressException")))
        .http_status(400, Some(error_body("ThrottlingException")))
        .http_status(
            400,
            Some(error_body("ProvisionedThroughputExceededException")),
        )
        .http_status(400, Some(error_body("RequestLimitExceeded")))
        .http_status(500, Some(error_body("InternalServerError")))
        .http_status(503, None)
        .output(|| TransactWriteItemsOutput::builder().build())
        .build();
    let store = store(&[&meta(), &transact]);
    let answer = store.accept(&action("msg_1", b"{}"), &TIMING, soon()).await;
    assert_eq!(answer.unwrap(), Acceptance::Accepted);
    assert_eq!(transact.num_calls(), 10);
    let mut tokens = tokens.lock().unwrap().clone();
    tokens.dedup();
    assert_eq!(
        tokens.len(),
        1,
        "a commit whose answer was lost is known again"
    );
}

pub(crate) fn error_body(code: &str) -> String {
    format!(
        "{{\"__type\":\"com.amazonaws.dynamodb.v20120810#{code}\",\"message\":\"said {code}\"}}"
    )
}

#[tokio::test]
async fn a_condition_is_never_repeated_and_wins_over_what_passes() {
    let tombstone = tombstone().await;
    for codes in [
        ["ConditionalCheckFailed", "ConditionalCheckFailed"],
        ["ConditionalCheckFailed", "TransactionConflict"],
        ["ThrottlingError", "ConditionalCheckFailed"],
        ["None", "ConditionalCheckFailed"],
    ] {
        let item = tombstone.clone();
        let transact = mock!(Client::transact_write_items)
            .then_error(move || cancelled(codes, Some(item.clone())));
        let store = store(&[&meta(), &transact]);
        let answer = store.accept(&action("msg_1", b"{}"), &TIMING, soon()).await;
        assert!(matches!(
            answer.unwrap(),
            Acceptance::Duplicate {
                uncompared: false,
                ..
            }
        ));
        assert_eq!(transact.num_calls(), 1, "{codes:?}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_an_error_at_once() {
    for codes in [
        ["ValidationError", "None"],
        ["TransactionConflict", "AccessDenied"],
    ] {
        let transact =
            mock!(Client::transact_write_items).then_error(move || cancelled(codes, None));
        let store = store(&[&meta(), &transact]);
        let answer = store.accept(&action("msg_1", b"{}"), &TIMING, soon()).await;
        let error = answer.unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        assert!(!error.is_retryable());
        assert_eq!(transact.num_calls(), 1);
    }
    for code in [
        "AccessDeniedException",
        "ValidationException",
        "IdempotentParameterMismatchException",
    ] {
        let transact = mock!(Client::transact_write_items)
            .sequence()
            .http_status(400, Some(error_body(code)))
            .build();
        let store = store(&[&meta(), &transact]);
        let answer = store.accept(&action("msg_1", b"{}"), &TIMING, soon()).await;
        let error = answer.unwrap_err();
        assert!(error.to_string().contains(code), "{error}");
        assert_eq!(transact.num_calls(), 1);
    }
}

#[tokio::test]
async fn what_does_not_pass_within_the_budget_is_unavailable() {
    let transact = mock!(Client::transact_write_items)
        .then_error(|| cancelled(["TransactionConflict", "None"], None));
    let store = store(&[&meta(), &transact]);
    let deadline = shortly();
    let answer = store
        .accept(&action("msg_1", b"{}"), &TIMING, deadline)
        .await;
    let error = answer.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    assert!(
        std::error::Error::source(&error).is_some(),
        "the last answer is kept"
    );
    assert!(transact.num_calls() > 1);
}

#[tokio::test]
async fn a_table_that_never_answers_is_unavailable_at_the_deadline() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = crate::engine::client(&format!("http://{address}"));
    let store = Store::new(client, "table");
    let answer = store
        .accept(&action("msg_1", b"{}"), &TIMING, shortly())
        .await;
    assert!(answer.unwrap_err().is_retryable());
    drop(listener);
    let answer = store
        .accept(&action("msg_1", b"{}"), &TIMING, shortly())
        .await;
    assert!(answer.unwrap_err().is_retryable(), "nobody listens");
}

fn conflict() -> UpdateItemError {
    let code = ErrorMetadata::builder().code("TransactionConflictException");
    let exception = TransactionConflictException::builder().meta(code.build());
    UpdateItemError::TransactionConflictException(exception.build())
}

fn refused(item: Option<Item>) -> UpdateItemError {
    let exception = ConditionalCheckFailedException::builder()
        .set_item(item)
        .build();
    UpdateItemError::ConditionalCheckFailedException(exception)
}

#[tokio::test]
async fn collisions_and_throttles_of_claim_and_settle_are_repeated() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let mine = claimed(&engine.store, &read, "claim").await;
    let item = engine.item(&read.key, "OUTBOX").await.unwrap();
    let update = || {
        let item = item.clone();
        mock!(Client::update_item)
            .sequence()
            .error(conflict)
            .http_status(400, Some(error_body("ThrottlingException")))
            .http_status(500, Some(error_body("InternalServerError")))
            .error(conflict)
            .output(move || {
                UpdateItemOutput::builder()
                    .set_attributes(Some(item.clone()))
                    .build()
            })
            .build()
    };
    let claim = update();
    let answer = store(&[&claim])
        .claim(&read, claim_of("claim", NOW), ORIGIN, soon())
        .await
        .unwrap();
    assert_eq!(answer, Claimed::Started(mine.clone()));
    assert_eq!(claim.num_calls(), 5);
    let settle = update();
    let record = attempt(1, OutcomeKind::Busy, None);
    let answer = store(&[&settle])
        .settle(&mine, change(&retry(NOW), Some((&record, ""))), soon())
        .await
        .unwrap();
    assert_eq!(answer, SettleResult::Settled);
    assert_eq!(settle.num_calls(), 5);
}

#[tokio::test]
async fn a_refused_claim_is_not_repeated() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    claimed(&engine.store, &read, "other").await;
    let item = engine.item(&read.key, "OUTBOX").await.unwrap();
    let update = mock!(Client::update_item).then_error(move || refused(Some(item.clone())));
    let answer = store(&[&update])
        .claim(&read, claim_of("claim", NOW), ORIGIN, soon())
        .await
        .unwrap();
    let until = NOW.plus(TIMING.lease);
    assert_eq!(answer, Claimed::InProgress { until });
    assert_eq!(update.num_calls(), 1);
}

#[tokio::test]
async fn claim_and_settle_are_unavailable_when_their_budget_is_spent() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let update = mock!(Client::update_item).then_error(conflict);
    let store = store(&[&update]);
    let claim = store.claim(&read, claim_of("claim", NOW), ORIGIN, shortly());
    assert!(claim.await.unwrap_err().is_retryable());
    let again = retry(NOW);
    let settle = store.settle(&read, change(&again, None), shortly());
    assert!(settle.await.unwrap_err().is_retryable());
}
