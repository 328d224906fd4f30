//! What a message costs, counted on the wire and by the engine.

use ackbox_domain::EntryState;
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::world::{World, answering, order, orders};

/// The budget: accept 4 + 1, claim 1, settle 1 + 1 (an index write costs as much as its item's).
const WRITE_UNITS: f64 = 8.0;

#[tokio::test]
async fn an_accepted_event_and_a_duplicate_cost_one_call_each() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    // The first message of a process also looks at what the table remembers of its names.
    world
        .webhook("orders", "warm", order(0))
        .to(&receiver)
        .await;
    for (id, outcome) in [("m1", "accepted"), ("m2", "accepted"), ("m1", "duplicate")] {
        world.faults.forget();
        let answer = world.webhook("orders", id, order(1)).to(&receiver).await;
        assert_eq!(answer.said(), (200, outcome));
        let calls = world.faults.calls();
        assert_eq!(calls.len(), 1, "{outcome}: {calls:#?}");
        assert_eq!(calls[0].operation, "TransactWriteItems");
    }
}

#[tokio::test]
async fn what_is_refused_costs_no_call_at_all() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let forged = world.webhook("orders", "m1", order(1)).signed_with("OTHER");
    assert_eq!(forged.to(&receiver).await.said(), (401, "refused"));
    let ignored = world.webhook("orders", "m1", r#"{"type":"order.seen"}"#);
    assert_eq!(ignored.to(&receiver).await.said(), (200, "ignored"));
    let malformed = world.webhook("orders", "m1", "{");
    assert_eq!(malformed.to(&receiver).await.said(), (400, "malformed"));
    assert!(world.faults.calls().is_empty());
}

#[tokio::test]
async fn an_accepted_and_delivered_small_event_costs_at_most_eight_write_units() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    world
        .webhook("orders", "warm", order(0))
        .to(&receiver)
        .await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    world.faults.forget();
    world.faults.measure();
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let accepted = world.faults.consumed();
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received().len(), 2);
    let consumed = world.faults.consumed();
    assert!(accepted.writes > 0.0, "the engine counts");
    assert!(
        consumed.writes <= WRITE_UNITS,
        "{accepted:?}, then {consumed:?}"
    );
    assert!(
        consumed.reads <= 0.5,
        "accepting reads nothing, and delivering whether the destination is paused, once a second: {consumed:?}"
    );
}

/// The longest detail and ten attempts on record: still one write unit for the whole item.
#[tokio::test]
async fn a_retry_costs_at_most_four_write_units_however_many_came_before() {
    let complaint = "x".repeat(400);
    let destination = Destination::start(move |received| {
        let (status, body) = match received.seen {
            0..13 => (429, complaint.clone()),
            _ => (200, String::new()),
        };
        Behaviour::Answer {
            status,
            headers: Vec::new(),
            body,
        }
    });
    let destination = destination.await.unwrap();
    // A pause would be one write more, of another item.
    let config = orders(&destination) + "breaker = \"off\"\n";
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    let body = format!(r#"{{"type":"order.paid","pad":"{}"}}"#, "p".repeat(150));
    world.webhook("orders", "m1", body).to(&receiver).await;
    let dispatcher = world.dispatcher().await;
    world.clock.advance(std::time::Duration::from_secs(61));
    for attempt in 1..=13_u64 {
        world.faults.forget();
        world.faults.measure();
        world.sweep(&dispatcher).await;
        let consumed = world.faults.consumed();
        assert!(consumed.writes <= 4.0, "attempt {attempt}: {consumed:?}");
        let entry = world.entry().await;
        assert_eq!(entry.fence, attempt);
        world.clock.advance(std::time::Duration::from_secs(3601));
    }
    assert_eq!(world.entry().await.state, EntryState::Delivered);
}
