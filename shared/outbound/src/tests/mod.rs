//! Attempts against scripted servers on loopback sockets. What a test may look at: the outcome, and
//! what arrived at the server.

mod answers;
mod arbitrary;
mod aws;
mod guard;
mod left;
mod outcomes;
mod questions;
mod requests;
mod server;
mod signatures;
mod tls;

use std::time::Duration;

use ackbox_config::{DestinationConfig, HttpDestination, Kind, SecretRef};
use ackbox_domain::{
    ActionKey, AttemptOutcome, Backoff, DeliveryPolicy, Idempotency, Name, OnUnknown, RenderedBody,
    Timestamp,
};
use ackbox_secrets::Secrets;

use crate::{Delivery, Outbound};

/// Longer than any test takes; where a test wants it to pass, it moves the clock.
const TIMEOUT: Duration = Duration::from_secs(10);
const NOW: Timestamp = Timestamp::from_unix_ms(1_800_000_000_000);

/// A destination on this host that keeps keys, without headers and signatures.
fn destination(url: &str) -> DestinationConfig {
    DestinationConfig {
        name: "mailer".parse().unwrap(),
        policy: DeliveryPolicy {
            idempotency: Idempotency::Window(Duration::from_secs(86_400)),
            on_unknown: OnUnknown::Retry,
            timeout: TIMEOUT,
            retry_for: Duration::from_secs(86_400),
            backoff: Backoff {
                first: Duration::from_secs(30),
                max: Duration::from_secs(3600),
            },
        },
        to: Kind::Http(HttpDestination {
            url: url.parse().unwrap(),
            headers: vec![],
            idempotency_header: "idempotency-key".to_owned(),
            signing: vec![],
            allow_private: true,
        }),
        reconcile: None,
        concurrency: None,
        breaker: None,
    }
}

/// What there is of HTTP in a destination.
fn http(destination: &mut DestinationConfig) -> &mut HttpDestination {
    destination.to.http_mut().unwrap()
}

fn source() -> Name {
    "orders".parse().unwrap()
}

fn key() -> ActionKey {
    "act_abcdefghijklmnopqrstuvwxyz234567".parse().unwrap()
}

fn body(bytes: &[u8]) -> RenderedBody {
    RenderedBody {
        bytes: bytes.to_vec(),
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
    }
}

fn reference(name: &str) -> SecretRef {
    SecretRef::Env(name.to_owned())
}

/// A sender whose environment holds these variables.
fn outbound(environment: &'static [(&'static str, &'static str)]) -> Outbound {
    Outbound::new(Secrets::new(move |name| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }))
}

/// One attempt with a small body, which may begin.
async fn attempt(outbound: &Outbound, destination: &DestinationConfig) -> AttemptOutcome {
    attempt_with(outbound, destination, &body(br#"{"id":1}"#)).await
}

async fn attempt_with(
    outbound: &Outbound,
    destination: &DestinationConfig,
    body: &RenderedBody,
) -> AttemptOutcome {
    let delivery = Delivery {
        key: &key(),
        source: &source(),
        body,
        attempt: 1,
        now: NOW,
    };
    outbound.deliver(destination, &delivery, || true).await
}

/// One attempt against a server that reads the request and then answers with these bytes.
async fn answered(answer: &[u8]) -> AttemptOutcome {
    let server = server::answering(answer).await;
    let outcome = attempt(&outbound(&[]), &destination(&server.url())).await;
    server.seen().await;
    outcome
}

#[test]
fn an_attempt_can_be_made_on_any_thread() {
    fn sent<T: Send>(_: T) {}
    let (outbound, destination) = (outbound(&[]), destination("https://h/"));
    sent(attempt(&outbound, &destination));
    let shown = format!("{outbound:?}");
    assert_eq!(shown, "Outbound { .. }");
}
