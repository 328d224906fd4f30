//! Functions: what they answer is the evidence. The services here hand no client context to a function,
//! so that the key in it is looked at by the tests beside the code alone.

use ackbox_domain::OutcomeKind;
use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::{FunctionCode, Runtime};

use crate::{attempt, destination, key, sdk, zip};

async fn function(client: &Client, name: &str) {
    let package = zip::of("main.py", include_bytes!("function.py"));
    client
        .create_function()
        .function_name(name)
        .runtime(Runtime::Python312)
        .handler("main.handler")
        .role("arn:aws:iam::000000000000:role/any")
        .code(FunctionCode::builder().zip_file(Blob::new(package)).build())
        .send()
        .await
        .unwrap();
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_function_gets_the_body_as_it_is_and_its_answer_is_kept() {
    let sdk = sdk().await;
    function(&Client::new(&sdk), "answers").await;
    let there = destination("kind = \"lambda\"\nfunction = \"answers\"");
    let outcome = attempt(&sdk, &there, &key("one"), r#"{"order":7}"#).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    assert_eq!(outcome.detail, r#"200: {"got": {"order": 7}}"#);
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_function_that_fails_may_have_done_anything() {
    let sdk = sdk().await;
    function(&Client::new(&sdk), "fails").await;
    let there = destination("kind = \"lambda\"\nfunction = \"fails\"");
    let outcome = attempt(&sdk, &there, &key("one"), r#"{"fail":true}"#).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Unknown, Some(200))
    );
    assert!(
        outcome.detail.contains("told to fail"),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn an_event_is_queued() {
    let sdk = sdk().await;
    function(&Client::new(&sdk), "queued").await;
    let there = destination("kind = \"lambda\"\nfunction = \"queued\"\ninvocation = \"event\"");
    let outcome = attempt(&sdk, &there, &key("one"), r#"{"order":7}"#).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(202))
    );
    assert!(
        outcome.detail.starts_with("202: queued, request "),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_function_that_is_not_there_did_not_run() {
    let sdk = sdk().await;
    let there = destination("kind = \"lambda\"\nfunction = \"nowhere\"");
    let outcome = attempt(&sdk, &there, &key("one"), "{}").await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::NotSent, Some(404))
    );
}
