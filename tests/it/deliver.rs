//! One entry through the dispatcher: what the destination sees, what each of its answers makes of the
//! entry, and what is never done after an attempt that may have arrived.

use std::time::Duration;

use ackbox_domain::{EntryState, OutcomeKind};
use ackbox_signature::{Headers, Message, Scheme};
use ackbox_store::schema::kind;
use ackbox_tests::destination::{Behaviour, Destination, Received};
use ackbox_tests::events;
use ackbox_tests::evidence::explained;
use ackbox_tests::faults::{Fault, Rule};
use ackbox_tests::sender::secret;
use ackbox_tests::world::{World, order, orders, orders_source, orders_without_keys, warehouse};

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

#[tokio::test]
async fn a_final_no_is_dead_and_is_not_tried_again() {
    for status in [400, 401, 404, 410, 413, 422, 301, 302, 307] {
        let destination = scripted(move |_| Behaviour::Answer {
            status,
            headers: vec![("location".into(), "/elsewhere".into())],
            body: "no".into(),
        })
        .await;
        let world = one_order(&orders(&destination)).await;
        dispatch(&world).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Dead, "{status}");
        assert_eq!(entry.reason.as_deref(), Some("rejected"));
        sweep_after(&world, LATER).await;
        assert_eq!(destination.received().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_says_later_is_tried_again_when_it_says_and_leaves_no_doubt() {
    let destination = scripted(|received| match received.seen {
        1 => Behaviour::Answer {
            status: 429,
            headers: vec![("retry-after".into(), "600".into())],
            body: String::new(),
        },
        _ => Behaviour::status(200),
    })
    .await;
    let world = one_order(&orders_without_keys(&destination)).await;
    let accepted_at = world.clock.now();
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Pending, None)
    );
    assert!(entry.due_at >= Some(accepted_at.plus(Duration::from_secs(600))));
    assert_eq!(entry.attempts[0].kind, OutcomeKind::Busy);
    sweep_after(&world, Duration::from_secs(599)).await;
    assert_eq!(destination.received().len(), 1);
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    explained(&entry, &destination.received());
    assert_eq!(destination.received().len(), 2);
}

#[tokio::test]
async fn what_never_left_is_tried_again_until_its_time_is_over_and_is_then_dead() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let config = orders_without_keys(&destination);
    drop(destination);
    let world = one_order(&config).await;
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Pending, None)
    );
    assert_eq!(entry.attempts[0].kind, OutcomeKind::NotSent);
    sweep_after(&world, LATER).await;
    assert_eq!(world.entry().await.state, EntryState::Pending);
    sweep_after(&world, 3 * DAY).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Dead);
    assert_eq!(entry.reason.as_deref(), Some("retries-exhausted"));
}

#[tokio::test]
async fn an_unknown_outcome_is_repeated_under_the_same_key_inside_the_window_and_held_after_it() {
    let destination = scripted(|_| Behaviour::DropAfterRequest).await;
    let world = one_order(&orders(&destination)).await;
    dispatch(&world).await;
    let first = world.entry().await;
    assert_eq!(first.state, EntryState::Pending);
    assert!(first.first_uncertain_at.is_some());
    sweep_after(&world, LATER).await;
    let second = world.entry().await;
    assert_eq!(second.first_uncertain_at, first.first_uncertain_at);
    let received = destination.received();
    assert_eq!(received.len(), 2);
    explained(&second, &received);
    sweep_after(&world, DAY).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("window-ended"));
    sweep_after(&world, DAY).await;
    assert_eq!(destination.received().len(), 2);
}

#[tokio::test]
async fn an_unknown_outcome_at_a_destination_without_keys_is_held_and_never_repeated() {
    let unknown = [
        Behaviour::status(500),
        Behaviour::status(502),
        Behaviour::status(503),
        Behaviour::DropAfterRequest,
    ];
    for behaviour in unknown {
        let answer = behaviour.clone();
        let destination = scripted(move |_| answer.clone()).await;
        let world = one_order(&orders_without_keys(&destination)).await;
        dispatch(&world).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Held, "{behaviour:?}");
        assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"));
        sweep_after(&world, LATER).await;
        sweep_after(&world, 3 * DAY).await;
        dispatch(&world).await;
        assert_eq!(destination.received().len(), 1, "{behaviour:?}");
        assert_eq!(world.entry().await.state, EntryState::Held);
    }
}

#[tokio::test]
async fn a_no_after_an_attempt_that_may_have_arrived_is_held_and_not_dead() {
    let destination = scripted(|r| Behaviour::status(if r.seen == 1 { 500 } else { 404 })).await;
    let world = one_order(&orders(&destination)).await;
    dispatch(&world).await;
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("rejected-after-uncertain"));
    explained(&entry, &destination.received());
}

