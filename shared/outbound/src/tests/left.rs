//! The moment at which a request may have left, and what comes to nothing before and after it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ackbox_domain::OutcomeKind;
use bytes::Bytes;
use http_body_util::Full;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use super::server::{let_pass, read_request, scripted};
use super::{NOW, TIMEOUT, attempt, attempt_with, body, destination, key, outbound, source};
use crate::Delivery;
use crate::deadline::Deadline;
use crate::exchange::{EXCERPT_MAX, exchange};

#[tokio::test]
async fn an_attempt_that_may_not_begin_sends_no_byte() {
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
    let outcome = outbound(&[])
        .deliver(&destination(&server.url()), &delivery, may_begin)
        .await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert_eq!(outcome.detail, "the claim no longer covers the request");
    assert_eq!(asked, 1);
    assert_eq!(server.seen().await, b"");
}

#[tokio::test]
async fn nobody_is_asked_whether_it_may_begin_before_the_connection_stands() {
    let delivery = Delivery {
        key: &key(),
        source: &source(),
        body: &body(b"{}"),
        attempt: 1,
        now: NOW,
    };
    let asked = || panic!("there is no connection");
    let outcome = outbound(&[])
        .deliver(&destination("http://127.0.0.1:1/"), &delivery, asked)
        .await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
}

#[tokio::test]
async fn a_connection_that_is_dropped_unread_is_unknown() {
    let server = scripted(|stream| async move { stream.peek(&mut [0]).await.unwrap() }).await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!((outcome.kind, outcome.status), (OutcomeKind::Unknown, None));
    assert!(
        outcome.detail.starts_with("the request may have arrived: "),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
async fn a_connection_that_is_dropped_after_the_request_is_unknown() {
    let server = scripted(|mut stream| async move { read_request(&mut stream).await }).await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown);
    assert_eq!(server.seen().await.body, br#"{"id":1}"#);
}

#[tokio::test]
async fn a_connection_that_is_dropped_in_the_middle_of_the_request_is_unknown() {
    let server = scripted(|mut stream| async move { stream.read_u8().await.unwrap() }).await;
    let large = body(&vec![b'x'; 4 << 20]);
    let outcome = attempt_with(&outbound(&[]), &destination(&server.url()), &large).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown, "{}", outcome.detail);
}

#[tokio::test]
async fn silence_after_the_request_is_unknown() {
    let server = scripted(|mut stream| async move {
        read_request(&mut stream).await;
        let_pass(TIMEOUT).await;
        // Open until the other side has given up.
        stream.read(&mut [0]).await
    })
    .await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown);
    assert_eq!(
        outcome.detail,
        "the request may have arrived: no answer within 10s"
    );
}

#[tokio::test]
async fn half_a_head_and_then_silence_is_unknown() {
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
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!((outcome.kind, outcome.status), (OutcomeKind::Unknown, None));
}

#[tokio::test]
async fn a_connection_that_has_ended_before_the_request_is_not_sent() {
    let (ours, theirs) = tokio::io::duplex(1024);
    drop(theirs);
    let request = ::http::Request::post("/")
        .body(Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    let deadline = Deadline::in_time(TIMEOUT);
    let none = exchange(Box::new(ours), request, EXCERPT_MAX, &deadline)
        .await
        .unwrap_err();
    assert!(!none.may_have_left, "{}", none.why);
}

#[tokio::test]
async fn a_connection_that_fails_at_the_first_byte_is_unknown() {
    let request = ::http::Request::post("/")
        .body(Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    let deadline = Deadline::in_time(TIMEOUT);
    let none = exchange(Box::new(Breaks), request, EXCERPT_MAX, &deadline)
        .await
        .unwrap_err();
    assert!(none.may_have_left, "{}", none.why);
}

#[tokio::test]
async fn an_attempt_whose_time_is_up_before_it_begins_is_not_sent() {
    let server = scripted(|mut stream| async move {
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await;
        received
    })
    .await;
    let mut destination = destination(&server.url());
    destination.policy.timeout = Duration::ZERO;
    let outcome = attempt(&outbound(&[]), &destination).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
}

/// Never has anything to read, and takes nothing.
struct Breaks;

impl AsyncRead for Breaks {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Breaks {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
