//! What woke the function: a batch of stream records, or the sweep. In comes the raw event, out come
//! entries; a record that cannot be read must not take its neighbours with it.

use ackbox_domain::OutboxEntry;
use ackbox_store::{ItemError, outbox_from_item};
use aws_lambda_events::event::dynamodb::EventRecord;
use serde_json::Value;

/// What woke the function.
#[derive(Debug)]
pub(crate) enum Trigger {
    /// Records of the table's stream, in order.
    Stream(Vec<StreamRecord>),
    /// The schedule.
    Sweep,
}

/// One record of the stream.
#[derive(Debug)]
pub(crate) struct StreamRecord {
    /// Its place in the shard: what a partial failure names.
    pub(crate) sequence_number: Option<String>,
    /// The new outbox entry, or why there is none in it.
    pub(crate) entry: Result<OutboxEntry, NoEntry>,
}

/// Why a stream record holds no entry to deliver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoEntry {
    /// Not an insertion. The mapping's filter drops these; without it they are passed over here.
    #[error("not an insertion")]
    NotAnInsert,
    /// Not a record as the stream writes them.
    #[error("the stream record cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// Another kind of item, a newer schema, or a broken one.
    #[error(transparent)]
    Item(#[from] ItemError),
}

/// An event that this function does not know.
#[derive(Debug, thiserror::Error)]
#[error(
    "this event is neither a DynamoDB stream batch (\"Records\") nor a sweep (a scheduled event, or {{\"sweep\": true}})"
)]
pub struct NotATrigger;

impl Trigger {
    /// Reads an event of a stream's event source mapping, of an EventBridge schedule, or `{"sweep": true}`.
    pub(crate) fn parse(mut event: Value) -> Result<Self, NotATrigger> {
        if let Some(Value::Array(records)) = event.get_mut("Records").map(Value::take) {
            return Ok(Self::Stream(records.into_iter().map(record).collect()));
        }
        let is_schedule = event.get("source").and_then(Value::as_str) == Some("aws.events")
            || event.get("sweep") == Some(&Value::Bool(true));
        if is_schedule {
            Ok(Self::Sweep)
        } else {
            Err(NotATrigger)
        }
    }
}

fn record(raw: Value) -> StreamRecord {
    let sequence_number = raw
        .pointer("/dynamodb/SequenceNumber")
        .and_then(Value::as_str)
        .filter(|number| !number.is_empty())
        .map(ToOwned::to_owned);
    StreamRecord {
        sequence_number,
        entry: entry(raw),
    }
}

fn entry(raw: Value) -> Result<OutboxEntry, NoEntry> {
    if raw.get("eventName").and_then(Value::as_str) != Some("INSERT") {
        return Err(NoEntry::NotAnInsert);
    }
    let record: EventRecord = serde_json::from_value(raw).map_err(NoEntry::Unreadable)?;
    Ok(outbox_from_item(record.change.new_image)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schedule_and_a_plain_sweep_are_sweeps() {
        for event in [
            json!({"source": "aws.events", "detail-type": "Scheduled Event"}),
            json!({"sweep": true}),
        ] {
            assert!(matches!(Trigger::parse(event), Ok(Trigger::Sweep)));
        }
    }

    #[test]
    fn another_event_is_an_error_and_not_a_sweep() {
        for event in [
            json!({}),
            json!(null),
            json!([]),
            json!({"Records": {}}),
            json!({"sweep": 1}),
        ] {
            assert!(Trigger::parse(event).is_err());
        }
    }

    #[test]
    fn a_broken_record_does_not_take_its_neighbours_with_it() {
        let event = json!({"Records": [
            {"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1", "NewImage": {"pk": 7}}},
            {"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "2"}},
            17,
        ]});
        let Ok(Trigger::Stream(records)) = Trigger::parse(event) else {
            panic!("a batch");
        };
        assert_eq!(records.len(), 3);
        assert!(records.iter().all(|record| record.entry.is_err()));
        assert_eq!(records[0].sequence_number.as_deref(), Some("1"));
    }
}
