//! Batches of the stream: records come twice, late and out of order, next to records that are none of
//! ours; and only our own failure makes a batch come again.

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_store::schema::{attribute, kind};
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::events::{self, batch, insert, sequence_number};
use ackbox_tests::evidence::explained;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::world::{World, answering, order, orders, orders_without_keys};
use serde_json::{Value, json};
use tokio::time::Instant;

/// A world with so many accepted orders.
async fn accepted(config: &str, many: u64) -> World {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    for number in 1..=many {
        let id = format!("m{number}");
        let answer = world
            .webhook("orders", &id, order(number))
            .to(&receiver)
            .await;
        assert_eq!(answer.said(), (200, "accepted"));
    }
    world
}

fn nothing_failed(answer: &Value) {
    assert_eq!(answer, &json!({ "batchItemFailures": [] }));
}

async fn states(world: &World) -> Vec<EntryState> {
    let items = world.table.of_kind(kind::OUTBOX).await;
    items.iter().map(|item| item.entry().state).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_come_again_and_out_of_order_send_nothing_again() {
    let destination = answering(200).await;
    let world = accepted(&orders_without_keys(&destination), 5).await;
    let items = world.table.of_kind(kind::OUTBOX).await;
    let once: Vec<Value> = items.iter().zip(1..).map(|(i, n)| insert(i, n)).collect();
    let mut twice: Vec<Value> = once.iter().rev().chain(&once).cloned().collect();
    twice.extend(once.iter().cloned());
    let (one, other) = (world.dispatcher().await, world.dispatcher().await);
    let (a, b) = tokio::join!(
        world.wake(&one, batch(twice.clone())),
        world.wake(&other, batch(once.clone())),
    );
    nothing_failed(&a);
    nothing_failed(&b);
    assert_eq!(destination.received().len(), 5);
    // A day later the shard is read again from its beginning.
    world.clock.advance(Duration::from_secs(24 * 3600));
    nothing_failed(&world.wake(&world.dispatcher().await, batch(twice)).await);
    assert_eq!(destination.received().len(), 5);
    assert_eq!(states(&world).await, [EntryState::Delivered; 5]);
}

#[tokio::test]
async fn an_old_record_of_an_entry_that_waits_does_not_hurry_it() {
    let destination = answering(429).await;
    let world = accepted(&orders(&destination), 1).await;
    let first = world.stream().await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, first.clone()).await;
    let entry = world.entry().await;
    assert_eq!((entry.state, entry.fence), (EntryState::Pending, 1));
    nothing_failed(&world.wake(&dispatcher, first).await);
    assert_eq!(world.entry().await, entry);
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn records_of_other_items_and_kinds_and_broken_ones_are_passed_over() {
    let destination = answering(200).await;
    let world = accepted(&orders(&destination), 1).await;
    let items = world.table.items().await;
    let of = |kind: &str| items.iter().find(|item| item.sk() == kind).unwrap();
    let outbox = of(kind::OUTBOX);
    let broken = {
        let mut record = insert(outbox, 4);
        record["dynamodb"]["NewImage"] = json!({"pk": {"S": "ACTION#?"}, "sk": {"S": "OUTBOX"}});
        record
    };
    let records = vec![
        insert(of(kind::ACCEPTED), 1),
        events::record(outbox, 2, "REMOVE"),
        events::record(outbox, 3, "MODIFY"),
        broken,
        json!({"eventName": "INSERT"}),
        json!(17),
        insert(outbox, 5),
    ];
    let dispatcher = world.dispatcher().await;
    nothing_failed(&world.wake(&dispatcher, batch(records)).await);
    assert_eq!(world.entry().await.state, EntryState::Delivered);
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn an_item_of_a_newer_version_is_left_alone_by_stream_and_sweep() {
    let destination = answering(200).await;
    let world = accepted(&orders(&destination), 1).await;
    let outbox = world.table.of_kind(kind::OUTBOX).await.remove(0);
    let newer = outbox.with_number(attribute::VERSION, 999);
    world.table.put(vec![newer.clone()]).await;
    let dispatcher = world.dispatcher().await;
    nothing_failed(
        &world
            .wake(&dispatcher, batch(vec![insert(&newer, 1)]))
            .await,
    );
    world.clock.advance(Duration::from_secs(3600));
    world.sweep(&dispatcher).await;
    assert_eq!(world.table.of_kind(kind::OUTBOX).await, [newer]);
    assert!(destination.received().is_empty());
}

#[tokio::test]
async fn no_answer_of_a_destination_makes_a_batch_come_again() {
    for status in [200, 302, 404, 409, 429, 500, 503] {
        let destination = answering(status).await;
        let world = accepted(&orders(&destination), 2).await;
        let dispatcher = world.dispatcher().await;
        nothing_failed(&world.wake(&dispatcher, world.stream().await).await);
    }
    let destination = answering(200).await;
    let config = orders(&destination);
    drop(destination);
    let world = accepted(&config, 2).await;
    let dispatcher = world.dispatcher().await;
    nothing_failed(&world.wake(&dispatcher, world.stream().await).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_fails_for_one_record_names_the_lowest_and_the_repetition_finishes() {
    let destination = answering(200).await;
    let hurry = "\n[delivery]\nsettle_margin = \"500ms\"\n";
    let config = format!("{}{hurry}", orders_without_keys(&destination));
    let world = accepted(&config, 5).await;
    let items = world.table.of_kind(kind::OUTBOX).await;
    let records: Vec<Value> = items.iter().zip(1..).map(|(i, n)| insert(i, n)).collect();
    for failing in [&items[3], &items[1]] {
        let rule = Rule::operation("UpdateItem").containing(failing.pk());
        world.faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    }
    let dispatcher = world.dispatcher().await;
    let answer = world.wake(&dispatcher, batch(records.clone())).await;
    let lowest = json!({ "batchItemFailures": [{ "itemIdentifier": sequence_number(2) }] });
    assert_eq!(answer, lowest);
    assert_eq!(destination.received().len(), 3);
    world.faults.clear();
    let rest = batch(records[1..].to_vec());
    nothing_failed(&world.wake(&dispatcher, rest).await);
    assert_eq!(destination.received().len(), 5);
    assert_eq!(states(&world).await, [EntryState::Delivered; 5]);
}

/// The delivery is done; only the note of it failed. Repeating the record would mend nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settle_that_fails_is_no_failed_record_and_the_lease_finds_it() {
    let destination = answering(200).await;
    let hurry = "\n[delivery]\nsettle_margin = \"500ms\"\n";
    let world = accepted(&format!("{}{hurry}", orders(&destination)), 1).await;
    let rule = Rule::operation("UpdateItem").containing("attempts");
    let settles = world.faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    let dispatcher = world.dispatcher().await;
    nothing_failed(&world.wake(&dispatcher, world.stream().await).await);
    assert!(settles.met() > 1, "the settle is repeated by itself");
    assert_eq!(destination.received().len(), 1, "and the delivery is not");
    assert_eq!(world.entry().await.state, EntryState::Claimed);
    world.faults.clear();
    world.clock.advance(Duration::from_secs(61));
    world.sweep(&dispatcher).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    assert_eq!(destination.received().len(), 2);
    explained(&entry, &destination.received());
}

/// A settle whose answer was lost is not repeated as a delivery, and counts once.
#[tokio::test]
async fn a_settle_or_claim_whose_answer_was_lost_is_recognised() {
    let destination = answering(200).await;
    for lost in ["lease_until", "attempts"] {
        let world = accepted(&orders_without_keys(&destination), 1).await;
        let before = destination.received().len();
        let rule = Rule::operation("UpdateItem").containing(lost).once();
        let injected = world.faults.inject(rule, Fault::DropAnswer);
        let dispatcher = world.dispatcher().await;
        nothing_failed(&world.wake(&dispatcher, world.stream().await).await);
        assert_eq!(injected.met(), 1, "{lost}");
        let entry = world.entry().await;
        assert_eq!(
            (entry.state, entry.fence),
            (EntryState::Delivered, 1),
            "{lost}"
        );
        assert_eq!(entry.attempts.len(), 1, "{lost}");
        assert_eq!(destination.received().len() - before, 1, "{lost}");
    }
}

/// A slow destination must not hold the shard: what is not begun within the budget is the sweep's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_destination_does_not_hold_a_batch_beyond_the_stream_budget() {
    let slow = Destination::start(|received| match received.seen {
        1 if received.body == order(1) => Behaviour::Stall,
        _ => Behaviour::status(200),
    });
    let slow = slow.await.unwrap();
    let budget = "\n[delivery]\nconcurrency = 1\nstream_budget = \"200ms\"\n";
    let world = accepted(&format!("{}{budget}", orders(&slow)), 4).await;
    let mut items = world.table.of_kind(kind::OUTBOX).await;
    let is_slow = |item: &ackbox_tests::engine::Item| match item.entry().body {
        ackbox_domain::StoredBody::Inline(body) => body.bytes == order(1),
        ackbox_domain::StoredBody::Payload => false,
    };
    items.sort_by_key(|item| !is_slow(item));
    let records = items
        .iter()
        .zip(1..)
        .map(|(item, n)| insert(item, n))
        .collect();
    let dispatcher = world.dispatcher().await;
    let began = Instant::now();
    let running = tokio::spawn({
        let dispatcher = dispatcher.clone();
        let deadline = began + Duration::from_secs(60);
        async move { dispatcher.handle(batch(records), deadline).await.unwrap() }
    });
    slow.until(|received| received.len() == 1).await;
    // Not a wait for something to happen: the budget itself is a time.
    tokio::time::sleep_until(Instant::now() + Duration::from_millis(250)).await;
    slow.release();
    nothing_failed(&running.await.unwrap());
    assert_eq!(slow.received().len(), 1, "nothing else was begun");
    world.clock.advance(Duration::from_secs(61));
    world.sweep(&dispatcher).await;
    assert_eq!(states(&world).await, [EntryState::Delivered; 4]);
    assert_eq!(slow.received().len(), 4);
}

#[tokio::test]
async fn an_invocation_without_time_for_an_attempt_claims_nothing() {
    let destination = answering(200).await;
    let world = accepted(&orders(&destination), 1).await;
    let before = world.table.items().await;
    let dispatcher = world.dispatcher().await;
    // The attempt may take 5 s, and its settle another 5.
    let deadline = Instant::now() + Duration::from_secs(9);
    let event = world.stream().await;
    nothing_failed(&dispatcher.handle(event, deadline).await.unwrap());
    assert_eq!(world.table.items().await, before);
    assert!(destination.received().is_empty());
}