#[tokio::test]
async fn a_policy_that_holds_is_obeyed_though_the_destination_keeps_keys() {
    let destination = scripted(|_| Behaviour::status(500)).await;
    let hold = warehouse(&destination, "{ window = \"24h\" }", "hold");
    let world = one_order(&format!("{}{hold}", orders_source())).await;
    dispatch(&world).await;
    assert_eq!(world.entry().await.state, EntryState::Held);
    sweep_after(&world, LATER).await;
    assert_eq!(destination.received().len(), 1);
}

/// The first attempt hangs beyond its lease, the second one's answer proves nothing, and then the
/// first one's success comes: the destination has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_success_under_an_old_claim_is_delivered() {
    let destination = scripted(|received| match received.seen {
        1 => Behaviour::Stall,
        _ => Behaviour::status(500),
    })
    .await;
    let world = one_order(&orders(&destination)).await;
    let (dispatcher, batch) = (world.dispatcher().await, world.stream().await);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let first = tokio::spawn(async move { dispatcher.handle(batch, deadline).await });
    destination.until(|received| received.len() == 1).await;
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!((entry.state, entry.fence), (EntryState::Pending, 2));
    destination.release();
    first.await.unwrap().unwrap();
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    assert_eq!(entry.due_at, None);
    explained(&entry, &destination.received());
    sweep_after(&world, LATER).await;
    assert_eq!(destination.received().len(), 2);
}

/// The first attempt's end is written only after the second one has delivered: it changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_failure_under_an_old_claim_does_not_reopen_what_was_delivered() {
    let destination = scripted(|r| Behaviour::status(if r.seen == 1 { 500 } else { 200 })).await;
    let world = one_order(&orders(&destination)).await;
    let settle = Rule::operation("UpdateItem").calls(2..=2);
    let settle = world.faults.inject(settle, Fault::Stall);
    let (dispatcher, batch) = (world.dispatcher().await, world.stream().await);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let first = tokio::spawn(async move { dispatcher.handle(batch, deadline).await });
    settle.hit().await;
    sweep_after(&world, LATER).await;
    let delivered = world.entry().await;
    assert_eq!(
        (delivered.state, delivered.fence),
        (EntryState::Delivered, 2)
    );
    settle.release();
    first.await.unwrap().unwrap();
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    assert_eq!(entry.due_at, None);
    explained(&entry, &destination.received());
    sweep_after(&world, LATER).await;
    assert_eq!(destination.received().len(), 2);
}

/// As a sandbox that was frozen between its claim and its request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_does_not_begin_when_its_lease_no_longer_covers_it() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = one_order(&orders_without_keys(&destination)).await;
    let claim = Rule::operation("UpdateItem").once();
    let claim = world.faults.inject(claim, Fault::StallAnswer);
    let (dispatcher, batch) = (world.dispatcher().await, world.stream().await);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let frozen = tokio::spawn(async move { dispatcher.handle(batch, deadline).await });
    claim.hit().await;
    world.clock.advance(Duration::from_secs(40));
    claim.release();
    frozen.await.unwrap().unwrap();
    assert!(destination.received().is_empty());
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Pending, None)
    );
    assert_eq!(entry.attempts[0].kind, OutcomeKind::NotSent);
    sweep_after(&world, LATER).await;
    assert_eq!(world.entry().await.state, EntryState::Delivered);
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn a_payload_that_is_gone_is_held_and_nothing_else_is_sent_in_its_place() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    let noise: String = (0..5000).map(|_| fastrand::alphanumeric()).collect();
    let body = format!(r#"{{"type":"order.paid","noise":"{noise}"}}"#);
    world.webhook("orders", "m1", body).to(&receiver).await;
    let key = world.entry().await.key;
    world.table.remove(&key, kind::PAYLOAD).await;
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("payload-missing"));
    assert!(destination.received().is_empty());
}

/// The configuration cannot know where a name leads; the address that is connected to is looked at.
#[tokio::test]
async fn a_name_that_leads_to_a_private_address_gets_no_request() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = one_order(&orders(&destination)).await;
    let mut config = world.config.clone();
    let warehouse = config.destinations.values_mut().next().unwrap();
    warehouse.http.url.set_host(Some("localhost")).unwrap();
    warehouse.http.allow_private = false;
    let dispatcher = world.dispatcher_with(config).await;
    world.wake(&dispatcher, world.stream().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Pending);
    assert_eq!(entry.attempts[0].kind, OutcomeKind::NotSent);
    assert!(destination.received().is_empty());
}

#[tokio::test]
async fn an_event_of_another_kind_wakes_nobody() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = one_order(&orders(&destination)).await;
    let dispatcher = world.dispatcher().await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let strange = serde_json::json!({"source": "aws.s3"});
    assert!(dispatcher.handle(strange, deadline).await.is_err());
    let nothing = world.wake(&dispatcher, events::batch(Vec::new())).await;
    assert_eq!(nothing["batchItemFailures"], serde_json::json!([]));
    assert!(destination.received().is_empty());
}
