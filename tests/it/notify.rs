//! A destination for trouble: told once of each entry that became dead, held or unknown and of each
//! conflict, by an ordinary action with a key of its own, and never of its own notices.

use std::time::Duration;

use ackbox_domain::{EntryState, OutboxEntry};
use ackbox_store::schema::kind;
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::world::{World, answering, name, order, orders, orders_without_keys};
use serde_json::Value;

const SOON: Duration = Duration::from_secs(61);

fn telling(config: String, ops: &Destination, on: &str) -> String {
    format!(
        r#"{config}
[destination.ops]
url = "{}"
idempotency = "none"
allow_private = true

[notify]
destination = "ops"
{on}
"#,
        ops.url("/trouble")
    )
}

/// What the destination for trouble was told, each a body.
fn told(ops: &Destination) -> Vec<Value> {
    let received = ops.received();
    let bodies = received.iter().map(|request| &request.body);
    bodies
        .map(|body| serde_json::from_slice(body).unwrap())
        .collect()
}

fn became(ops: &Destination) -> Vec<Value> {
    let told = told(ops);
    told.iter()
        .map(|told| told["data"]["became"].clone())
        .collect()
}

async fn entries_for(world: &World, destination: &str) -> Vec<OutboxEntry> {
    let items = world.table.of_kind(kind::OUTBOX).await;
    let mut entries: Vec<OutboxEntry> = items.iter().map(|item| item.entry()).collect();
    entries.retain(|entry| entry.destination == name(destination));
    entries
}

/// One order, attempted once.
async fn attempted(config: &str) -> World {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    world
}

/// Everything that is due now, and what comes of it.
async fn swept(world: &World) {
    let dispatcher = world.dispatcher().await;
    for _ in 0..2 {
        world.clock.advance(SOON);
        world.sweep(&dispatcher).await;
    }
}

#[tokio::test]
async fn an_action_that_is_refused_for_good_is_told_once() {
    let ops = answering(200).await;
    let warehouse = answering(422).await;
    let world = attempted(&telling(orders(&warehouse), &ops, "")).await;
    let dead = entries_for(&world, "warehouse").await.remove(0);
    assert_eq!(dead.state, EntryState::Dead);
    swept(&world).await;
    swept(&world).await;
    let told = told(&ops);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["event"], "action.dead");
    assert_eq!(told[0]["source"], "ackbox");
    assert_eq!(told[0]["subject"], dead.key.as_str());
    let data = &told[0]["data"];
    assert_eq!(data["reason"], "rejected");
    assert_eq!(data["last_status"], 422);
    assert_eq!(data["destination"], "warehouse");
    let notice = entries_for(&world, "ops").await.remove(0);
    assert_eq!(notice.state, EntryState::Delivered);
    assert_ne!(notice.key, dead.key);
}

#[tokio::test]
async fn an_action_in_doubt_that_is_held_is_told() {
    let ops = answering(200).await;
    let warehouse = Destination::start(|_| Behaviour::DropAfterRequest);
    let warehouse = warehouse.await.unwrap();
    let world = attempted(&telling(orders_without_keys(&warehouse), &ops, "")).await;
    swept(&world).await;
    assert_eq!(became(&ops), ["held"]);
    assert_eq!(told(&ops)[0]["data"]["reason"], "outcome-unknown");
    assert_ne!(told(&ops)[0]["data"]["first_uncertain_at"], Value::Null);
}

#[tokio::test]
async fn a_claim_that_ran_out_and_is_held_without_an_attempt_is_told() {
    let ops = answering(200).await;
    let warehouse = answering(200).await;
    let world = World::new(&telling(orders_without_keys(&warehouse), &ops, "")).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let entry = world.entry().await;
    let destination = &world.config.destinations["warehouse"];
    let claim = ackbox_domain::Claim {
        id: "of a process that died".to_owned(),
        claimed_at: world.clock.now(),
        lease_until: world.clock.now().plus(Duration::from_secs(45)),
    };
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    let store = world.store().await;
    let origin = destination.origin();
    store.claim(&entry, claim, origin, deadline).await.unwrap();
    swept(&world).await;
    assert_eq!(became(&ops), ["held"]);
    assert!(warehouse.received().is_empty());
}

#[tokio::test]
async fn other_content_under_a_known_key_is_told_before_the_sender_is_answered() {
    let ops = answering(200).await;
    let warehouse = answering(200).await;
    let world = attempted(&telling(orders(&warehouse), &ops, "")).await;
    let receiver = world.receiver().await;
    for _ in 0..3 {
        let other = world.webhook("orders", "m1", order(2)).to(&receiver).await;
        assert_eq!(other.said(), (200, "conflict"));
    }
    assert_eq!(entries_for(&world, "ops").await.len(), 1);
    swept(&world).await;
    assert_eq!(became(&ops), ["conflict"]);
    assert_eq!(told(&ops)[0]["data"]["message_id"], "m1");
}

#[tokio::test]
async fn trouble_with_a_notice_is_not_told_and_its_entry_is_dead_as_any_other() {
    let ops = answering(422).await;
    let warehouse = answering(422).await;
    let world = attempted(&telling(orders(&warehouse), &ops, "")).await;
    swept(&world).await;
    swept(&world).await;
    assert_eq!(ops.received().len(), 1);
    let notices = entries_for(&world, "ops").await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].state, EntryState::Dead);
}

#[tokio::test]
async fn only_what_the_configuration_names_is_told() {
    let ops = answering(200).await;
    let warehouse = answering(422).await;
    let config = telling(orders(&warehouse), &ops, "on = [\"held\"]");
    let world = attempted(&config).await;
    swept(&world).await;
    assert!(ops.received().is_empty());
    assert!(entries_for(&world, "ops").await.is_empty());
}

/// The settlement and its notice are one write: where it is refused again and again, or its answer is
/// lost, there is neither, or both.
#[tokio::test]
async fn a_settlement_that_fails_on_the_way_is_told_when_it_is_written_and_once() {
    for fault in [
        Fault::DropAnswer,
        Fault::Drop,
        Fault::Refuse(Refusal::Throttled),
        Fault::Refuse(Refusal::Cancelled(&["TransactionConflict", "None", "None"])),
    ] {
        let ops = answering(200).await;
        let warehouse = answering(422).await;
        let world = World::new(&telling(orders(&warehouse), &ops, "")).await;
        let receiver = world.receiver().await;
        world.webhook("orders", "m1", order(1)).to(&receiver).await;
        let transactions = Rule::operation("TransactWriteItems").containing("action.dead");
        let injected = world.faults.inject(transactions.calls(1..=2), fault);
        let dispatcher = world.dispatcher().await;
        world.wake(&dispatcher, world.stream().await).await;
        assert_eq!(injected.met(), 2);
        let entry = entries_for(&world, "warehouse").await.remove(0);
        assert_eq!(entry.state, EntryState::Dead);
        swept(&world).await;
        assert_eq!(became(&ops), ["dead"]);
        assert_eq!(warehouse.received().len(), 1);
    }
}
