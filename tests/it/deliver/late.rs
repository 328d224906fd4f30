//! Claims that ran out: what an attempt may still say after its lease, and what it may not begin.

use std::time::Duration;

use ackbox_domain::{EntryState, OutcomeKind};
use ackbox_tests::destination::Behaviour;
use ackbox_tests::evidence::explained;
use ackbox_tests::faults::{Fault, Rule};
use ackbox_tests::world::{orders, orders_without_keys};

use super::{LATER, one_order, scripted, sweep_after};

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
