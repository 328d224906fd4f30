//! What wakes the dispatcher, as the JSON that Lambda hands over: batches of stream records, and the
//! schedule. Shapes: the developer guide's "Using AWS Lambda with Amazon DynamoDB" (example event)
//! and EventBridge's "Scheduled Event".

use ackbox_store::schema::attribute;
use serde_json::{Value, json};

use crate::engine::Item;

/// A record of the stream: this item was inserted. `number` becomes its place in the shard.
pub fn insert(item: &Item, number: u64) -> Value {
    record(item, number, "INSERT")
}

/// A record of the stream of any kind (`INSERT`, `MODIFY`, `REMOVE`).
pub fn record(item: &Item, number: u64, name: &str) -> Value {
    let image = item.to_json();
    let mut dynamodb = json!({
        "ApproximateCreationDateTime": 1_795_953_600.0,
        "Keys": { "pk": image[attribute::PK], "sk": image[attribute::SK] },
        "SequenceNumber": sequence_number(number),
        "SizeBytes": 400,
        "StreamViewType": "NEW_IMAGE",
    });
    if name != "REMOVE" {
        dynamodb["NewImage"] = image;
    }
    json!({
        "eventID": format!("{number:032x}"),
        "eventName": name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": dynamodb,
        "eventSourceARN":
            "arn:aws:dynamodb:us-east-1:123456789012:table/ackbox/stream/2026-11-29T00:00:00.000",
    })
}

/// How a place in the shard is written: 21 digits or more, ascending.
pub fn sequence_number(number: u64) -> String {
    format!("{:025}", 111_000_000_000_000_000_u64 + number)
}

/// A batch of records.
pub fn batch(records: Vec<Value>) -> Value {
    json!({ "Records": records })
}

/// The one-minute schedule.
pub fn schedule() -> Value {
    json!({
        "version": "0",
        "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": "2026-11-29T12:00:00Z",
        "region": "us-east-1",
        "resources": ["arn:aws:events:us-east-1:123456789012:rule/sweep"],
        "detail": {},
    })
}
