//! What left and what did not: the same questions as for HTTP, asked of every kind that AWS answers.

use ackbox_config::{DestinationConfig, Invocation, Workflow};
use ackbox_domain::OutcomeKind;
use ackbox_secrets::Secrets;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    TIMEOUT, TOKEN, answer, answered, fifo, function, machine, outbound, outbound_at, queue,
};
use crate::tests::server::{let_pass, read_request, scripted};
use crate::tests::{NOW, attempt, body, key, source};
use crate::{Delivery, Outbound};

fn every_kind() -> [DestinationConfig; 6] {
    [
        fifo(),
        queue("jobs", None),
        machine(Workflow::Standard),
        machine(Workflow::Express),
        function(Invocation::RequestResponse),
        function(Invocation::Event),
    ]
}

#[tokio::test]
async fn an_attempt_that_may_not_begin_sends_no_byte_and_is_asked_once() {
    for destination in every_kind() {
        let server = scripted(|mut stream| async move {
            let mut received = Vec::new();
            stream.read_to_end(&mut received).await.unwrap();
            received
        })
        .await;
        let delivery = Delivery {
            key: &key(),
            source: &source(),
            body: &body(b"{}"),
            attempt: 1,
            now: NOW,
        };
        let mut asked = 0;
        let may_begin = || {
            asked += 1;
            false
        };
        let outcome = outbound(&server)
            .deliver(&destination, &delivery, may_begin)
            .await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        assert_eq!(outcome.detail, "the claim no longer covers the request");
        assert_eq!(asked, 1);
        assert_eq!(server.seen().await, b"");
    }
}

#[tokio::test]
async fn nobody_is_asked_whether_it_may_begin_before_the_connection_stands() {
    for destination in every_kind() {
        let delivery = Delivery {
            key: &key(),
            source: &source(),
            body: &body(b"{}"),
            attempt: 1,
            now: NOW,
        };
        let asked = || panic!("there is no connection");
        let outcome = outbound_at("http://127.0.0.1:1")
            .deliver(&destination, &delivery, asked)
            .await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
    }
}

#[tokio::test]
async fn a_connection_that_is_dropped_after_the_request_is_unknown() {
    for destination in every_kind() {
        let server = scripted(|mut stream| async move { read_request(&mut stream).await }).await;
        let outcome = attempt(&outbound(&server), &destination).await;
        assert_eq!((outcome.kind, outcome.status), (OutcomeKind::Unknown, None));
        assert!(
            outcome.detail.starts_with("the request may have arrived: "),
            "{}",
            outcome.detail
        );
        server.seen().await;
    }
}

#[tokio::test]
async fn silence_after_the_request_is_unknown() {
    for destination in every_kind() {
        let server = scripted(|mut stream| async move {
            read_request(&mut stream).await;
            let_pass(TIMEOUT).await;
            // Open until the other side has given up.
            stream.read(&mut [0]).await
        })
        .await;
        let outcome = attempt(&outbound(&server), &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::Unknown);
        assert_eq!(
            outcome.detail,
            "the request may have arrived: no answer within 10s"
        );
        tokio::time::resume();
    }
}

#[tokio::test]
async fn half_a_head_and_then_silence_is_unknown() {
    for destination in every_kind() {
        let server = scripted(|mut stream| async move {
            read_request(&mut stream).await;
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-le")
                .await
                .unwrap();
            let_pass(TIMEOUT).await;
            stream.read(&mut [0]).await
        })
        .await;
        let outcome = attempt(&outbound(&server), &destination).await;
        assert_eq!((outcome.kind, outcome.status), (OutcomeKind::Unknown, None));
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_failure_of_the_service_is_not_asked_again() {
    // The server takes one connection, and looks for a second request on it.
    for destination in every_kind() {
        let (outcome, _) = answered(&destination, &answer(500, "", "{}")).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Unknown, Some(500))
        );
    }
}

#[tokio::test]
async fn an_attempt_whose_time_is_up_before_it_begins_is_not_sent() {
    for mut destination in every_kind() {
        destination.policy.timeout = std::time::Duration::ZERO;
        let server = scripted(|mut stream| async move {
            let mut received = Vec::new();
            let _ = stream.read_to_end(&mut received).await;
            received
        })
        .await;
        let outcome = attempt(&outbound(&server), &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
    }
}

#[tokio::test]
async fn without_credentials_nothing_is_sent_and_the_words_say_so() {
    let bare = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url("http://127.0.0.1:1")
        .region(Region::new("us-east-1"))
        .build();
    for destination in every_kind() {
        let outbound = Outbound::with_aws(Secrets::new(|_| None), bare.clone());
        let outcome = attempt(&outbound, &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        assert!(!outcome.detail.is_empty());
    }
}

#[tokio::test]
async fn without_an_aws_configuration_nothing_is_sent() {
    for destination in every_kind() {
        let outbound = Outbound::new(Secrets::new(|_| None));
        let outcome = attempt(&outbound, &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        let words = "no AWS configuration was given";
        assert!(outcome.detail.starts_with(words), "{}", outcome.detail);
    }
}

#[tokio::test]
async fn what_is_secret_in_a_request_shows_in_no_detail() {
    for destination in every_kind() {
        let body =
            format!(r#"{{"__type":"x#SignatureDoesNotMatch","message":"should be over {TOKEN}"}}"#);
        let (outcome, request) = answered(&destination, &answer(403, "", &body)).await;
        assert_eq!(request.header("x-amz-security-token"), [TOKEN]);
        assert!(
            outcome.detail.contains("should be over [redacted]"),
            "{}",
            outcome.detail
        );
        assert!(!outcome.detail.contains("session-token"));
    }
}
