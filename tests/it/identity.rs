//! What is one action and what is two: the key says it, and what disagrees under one key is a
//! conflict that leaves the original as it is.

use std::time::Duration;

use ackbox_store::schema::{attribute, kind};
use ackbox_tests::destination::Destination;
use ackbox_tests::world::{World, answering, order, orders, orders_source, warehouse};

fn by_job(destination: &Destination) -> String {
    let rule = r#"
[source.jobs]
scheme = "standard-webhooks"
secrets = ["env:JOBS"]
subject = "/job"

[[source.jobs.rule]]
name = "step"
key = ["/action"]
fingerprint = ["/job", "/result"]
destination = "warehouse"
"#;
    let destination = warehouse(destination, "{ window = \"24h\" }", "retry");
    format!("{rule}{destination}")
}

#[tokio::test]
async fn another_job_under_one_action_id_is_a_conflict_and_leaves_the_original_byte_for_byte() {
    let destination = answering(200).await;
    let world = World::new(&by_job(&destination)).await;
    let receiver = world.receiver().await;
    let first = r#"{"action":"a-1","job":"j-1","result":"done"}"#;
    let answer = world.webhook("jobs", "m1", first).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let before = world.table.items().await;

    let other = r#"{"action":"a-1","job":"j-2","result":"done"}"#;
    let answer = world.webhook("jobs", "m2", other).to(&receiver).await;
    assert_eq!(answer.said(), (200, "conflict"));
    let after = world.table.items().await;
    let conflicts = world.table.of_kind(kind::CONFLICT).await;
    assert_eq!(conflicts.len(), 1);
    let originals: Vec<_> = after
        .into_iter()
        .filter(|item| !item.sk().starts_with(kind::CONFLICT))
        .collect();
    assert_eq!(originals, before);

    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let received = destination.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body, first.as_bytes());
}

#[tokio::test]
async fn what_the_fingerprint_leaves_out_may_differ() {
    let world = World::new(&by_job(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let first = r#"{"action":"a-1","job":"j-1","result":"done","sent":1}"#;
    let again = r#"{"sent":2,"result":"done","job":"j-1","action":"a-1"}"#;
    let answer = world.webhook("jobs", "m1", first).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let answer = world.webhook("jobs", "m2", again).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn a_conflict_is_one_item_however_often_it_comes_and_another_content_is_another() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    for _ in 0..3 {
        let answer = world.webhook("orders", "m1", order(2)).to(&receiver).await;
        assert_eq!(answer.said(), (200, "conflict"));
        world.clock.advance(Duration::from_secs(1));
    }
    let conflicts = world.table.of_kind(kind::CONFLICT).await;
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].number(attribute::COUNT), Some(3));
    let seen = |name| conflicts[0].number(name).unwrap();
    assert_eq!(
        seen(attribute::LAST_SEEN) - seen(attribute::FIRST_SEEN),
        2000
    );
    world.webhook("orders", "m1", order(3)).to(&receiver).await;
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 2);
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
}

#[tokio::test]
async fn a_source_that_refuses_conflicts_answers_409_and_has_them_on_record_all_the_same() {
    let config = orders(&answering(200).await).replace(
        "secrets = [\"env:ORDERS\"]",
        "secrets = [\"env:ORDERS\"]\non_conflict = \"refuse\"",
    );
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let answer = world.webhook("orders", "m1", order(2)).to(&receiver).await;
    assert_eq!(answer.said(), (409, "conflict"));
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 1);
}

