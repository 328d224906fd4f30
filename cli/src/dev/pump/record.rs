//! A stream record as the SDK reads it becomes one as Lambda delivers it. Nothing in it is changed or left out.

use aws_sdk_dynamodbstreams::primitives::DateTime;
use aws_sdk_dynamodbstreams::types::{AttributeValue, Record, StreamRecord};
use data_encoding::BASE64;
use serde_json::{Map, Number, Value, json};

/// A record that passed the filter, ready for an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ready {
    /// Its place in the shard.
    pub sequence_number: String,
    /// As Lambda delivers it.
    pub json: Value,
    /// About how many bytes it takes in an event.
    pub bytes: usize,
}

/// The event source mapping's filter: `{"eventName": ["INSERT"], "dynamodb": {"Keys": {"sk": {"S": ["OUTBOX"]}}}}`.
pub(super) fn wanted(record: &Record) -> bool {
    let is_insert = record
        .event_name()
        .is_some_and(|name| name.as_str() == "INSERT");
    let sort_key = record
        .dynamodb()
        .and_then(StreamRecord::keys)
        .and_then(|keys| keys.get(ackbox_store::schema::attribute::SK));
    let is_outbox = matches!(sort_key, Some(AttributeValue::S(kind)) if kind == ackbox_store::schema::kind::OUTBOX);
    is_insert && is_outbox
}

impl Ready {
    /// `None` for a record without a place in its shard, which no stream writes.
    pub(super) fn new(record: &Record, stream_arn: &str) -> Option<Self> {
        let sequence_number = record.dynamodb()?.sequence_number()?.to_owned();
        let json = to_json(record, stream_arn);
        let bytes = json.to_string().len();
        Some(Self {
            sequence_number,
            json,
            bytes,
        })
    }
}

/// The shape of Lambda's developer guide, "Using AWS Lambda with Amazon DynamoDB", example event.
fn to_json(record: &Record, stream_arn: &str) -> Value {
    let mut json = json!({
        "eventID": record.event_id(),
        "eventName": record.event_name().map(|name| name.as_str()),
        "eventVersion": record.event_version(),
        "eventSource": record.event_source(),
        "awsRegion": record.aws_region(),
        "dynamodb": record.dynamodb().map(change),
        "eventSourceARN": stream_arn,
    });
    if let Some(identity) = record.user_identity() {
        json["userIdentity"] = json!({
            "type": identity.r#type(),
            "principalId": identity.principal_id(),
        });
    }
    json
}

fn change(change: &StreamRecord) -> Value {
    let mut json = json!({
        "Keys": change.keys().map(item),
        "SequenceNumber": change.sequence_number(),
        "SizeBytes": change.size_bytes(),
        "StreamViewType": change.stream_view_type().map(|view| view.as_str()),
    });
    if let Some(at) = change.approximate_creation_date_time() {
        json["ApproximateCreationDateTime"] = seconds(at);
    }
    if let Some(image) = change.new_image() {
        json["NewImage"] = item(image);
    }
    if let Some(image) = change.old_image() {
        json["OldImage"] = item(image);
    }
    json
}

/// Whole where it is whole, as Lambda writes it.
fn seconds(at: &DateTime) -> Value {
    if at.subsec_nanos() == 0 {
        return Value::from(at.secs());
    }
    Number::from_f64(at.as_secs_f64()).map_or(Value::Null, Value::Number)
}

fn item<'a>(item: impl IntoIterator<Item = (&'a String, &'a AttributeValue)>) -> Value {
    let members: Map<String, Value> = item
        .into_iter()
        .map(|(name, value)| (name.clone(), attribute(value)))
        .collect();
    Value::Object(members)
}

/// A value in DynamoDB's JSON.
fn attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::B(bytes) => json!({ "B": BASE64.encode(bytes.as_ref()) }),
        AttributeValue::Bool(is) => json!({ "BOOL": is }),
        AttributeValue::Null(is) => json!({ "NULL": is }),
        AttributeValue::L(values) => {
            json!({ "L": values.iter().map(attribute).collect::<Vec<_>>() })
        }
        AttributeValue::M(members) => json!({ "M": item(members) }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        AttributeValue::Ns(numbers) => json!({ "NS": numbers }),
        AttributeValue::Bs(values) => {
            json!({ "BS": values.iter().map(|bytes| BASE64.encode(bytes.as_ref())).collect::<Vec<_>>() })
        }
        // A kind that this SDK does not know: the function passes the record over, the sweep does not.
        _ => Value::Null,
    }
}
