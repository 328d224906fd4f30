//! The table fails: what is not known to be committed is never answered with 2xx, what passes by
//! itself is tried again inside the budget, and what was committed after all is a duplicate later.

use ackbox_store::schema::kind;
use ackbox_tests::destination::Destination;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::sender::Answer;
use ackbox_tests::world::{World, answering, order, orders};

/// The source `orders`, with little time to accept in.
async fn hurried() -> (Destination, World) {
    let destination = answering(200).await;
    let budget = "\n[delivery]\naccept_budget = \"600ms\"\n";
    let config = format!("{}{budget}", orders(&destination));
    let world = World::new(&config).await;
    (destination, world)
}

fn is_unavailable(answer: &Answer) {
    assert_eq!(answer.said(), (503, "unavailable"));
    let wait = answer.header("retry-after").expect("Retry-After");
    assert!(wait.parse::<u32>().is_ok_and(|seconds| seconds > 0));
    assert!(answer.body.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_refuses_without_end_is_503_and_holds_nothing() {
    let (_destination, world) = hurried().await;
    let endless = [
        Fault::Refuse(Refusal::Throttled),
        Fault::Refuse(Refusal::ThroughputExceeded),
        Fault::Refuse(Refusal::Cancelled(&["TransactionConflict", "None"])),
        Fault::Refuse(Refusal::TransactionInProgress),
        Fault::Refuse(Refusal::Internal),
        Fault::Refuse(Refusal::AccessDenied),
        Fault::Refuse(Refusal::Validation),
        Fault::Refuse(Refusal::NoTable),
        Fault::Refuse(Refusal::Cancelled(&["None", "ValidationError"])),
        Fault::Status(500),
        Fault::Status(404),
        Fault::Drop,
        Fault::Stall,
    ];
    for fault in endless {
        let receiver = world.receiver().await;
        let rule = Rule::operation("TransactWriteItems");
        let injected = world.faults.inject(rule, fault.clone());
        let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
        is_unavailable(&answer);
        assert!(injected.met() > 0, "{fault:?}");
        assert!(world.table.items().await.is_empty(), "{fault:?}");
        world.faults.clear();
    }
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
}

#[tokio::test]
async fn a_table_that_cannot_be_reached_is_503() {
    let (_destination, world) = hurried().await;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let receiver = world.receiver_on(world.store_at(&nobody).await);
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    is_unavailable(&answer);
}

#[tokio::test]
async fn a_failing_first_look_at_the_tables_memory_is_503_and_no_panic() {
    let (_destination, world) = hurried().await;
    for fault in [Fault::Refuse(Refusal::Throttled), Fault::Stall] {
        let receiver = world.receiver().await;
        world.faults.inject(Rule::operation("GetItem"), fault);
        let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
        is_unavailable(&answer);
        world.faults.clear();
    }
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_a_duplicate_on_the_repetition() {
    let (_destination, world) = hurried().await;
    let receiver = world.receiver().await;
    let lost = world
        .faults
        .inject(Rule::operation("TransactWriteItems"), Fault::DropAnswer);
    let webhook = world.webhook("orders", "m1", order(1));
    is_unavailable(&webhook.to(&receiver).await);
    assert!(lost.met() > 0);
    assert_eq!(world.table.items().await.len(), 2, "it was committed");
    world.faults.clear();
    assert_eq!(webhook.to(&receiver).await.said(), (200, "duplicate"));
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn a_commit_whose_first_answer_was_lost_is_found_out_within_the_budget() {
    let (_destination, world) = hurried().await;
    let receiver = world.receiver().await;
    let rule = Rule::operation("TransactWriteItems").once();
    world.faults.inject(rule, Fault::DropAnswer);
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.status, 200);
    assert_eq!(world.table.items().await.len(), 2);
    let tokens: Vec<_> = world
        .faults
        .calls()
        .into_iter()
        .filter(|call| call.operation == "TransactWriteItems")
        .map(|call| call.body["ClientRequestToken"].clone())
        .collect();
    assert_eq!(tokens.len(), 2);
    assert!(tokens[0].is_string() && tokens[0] == tokens[1]);
}

#[tokio::test]
async fn a_transaction_in_conflict_is_repeated_inside_the_budget() {
    let (_destination, world) = hurried().await;
    let receiver = world.receiver().await;
    let passing = [
        Fault::Refuse(Refusal::Cancelled(&["TransactionConflict", "None"])),
        Fault::Refuse(Refusal::Cancelled(&["None", "TransactionConflict"])),
        Fault::Refuse(Refusal::Cancelled(&["ThrottlingError", "None"])),
        Fault::Refuse(Refusal::Cancelled(&[
            "ProvisionedThroughputExceeded",
            "TransactionConflict",
        ])),
        Fault::Refuse(Refusal::TransactionInProgress),
        Fault::Refuse(Refusal::Throttled),
        Fault::Refuse(Refusal::Internal),
        Fault::Drop,
    ];
    for (number, fault) in passing.into_iter().enumerate() {
        let rule = Rule::operation("TransactWriteItems").calls(1..=2);
        let injected = world.faults.inject(rule, fault.clone());
        let id = format!("m{number}");
        let answer = world.webhook("orders", &id, order(1)).to(&receiver).await;
        assert_eq!(answer.said(), (200, "accepted"), "{fault:?}");
        assert_eq!(injected.met(), 2, "{fault:?}");
        world.faults.clear();
    }
}

#[tokio::test]
async fn a_conflict_that_cannot_be_put_on_record_is_not_acknowledged() {
    let (_destination, world) = hurried().await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let before = world.table.items().await;
    let rule = Rule::any().containing(kind::CONFLICT);
    let injected = world.faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    let answer = world.webhook("orders", "m1", order(2)).to(&receiver).await;
    is_unavailable(&answer);
    assert!(injected.met() > 0);
    assert_eq!(world.table.items().await, before);
    world.faults.clear();
    let answer = world.webhook("orders", "m1", order(2)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "conflict"));
}

#[tokio::test]
async fn claim_and_settle_in_collision_with_a_transaction_are_repeated_and_send_once() {
    let (destination, world) = hurried().await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    world.faults.forget();
    let refusals = [
        (1..=2, Refusal::TransactionConflict),
        (4..=5, Refusal::TransactionConflict),
    ];
    let injected: Vec<_> = refusals
        .into_iter()
        .map(|(calls, refusal)| {
            let rule = Rule::operation("UpdateItem").calls(calls);
            world.faults.inject(rule, Fault::Refuse(refusal))
        })
        .collect();
    let dispatcher = world.dispatcher().await;
    let answer = world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
    assert!(injected.iter().all(|injected| injected.met() == 2));
    assert_eq!(world.faults.count("UpdateItem"), 6);
    let entry = world.entry().await;
    assert_eq!(entry.state, ackbox_domain::EntryState::Delivered);
    assert_eq!(entry.fence, 1);
    assert_eq!(destination.received().len(), 1);
}
