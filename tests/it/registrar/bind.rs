//! `POST /jobs`.

use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::world::parsed;

use super::*;

#[tokio::test]
async fn a_job_is_bound_once_and_the_same_record_changes_nothing() {
    let world = world().await;
    let registrar = world.registrar().await;
    let answer = bind(&registrar, &record("j-1")).await;
    assert_eq!(answer.said(), (201, "bound"));
    let told = said(&answer);
    assert_eq!(
        told["job"],
        json!({"space": "tornado", "id": "j-1", "account": "default"})
    );
    assert_eq!(told["taken_up"], json!([]));
    assert!(
        told["actions"][0]["key"]
            .as_str()
            .unwrap()
            .starts_with("act_")
    );
    let items = world.table.items().await;
    assert_eq!(items.len(), 1);
    // Spaces are no difference, but in an input: it is sent as it was written.
    let spaced = record("j-1")
        .to_string()
        .replace("\"steps\":[", "\n \"steps\" : [");
    let answer = ask(&registrar, "POST", "/jobs/", spaced).await;
    assert_eq!(answer.said(), (200, "same"));
    assert_eq!(world.table.items().await, items);
}

#[tokio::test]
async fn another_record_is_409_with_the_one_that_stands_and_changes_nothing() {
    let world = world().await;
    let registrar = world.registrar().await;
    bind(&registrar, &record("j-1")).await;
    let items = world.table.items().await;
    for (field, value) in [
        ("tenant", json!("t-2")),
        ("attempt", json!(2)),
        ("attempt", json!("1")),
        ("account", json!("other")),
        ("poll_after", json!("1m")),
        ("expected", json!({"/size": 1})),
        ("steps", json!([record("j-1")["steps"][0]])),
    ] {
        let mut other = record("j-1");
        other[field] = value;
        let answer = bind(&registrar, &other).await;
        assert_eq!(answer.said(), (409, "other"), "{field}");
        assert_eq!(said(&answer)["bound"], record("j-1"), "{field}");
        assert_eq!(world.table.items().await, items, "{field}");
    }
}

#[tokio::test]
async fn what_can_never_come_true_is_400_names_what_is_known_and_writes_nothing() {
    let world = world().await;
    let registrar = world.registrar().await;
    for (pointer, value, word, known) in [
        (
            "/space",
            json!("vimeo"),
            "unknown-space",
            json!(["sume", "tornado"]),
        ),
        (
            "/steps/0/destination",
            json!("mailer"),
            "unknown-destination",
            json!(["warehouse"]),
        ),
        (
            "/steps/0/on/0",
            json!("done"),
            "unknown-outcome",
            json!(["completed", "failed"]),
        ),
        (
            "/steps/1/on/0",
            json!("error"),
            "unknown-outcome",
            json!(["completed", "failed"]),
        ),
        (
            "/steps/1/on/0",
            json!("silent"),
            "unknown-outcome",
            Value::Null,
        ),
        (
            "/steps/0/values",
            json!(["url"]),
            "unknown-value",
            json!(["key"]),
        ),
        (
            "/expected",
            json!({"url": 1}),
            "unknown-value",
            json!(["key"]),
        ),
        ("/tenant", json!(" "), "malformed", Value::Null),
        ("/attempt", json!(1.5), "malformed", Value::Null),
    ] {
        let mut wrong = record("j-1");
        wrong["steps"][0]["values"] = json!([]);
        wrong["expected"] = json!({});
        *wrong.pointer_mut(pointer).unwrap() = value;
        let answer = bind(&registrar, &wrong).await;
        assert_eq!(answer.said(), (400, word), "{pointer}");
        assert_eq!(said(&answer)["known"], known, "{pointer}");
        assert!(!said(&answer)["error"].as_str().unwrap().is_empty());
    }
    assert!(world.table.items().await.is_empty());
    let mut silent = record("j-1");
    silent["steps"][1]["on"] = json!(["silent"]);
    silent["give_up_after"] = json!("1h");
    silent["steps"][0]["values"] = json!(["key"]);
    silent["expected"] = json!({"key": "x", "/anything": 1});
    assert_eq!(bind(&registrar, &silent).await.said(), (201, "bound"));
}

#[tokio::test]
async fn an_action_that_its_destination_cannot_carry_is_refused_before_anything_is_written() {
    let mut world = world().await;
    let fifo = r#"
[destination.queue]
kind = "sqs"
queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo"
group = "/tenant"
on_unknown = "hold"
"#;
    world.config.destinations.extend(parsed(fifo).destinations);
    let registrar = world.registrar().await;
    let mut record = record("j-1");
    record["steps"][0]["destination"] = json!("queue");
    record["tenant"] = json!("no name of a group");
    let answer = bind(&registrar, &record).await;
    assert_eq!(answer.said(), (400, "unfit"));
    assert!(
        said(&answer)["error"]
            .as_str()
            .unwrap()
            .contains("/steps/0"),
        "{answer:?}"
    );
    assert!(world.table.items().await.is_empty());
    record["tenant"] = json!("t-1");
    assert_eq!(bind(&registrar, &record).await.said(), (201, "bound"));
}

