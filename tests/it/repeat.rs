//! A repetition, at whatever point of its action's life it comes: it creates nothing, changes nothing,
//! and sends nothing.

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_store::schema::kind;
use ackbox_tests::destination::Destination;
use ackbox_tests::world::{World, answering, order, orders, orders_without_keys};

/// Accepts one order, wakes the dispatcher once for it, and checks where that left it.
async fn one_order(config: &str, becomes: EntryState) -> World {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(world.entry().await.state, becomes);
    world
}

/// Sends the same again, in other processes and at later times, and checks that nothing moves.
async fn nothing_changes(world: &World, destination: &Destination) {
    let before = world.table.items().await;
    let seen = destination.received().len();
    for later in [1, 60, 3600, 40 * 24 * 3600] {
        world.clock.advance(Duration::from_secs(later));
        let receiver = world.receiver().await;
        let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
        assert_eq!(answer.said(), (200, "duplicate"));
        assert_eq!(world.table.items().await, before);
    }
    assert_eq!(destination.received().len(), seen);
}

#[tokio::test]
async fn identical_bytes_twice_are_one_action() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(world.table.items().await.len(), 2);
    nothing_changes(&world, &destination).await;
}

#[tokio::test]
async fn a_duplicate_of_a_delivered_entry_changes_nothing() {
    let destination = answering(200).await;
    let world = one_order(&orders(&destination), EntryState::Delivered).await;
    nothing_changes(&world, &destination).await;
}

#[tokio::test]
async fn a_duplicate_of_a_dead_entry_changes_nothing() {
    let destination = answering(422).await;
    let world = one_order(&orders(&destination), EntryState::Dead).await;
    nothing_changes(&world, &destination).await;
}

#[tokio::test]
async fn a_duplicate_of_an_entry_whose_outcome_is_unknown_changes_nothing() {
    let destination = answering(500).await;
    let world = one_order(&orders_without_keys(&destination), EntryState::Held).await;
    nothing_changes(&world, &destination).await;
}

#[tokio::test]
async fn a_duplicate_of_an_entry_that_waits_for_its_retry_changes_nothing() {
    let destination = answering(429).await;
    let world = one_order(&orders(&destination), EntryState::Pending).await;
    nothing_changes(&world, &destination).await;
}

#[tokio::test]
async fn a_duplicate_of_an_open_entry_without_its_tombstone_changes_nothing() {
    let destination = answering(429).await;
    let world = one_order(&orders(&destination), EntryState::Pending).await;
    let key = world.entry().await.key;
    world.table.remove(&key, kind::ACCEPTED).await;
    nothing_changes(&world, &destination).await;
    assert!(world.table.item(&key, kind::ACCEPTED).await.is_none());
}

#[tokio::test]
async fn other_content_for_an_open_entry_without_its_tombstone_is_a_conflict() {
    let destination = answering(429).await;
    let world = one_order(&orders(&destination), EntryState::Pending).await;
    let entry = world.entry().await;
    world.table.remove(&entry.key, kind::ACCEPTED).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(2)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "conflict"));
    assert_eq!(world.entry().await, entry);
}

#[tokio::test]
async fn a_tombstone_alone_makes_a_duplicate() {
    let destination = answering(200).await;
    let world = one_order(&orders(&destination), EntryState::Delivered).await;
    let key = world.entry().await.key;
    world.table.remove(&key, kind::OUTBOX).await;
    nothing_changes(&world, &destination).await;
}