#[tokio::test]
async fn a_missing_null_empty_blank_or_overlong_part_leaves_the_table_empty() {
    let world = World::new(&by_job(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let long = format!(
        r#"{{"action":"{}","job":"j","result":"r"}}"#,
        "x".repeat(257)
    );
    let parts = [
        r#"{"job":"j","result":"r"}"#,
        r#"{"action":null,"job":"j","result":"r"}"#,
        r#"{"action":"","job":"j","result":"r"}"#,
        r#"{"action":" \t ","job":"j","result":"r"}"#,
        "{\"action\":\"\u{200b}\u{feff}\",\"job\":\"j\",\"result\":\"r\"}",
        r#"{"action":{"id":1},"job":"j","result":"r"}"#,
        r#"{"action":"a","action":"b","job":"j","result":"r"}"#,
        r#"{"action":"a","job":"j"}"#,
        "not json",
        "",
        &long,
    ];
    for body in parts {
        let answer = world.webhook("jobs", "m1", body).to(&receiver).await;
        assert_eq!(answer.said(), (400, "malformed"), "{body}");
        assert!(answer.body.is_empty());
    }
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn the_same_id_from_two_sources_is_two_actions() {
    let destination = answering(200).await;
    let second = orders_source()
        .replace("orders", "shop")
        .replace("ORDERS", "SHOP");
    let world = World::new(&format!("{}{second}", orders(&destination))).await;
    let receiver = world.receiver().await;
    for source in ["orders", "shop"] {
        let answer = world.webhook(source, "m1", order(1)).to(&receiver).await;
        assert_eq!(answer.said(), (200, "accepted"), "{source}");
    }
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 2);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let received = destination.received();
    assert_eq!(received.len(), 2);
    assert_ne!(received[0].key, received[1].key);
}

#[tokio::test]
async fn sources_that_share_a_namespace_make_one_action_of_one_fact() {
    let destination = answering(200).await;
    let shared = "name = \"ship\"\nnamespace = \"orders\"";
    let first = orders(&destination).replace("name = \"ship\"", shared);
    let second = orders_source().replace("source.orders", "source.shop");
    let second = second.replace("name = \"ship\"", shared);
    let world = World::new(&format!("{first}{second}")).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let answer = world.webhook("shop", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn parts_that_join_to_one_text_and_kinds_that_look_alike_are_other_actions() {
    let destination = answering(200).await;
    let config = by_job(&destination).replace("[\"/action\"]", "[\"/a\", \"/b\"]");
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    let pairs = [
        r#""a":"a","b":"bc""#,
        r#""a":"ab","b":"c""#,
        r#""a":"a:b","b":"c""#,
        r#""a":"a","b":"b:c""#,
        r#""a":"1","b":"c""#,
        r#""a":1,"b":"c""#,
        r#""a":9007199254740993,"b":"c""#,
        r#""a":9007199254740992,"b":"c""#,
    ];
    for pair in pairs {
        let body = format!(r#"{{{pair},"job":"j","result":"r"}}"#);
        let answer = world.webhook("jobs", "m1", body).to(&receiver).await;
        assert_eq!(answer.said(), (200, "accepted"), "{pair}");
    }
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), pairs.len());
}

#[tokio::test]
async fn an_edited_fingerprint_recipe_makes_a_marked_duplicate_and_never_a_blind_conflict() {
    let destination = answering(200).await;
    let mut world = World::new(&by_job(&destination)).await;
    let receiver = world.receiver().await;
    let first = r#"{"action":"a-1","job":"j-1","result":"done"}"#;
    world.webhook("jobs", "m1", first).to(&receiver).await;
    let before = world.table.items().await;
    let edited = by_job(&destination).replace("[\"/job\", \"/result\"]", "[\"/result\"]");
    world.config = ackbox_tests::world::parsed(&edited);
    let receiver = world.receiver().await;
    let answer = world.webhook("jobs", "m1", first).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    assert_eq!(
        world.table.items().await,
        before,
        "equal bytes need no recipe"
    );
    let other = r#"{"action":"a-1","job":"j-2","result":"done"}"#;
    let answer = world.webhook("jobs", "m2", other).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    assert_eq!(world.table.of_kind(kind::UNCOMPARED).await.len(), 1);
    assert!(world.table.of_kind(kind::CONFLICT).await.is_empty());
}
