//! Facts that are too old by their own signed time: refused with a word of their own, and nothing of them is on the
//! table. An old element of a batch does not stand in its neighbours' way.

use std::time::Duration;

use ackbox_domain::Timestamp;
use ackbox_store::schema::{attribute, kind};
use ackbox_tests::log::Log;
use ackbox_tests::world::{World, answering, orders_source, warehouse};

const DAY: Duration = Duration::from_secs(24 * 3600);

const BATCH: &str = r#"
[source.batch]
scheme = "standard-webhooks"
secrets = ["env:BATCH"]
each = "/events"
time = "/at"
max_age = "30d"

[[source.batch.rule]]
name = "each"
on = ["a"]
key = ["/id"]
destination = "warehouse"
"#;

async fn world() -> World {
    let warehouse = warehouse(&answering(200).await, "{ window = \"24h\" }", "retry");
    let orders = orders_source().replace(
        "[[source.orders.rule]]",
        "time = [\"/created\", \"/sent\"]\nmax_age = \"30d\"\n\n[[source.orders.rule]]",
    );
    World::new(&format!("{orders}{BATCH}{warehouse}")).await
}

fn paid(time: impl std::fmt::Display) -> String {
    format!(r#"{{"type":"order.paid","created":{time}}}"#)
}

#[tokio::test]
async fn a_fact_that_is_too_old_is_refused_and_leaves_nothing() {
    let log = Log::collect();
    let world = world().await;
    let receiver = world.receiver().await;
    let now = world.clock.now();
    let old = now.minus(30 * DAY + Duration::from_secs(2));
    // The sending itself is fresh, and its signature right.
    for time in [
        old.unix_s().to_string(),
        old.unix_ms().to_string(),
        format!("\"{old}\""),
    ] {
        let answer = world
            .webhook("orders", "m1", paid(&time))
            .to(&receiver)
            .await;
        assert_eq!(answer.said(), (400, "too-old"), "{time}");
    }
    assert!(world.table.items().await.is_empty());
    let lines = log.lines("receive.answered");
    assert_eq!(lines[0]["outcome"], "too-old");
    assert_eq!(lines[0]["reason"], "fact-too-old");
    assert_eq!(lines[0]["level"], "WARN");
    let detail = lines[0]["detail"].as_str().unwrap();
    assert!(detail.contains(&old_second(old)), "{detail}");

    for time in [now.minus(29 * DAY), now.plus(Duration::from_secs(200))] {
        let id = format!("m{}", time.unix_s());
        let webhook = world.webhook("orders", &id, paid(time.unix_s()));
        assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    }
}

#[tokio::test]
async fn a_fact_that_is_dated_ahead_is_refused_since_it_would_stay_young_for_too_long() {
    let log = Log::collect();
    let world = world().await;
    let receiver = world.receiver().await;
    let ahead = paid(world.clock.now().plus(200 * DAY).unix_s());
    let answer = world.webhook("orders", "m1", ahead).to(&receiver).await;
    assert_eq!(answer.said(), (400, "malformed"));
    assert!(world.table.items().await.is_empty());
    let lines = log.lines("receive.answered");
    let detail = lines[0]["detail"].as_str().unwrap();
    assert!(detail.contains("ahead of now"), "{detail}");
}

fn old_second(time: Timestamp) -> String {
    Timestamp::from_unix_ms(time.unix_s() * 1000).to_string()
}

#[tokio::test]
async fn what_was_accepted_young_is_refused_when_it_has_grown_old() {
    let world = world().await;
    let receiver = world.receiver().await;
    let body = paid(world.clock.now().unix_s());
    let first = world
        .webhook("orders", "m1", body.clone())
        .to(&receiver)
        .await;
    assert_eq!(first.said(), (200, "accepted"));
    world.clock.advance(29 * DAY);
    let again = world
        .webhook("orders", "m1", body.clone())
        .to(&receiver)
        .await;
    assert_eq!(again.said(), (200, "duplicate"));
    world.clock.advance(2 * DAY);
    let late = world.webhook("orders", "m1", body).to(&receiver).await;
    assert_eq!(late.said(), (400, "too-old"));
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn a_fact_without_a_time_is_malformed_and_one_that_nobody_wants_is_not_asked() {
    let world = world().await;
    let receiver = world.receiver().await;
    for body in [
        r#"{"type":"order.paid"}"#.to_owned(),
        paid("\"soon\""),
        paid("[]"),
    ] {
        let answer = world
            .webhook("orders", "m1", body.clone())
            .to(&receiver)
            .await;
        assert_eq!(answer.said(), (400, "malformed"), "{body}");
    }
    let sent = format!(
        r#"{{"type":"order.paid","sent":{}}}"#,
        world.clock.now().unix_ms()
    );
    let answer = world.webhook("orders", "m2", sent).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let other = world.webhook("orders", "m3", r#"{"type":"order.seen","created":1}"#);
    assert_eq!(other.to(&receiver).await.said(), (200, "ignored"));
}

#[tokio::test]
async fn an_old_element_does_not_stand_in_its_neighbours_way() {
    let log = Log::collect();
    let world = world().await;
    let receiver = world.receiver().await;
    let now = world.clock.now().unix_ms();
    let mixed =
        format!(r#"{{"events":[{{"type":"a","id":1,"at":1}},{{"type":"a","id":2,"at":{now}}}]}}"#);
    let webhook = world.webhook("batch", "m1", mixed);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    assert_eq!(log.lines("receive.answered")[0]["reason"], "fact-too-old");
    let accepted = world.table.of_kind(kind::ACCEPTED).await;
    assert_eq!(accepted.len(), 1);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "duplicate"));

    let unwanted = r#"{"events":[{"type":"a","id":1,"at":1},{"type":"b","id":2}]}"#;
    let webhook = world.webhook("batch", "m2", unwanted);
    assert_eq!(webhook.to(&receiver).await.said(), (200, "ignored"));
    let all = r#"{"events":[{"type":"a","id":1,"at":1},{"type":"a","id":3,"at":2}]}"#;
    let webhook = world.webhook("batch", "m3", all);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "too-old"));
    // What can be mended weighs more than what cannot.
    let worse = r#"{"events":[{"type":"a","id":1,"at":1},{"type":"a","id":3}]}"#;
    let webhook = world.webhook("batch", "m4", worse);
    assert_eq!(webhook.to(&receiver).await.said(), (400, "malformed"));
    let sources: Vec<_> = accepted
        .iter()
        .map(|item| item.text(attribute::SOURCE))
        .collect();
    assert_eq!(sources, [Some("batch")]);
}
