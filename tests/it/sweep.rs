//! The sweep alone: it finds what the stream lost, it is not held up by what is dead, and two of them
//! do not stand in each other's way.

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_store::schema::{attribute, kind};
use ackbox_tests::backlog::like;
use ackbox_tests::engine::Item;
use ackbox_tests::events;
use ackbox_tests::world::{World, answering, order, orders, orders_source};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::Instant;

/// Longer than a fresh entry waits for the stream.
const DUE: Duration = Duration::from_secs(61);

fn count(swept: &Value, what: &str) -> u64 {
    swept[what]
        .as_u64()
        .unwrap_or_else(|| panic!("{what} in {swept}"))
}

async fn how_many(world: &World, destination: &str, state: EntryState) -> usize {
    let items = world.table.of_kind(kind::OUTBOX).await;
    let is = |item: &&Item| {
        item.text(attribute::DESTINATION) == Some(destination)
            && item.text(attribute::STATE) == Some(state.as_str())
    };
    items.iter().filter(is).count()
}

/// How many entries of a destination were claimed at least once.
async fn attempted(world: &World, destination: &str) -> usize {
    let items = world.table.of_kind(kind::OUTBOX).await;
    let is = |item: &&Item| {
        item.text(attribute::DESTINATION) == Some(destination)
            && item.number(attribute::FENCE).is_some_and(|fence| fence > 0)
    };
    items.iter().filter(is).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_any_stream_record_every_entry_is_delivered_once_when_it_is_due() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    let webhooks = (0..40).map(|n| world.webhook("orders", &format!("m{n}"), order(n)));
    let webhooks: Vec<_> = webhooks.collect();
    join_all(webhooks.iter().map(|webhook| webhook.to(&receiver))).await;
    let dispatcher = world.dispatcher().await;
    let swept = world.sweep(&dispatcher).await;
    assert_eq!(
        count(&swept, "found"),
        0,
        "they are the stream's until they are due"
    );
    world.clock.advance(DUE);
    let swept = world.sweep(&dispatcher).await;
    assert_eq!(count(&swept, "attempted"), 40);
    assert_eq!(
        how_many(&world, "warehouse", EntryState::Delivered).await,
        40
    );
    let mut keys: Vec<String> = destination.received().into_iter().map(|r| r.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!((keys.len(), destination.received().len()), (40, 40));
    let swept = world.sweep(&dispatcher).await;
    assert_eq!(count(&swept, "found"), 0);
}

/// A dead destination with far more due entries than a sweep can attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_entries_of_a_dead_destination_do_not_keep_a_hundred_of_a_healthy_one_waiting()
 {
    const DEAD: usize = 20_000;
    const HEALTHY: usize = 100;
    let (healthy, dead) = (answering(200).await, answering(200).await);
    let dead_source = orders_source()
        .replace("orders", "olds")
        .replace("warehouse", "ruin");
    let ruin = ackbox_tests::world::warehouse(&dead, "{ window = \"24h\" }", "retry");
    // Without a breaker, which would not have them attempted at all.
    let ruin = ruin.replace("destination.warehouse", "destination.ruin") + "breaker = \"off\"\n";
    let config = format!("{}{dead_source}{ruin}", orders(&healthy));
    drop(dead);
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    for source in ["orders", "olds"] {
        let answer = world.webhook(source, "m0", order(0)).to(&receiver).await;
        assert_eq!(answer.said(), (200, "accepted"));
    }
    for item in world.table.of_kind(kind::OUTBOX).await {
        let is_dead = item.text(attribute::DESTINATION) == Some("ruin");
        let many = if is_dead { DEAD - 1 } else { HEALTHY - 1 };
        world.table.put(like(&item, many)).await;
    }
    world.clock.advance(DUE);
    let dispatcher = world.dispatcher().await;
    // No end that a slow engine could reach before the healthy ones are done: how far the dead ones
    // have come by then is what counts.
    let deadline = Instant::now() + Duration::from_secs(900);
    let sweep = dispatcher.handle(events::schedule(), deadline);
    tokio::select! {
        () = healthy.until(|received| received.len() == HEALTHY) => {}
        swept = sweep => {
            let (swept, many) = (swept.unwrap(), healthy.received().len());
            assert_eq!(many, HEALTHY, "the sweep ended before: {swept}");
        }
    }
    assert_eq!(how_many(&world, "ruin", EntryState::Dead).await, 0);
    // How many of the dead ones had a turn before the last of the healthy ones: not a tenth of them.
    let turns = attempted(&world, "ruin").await;
    assert!(
        turns > 0,
        "it proves something only if the dead ones were swept beside them"
    );
    assert!(
        turns < DEAD / 10,
        "{turns} of the dead ones came before the last healthy one"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sweeps_at_once_refuse_each_other_under_a_tenth_of_their_claims() {
    const DUE_ENTRIES: usize = 600;
    let destination = answering(200).await;
    // What a sweep has in hand at once is small beside the backlog, as it is where backlogs are large.
    let config = orders(&destination) + "\n[delivery]\nconcurrency = 8\n";
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m0", order(0)).to(&receiver).await;
    let item = world.table.of_kind(kind::OUTBOX).await.remove(0);
    world.table.put(like(&item, DUE_ENTRIES - 1)).await;
    world.clock.advance(DUE);
    let (one, other) = (world.dispatcher().await, world.dispatcher().await);
    let (a, b) = tokio::join!(world.sweep(&one), world.sweep(&other));
    let both = |what| count(&a, what) + count(&b, what);
    assert_eq!(both("attempted"), DUE_ENTRIES as u64, "{a}, {b}");
    assert_eq!(destination.received().len(), DUE_ENTRIES);
    let claims = both("attempted") + both("refused");
    assert!(both("refused") * 10 < claims, "{a}, {b}");
    // It proves something only if both worked.
    assert!(
        count(&a, "attempted") > 0 && count(&b, "attempted") > 0,
        "{a}, {b}"
    );
}

#[tokio::test]
async fn a_sweep_that_runs_out_of_time_leaves_the_rest_to_the_next_one() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m0", order(0)).to(&receiver).await;
    world.clock.advance(DUE);
    let dispatcher = world.dispatcher().await;
    let soon = Instant::now() + Duration::from_secs(9);
    let swept = dispatcher.handle(events::schedule(), soon).await.unwrap();
    assert_eq!((count(&swept, "left"), count(&swept, "attempted")), (1, 0));
    assert_eq!(world.entry().await.fence, 0);
    let swept = world.sweep(&dispatcher).await;
    assert_eq!(count(&swept, "attempted"), 1);
}