#[tokio::test]
async fn whether_somebody_asks_is_said_where_it_is_wanted() {
    let world = changed(|config| {
        config.sources.get_mut("tornado-org").unwrap().lookup = Some(lookup());
    })
    .await;
    let registrar = world.registrar().await;
    let mut asked = record("j-1");
    assert_eq!(said(&bind(&registrar, &asked).await)["asked"], Value::Null);
    asked["poll_after"] = json!("10m");
    asked["job_id"] = json!("j-2");
    assert_eq!(said(&bind(&registrar, &asked).await)["asked"], false);
    asked["job_id"] = json!("j-3");
    asked["account"] = json!("org");
    assert_eq!(said(&bind(&registrar, &asked).await)["asked"], true);
}

#[tokio::test]
async fn what_is_parked_is_taken_up_by_the_record_and_told() {
    let world = world().await;
    let registrar = world.registrar().await;
    let answer = hear(&registrar, &completed("j-1")).await;
    assert_eq!(answer.said(), (200, "parked"));
    assert_eq!(said(&answer)["again"], false);
    assert_eq!(
        said(&hear(&registrar, &completed("j-1")).await)["again"],
        true
    );

    let answer = bind(&registrar, &record("j-1")).await;
    assert_eq!(answer.said(), (201, "bound"));
    let told = said(&answer);
    assert_eq!(told["taken_up"][0]["outcome"], "accepted");
    assert_eq!(
        told["taken_up"][0]["actions"][0]["key"],
        told["actions"][0]["key"]
    );
    assert_eq!(told["taken_up"][0]["actions"][0]["became"], "accepted");
    assert!(world.table.of_kind(kind::PARKED).await.is_empty());
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 1);
}

#[tokio::test]
async fn a_record_stands_also_where_what_is_parked_cannot_be_taken_up_now() {
    let world = world().await;
    let registrar = world.registrar().await;
    hear(&registrar, &completed("j-1")).await;
    let refusal = Fault::Refuse(Refusal::AccessDenied);
    world.faults.inject(Rule::operation("Query"), refusal);
    let answer = bind(&registrar, &record("j-1")).await;
    assert_eq!(answer.said(), (201, "bound"));
    let told = said(&answer);
    assert_eq!(told["taken_up"], Value::Null);
    assert!(
        told["left"].as_str().unwrap().contains("reconciler"),
        "{told}"
    );
    world.faults.clear();
    let answer = bind(&registrar, &record("j-1")).await;
    assert_eq!(answer.said(), (200, "same"));
    assert_eq!(said(&answer)["taken_up"][0]["outcome"], "accepted");
}

#[tokio::test]
async fn a_table_that_is_not_there_is_503_and_says_when_to_come_again() {
    let world = world().await;
    let store = world.store_at("http://127.0.0.1:9").await;
    let mut config = world.config.clone();
    config.delivery.accept_budget = Duration::from_millis(50);
    let registrar = Registrar::new(config, store, world.clock.reader());
    for answer in [
        bind(&registrar, &record("j-1")).await,
        hear(&registrar, &completed("j-1")).await,
    ] {
        assert_eq!(answer.said(), (503, "unavailable"));
        assert_eq!(answer.header("retry-after"), Some("10"));
    }
}

#[tokio::test]
async fn a_record_that_no_item_holds_is_413() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut large = record("j-1");
    let steps: Vec<Value> = (0..7)
        .map(|n| json!({"step": format!("s-{n}"), "on": ["failed"], "destination": "warehouse", "input": "x".repeat(60_000)}))
        .collect();
    large["steps"] = json!(steps);
    assert!(large.to_string().len() < ackbox_registrar::BODY_MAX);
    assert_eq!(bind(&registrar, &large).await.said(), (413, "too-large"));
    for path in ["/jobs", "/observations"] {
        let over = " ".repeat(ackbox_registrar::BODY_MAX + 1);
        let answer = ask(&registrar, "POST", path, over).await;
        assert_eq!(answer.said(), (413, "too-large"));
    }
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn many_at_once_bind_one_record_and_the_others_see_which() {
    let world = world().await;
    let registrar = world.registrar().await;
    let all = (0..16).map(|n| {
        let registrar = registrar.clone();
        async move {
            let mut record = record("j-1");
            record["tenant"] = json!(format!("t-{}", n % 2));
            bind(&registrar, &record).await.outcome
        }
    });
    let all = futures_util::future::join_all(all).await;
    let count = |word: &str| all.iter().filter(|said| *said == word).count();
    assert_eq!(
        (count("bound"), count("same"), count("other")),
        (1, 7, 8),
        "{all:?}"
    );
    assert_eq!(world.table.items().await.len(), 1);
}
