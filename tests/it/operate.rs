//! An operator's word, and what the functions then do by it: the same key at the destination, one request for
//! one word, and nothing after it that was not allowed before.

use std::time::Duration;

use ackbox_config::DestinationConfig;
use ackbox_domain::operator::{Refusal, Resolution, Risk, Way, redrive, resolve};
use ackbox_domain::settlement::{Standing, Terms};
use ackbox_domain::{EntryState, OutboxEntry, Settled};
use ackbox_store::{Decided, Heard, OperatorRecord};
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::evidence::explained;
use ackbox_tests::world::{World, name, order, orders, orders_without_keys};

/// Longer than any wait of these destinations.
const LATER: Duration = Duration::from_secs(3700);

/// A destination that answers the first requests so, and then with a success.
async fn answering_first(many: usize, first: Behaviour) -> Destination {
    let script = move |received: &ackbox_tests::destination::Received| {
        if received.seen <= many {
            first.clone()
        } else {
            Behaviour::status(200)
        }
    };
    Destination::start(script).await.unwrap()
}

fn warehouse(world: &World) -> &DestinationConfig {
    &world.config.destinations[&name("warehouse")]
}

fn sent_again(world: &World, entry: &OutboxEntry, risk: Risk) -> Result<Settled, Refusal> {
    let destination = warehouse(world);
    let way = Way {
        terms: Terms {
            policy: &destination.policy,
            timing: &world.config.delivery.timing,
        },
        origin: destination.origin(),
        is_other: false,
    };
    redrive(&Standing::from(entry), &way, risk, world.clock.now())
}

async fn say(world: &World, entry: &OutboxEntry, settled: &Settled) -> Heard {
    let record = OperatorRecord {
        at: world.clock.now(),
        by: "ada".to_owned(),
        did: "redrive".to_owned(),
        detail: None,
        number: Some(entry.fence + 1),
        reason: None,
    };
    let decided = Decided {
        settled,
        to: None,
        record: &record,
    };
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    world
        .store()
        .await
        .decide(entry, decided, deadline)
        .await
        .unwrap()
}

/// One order that is accepted, and attempted once.
async fn attempted(world: &World) -> OutboxEntry {
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    world.entry().await
}

#[tokio::test]
async fn what_was_given_up_is_delivered_under_its_own_key_and_has_its_time_for_retries_anew() {
    let destination = answering_first(2, Behaviour::status(422)).await;
    let world = World::new(&orders(&destination)).await;
    let entry = attempted(&world).await;
    assert_eq!(entry.state, EntryState::Dead);
    // Long after its time for retries.
    world.clock.advance(Duration::from_secs(20 * 86_400));
    let settled = sent_again(&world, &entry, Risk::default()).unwrap();
    assert_eq!(say(&world, &entry, &settled).await, Heard::Written);
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
    assert_eq!(
        world.entry().await.state,
        EntryState::Dead,
        "it says no once more"
    );
    let entry = world.entry().await;
    let settled = sent_again(&world, &entry, Risk::default()).unwrap();
    say(&world, &entry, &settled).await;
    world.sweep(&dispatcher).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let received = destination.received();
    assert_eq!(received.len(), 3, "each word is a request of its own");
    assert!(received.iter().all(|one| one.key == entry.key.as_str()));
    assert!(received.windows(2).all(|two| two[0].body == two[1].body));
}

#[tokio::test]
async fn a_destination_that_is_busy_long_after_its_time_is_tried_again_and_again() {
    let destination = answering_first(4, Behaviour::status(503)).await;
    let world = World::new(&orders(&destination)).await;
    let mut entry = attempted(&world).await;
    world.clock.advance(Duration::from_secs(20 * 86_400));
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
    entry = match world.entry().await {
        dead if dead.state == EntryState::Dead => dead,
        other => panic!("{other:?}, after {entry:?}"),
    };
    let settled = sent_again(&world, &entry, Risk::default()).unwrap();
    say(&world, &entry, &settled).await;
    for _ in 0..3 {
        world.sweep(&dispatcher).await;
        world.clock.advance(LATER);
    }
    assert_eq!(world.entry().await.state, EntryState::Delivered);
}

#[tokio::test]
async fn a_risk_is_for_one_request_and_what_nobody_hears_of_is_held_again() {
    let destination = answering_first(2, Behaviour::DropAfterRequest).await;
    let world = World::new(&orders_without_keys(&destination)).await;
    let entry = attempted(&world).await;
    assert_eq!(entry.state, EntryState::Held);
    let refused = sent_again(&world, &entry, Risk::default());
    assert!(
        matches!(refused, Err(Refusal::PastWindow { .. })),
        "{refused:?}"
    );
    let risk = Risk {
        past_window: true,
        elsewhere: false,
    };
    let settled = sent_again(&world, &entry, risk).unwrap();
    say(&world, &entry, &settled).await;
    let dispatcher = world.dispatcher().await;
    for _ in 0..3 {
        world.sweep(&dispatcher).await;
        world.clock.advance(LATER);
    }
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, destination.received().len()),
        (EntryState::Held, 2)
    );
    let not_applied = resolve(
        &Standing::from(&entry),
        Resolution::NotApplied,
        &world.config.delivery.timing,
        world.clock.now(),
    );
    say(&world, &entry, &not_applied.unwrap()).await;
    world.sweep(&dispatcher).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, destination.received().len()),
        (EntryState::Delivered, 3)
    );
}

#[tokio::test]
async fn a_window_that_ends_between_the_word_and_the_attempt_ends_it_unsent() {
    let destination = answering_first(9, Behaviour::DropAfterRequest).await;
    let world = World::new(&orders(&destination)).await;
    let entry = attempted(&world).await;
    assert_eq!(
        (entry.state, destination.received().len()),
        (EntryState::Pending, 1)
    );
    let settled = sent_again(&world, &entry, Risk::default()).unwrap();
    say(&world, &entry, &settled).await;
    // The sweep comes when the destination has forgotten the key.
    world.clock.advance(Duration::from_secs(25 * 3600));
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, destination.received().len()),
        (EntryState::Held, 1)
    );
    assert_eq!(entry.reason.as_deref(), Some("window-ended"));
    explained(&entry, &destination.received());
}
