//! What each answer means.

use ackbox_domain::{Idempotency, OutcomeKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};

use super::{answered, attempt, attempt_with, body, destination, outbound, server};

#[tokio::test]
async fn every_status_has_its_meaning() {
    use OutcomeKind::{Busy, Rejected, Succeeded, Unknown};
    for (status, kind) in [
        (200, Succeeded),
        (201, Succeeded),
        (204, Succeeded),
        (299, Succeeded),
        (301, Rejected),
        (304, Rejected),
        (400, Rejected),
        (401, Rejected),
        (404, Rejected),
        (408, Rejected),
        (409, Rejected),
        (410, Rejected),
        (425, Rejected),
        (429, Busy),
        (499, Rejected),
        (500, Unknown),
        (502, Unknown),
        (503, Busy),
        (504, Unknown),
        (599, Unknown),
        (600, Unknown),
        (999, Unknown),
    ] {
        let answer = format!("HTTP/1.1 {status} As It Is\r\ncontent-length: 0\r\n\r\n");
        let outcome = answered(answer.as_bytes()).await;
        assert_eq!((outcome.kind, outcome.status), (kind, Some(status)));
    }
}

#[tokio::test]
async fn an_older_protocol_without_a_reason_is_understood() {
    let outcome = answered(b"HTTP/1.0 200\r\n\r\nfine").await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded);
    assert_eq!(outcome.detail, "200: fine");
}

#[tokio::test]
async fn a_503_is_believed_by_those_who_keep_no_keys_only_if_it_says_when() {
    for (header, kind) in [
        ("", OutcomeKind::Unknown),
        ("retry-after: soon\r\n", OutcomeKind::Unknown),
        ("retry-after: 7\r\n", OutcomeKind::Busy),
    ] {
        let answer = format!("HTTP/1.1 503 Later\r\n{header}content-length: 0\r\n\r\n");
        let server = server::answering(answer.as_bytes()).await;
        let mut destination = destination(&server.url());
        destination.policy.idempotency = Idempotency::None;
        assert_eq!(
            attempt(&outbound(&[]), &destination).await.kind,
            kind,
            "{header:?}"
        );
    }
}

#[tokio::test]
async fn an_interim_answer_is_not_the_answer() {
    let outcome =
        answered(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n")
            .await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Rejected, Some(409))
    );
}

#[tokio::test]
async fn an_interim_answer_alone_proves_nothing() {
    for answer in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 2",
    ] {
        assert_eq!(
            answered(answer.as_bytes()).await.kind,
            OutcomeKind::Unknown,
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_comes_before_the_request_was_read_counts() {
    let server = server::scripted(|mut stream| async move {
        stream.read_u8().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
            .await
            .unwrap();
        // Takes the rest without looking at it, until the other side has had enough.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    let large = body(&vec![b'x'; 8 << 20]);
    let outcome = attempt_with(&outbound(&[]), &destination(&server.url()), &large).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Rejected, Some(413)),
        "{}",
        outcome.detail
    );
    server.seen().await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = format!("http://{}/", elsewhere.local_addr().unwrap());
    for status in [301, 302, 303, 307, 308] {
        let answer =
            format!("HTTP/1.1 {status} Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
        let outcome = answered(answer.as_bytes()).await;
        assert_eq!(outcome.kind, OutcomeKind::Rejected);
        assert_eq!(
            outcome.detail,
            format!("{status}: redirects are not followed; it points to {target}")
        );
    }
    let nobody = elsewhere.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_connection_is_not_used_twice() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = server::read_request(&mut stream).await;
            assert_eq!(request.header("connection"), ["close"]);
            let answer =
                b"HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).await.unwrap();
            // The other side closes, though this one would go on.
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            assert_eq!(rest, b"");
        }
    });
    let outbound = outbound(&[]);
    for _ in 0..2 {
        let outcome = attempt(&outbound, &destination(&url)).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_not_sent() {
    // Bound, so that nobody else listens there either.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let outcome = attempt(&outbound(&[]), &destination(&format!("http://{address}/"))).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(
        outcome
            .detail
            .starts_with(&format!("could not connect to {address}: ")),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_not_sent() {
    // The domain "invalid" never resolves (RFC 6761, section 6.4).
    let outcome = attempt(&outbound(&[]), &destination("https://nowhere.invalid/")).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(
        outcome.detail.contains("nowhere.invalid"),
        "{}",
        outcome.detail
    );
}
