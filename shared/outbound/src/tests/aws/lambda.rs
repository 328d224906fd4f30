//! Functions.

use std::time::Duration;

use ackbox_config::Invocation::{Event, RequestResponse};
use ackbox_config::{Kind, LambdaDestination};
use ackbox_domain::OutcomeKind;
use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{answer, answered, destination_of, function, means, outbound_at};
use crate::tests::{attempt_with, body, key};

#[tokio::test]
async fn a_functions_answer_is_the_evidence() {
    let said = answer(200, "", r#"{"shipped":true}"#);
    let (outcome, request) = answered(&function(RequestResponse), &said).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(200))
    );
    assert_eq!(outcome.detail, r#"200: {"shipped":true}"#);
    let line = "POST /2015-03-31/functions/fulfil%3Alive/invocations HTTP/1.1";
    assert_eq!(request.line, line);
    assert_eq!(request.scope(), "us-east-1/lambda");
    assert_eq!(request.body, br#"{"id":1}"#);
    assert_eq!(request.header("x-amz-invocation-type"), ["RequestResponse"]);
    let context = BASE64
        .decode(request.header("x-amz-client-context")[0].as_bytes())
        .unwrap();
    let context: Value = serde_json::from_slice(&context).unwrap();
    let custom = json!({
        "ackbox-key": key().as_str(),
        "ackbox-source": "orders",
        "ackbox-attempt": "1",
    });
    assert_eq!(context["custom"], custom);
}

#[tokio::test]
async fn a_long_answer_is_cut_and_a_silent_one_is_said() {
    let (outcome, _) = answered(
        &function(RequestResponse),
        &answer(200, "", &"x".repeat(9000)),
    )
    .await;
    assert_eq!(outcome.detail.len(), 120);
    let (outcome, _) = answered(&function(RequestResponse), &answer(200, "", "")).await;
    assert_eq!(outcome.detail, "200: the function answered nothing");
}

#[tokio::test]
async fn a_function_that_failed_ran_so_what_it_did_is_unknown() {
    for error in ["Unhandled", "Handled"] {
        let lines = format!("x-amz-function-error: {error}\r\n");
        let said = answer(200, &lines, r#"{"errorType":"Sandbox.Timedout"}"#);
        let (outcome, _) = answered(&function(RequestResponse), &said).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Unknown, Some(200))
        );
        let detail =
            format!(r#"the function failed ({error}): {{"errorType":"Sandbox.Timedout"}}"#);
        assert_eq!(outcome.detail, detail);
    }
}

#[tokio::test]
async fn a_function_that_failed_is_known_by_the_head_alone() {
    // The length promises more than comes.
    let cut =
        b"HTTP/1.1 200 OK\r\nx-amz-function-error: Unhandled\r\ncontent-length: 90\r\n\r\n{\"err";
    let (outcome, _) = answered(&function(RequestResponse), cut).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown, "{}", outcome.detail);
}

#[tokio::test]
async fn a_head_that_cannot_be_read_does_not_say_that_the_function_did_not_fail() {
    let odd =
        b"HTTP/1.1 200 OK\r\nx-amz-function-error: Unhandl\xe9d\r\ncontent-length: 2\r\n\r\n{}";
    let (outcome, _) = answered(&function(RequestResponse), odd).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown, "{}", outcome.detail);
}

/// The code proves that nothing ran, or that something may have; a body that is cut takes neither away.
#[tokio::test]
async fn a_refusal_whose_body_is_cut_means_what_its_head_says() {
    for (status, code, kind) in [
        ("410 Gone", "EFSIOException", OutcomeKind::Unknown),
        (
            "403 Forbidden",
            "AccessDeniedException:http://internal.amazon.com/",
            OutcomeKind::NotSent,
        ),
        ("400 Bad Request", "", OutcomeKind::Unknown),
    ] {
        let cut = format!(
            "HTTP/1.1 {status}\r\nx-amzn-errortype: {code}\r\ncontent-length: 90\r\n\r\n{{\"__type"
        );
        let (outcome, _) = answered(&function(RequestResponse), cut.as_bytes()).await;
        assert_eq!(outcome.kind, kind, "{status} {code}: {}", outcome.detail);
    }
}

