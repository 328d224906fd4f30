//! The configuration changes while entries are open: nothing is lost, and nothing is sent to somebody
//! else under a doubt.

use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::{EntryState, Name};
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::world::{World, answering, name, order, orders, orders_without_keys};

const MINUTE: Duration = Duration::from_secs(61);
const LATER: Duration = Duration::from_secs(3700);

async fn one_order(config: &str) -> World {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    world
}

/// The configuration without a destination, as if it had been removed with its source.
fn without(config: &Config, destination: &str) -> Config {
    let mut config = config.clone();
    let destination: Name = name(destination);
    config.destinations.remove(&destination);
    config.sources.clear();
    config
}

#[tokio::test]
async fn an_entry_of_a_removed_destination_waits_with_its_reason_is_held_after_an_hour_and_never_dead()
 {
    let destination = answering(200).await;
    let world = one_order(&orders(&destination)).await;
    let removed = world
        .dispatcher_with(without(&world.config, "warehouse"))
        .await;
    world.wake(&removed, world.stream().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Pending);
    assert_eq!(entry.reason.as_deref(), Some("no-such-destination"));
    let noticed = world.clock.now();
    // It is seen by sweeps though no configuration names it any more.
    while world.clock.now().since(noticed) < Duration::from_secs(3540) {
        world.clock.advance(MINUTE * 5);
        world.sweep(&removed).await;
        let entry = world.entry().await;
        let soon = world.clock.now().since(noticed) < Duration::from_secs(3600);
        if soon {
            assert_eq!(entry.state, EntryState::Pending);
        }
    }
    world.clock.advance(MINUTE * 5);
    world.sweep(&removed).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("no-such-destination"));
    world.clock.advance(Duration::from_secs(30 * 24 * 3600));
    world.sweep(&removed).await;
    assert_eq!(world.entry().await.state, EntryState::Held);
    assert!(destination.received().is_empty());
}

#[tokio::test]
async fn a_destination_that_comes_back_within_the_hour_gets_its_entries() {
    let destination = answering(200).await;
    let world = one_order(&orders(&destination)).await;
    let removed = world
        .dispatcher_with(without(&world.config, "warehouse"))
        .await;
    world.clock.advance(MINUTE);
    world.sweep(&removed).await;
    assert_eq!(
        world.entry().await.reason.as_deref(),
        Some("no-such-destination")
    );
    world.clock.advance(MINUTE * 10);
    let back = world.dispatcher().await;
    world.sweep(&back).await;
    let entry = world.entry().await;
    assert_eq!((entry.state, entry.reason), (EntryState::Delivered, None));
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn another_origin_after_an_attempt_that_may_have_arrived_is_held() {
    let (old, new) = (answering(500).await, answering(200).await);
    let world = one_order(&orders(&old)).await;
    let before = world.dispatcher().await;
    world.wake(&before, world.stream().await).await;
    assert!(world.entry().await.first_uncertain_at.is_some());
    let moved = ackbox_tests::world::parsed(&orders(&new));
    let after = world.dispatcher_with(moved).await;
    world.clock.advance(LATER);
    world.sweep(&after).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("origin-changed"));
    assert_eq!((old.received().len(), new.received().len()), (1, 0));
}

#[tokio::test]
async fn another_origin_without_any_doubt_simply_gets_the_action() {
    let (old, new) = (answering(429).await, answering(200).await);
    let world = one_order(&orders_without_keys(&old)).await;
    let before = world.dispatcher().await;
    world.wake(&before, world.stream().await).await;
    let moved = ackbox_tests::world::parsed(&orders_without_keys(&new));
    let after = world.dispatcher_with(moved).await;
    world.clock.advance(LATER);
    world.sweep(&after).await;
    assert_eq!(world.entry().await.state, EntryState::Delivered);
    assert_eq!((old.received().len(), new.received().len()), (1, 1));
    assert_eq!(old.received()[0].key, new.received()[0].key);
}

#[tokio::test]
async fn another_path_at_the_same_origin_is_the_same_destination() {
    let destination = Destination::start(|received| {
        Behaviour::status(if received.path == "/new" { 200 } else { 500 })
    });
    let destination = destination.await.unwrap();
    let world = one_order(&orders(&destination)).await;
    let before = world.dispatcher().await;
    world.wake(&before, world.stream().await).await;
    let moved = orders(&destination).replace(&destination.url("/orders"), &destination.url("/new"));
    let after = world
        .dispatcher_with(ackbox_tests::world::parsed(&moved))
        .await;
    world.clock.advance(LATER);
    world.sweep(&after).await;
    assert_eq!(world.entry().await.state, EntryState::Delivered);
}

/// The claim is the trace: what may have been sent to a destination that is gone stays in doubt.
#[tokio::test]
async fn a_doubt_outlives_the_removal_of_its_destination() {
    let destination = answering(500).await;
    let world = one_order(&orders(&destination)).await;
    let before = world.dispatcher().await;
    world.wake(&before, world.stream().await).await;
    let doubt = world.entry().await.first_uncertain_at;
    assert!(doubt.is_some());
    let removed = world
        .dispatcher_with(without(&world.config, "warehouse"))
        .await;
    for _ in 0..3 {
        world.clock.advance(LATER);
        world.sweep(&removed).await;
    }
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Held, doubt)
    );
}
