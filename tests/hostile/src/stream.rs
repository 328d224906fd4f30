//! An event that wakes the dispatcher. Any JSON is a batch, a sweep or an error; a record that cannot
//! be read takes no neighbour with it, and the answer never names a record that was not in the batch.

use std::cell::RefCell;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
use ackbox_dispatcher::trigger::{StreamRecord, Trigger};
use ackbox_outbound::Outbound;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::offline::Offline;
use crate::setting;

thread_local! {
    static SETTING: RefCell<Setting> = RefCell::new(Setting::new());
}

/// A dispatcher that knows no destination: entries are settled, and nothing is ever sent.
struct Setting {
    table: Offline,
    dispatcher: Dispatcher,
    runtime: Runtime,
}

impl Setting {
    fn new() -> Self {
        let table = Offline::default();
        let config = Config::parse("hostile.toml", "").expect("nothing is a configuration");
        let outbound = Outbound::new(setting::secrets());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Self {
            dispatcher: Dispatcher::new(config, table.store(), outbound, setting::clock()),
            table,
            runtime: runtime.expect("a runtime starts"),
        }
    }
}

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Ok(event) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let records = match (Trigger::parse(event.clone()), Trigger::parse(event.clone())) {
        (Ok(Trigger::Sweep), Ok(Trigger::Sweep)) => {
            assert!(!event["Records"].is_array(), "a batch is taken for a sweep");
            return;
        }
        (Err(error), Err(_)) => {
            assert!(!error.to_string().is_empty());
            return;
        }
        (Ok(Trigger::Stream(one)), Ok(Trigger::Stream(other))) => {
            let plain =
                |records: &[StreamRecord]| -> Vec<String> { records.iter().map(plain).collect() };
            assert_eq!(plain(&one), plain(&other), "two readings of one batch");
            one
        }
        _ => panic!("two readings of one event"),
    };
    let came = event["Records"].as_array().map_or(0, Vec::len);
    assert_eq!(records.len(), came, "records were lost");
    let mut entries = 0;
    for record in &records {
        assert_ne!(
            record.sequence_number.as_deref(),
            Some(""),
            "a record without a name"
        );
        match &record.entry {
            Ok(entry) => {
                assert_eq!(entry.key.as_str().parse(), Ok(entry.key.clone()));
                entries += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    SETTING.with_borrow(|setting| is_handled(setting, event, entries));
}

/// A record's reading. Of an item with several faults any one may be told: attributes have no order.
fn plain(record: &StreamRecord) -> String {
    let StreamRecord {
        sequence_number,
        entry,
    } = record;
    format!("{sequence_number:?} {:?}", entry.as_ref().ok())
}

/// One conditional write for each entry at most, and an answer in Lambda's form.
fn is_handled(setting: &Setting, event: Value, entries: usize) {
    let numbers: Vec<Value> = event["Records"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|record| record.pointer("/dynamodb/SequenceNumber").cloned())
        .collect();
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = setting.dispatcher.handle(event, deadline);
    let answer = setting
        .runtime
        .block_on(answer)
        .expect("a batch is handled");
    let calls = setting.table.take();
    assert!(
        calls.len() <= entries,
        "{entries} entries, and these calls: {calls:?}"
    );
    let failures = answer["batchItemFailures"].as_array();
    let failures = failures.expect("an answer has its failures");
    for failure in failures {
        assert!(
            numbers.contains(&failure["itemIdentifier"]),
            "names no record: {failure}"
        );
    }
    if calls.is_empty() {
        assert_eq!(answer, json!({ "batchItemFailures": [] }));
    }
}
