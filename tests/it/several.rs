//! Several facts or rules in one message: the worst outcome answers, what was accepted stays
//! accepted, and the repetition finishes the rest.

use ackbox_store::schema::{attribute, kind};
use ackbox_tests::destination::Destination;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::world::{World, answering, orders, warehouse};

const HURRY: &str = "\n[delivery]\naccept_budget = \"1s\"\n";

/// One message, two rules: one reads `/id`, the other `/invoice`.
fn two_rules(destination: &Destination) -> String {
    let source = r#"
[source.shop]
scheme = "standard-webhooks"
secrets = ["env:SHOP"]

[[source.shop.rule]]
name = "ship"
key = ["/id"]
destination = "warehouse"

[[source.shop.rule]]
name = "bill"
key = ["/invoice"]
destination = "warehouse"
"#;
    let destination = warehouse(destination, "{ window = \"1h\" }", "retry");
    format!("{source}{destination}{HURRY}")
}

/// One message, many facts, each with its own key.
fn batches(destination: &Destination) -> String {
    let source = r#"
[source.batch]
scheme = "standard-webhooks"
secrets = ["env:BATCH"]
each = "/events"
max_each = 4
event = "/kind"

[[source.batch.rule]]
name = "each"
on = ["a"]
key = ["/id"]
destination = "warehouse"
"#;
    let destination = warehouse(destination, "{ window = \"1h\" }", "retry");
    format!("{source}{destination}{HURRY}")
}

fn rules_of(items: &[ackbox_tests::engine::Item]) -> Vec<&str> {
    let mut rules: Vec<&str> = items
        .iter()
        .filter_map(|item| item.text(attribute::RULE))
        .collect();
    rules.sort_unstable();
    rules
}

#[tokio::test]
async fn every_rule_that_wants_a_message_makes_its_own_action() {
    let destination = answering(200).await;
    let world = World::new(&two_rules(&destination)).await;
    let receiver = world.receiver().await;
    let webhook = world.webhook("shop", "m1", r#"{"id":"o-1","invoice":"o-1"}"#);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 2);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "duplicate"));
}

#[tokio::test]
async fn an_unusable_part_of_one_rule_answers_400_and_the_other_rules_action_stands() {
    let world = World::new(&two_rules(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let webhook = world.webhook("shop", "m1", r#"{"id":"o-1","invoice":""}"#);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "malformed"));
    let accepted = world.table.of_kind(kind::ACCEPTED).await;
    assert_eq!(rules_of(&accepted), ["ship"]);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "malformed"));
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn a_transaction_that_fails_beside_one_that_does_not_is_503_and_the_repetition_finishes_it() {
    let world = World::new(&two_rules(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let rule = Rule::operation("TransactWriteItems").containing("\"bill\"");
    world.faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    let webhook = world.webhook("shop", "m1", r#"{"id":"o-1","invoice":"i-1"}"#);
    assert_eq!(webhook.to(&receiver).await.said(), (503, "unavailable"));
    let accepted = world.table.of_kind(kind::ACCEPTED).await;
    assert_eq!(rules_of(&accepted), ["ship"]);
    world.faults.clear();
    assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    let accepted = world.table.of_kind(kind::ACCEPTED).await;
    assert_eq!(rules_of(&accepted), ["bill", "ship"]);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "duplicate"));
}

#[tokio::test]
async fn a_conflict_beside_an_acceptance_answers_conflict() {
    let world = World::new(&two_rules(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let first = world.webhook("shop", "m1", r#"{"id":"o-1","invoice":"i-1"}"#);
    first.to(&receiver).await;
    let second = world.webhook("shop", "m2", r#"{"id":"o-1","invoice":"i-2"}"#);
    assert_eq!(second.to(&receiver).await.said(), (200, "conflict"));
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 3);
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 1);
}

#[tokio::test]
async fn every_fact_of_a_batch_is_an_action_with_its_own_bytes() {
    let destination = answering(200).await;
    let world = World::new(&batches(&destination)).await;
    let receiver = world.receiver().await;
    let body = r#"{"events":[{"kind":"a","id":1}, {"kind":"b","id":2},{ "kind":"a","id":3 }]}"#;
    let answer = world.webhook("batch", "m1", body).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let mut bodies: Vec<Vec<u8>> = destination.received().into_iter().map(|r| r.body).collect();
    bodies.sort();
    assert_eq!(
        bodies,
        [
            &b"{ \"kind\":\"a\",\"id\":3 }"[..],
            b"{\"kind\":\"a\",\"id\":1}"
        ]
    );
    // The same facts in another batch are the same actions.
    let other = r#"{"events":[{"kind":"a","id":1},{"kind":"a","id":4}]}"#;
    let answer = world.webhook("batch", "m2", other).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 3);
}

#[tokio::test]
async fn one_unusable_fact_does_not_keep_its_neighbours_from_being_accepted() {
    let world = World::new(&batches(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let body = r#"{"events":[{"kind":"a","id":1},{"kind":"a","id":" "},{"kind":"a","id":3},7]}"#;
    let webhook = world.webhook("batch", "m1", body);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "malformed"));
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 2);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "malformed"));
    assert_eq!(world.table.items().await.len(), 4);
}

#[tokio::test]
async fn a_batch_over_its_bound_or_that_is_none_is_400_and_leaves_nothing() {
    let world = World::new(&batches(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let many: Vec<String> = (0..5)
        .map(|id| format!(r#"{{"kind":"a","id":{id}}}"#))
        .collect();
    let over = format!(r#"{{"events":[{}]}}"#, many.join(","));
    for body in [
        &over,
        r#"{"events":{"kind":"a","id":1}}"#,
        r#"{"kind":"a","id":1}"#,
    ] {
        let answer = world.webhook("batch", "m1", body).to(&receiver).await;
        assert_eq!(answer.said(), (400, "malformed"), "{body}");
    }
    assert!(world.table.items().await.is_empty());
    let empty = world.webhook("batch", "m1", r#"{"events":[]}"#);
    assert_eq!(empty.to(&receiver).await.said(), (200, "ignored"));
}

#[tokio::test]
async fn one_key_twice_in_a_batch_is_one_action_and_a_conflict_where_it_differs() {
    let world = World::new(&batches(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let same = r#"{"events":[{"kind":"a","id":1},{"kind":"a","id":1}]}"#;
    let answer = world.webhook("batch", "m1", same).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    assert_eq!(world.table.items().await.len(), 2);
    let other = r#"{"events":[{"kind":"a","id":2,"n":1},{"kind":"a","id":2,"n":2}]}"#;
    let answer = world.webhook("batch", "m2", other).to(&receiver).await;
    assert_eq!(answer.said(), (200, "conflict"));
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 2);
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 1);
}

/// The rules of `orders` and of the others do not see each other.
#[tokio::test]
async fn a_message_of_one_source_is_not_read_by_anothers_rules() {
    let destination = answering(200).await;
    let config = two_rules(&destination)
        + &orders(&destination).replace(
            &warehouse(&destination, "{ window = \"24h\" }", "retry"),
            "",
        );
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    let body = r#"{"type":"order.paid","id":"o-1","invoice":"i-1"}"#;
    world.webhook("orders", "m1", body).to(&receiver).await;
    assert_eq!(
        rules_of(&world.table.of_kind(kind::ACCEPTED).await),
        ["ship"]
    );
}
