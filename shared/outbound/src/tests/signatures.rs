//! Signed deliveries, verified as a receiver would.

use ackbox_domain::OutcomeKind;
use ackbox_signature::{Headers, Message, Scheme};

use super::server::{Request, answering};
use super::{NOW, attempt, destination, http, outbound, reference};

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

async fn signed_by(environment: &'static [(&'static str, &'static str)]) -> Request {
    let server = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut destination = destination(&server.url());
    http(&mut destination).signing = environment
        .iter()
        .map(|(name, _)| reference(name))
        .collect();
    let outcome = attempt(&outbound(environment), &destination).await;
    assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    server.seen().await
}

fn verifies(request: &Request, secret: &str) -> bool {
    let scheme = Scheme::builtin("standard-webhooks").unwrap();
    let headers: Headers = request.headers.iter().map(|(n, v)| (n, v)).collect();
    let message = Message {
        method: "POST",
        url: "/actions?a=1",
        headers: &headers,
        body: &request.body,
    };
    let secrets = [scheme.secret("receiver", secret).unwrap()];
    scheme
        .verify(&message, &secrets, NOW.unix_ms(), None)
        .is_ok()
}

#[tokio::test]
async fn a_delivery_is_signed_under_its_key() {
    let mut request = signed_by(&[("OLD", OLD)]).await;
    assert_eq!(
        request.header("webhook-id"),
        request.header("idempotency-key")
    );
    assert_eq!(
        request.header("webhook-timestamp"),
        [NOW.unix_s().to_string()]
    );
    assert!(verifies(&request, OLD));
    assert!(!verifies(&request, OTHER));
    request.body.push(b' ');
    assert!(!verifies(&request, OLD));
}

#[tokio::test]
async fn every_signing_secret_signs_side_by_side() {
    let request = signed_by(&[("NEW", NEW), ("OLD", OLD)]).await;
    assert_eq!(request.header("webhook-signature").len(), 1);
    assert!(verifies(&request, OLD) && verifies(&request, NEW));
    assert!(!verifies(&request, OTHER));
}

#[tokio::test]
async fn a_signing_secret_that_cannot_sign_is_not_sent_and_not_shown() {
    for environment in [
        &[("SIGNING", "whsec_not-base64!")],
        &[("SIGNING", "whpk_MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7")],
    ] {
        let mut destination = destination("http://127.0.0.1:1/");
        http(&mut destination).signing = vec![reference("SIGNING")];
        let outcome = attempt(&outbound(environment), &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        assert!(outcome.detail.contains("env:SIGNING"), "{}", outcome.detail);
        for piece in ["not-base64", "MCowBQ"] {
            assert!(!outcome.detail.contains(piece), "{}", outcome.detail);
        }
    }
}

#[tokio::test]
async fn an_answer_that_echoes_a_signature_is_scrubbed() {
    use tokio::io::AsyncWriteExt as _;
    let server = super::server::scripted(|mut stream| async move {
        let request = super::server::read_request(&mut stream).await;
        let signature = request.header("webhook-signature")[0].to_owned();
        let echo = format!("no signature matches {signature}");
        let head = format!("HTTP/1.1 401 No\r\ncontent-length: {}\r\n\r\n", echo.len());
        stream.write_all((head + &echo).as_bytes()).await.unwrap();
        signature
    })
    .await;
    let mut destination = destination(&server.url());
    http(&mut destination).signing = vec![reference("NEW"), reference("OLD")];
    let outcome = attempt(&outbound(&[("NEW", NEW), ("OLD", OLD)]), &destination).await;
    assert_eq!(outcome.detail, "401: no signature matches [redacted]");
    assert!(server.seen().await.starts_with("v1,"));
}
