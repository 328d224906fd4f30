//! Queues.

use ackbox_config::Group;
use ackbox_domain::OutcomeKind;
use serde_json::json;

use super::{answer, answered, fifo, means, outbound, outbound_at, queue};
use crate::tests::server::answering;
use crate::tests::{attempt, attempt_with, body, key};

const SENT: &str = r#"{"MD5OfMessageBody":"","MessageId":"5fea7756-0ea4-451a-a703-a558b933e274","SequenceNumber":"18849496460467696128"}"#;

#[tokio::test]
async fn a_fifo_queue_gets_the_key_to_deduplicate_by_and_as_its_group() {
    let (outcome, request) = answered(&fifo(), &answer(200, "", SENT)).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(200))
    );
    assert_eq!(
        outcome.detail,
        "200: message 5fea7756-0ea4-451a-a703-a558b933e274, sequence number 18849496460467696128"
    );
    assert_eq!(request.header("x-amz-target"), ["AmazonSQS.SendMessage"]);
    assert_eq!(request.scope(), "eu-central-1/sqs");
    let text = |text: &str| json!({ "DataType": "String", "StringValue": text });
    assert_eq!(
        request.json(),
        json!({
            "QueueUrl": "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo",
            "MessageBody": r#"{"id":1}"#,
            "MessageDeduplicationId": key().as_str(),
            "MessageGroupId": key().as_str(),
            "MessageAttributes": {
                "ackbox-key": text(key().as_str()),
                "ackbox-source": text("orders"),
                "content-type": text("application/json"),
            },
        })
    );
}

#[tokio::test]
async fn every_attempt_sends_the_same_message() {
    let (_, first) = answered(&fifo(), &answer(500, "", "")).await;
    let (second, again) = answered(&fifo(), &answer(200, "", SENT)).await;
    assert_eq!(second.kind, OutcomeKind::Succeeded);
    assert_eq!(first.json(), again.json());
}

#[tokio::test]
async fn a_group_can_be_a_value_of_the_body() {
    let pointer = "/tenant".parse().unwrap();
    let queue = queue("jobs.fifo", Some(Group::Value(pointer)));
    let server = answering(&answer(200, "", SENT)).await;
    let body = body(br#"{"tenant":"a-7"}"#);
    let outcome = attempt_with(&outbound(&server), &queue, &body).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded);
    let message = server.seen().await.json();
    assert_eq!(message["MessageGroupId"], "a-7");
    assert_eq!(message["MessageDeduplicationId"], key().as_str());
}

#[tokio::test]
async fn a_standard_queue_gets_neither_a_group_nor_an_id_to_deduplicate_by() {
    let sent = r#"{"MessageId":"5fea7756"}"#;
    let (outcome, request) = answered(&queue("jobs", None), &answer(200, "", sent)).await;
    assert_eq!(outcome.detail, "200: message 5fea7756");
    let message = request.json();
    assert!(message.get("MessageDeduplicationId").is_none());
    assert!(message.get("MessageGroupId").is_none());
    let attributes = &message["MessageAttributes"];
    assert_eq!(attributes["ackbox-key"]["StringValue"], key().as_str());
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_success_by_its_head() {
    for cut in ["", "{\"Mess", "<html>"] {
        let (outcome, _) = answered(&fifo(), &answer(200, "", cut)).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{cut}");
    }
}

#[tokio::test]
async fn every_refusal_has_its_meaning() {
    use OutcomeKind::{Busy, NotSent, Rejected, Unknown};
    let refusals = [
        (400, "InvalidMessageContents", Rejected),
        (403, "RequestThrottled", Busy),
        (400, "ThrottlingException", Busy),
        (400, "KmsThrottled", Busy),
        (403, "OverLimit", Busy),
        (403, "AccessDeniedException", NotSent),
        (400, "QueueDoesNotExist", NotSent),
        (400, "KmsDisabled", NotSent),
        (400, "InvalidParameterValue", NotSent),
        (403, "SignatureDoesNotMatch", NotSent),
        (500, "InternalFailure", Unknown),
        (503, "ServiceUnavailable", Unknown),
    ];
    means(&fifo(), &refusals).await;
}

#[tokio::test]
async fn a_code_in_its_older_form_is_understood() {
    let lines = "x-amzn-query-error: KMS.ThrottlingException;Sender\r\n";
    let body = r#"{"__type":"com.amazonaws.sqs#KmsThrottled","message":"because"}"#;
    let (outcome, _) = answered(&fifo(), &answer(400, lines, body)).await;
    assert_eq!(outcome.kind, OutcomeKind::Busy, "{}", outcome.detail);
}

#[tokio::test]
async fn a_body_that_sqs_would_change_or_refuse_is_not_sent() {
    let pointer = "/tenant".parse().unwrap();
    let grouped = queue("jobs.fifo", Some(Group::Value(pointer)));
    // Nobody is there: an attempt that were made would end not_sent.
    let outbound = outbound_at("http://127.0.0.1:1");
    for (destination, bytes, detail) in [
        (
            &fifo(),
            &b"a\0b"[..],
            "not sent: the body has the character U+0000, which the destination cannot carry",
        ),
        (
            &fifo(),
            b"\xff",
            "not sent: the body is no text, and the destination takes text only",
        ),
        (
            &fifo(),
            &vec![b'x'; 1 << 20],
            "not sent: the body has 1048576 bytes; the destination takes at most 1047552",
        ),
        (
            &grouped,
            b"{}",
            "not sent: the body has no value at /tenant, by which the destination groups its messages",
        ),
    ] {
        let outcome = attempt_with(&outbound, destination, &body(bytes)).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Rejected, None)
        );
        assert_eq!(outcome.detail, detail);
    }
    let outcome = attempt(&outbound, &fifo()).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
}
