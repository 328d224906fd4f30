//! A batch of stream records: new entries, delivered side by side. A failed delivery is settled and
//! never fails a record; only our own failure (the table unavailable) does, so that no bad action
//! holds a shard.

use ackbox_domain::causes::in_one_line;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Dispatcher;
use crate::dispatch::{Dispatched, Limits};
use crate::permits::Permits;
use crate::trigger::{NoEntry, StreamRecord};

impl Dispatcher {
    /// Delivers the batch and answers with the first record that is to come again, if any.
    pub(crate) async fn stream(&self, records: Vec<StreamRecord>, deadline: Instant) -> Value {
        let settings = &self.0.config.delivery;
        let limits = Limits {
            // A slow destination must not hold the shard: what is not begun by then is the sweep's.
            begin_until: Instant::now() + settings.stream_budget,
            deadline,
        };
        let (limits, permits) = (&limits, &Permits::of(&self.0.config));
        // Collected first: a closure over borrowed records that lives across an await is not `Send`
        // to the compiler.
        let each: Vec<_> = records
            .iter()
            .map(|record| self.record(record, permits, limits))
            .collect();
        let failed: Vec<bool> = join_all(each).await;
        let first_failed = failed.into_iter().position(|failed| failed);
        failures(&records, first_failed)
    }

    /// Whether the record is to come again.
    async fn record(&self, record: &StreamRecord, permits: &Permits<'_>, limits: &Limits) -> bool {
        let entry = match &record.entry {
            Ok(entry) => entry,
            Err(why) => {
                passed_over(record.sequence_number.as_deref(), why);
                return false;
            }
        };
        // Without room until then, it is the sweep's.
        let Some(_room) = permits.room(&entry.destination, limits.begin_until).await else {
            return false;
        };
        let dispatched = self.dispatch(entry.clone(), limits).await;
        dispatched == Dispatched::OursFailed
    }
}

fn passed_over(sequence_number: Option<&str>, why: &NoEntry) {
    match why {
        NoEntry::NotAnInsert | NoEntry::Item(ackbox_store::ItemError::NotOutbox) => {}
        // The entry itself is on the table: the sweep finds what a record could not tell.
        other => {
            tracing::error!(sequence_number, error = %in_one_line(other), "stream.record_passed_over")
        }
    }
}

/// The lowest failed sequence number: the mapping repeats from there on. Never null or empty, which
/// the mapping would read as another thing (the whole batch, or none of it).
fn failures(records: &[StreamRecord], first_failed: Option<usize>) -> Value {
    let Some(at) = first_failed else {
        return json!({ "batchItemFailures": [] });
    };
    // A record without a number cannot be named; the nearest one before it can, and repeats it too.
    let named = records[..=at]
        .iter()
        .rev()
        .find_map(|record| record.sequence_number.as_deref())
        .or_else(|| {
            records
                .iter()
                .find_map(|record| record.sequence_number.as_deref())
        });
    match named {
        Some(number) => json!({ "batchItemFailures": [{ "itemIdentifier": number }] }),
        None => json!({ "batchItemFailures": [] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: Option<&str>) -> StreamRecord {
        StreamRecord {
            sequence_number: number.map(ToOwned::to_owned),
            entry: Err(NoEntry::NotAnInsert),
        }
    }

    #[test]
    fn the_lowest_failed_record_is_named() {
        let records = [record(Some("7")), record(Some("8")), record(Some("9"))];
        assert_eq!(failures(&records, None), json!({ "batchItemFailures": [] }));
        let named = failures(&records, Some(1));
        assert_eq!(
            named,
            json!({ "batchItemFailures": [{ "itemIdentifier": "8" }] })
        );
    }

    #[test]
    fn an_identifier_is_never_null() {
        let records = [record(Some("7")), record(None)];
        let named = failures(&records, Some(1));
        assert_eq!(
            named,
            json!({ "batchItemFailures": [{ "itemIdentifier": "7" }] })
        );
        assert_eq!(
            failures(&[record(None)], Some(0)),
            json!({ "batchItemFailures": [] })
        );
    }
}
