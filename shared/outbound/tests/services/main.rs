//! Destinations that AWS answers, against services that really keep what they are sent: a queue whose
//! messages are counted, a state machine whose executions are, a function that answers. Ignored where no
//! services run: `make test-destinations` starts them, and says by the SDK's own environment where.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests, with helpers that are not test functions themselves"
)]

mod functions;
mod queues;
mod state_machines;
mod zip;

use ackbox_config::{Config, DestinationConfig};
use ackbox_domain::{ActionKey, AttemptOutcome, Name, RenderedBody, Scalar, Timestamp};
use ackbox_outbound::{Delivery, Outbound};
use ackbox_secrets::Secrets;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_smithy_http_client::Builder;

const NOW: Timestamp = Timestamp::from_unix_ms(1_795_953_600_000);

/// The services, as the environment says.
async fn sdk() -> SdkConfig {
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(Builder::new().build_http())
        .load()
        .await
}

/// The destination `there` with these keys in its table.
fn destination(keys: &str) -> DestinationConfig {
    let text = format!("[destination.there]\n{keys}\n");
    match Config::parse("ackbox.toml", &text) {
        Ok(mut config) => config.destinations.remove("there").unwrap(),
        Err(mistakes) => panic!("{mistakes}"),
    }
}

/// One attempt for this action.
async fn attempt(
    sdk: &SdkConfig,
    destination: &DestinationConfig,
    key: &ActionKey,
    body: &str,
) -> AttemptOutcome {
    let outbound = Outbound::with_aws(Secrets::new(|_| None), sdk.clone());
    let source: Name = "orders".parse().unwrap();
    let body = RenderedBody {
        bytes: body.as_bytes().to_vec(),
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
    };
    let delivery = Delivery {
        key,
        source: &source,
        body: &body,
        attempt: 1,
        now: NOW,
    };
    outbound.deliver(destination, &delivery, || true).await
}

/// The key of an action of this test.
fn key(of: &str) -> ActionKey {
    ActionKey::new("services", [&Scalar::Text(of.to_owned())])
}
