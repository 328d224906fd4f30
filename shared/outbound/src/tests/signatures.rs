//! Signed deliveries, verified as a receiver would.

use ackbox_domain::OutcomeKind;
use ackbox_signature::{Headers, Message, Scheme};

use super::server::{Request, answering};
use super::{NOW, attempt, destination, http, outbound, reference};

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const PAIR: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PAIRS_PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const OTHER_PUBLIC: &str = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
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
async fn a_private_key_signs_for_whoever_has_its_public_half() {
    let request = signed_by(&[("PAIR", PAIR)]).await;
    assert!(request.header("webhook-signature")[0].starts_with("v1a,"));
    assert!(verifies(&request, PAIRS_PUBLIC));
    assert!(!verifies(&request, OTHER_PUBLIC) && !verifies(&request, OLD));
}

#[tokio::test]
async fn shared_and_private_keys_sign_side_by_side_in_one_header() {
    let request = signed_by(&[("PAIR", PAIR), ("NEW", NEW), ("OLD", OLD)]).await;
    let header = request.header("webhook-signature");
    assert_eq!(header.len(), 1);
    let versions: Vec<&str> = header[0]
        .split(' ')
        .map(|one| one.split_once(',').unwrap().0)
        .collect();
    assert_eq!(versions, ["v1a", "v1", "v1"]);
    for receiver in [OLD, NEW, PAIRS_PUBLIC] {
        assert!(verifies(&request, receiver), "{receiver}");
    }
    assert!(!verifies(&request, OTHER) && !verifies(&request, OTHER_PUBLIC));
}

#[tokio::test]
async fn a_signing_secret_that_cannot_sign_is_not_sent_and_not_shown() {
    for (text, why) in [
        ("whsec_dontshow!", "not base64"),
        (
            "whpk_dontshowVQQHRzlpSnBcTBJDf6wRnXcWxtkaCKbtTmY=",
            "public key",
        ),
        (PAIRS_PUBLIC, "public key"),
        ("whsk_dontshow", "decodes to 6 bytes, not the 32 or 64"),
        ("whsk_dontshow*", "not base64"),
        ("whsk_", "is empty"),
        (
            "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlaaaaaaaaaaAJ6p9lMicMFs6Kvg==",
            "public half",
        ),
        ("-----BEGIN PRIVATE KEY-----\ndontshow\n", "not base64"),
        ("", "empty"),
    ] {
        let secrets = ackbox_secrets::Secrets::new(move |_| Some(text.to_owned()));
        let mut destination = destination("http://127.0.0.1:1/");
        http(&mut destination).signing = vec![reference("SIGNING")];
        let outcome = attempt(&crate::Outbound::new(secrets), &destination).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent);
        let detail = outcome.detail;
        assert!(
            detail.contains("env:SIGNING") && detail.contains(why),
            "{text}: {detail}"
        );
        for piece in ["dontshow", "1SiA4o9h", "dCcHpPea"] {
            assert!(!detail.contains(piece), "{detail}");
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
    http(&mut destination).signing = vec![reference("NEW"), reference("PAIR")];
    let outcome = attempt(&outbound(&[("NEW", NEW), ("PAIR", PAIR)]), &destination).await;
    assert_eq!(outcome.detail, "401: no signature matches [redacted]");
    let signature = server.seen().await;
    assert!(signature.starts_with("v1,") && signature.contains(" v1a,"));
}

#[tokio::test]
async fn an_answer_that_echoes_one_signature_of_several_is_scrubbed() {
    use tokio::io::AsyncWriteExt as _;
    let server = super::server::scripted(|mut stream| async move {
        let request = super::server::read_request(&mut stream).await;
        let (_, asymmetric) = request.header("webhook-signature")[0]
            .split_once(" v1a,")
            .unwrap();
        let echo = format!("bad signature: {asymmetric}");
        let head = format!("HTTP/1.1 401 No\r\ncontent-length: {}\r\n\r\n", echo.len());
        stream.write_all((head + &echo).as_bytes()).await.unwrap();
    })
    .await;
    let mut destination = destination(&server.url());
    http(&mut destination).signing = vec![reference("NEW"), reference("PAIR")];
    let outcome = attempt(&outbound(&[("NEW", NEW), ("PAIR", PAIR)]), &destination).await;
    assert_eq!(outcome.detail, "401: bad signature: [redacted]");
}
