//! What arrives at a destination.

use ackbox_domain::{OutcomeKind, RenderedBody};

use super::server::answering;
use super::{attempt, attempt_with, destination, http, outbound, reference};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_request_says_what_it_is_and_nothing_else() {
    let server = answering(OK).await;
    let (address, url) = (server.address.to_string(), server.url());
    let outcome = attempt(&outbound(&[]), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    let mut request = server.seen().await;
    assert_eq!(request.line, "POST /actions?a=1 HTTP/1.1");
    request.headers.sort();
    let expected = [
        ("connection", "close"),
        ("content-length", "8"),
        ("content-type", "application/json"),
        ("host", address.as_str()),
        ("idempotency-key", "act_abcdefghijklmnopqrstuvwxyz234567"),
        ("user-agent", concat!("ackbox/", env!("CARGO_PKG_VERSION"))),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(request.headers, expected);
    assert_eq!(request.body, br#"{"id":1}"#);
}

#[tokio::test]
async fn the_body_arrives_as_it_was_stored_whatever_it_is() {
    let every_byte: Vec<u8> = (0..=255).collect();
    for bytes in [vec![], every_byte.clone(), every_byte.repeat(12 << 10)] {
        let server = answering(OK).await;
        let body = RenderedBody {
            bytes: bytes.clone(),
            content_type: None,
            content_encoding: Some("gzip".to_owned()),
        };
        let outcome = attempt_with(&outbound(&[]), &destination(&server.url()), &body).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
        let request = server.seen().await;
        assert!(request.body == bytes);
        assert_eq!(request.header("content-length"), [bytes.len().to_string()]);
        assert_eq!(request.header("content-encoding"), ["gzip"]);
        assert_eq!(request.header("content-type"), [""; 0]);
    }
}

#[tokio::test]
async fn headers_of_the_destination_are_sent_and_ours_stay_ours() {
    let server = answering(OK).await;
    let mut destination = destination(&server.url());
    http(&mut destination).idempotency_header = "x-request-id".to_owned();
    http(&mut destination).headers = [
        "authorization",
        "x-request-id",
        "host",
        "content-length",
        "content-type",
        "content-encoding",
        "connection",
        "user-agent",
    ]
    .map(|name| (name.to_owned(), reference("TOKEN")))
    .to_vec();
    let outcome = attempt(&outbound(&[("TOKEN", "Bearer t0ken t0ken")]), &destination).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    let request = server.seen().await;
    let theirs: Vec<_> = request
        .headers
        .iter()
        .filter(|(_, value)| value.contains("t0ken"))
        .collect();
    assert_eq!(
        theirs,
        [&("authorization".to_owned(), "Bearer t0ken t0ken".to_owned())]
    );
    assert_eq!(
        request.header("x-request-id"),
        ["act_abcdefghijklmnopqrstuvwxyz234567"]
    );
    assert_eq!(request.header("content-length"), ["8"]);
}

#[tokio::test]
async fn a_header_that_stands_twice_is_sent_twice() {
    let server = answering(OK).await;
    let mut destination = destination(&server.url());
    http(&mut destination).headers = ["A", "B"]
        .map(|name| ("x-token".to_owned(), reference(name)))
        .to_vec();
    attempt(&outbound(&[("A", "1"), ("B", "2")]), &destination).await;
    assert_eq!(server.seen().await.header("x-token"), ["1", "2"]);
}

#[tokio::test]
async fn a_header_that_would_frame_the_request_anew_is_not_sent() {
    for name in [
        "transfer-encoding",
        "Transfer-Encoding",
        "expect",
        "upgrade",
        "te",
        "bad name",
        "",
    ] {
        let mut destination = destination("http://127.0.0.1:1/");
        http(&mut destination).headers = vec![(name.to_owned(), reference("TOKEN"))];
        let outcome = attempt(&outbound(&[("TOKEN", "chunked")]), &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        assert_eq!(
            outcome.detail,
            format!("{name:?} cannot be set as a header of a destination")
        );
    }
}

#[tokio::test]
async fn a_secret_without_a_value_is_not_sent_and_named() {
    let mut destination = destination("http://127.0.0.1:1/");
    http(&mut destination).headers = vec![("authorization".to_owned(), reference("MISSING"))];
    let outcome = attempt(&outbound(&[]), &destination).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(
        outcome.detail.starts_with("secret env:MISSING: "),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
async fn a_secret_that_no_header_can_carry_is_named_and_not_shown() {
    for value in [
        "hunter2\nx-admin: 1",
        "hunter2\r",
        "hunter2\0",
        "hunter2\u{7f}",
    ] {
        let mut destination = destination("http://127.0.0.1:1/");
        http(&mut destination).headers = vec![("authorization".to_owned(), reference("TOKEN"))];
        let outbound = crate::Outbound::new(ackbox_secrets::Secrets::new(move |_| {
            Some(value.to_owned())
        }));
        let outcome = attempt(&outbound, &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        assert_eq!(
            outcome.detail,
            "secret env:TOKEN has a character that header authorization cannot carry"
        );
    }
}
