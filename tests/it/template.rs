//! A rule that sends a shape of its own, and deliveries that are signed: what the destination sees of
//! them, on every attempt; and what happens to a message that the shape cannot be made of.

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_signature::{Headers, Message, Scheme};
use ackbox_store::schema::kind;
use ackbox_tests::destination::{Behaviour, Destination, Received};
use ackbox_tests::evidence::explained;
use ackbox_tests::log::Log;
use ackbox_tests::sender::secret;
use ackbox_tests::world::{World, answering, orders, parsed};

/// Longer than the longest backoff, and than the lease.
const LATER: Duration = Duration::from_secs(3700);

/// The source `orders`, whose rule sends its own shape.
fn shaped(destination: &Destination, payload: &str) -> String {
    let to = "destination = \"warehouse\"";
    orders(destination).replacen(to, &format!("{to}\n{payload}"), 1)
}

const PAYLOAD: &str = r#"payload.json = {
  to = "{/data/email}",
  text = "Order {/data/order} is paid: \"{/data/note}\"",
  order = { id = "{/data/order}", total = "{/data/total}" },
  key = "{key}",
  at = "{accepted_at}",
}"#;

/// An order whose number no double holds, and whose note tries to break out.
const ORDER: &str = r#"{"type":"order.paid","data":{"order":9007199254740993,"total":19.90,"email":"a@example.com","note":"\",\"to\":\"b@example.com"}}"#;

async fn failing_twice() -> Destination {
    Destination::start(|r| Behaviour::status(if r.seen < 3 { 500 } else { 200 }))
        .await
        .unwrap()
}

async fn dispatch(world: &World) {
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
}

async fn sweep_after(world: &World, wait: Duration) {
    world.clock.advance(wait);
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
}

#[tokio::test]
async fn a_template_is_rendered_once_and_is_the_same_on_every_attempt() {
    let destination = failing_twice().await;
    let world = World::new(&shaped(&destination, PAYLOAD)).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", ORDER).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let accepted_at = world.clock.now();
    dispatch(&world).await;
    sweep_after(&world, LATER).await;
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let received = destination.received();
    assert_eq!(received.len(), 3);
    explained(&entry, &received);
    let expected = format!(
        r#"{{"to":"a@example.com","text":"Order 9007199254740993 is paid: \"\",\"to\":\"b@example.com\"","order":{{"id":9007199254740993,"total":19.90}},"key":"{}","at":"{accepted_at}"}}"#,
        entry.key
    );
    for received in &received {
        assert_eq!(String::from_utf8_lossy(&received.body), expected);
        let content_type = ("content-type".to_owned(), "application/json".to_owned());
        assert!(received.headers.contains(&content_type));
    }
}

#[tokio::test]
async fn a_repetition_is_rendered_anew_and_what_is_stored_stays_the_first() {
    let destination = failing_twice().await;
    let mut world = World::new(&shaped(&destination, PAYLOAD)).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", ORDER).to(&receiver).await;
    let before = world.table.items().await;
    world.clock.advance(Duration::from_secs(1));
    let answer = world.webhook("orders", "m1", ORDER).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    assert_eq!(world.table.items().await, before);
    assert!(world.table.of_kind(kind::CONFLICT).await.is_empty());
    // An edited template is for the actions that come: what is accepted is sent as it was.
    dispatch(&world).await;
    world.config = parsed(&shaped(&destination, "payload.json = {}"));
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", ORDER).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    sweep_after(&world, LATER).await;
    let received = destination.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
}

#[tokio::test]
async fn what_a_template_misses_makes_the_message_malformed_and_leaves_the_table_empty() {
    let log = Log::collect();
    let world = World::new(&shaped(&answering(200).await, PAYLOAD)).await;
    let receiver = world.receiver().await;
    for body in [
        ORDER.replace("\"email\"", "\"mail\""),
        ORDER.replace("\"note\":\"", "\"note\":null,\"x\":\""),
        ORDER.replace("\"note\":\"", "\"note\":{},\"x\":\""),
        ORDER.replace("\"note\":\"", "\"note\":\"\\ud800"),
        ORDER.replace("\"total\"", "\"order\""),
        ORDER.replace(
            "\"note\":\"",
            &format!("\"note\":\"{}", "x".repeat(256 * 1024 - 200)),
        ),
    ] {
        let answer = world
            .webhook("orders", "m1", body.clone())
            .to(&receiver)
            .await;
        assert_eq!(answer.said(), (400, "malformed"), "{body}");
        assert!(answer.body.is_empty());
    }
    assert!(world.table.items().await.is_empty());
    let lines = log.lines("receive.answered");
    assert_eq!(
        lines[0]["detail"],
        "rule ship: {/data/email} in payload.json.to (/data/email) is missing"
    );
    assert!(!log.text().contains("example.com"), "{}", log.text());
}

fn verifies(world: &World, received: &Received, name: &str) -> bool {
    let scheme = Scheme::builtin("standard-webhooks").unwrap();
    let headers: Headers = received.headers.iter().map(|(n, v)| (n, v)).collect();
    let message = Message {
        method: "POST",
        url: "/orders",
        headers: &headers,
        body: &received.body,
    };
    let keys = [scheme.secret(name, &secret(name)).unwrap()];
    let now = world.clock.now().unix_ms();
    scheme.verify(&message, &keys, now, None).is_ok()
}

#[tokio::test]
async fn a_signing_secret_is_exchanged_between_attempts_and_no_receiver_refuses_one() {
    let destination = failing_twice().await;
    let signed = |signing: &str| {
        let config = shaped(&destination, PAYLOAD);
        let signing = format!("allow_private = true\nsigning = {signing}");
        parsed(&config.replace("allow_private = true", &signing))
    };
    let mut world = World::new(&orders(&destination)).await;
    world.config = signed("[\"env:OLD\"]");
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", ORDER).to(&receiver).await;
    dispatch(&world).await;
    let judged = |world: &World| {
        let received = destination.received();
        let last = received.last().unwrap();
        let judge = |name| verifies(world, last, name);
        (received.len(), judge("OLD"), judge("NEW"), judge("OTHER"))
    };
    assert_eq!(judged(&world), (1, true, false, false));
    world.config = signed("[\"env:NEW\", \"env:OLD\"]");
    sweep_after(&world, LATER).await;
    assert_eq!(judged(&world), (2, true, true, false));
    world.config = signed("[\"env:NEW\"]");
    sweep_after(&world, LATER).await;
    assert_eq!(judged(&world), (3, false, true, false));
    explained(&world.entry().await, &destination.received());
}
