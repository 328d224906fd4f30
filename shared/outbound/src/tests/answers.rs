//! How much of an answer is read, and what of it is kept.

use std::time::Duration;

use ackbox_domain::{AttemptOutcome, OutcomeKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::server::{answering, read_request, scripted};
use super::{TIMEOUT, answered, attempt, destination, http, outbound, reference};
use crate::exchange::HEAD_MAX;

#[tokio::test]
async fn a_2xx_head_is_success_though_its_body_never_ends() {
    let server = scripted(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
            .await
            .unwrap();
        let mut written = 0_usize;
        while let Ok(more) = stream.write(&[b'x'; 4096]).await {
            written += more;
        }
        written
    })
    .await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded);
    assert_eq!(outcome.detail.chars().count(), AttemptOutcome::DETAIL_MAX);
    // Ends, since the connection is closed; what was written fits into the buffers of two sockets.
    assert!(server.seen().await < 100_000_000);
}

#[tokio::test]
async fn a_2xx_head_is_success_though_its_body_stalls() {
    let server = scripted(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 100\r\n\r\nqueued")
            .await
            .unwrap();
        // From here on time passes only where somebody waits for it.
        tokio::time::pause();
        let written = Instant::now();
        let _ = stream.read(&mut [0]).await;
        written.elapsed()
    })
    .await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    assert_eq!(
        (outcome.kind, outcome.status),
        (OutcomeKind::Succeeded, Some(202))
    );
    let waited = server.seen().await;
    assert!(waited < TIMEOUT / 2, "waited {waited:?} for the body");
}

#[tokio::test]
async fn a_2xx_head_is_success_though_its_body_breaks() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense",
    ] {
        let outcome = answered(answer.as_bytes()).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
        assert_eq!(outcome.detail, "200: half");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_unknown() {
    for answer in [
        "",
        "\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 2xx OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        "200 OK",
    ] {
        let outcome = answered(answer.as_bytes()).await;
        assert_eq!(
            (outcome.kind, outcome.status),
            (OutcomeKind::Unknown, None),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn an_odd_header_line_does_not_hide_a_success() {
    let outcome = answered(
        b"HTTP/1.1 200 OK\r\nno colon\r\nb\x01d: x\r\nspaced : 1\r\ncontent-length: 2\r\n\r\nok",
    )
    .await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_unknown() {
    let filler = "x".repeat(HEAD_MAX);
    let outcome = answered(format!("HTTP/1.1 200 OK\r\nfiller: {filler}\r\n\r\n").as_bytes()).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown);
    let filler = "x".repeat(HEAD_MAX / 2);
    let outcome = answered(format!("HTTP/1.1 200 OK\r\nfiller: {filler}\r\n\r\n").as_bytes()).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
}

#[tokio::test]
async fn the_detail_is_what_they_said_in_one_short_printable_line() {
    let said = "no\r\n\tsuch \u{1b}[31mmailbox\u{202e}";
    let answer = format!(
        "HTTP/1.1 422 No\r\ncontent-length: {}\r\n\r\n{said}",
        said.len()
    );
    assert_eq!(
        answered(answer.as_bytes()).await.detail,
        "422: no such [31mmailbox"
    );

    let outcome = answered(b"HTTP/1.1 500 \r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(outcome.detail, "500: Internal Server Error");

    let outcome =
        answered(b"HTTP/1.1 500 E\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00").await;
    assert_eq!(outcome.detail, "500: Internal Server Error");
}

#[tokio::test]
async fn an_answer_that_echoes_a_configured_header_is_scrubbed() {
    const TOKEN: &str = "sk_live_51H8ZyKLmnopQRST";
    for echo in [
        format!("no such token: Bearer {TOKEN}!"),
        format!("{{\"headers\":{{\"authorization\":\"Bearer {TOKEN}\"}}}}"),
        format!("token {} is wrong", &TOKEN[..12]),
        format!("token ...{} is wrong", &TOKEN[12..]),
        format!("token {} is wrong", TOKEN.to_ascii_uppercase()),
        // Cut where reading ends.
        format!("{}{TOKEN}", " ".repeat(4080)),
    ] {
        let answer = format!(
            "HTTP/1.1 401 No\r\ncontent-length: {}\r\n\r\n{echo}",
            echo.len()
        );
        let server = answering(answer.as_bytes()).await;
        let mut destination = destination(&server.url());
        http(&mut destination).headers =
            vec![("authorization".to_owned(), reference("AUTHORIZATION"))];
        let outbound = outbound(&[("AUTHORIZATION", "Bearer sk_live_51H8ZyKLmnopQRST")]);
        let outcome = attempt(&outbound, &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::Rejected);
        assert!(outcome.detail.contains("[redacted]"), "{}", outcome.detail);
        let detail = outcome.detail.to_ascii_lowercase();
        let token = TOKEN.to_ascii_lowercase();
        for piece in (0..TOKEN.len() - 5).map(|at| &token[at..at + 5]) {
            assert!(!detail.contains(piece), "{piece} in {detail}");
        }
        assert_eq!(
            server.seen().await.header("authorization"),
            [format!("Bearer {TOKEN}")]
        );
    }
}

#[tokio::test]
async fn a_redirect_that_repeats_a_token_of_the_url_is_scrubbed() {
    let server = answering(
        b"HTTP/1.1 308 Moved\r\nlocation: /new?token=hunter2hunter2\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let destination = destination(&format!("{}&token=hunter2hunter2", server.url()));
    let outcome = attempt(&outbound(&[]), &destination).await;
    assert_eq!(
        outcome.detail,
        "308: redirects are not followed; it points to /new?token=[redacted]"
    );
}

#[tokio::test]
async fn a_redirect_that_carries_a_configured_header_is_scrubbed() {
    let server = answering(
        b"HTTP/1.1 302 Found\r\nlocation: /login?token=hunter2hunter2\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let mut destination = destination(&server.url());
    http(&mut destination).headers = vec![("x-token".to_owned(), reference("TOKEN"))];
    let outcome = attempt(&outbound(&[("TOKEN", "hunter2hunter2")]), &destination).await;
    assert_eq!(
        outcome.detail,
        "302: redirects are not followed; it points to /login?token=[redacted]"
    );
}

#[tokio::test]
async fn retry_after_is_passed_on_in_both_forms() {
    let say = async |value: &str| {
        let answer =
            format!("HTTP/1.1 429 Slow\r\nretry-after: {value}\r\ncontent-length: 0\r\n\r\n");
        let outcome = answered(answer.as_bytes()).await;
        assert_eq!(outcome.kind, OutcomeKind::Busy);
        outcome.retry_after
    };
    assert_eq!(say("120").await, Some(Duration::from_secs(120)));
    assert_eq!(say("soon").await, None);
    // An hour after NOW. The date is compared with the time at which the answer came, a little later.
    let wait = say("Fri, 15 Jan 2027 09:00:00 GMT").await.unwrap();
    let (least, most) = (Duration::from_secs(3500), Duration::from_secs(3600));
    assert!((least..=most).contains(&wait), "{wait:?}");
}
