//! State machines.

use ackbox_config::Workflow::{Express, Standard};
use ackbox_domain::{AttemptOutcome, OutcomeKind};
use serde_json::json;

use super::{answer, answered, machine, means, outbound, outbound_at, refused};
use crate::tests::server::{Request, answering_each};
use crate::tests::{attempt, attempt_with, body, key};

fn started(arn: &str) -> Vec<u8> {
    let body = format!(r#"{{"executionArn":"{arn}","startDate":1795953600.5}}"#);
    answer(200, "", &body)
}

fn execution() -> String {
    format!(
        "arn:aws:states:eu-central-1:123456789012:execution:fulfil:{}",
        key()
    )
}

fn described(input: &str) -> Vec<u8> {
    let body = json!({
        "executionArn": execution(),
        "stateMachineArn": "arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil",
        "name": key().as_str(),
        "status": "FAILED",
        "startDate": 1_795_953_600.5,
        "input": input,
        "output": "x".repeat(300_000),
    });
    answer(200, "", &body.to_string())
}

/// An attempt whose name is taken, and whose question is answered so.
async fn taken(answer: Vec<u8>) -> (AttemptOutcome, Vec<Request>) {
    let taken = refused(400, "ExecutionAlreadyExists");
    let server = answering_each(vec![taken, answer]).await;
    let outcome = attempt(&outbound(&server), &machine(Standard)).await;
    (outcome, server.seen().await)
}

#[tokio::test]
async fn an_execution_is_started_under_the_key_with_the_body_as_its_input() {
    let (outcome, request) = answered(&machine(Standard), &started(&execution())).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(200))
    );
    assert_eq!(
        outcome.detail,
        format!("200: started execution:fulfil:{}", key())
    );
    assert_eq!(
        request.header("x-amz-target"),
        ["AWSStepFunctions.StartExecution"]
    );
    assert_eq!(request.scope(), "eu-central-1/states");
    assert_eq!(
        request.json(),
        json!({
            "stateMachineArn": "arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil:live",
            "name": key().as_str(),
            "input": r#"{"id":1}"#,
        })
    );
}

#[tokio::test]
async fn a_name_that_is_taken_by_the_same_input_is_a_success_however_that_execution_ended() {
    for input in [r#"{"id":1}"#, "{ \"id\": 1 }"] {
        let (outcome, requests) = taken(described(input)).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
        let evidence = format!(
            "200: already started at 2026-11-29T12:00:00.5Z: execution:fulfil:{}",
            key()
        );
        assert_eq!(outcome.detail, evidence);
        let asked = &requests[1];
        assert_eq!(
            asked.header("x-amz-target"),
            ["AWSStepFunctions.DescribeExecution"]
        );
        assert_eq!(asked.json()["executionArn"], execution());
    }
}

#[tokio::test]
async fn a_name_that_is_taken_by_another_input_is_a_final_rejection() {
    let (outcome, _) = taken(described(r#"{"id":2}"#)).await;
    assert_eq!(outcome.kind, OutcomeKind::Rejected);
    assert!(outcome.is_final_rejection());
    let detail = format!(
        "ExecutionAlreadyExists: execution:fulfil:{} has another input",
        key()
    );
    assert_eq!(outcome.detail, detail);
}

#[tokio::test]
async fn a_name_that_is_taken_by_nobody_knows_what_is_unknown() {
    let without_input = answer(
        200,
        "",
        r#"{"executionArn":"a","stateMachineArn":"b","status":"RUNNING","startDate":1}"#,
    );
    for answer in [
        refused(400, "AccessDeniedException"),
        refused(400, "ExecutionDoesNotExist"),
        refused(500, "InternalFailure"),
        answer(200, "", "{\"inp"),
        without_input,
        b"".to_vec(),
    ] {
        let (outcome, _) = taken(answer).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Unknown, Some(400))
        );
        assert!(
            outcome.detail.starts_with(
                "ExecutionAlreadyExists, and what has the name could not be looked up: "
            )
        );
    }
}

#[tokio::test]
async fn an_express_state_machine_is_started_under_the_key_and_never_asked() {
    let arn = format!(
        "arn:aws:states:eu-central-1:123456789012:express:fulfil:{}:0a1b",
        key()
    );
    let (outcome, request) = answered(&machine(Express), &started(&arn)).await;
    assert_eq!(
        outcome.detail,
        format!("200: started express:fulfil:{}:0a1b", key())
    );
    assert_eq!(request.json()["name"], key().as_str());
    means(
        &machine(Express),
        &[(400, "ExecutionAlreadyExists", OutcomeKind::NotSent)],
    )
    .await;
}

#[tokio::test]
async fn an_express_state_machine_that_was_taken_for_a_standard_one_is_told() {
    let arn = "arn:aws:states:eu-central-1:123456789012:express:fulfil:x:0a1b";
    let (outcome, _) = answered(&machine(Standard), &started(arn)).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded);
    assert!(
        outcome.detail.contains("type = \"express\""),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
async fn every_refusal_has_its_meaning() {
    use OutcomeKind::{Busy, NotSent, Rejected, Unknown};
    let refusals = [
        (400, "InvalidExecutionInput", Rejected),
        (400, "ExecutionLimitExceeded", Busy),
        (400, "ThrottlingException", Busy),
        (400, "KmsThrottlingException", Busy),
        (400, "StateMachineDoesNotExist", NotSent),
        (400, "StateMachineDeleting", NotSent),
        (400, "AccessDeniedException", NotSent),
        (400, "ValidationException", NotSent),
        (400, "InvalidName", NotSent),
        (500, "InternalFailure", Unknown),
        (503, "ServiceUnavailable", Unknown),
    ];
    means(&machine(Standard), &refusals).await;
}

#[tokio::test]
async fn a_body_that_is_no_input_is_not_sent() {
    let outbound = outbound_at("http://127.0.0.1:1");
    let large = format!("\"{}\"", "x".repeat(256 * 1024 - 1));
    for (bytes, words) in [
        (&b"id=1"[..], "is not JSON"),
        (b"\xff", "is no text"),
        (large.as_bytes(), "has 262145 bytes"),
    ] {
        let outcome = attempt_with(&outbound, &machine(Standard), &body(bytes)).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Rejected, None)
        );
        assert!(outcome.detail.contains(words), "{}", outcome.detail);
    }
}
