//! One entry through the dispatcher: what the destination sees, what each of its answers makes of the
//! entry, and what is never done after an attempt that may have arrived.

mod answered;
mod late;
mod unsent;

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_signature::{Headers, Message, Scheme};
use ackbox_tests::destination::{Behaviour, Destination, Received};
use ackbox_tests::evidence::explained;
use ackbox_tests::sender::secret;
use ackbox_tests::world::{World, order, orders};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Longer than the longest backoff, and than the lease.
const LATER: Duration = Duration::from_secs(3700);

async fn scripted(script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static) -> Destination {
    Destination::start(script).await.unwrap()
}

/// A world with one accepted order.
async fn one_order(config: &str) -> World {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    world
}

/// Wakes a dispatcher by the stream.
async fn dispatch(world: &World) {
    let dispatcher = world.dispatcher().await;
    let answer = world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
}

/// Sweeps after this long, as another process.
async fn sweep_after(world: &World, wait: Duration) {
    world.clock.advance(wait);
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
}

fn header<'r>(received: &'r Received, name: &str) -> Option<&'r str> {
    let found = received.headers.iter().find(|(have, _)| have == name);
    found.map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn the_destination_gets_the_bytes_that_came_in_under_the_actions_key() {
    let destination = scripted(|_| Behaviour::status(202)).await;
    let world = one_order(&orders(&destination)).await;
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let received = destination.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].key, entry.key.as_str());
    assert_eq!(received[0].body, order(1));
    assert_eq!(received[0].path, "/orders");
    assert_eq!(
        header(&received[0], "content-type"),
        Some("application/json")
    );
    assert!(
        world
            .table
            .items()
            .await
            .iter()
            .all(|item| !item.has("work_shard"))
    );
    sweep_after(&world, LATER).await;
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn a_compressed_body_is_delivered_as_it_came_with_its_encoding() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    // gzip of {"type":"order.paid"}
    let gzip = gzipped(br#"{"type":"order.paid"}"#);
    let webhook = world.webhook("orders", "m1", gzip.clone());
    let answer = webhook
        .header("Content-Encoding", "gzip")
        .to(&receiver)
        .await;
    assert_eq!(answer.said(), (200, "accepted"));
    dispatch(&world).await;
    let received = destination.received();
    assert_eq!(received[0].body, gzip);
    assert_eq!(header(&received[0], "content-encoding"), Some("gzip"));
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn an_envelope_is_rendered_once_and_is_the_same_on_every_attempt() {
    let destination = scripted(|r| Behaviour::status(if r.seen < 3 { 500 } else { 200 })).await;
    let config = orders(&destination).replace(
        "destination = \"warehouse\"",
        "destination = \"warehouse\"\npayload = \"envelope\"",
    );
    let world = one_order(&config).await;
    let accepted_at = world.clock.now();
    dispatch(&world).await;
    sweep_after(&world, LATER).await;
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let received = destination.received();
    assert_eq!(received.len(), 3);
    explained(&entry, &received);
    let envelope: serde_json::Value = serde_json::from_slice(&received[0].body).unwrap();
    assert_eq!(envelope["key"], entry.key.as_str());
    assert_eq!(envelope["source"], "orders");
    assert_eq!(envelope["event"], "order.paid");
    assert_eq!(envelope["accepted_at"], accepted_at.to_string());
    let data: serde_json::Value = serde_json::from_slice(&order(1)).unwrap();
    assert_eq!(envelope["data"], data);
}

#[tokio::test]
async fn deliveries_carry_the_destinations_headers_and_a_signature_of_every_secret() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let config = orders(&destination).replace(
        "allow_private = true",
        "allow_private = true\nsigning = [\"env:ONE\", \"env:TWO\"]\nheaders = { Authorization = \"env:TOKEN\" }",
    );
    let world = one_order(&config).await;
    dispatch(&world).await;
    let received = destination.received();
    assert_eq!(
        header(&received[0], "authorization"),
        Some(secret("TOKEN").as_str())
    );
    assert_eq!(
        header(&received[0], "webhook-id"),
        Some(received[0].key.as_str())
    );
    let scheme = Scheme::builtin("standard-webhooks").unwrap();
    let headers: Headers = received[0].headers.iter().map(|(n, v)| (n, v)).collect();
    let message = Message {
        method: "POST",
        url: "/orders",
        headers: &headers,
        body: &received[0].body,
    };
    for name in ["ONE", "TWO"] {
        let keys = [scheme.secret(name, &secret(name)).unwrap()];
        let now = world.clock.now().unix_ms();
        assert!(scheme.verify(&message, &keys, now, None).is_ok(), "{name}");
    }
}
