//! Many at once, and the transaction as a whole: one key is accepted once, or nothing is there.

use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Rule};
use ackbox_tests::world::{World, answering, order, orders};
use futures_util::future::join_all;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_receives_of_one_key_at_once_make_one_action() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let webhook = world.webhook("orders", "msg_1", order(1));
    let answers = join_all((0..64).map(|_| webhook.to(&receiver))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let said = |word: &str| answers.iter().filter(|a| a.outcome == word).count();
    assert_eq!((said("accepted"), said("duplicate")), (1, 63));
    let items = world.table.items().await;
    let kinds: Vec<&str> = items.iter().map(|item| item.sk()).collect();
    assert_eq!(kinds, [kind::ACCEPTED, kind::OUTBOX]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_receivers_accept_one_key_once() {
    let world = World::new(&orders(&answering(200).await)).await;
    let (one, other) = (world.receiver().await, world.receiver().await);
    for number in 0..10 {
        let id = format!("msg_{number}");
        let webhook = world.webhook("orders", &id, order(number));
        let (a, b) = tokio::join!(webhook.to(&one), webhook.to(&other));
        let mut said = [a.outcome.as_str(), b.outcome.as_str()];
        said.sort_unstable();
        assert_eq!(said, ["accepted", "duplicate"]);
    }
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 10);
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 10);
}

/// The engine itself cancels: the outbox item that it is asked to put is larger than an item may be.
#[tokio::test]
async fn an_outbox_put_that_fails_takes_the_accepted_item_with_it_and_the_repetition_succeeds() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let too_large = Fault::alter(|call| {
        let padding = "x".repeat(420 * 1024);
        call["TransactItems"][1]["Put"]["Item"]["padding"] = serde_json::json!({ "S": padding });
    });
    let rule = Rule::operation("TransactWriteItems").once();
    let broken = world.faults.inject(rule, too_large);
    let webhook = world.webhook("orders", "msg_1", order(1));
    let answer = webhook.to(&receiver).await;
    assert_eq!(
        broken.met(),
        1,
        "the fault has to happen for this to prove anything"
    );
    assert_eq!(answer.said(), (503, "unavailable"));
    assert!(world.table.items().await.is_empty());
    assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    assert_eq!(world.table.items().await.len(), 2);
}

/// The engine itself cancels: a condition of the outbox item, and of no other, cannot hold.
#[tokio::test]
async fn a_transaction_that_fails_at_one_item_leaves_nothing_of_the_others() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    for position in 0..2 {
        let impossible = Fault::alter(move |call| {
            let put = &mut call["TransactItems"][position]["Put"];
            put["ConditionExpression"] = "attribute_exists(pk)".into();
            if let Some(put) = put.as_object_mut() {
                put.remove("ExpressionAttributeNames");
                put.remove("ExpressionAttributeValues");
            }
        });
        let rule = Rule::operation("TransactWriteItems");
        let broken = world.faults.inject(rule, impossible);
        let webhook = world.webhook("orders", &format!("msg_{position}"), order(1));
        let answer = webhook.to(&receiver).await;
        assert!(broken.met() > 0);
        assert_eq!(answer.said(), (503, "unavailable"));
        assert!(world.table.items().await.is_empty());
        world.faults.clear();
    }
}

#[tokio::test]
async fn a_large_body_is_accepted_whole_or_not_at_all() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    let noise: String = (0..90_000).map(|_| fastrand::alphanumeric()).collect();
    let body = format!(r#"{{"type":"order.paid","noise":"{noise}"}}"#);
    let webhook = world.webhook("orders", "msg_1", body.clone());
    assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    let items = world.table.items().await;
    let kinds: Vec<&str> = items.iter().map(|item| item.sk()).collect();
    assert_eq!(kinds, [kind::ACCEPTED, kind::OUTBOX, kind::PAYLOAD]);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received()[0].body, body.as_bytes());
}