#[tokio::test]
async fn whoever_stands_between_us_and_the_service_proves_nothing() {
    for status in [301, 400, 404, 407, 421, 499] {
        let page = answer(status, "content-type: text/html\r\n", "<html>no</html>");
        let (outcome, _) = answered(&function(RequestResponse), &page).await;
        assert_eq!(
            outcome.kind,
            OutcomeKind::Unknown,
            "{status}: {}",
            outcome.detail
        );
    }
}

#[tokio::test]
async fn an_event_is_delivered_once_lambda_has_queued_it() {
    let queued = answer(202, "x-amzn-requestid: 8a7b\r\n", "");
    let (outcome, request) = answered(&function(Event), &queued).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(202))
    );
    assert_eq!(outcome.detail, "202: queued, request 8a7b");
    assert_eq!(request.header("x-amz-invocation-type"), ["Event"]);
    // It would not reach the function.
    assert!(request.header("x-amz-client-context").is_empty());
}

#[tokio::test]
async fn the_region_of_an_arn_is_where_the_request_is_signed_for() {
    let there = destination_of(Kind::Lambda(LambdaDestination {
        function: "arn:aws:lambda:eu-west-1:123456789012:function:fulfil".to_owned(),
        region: Some("eu-west-1".to_owned()),
        invocation: RequestResponse,
    }));
    let (_, request) = answered(&there, &answer(200, "", "{}")).await;
    assert_eq!(request.scope(), "eu-west-1/lambda");
    assert!(
        request.line.contains("function%3Afulfil/invocations"),
        "{}",
        request.line
    );
}

#[tokio::test]
async fn every_refusal_has_its_meaning() {
    use OutcomeKind::{Busy, NotSent, Rejected, Unknown};
    let refusals = [
        (400, "InvalidRequestContentException", Rejected),
        (413, "RequestTooLargeException", Rejected),
        (413, "RequestEntityTooLargeException", Rejected),
        (415, "UnsupportedMediaTypeException", Rejected),
        (429, "TooManyRequestsException", Busy),
        (502, "EC2ThrottledException", Busy),
        (502, "ENILimitReachedException", Busy),
        (409, "ResourceConflictException", Busy),
        (408, "SnapStartTimeoutException", Busy),
        (404, "ResourceNotFoundException", NotSent),
        (403, "AccessDeniedException", NotSent),
        (400, "RecursiveInvocationException", NotSent),
        (502, "InvalidRuntimeException", NotSent),
        (502, "KMSDisabledException", NotSent),
        (403, "EFSMountFailureException", NotSent),
        (410, "EFSIOException", Unknown),
        (500, "ServiceException", Unknown),
        (503, "ServiceUnavailable", Unknown),
    ];
    means(&function(RequestResponse), &refusals).await;
}

#[tokio::test]
async fn a_throttled_function_says_when_to_come_back() {
    let lines = "x-amzn-errortype: TooManyRequestsException\r\nretry-after: 7\r\n";
    let (outcome, _) = answered(&function(RequestResponse), &answer(429, lines, "{}")).await;
    assert_eq!(outcome.kind, OutcomeKind::Busy);
    assert_eq!(outcome.retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn a_body_that_is_no_payload_is_not_sent() {
    let outbound = outbound_at("http://127.0.0.1:1");
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    for (destination, bytes, words) in [
        (function(RequestResponse), &b"id=1"[..], "is not JSON"),
        (function(Event), large.as_bytes(), "has 1048578 bytes"),
    ] {
        let outcome = attempt_with(&outbound, &destination, &body(bytes)).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Rejected, None)
        );
        assert!(outcome.detail.contains(words), "{}", outcome.detail);
    }
    let outcome = attempt_with(
        &outbound,
        &function(RequestResponse),
        &body(large.as_bytes()),
    )
    .await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
}
