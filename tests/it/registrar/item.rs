//! A job that the application binds by writing the item itself, as `docs/jobs.md` describes it: with its own
//! client, in its own transaction, from any language.

use std::collections::HashMap;

use ackbox_store::Class;
use ackbox_store::schema::kind;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};

use super::*;

/// What the Python of `docs/jobs.md` writes.
fn item(id: &str, record: &Value, now_ms: u64) -> HashMap<String, AttributeValue> {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let number = |number: u64| AttributeValue::N(number.to_string());
    HashMap::from([
        ("pk".to_owned(), text(&format!("JOB#tornado#{id}"))),
        ("sk".to_owned(), text("JOB")),
        ("v".to_owned(), number(1)),
        ("accepted_at".to_owned(), number(now_ms)),
        ("binding".to_owned(), text(&record.to_string())),
        ("work_shard".to_owned(), text("job#tornado#3")),
        ("due_at".to_owned(), number(now_ms + 600_000)),
    ])
}

async fn write(world: &World, id: &str) {
    let mut record = record(id);
    record["poll_after"] = json!("10m");
    let now = world.clock.now().unix_ms();
    let put = Put::builder()
        .table_name(world.table.name())
        .set_item(Some(item(id, &record, now)))
        .condition_expression("attribute_not_exists(pk)")
        .build()
        .unwrap();
    let client = ackbox_tests::engine::client(&world.faults.endpoint()).await;
    let write = TransactWriteItem::builder().put(put).build();
    client
        .transact_write_items()
        .transact_items(write)
        .send()
        .await
        .unwrap();
}

#[tokio::test]
async fn an_item_that_the_application_wrote_is_a_bound_job() {
    let world = world().await;
    let registrar = world.registrar().await;
    write(&world, "j-1").await;
    let job = said(&look(&registrar, "/jobs/tornado/j-1").await);
    assert_eq!(
        (&job["state"], &job["due_at"]),
        (&json!("waiting"), &json!("2026-11-29T12:10:00.000Z"))
    );
    let listed = world
        .store()
        .await
        .list_jobs(Class::Job, &name("tornado"), 10)
        .await
        .unwrap();
    assert_eq!(listed.len(), 1, "it is asked about");
    let answer = hear(&registrar, &completed("j-1")).await;
    assert_eq!(answer.said(), (200, "accepted"));
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 1);
    assert_eq!(
        said(&look(&registrar, "/jobs/tornado/j-1").await)["state"],
        "ended"
    );
}

#[tokio::test]
async fn registering_what_the_application_wrote_is_the_same_and_takes_up_what_is_parked() {
    let world = world().await;
    let registrar = world.registrar().await;
    hear(&registrar, &completed("j-1")).await;
    write(&world, "j-1").await;
    let mut record = record("j-1");
    record["poll_after"] = json!("10m");
    let answer = bind(&registrar, &record).await;
    assert_eq!(answer.said(), (200, "same"));
    assert_eq!(said(&answer)["taken_up"][0]["outcome"], "accepted");
}
