//! An event that wakes the dispatcher. Any JSON is a batch, a sweep or an error; a record that cannot
//! be read takes no neighbour with it, and the answer never names a record that was not in the batch.

use std::cell::RefCell;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
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
    if let Ok(event) = serde_json::from_slice::<Value>(input) {
        SETTING.with_borrow(|setting| {
            let one = handled(setting, &event);
            assert_eq!(one, handled(setting, &event), "two readings of one event");
        });
    }
}

/// What an event is answered with, and how many calls to the table it causes.
fn handled(setting: &Setting, event: &Value) -> Option<(Value, usize)> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = setting.dispatcher.handle(event.clone(), deadline);
    let answer = setting.runtime.block_on(answer);
    let calls = setting.table.take();
    let records = event.get("Records").and_then(Value::as_array);
    match (answer, records) {
        (Err(error), records) => {
            assert!(
                records.is_none() && calls.is_empty(),
                "a batch was not taken for one"
            );
            assert!(!error.to_string().is_empty(), "an error without words");
            None
        }
        (Ok(answer), None) => {
            // A sweep's own calls do not depend on the event.
            assert!(answer.is_object(), "{answer}");
            Some((answer, calls.len()))
        }
        (Ok(answer), Some(records)) => {
            let inserted = |record: &&Value| record.get("eventName") == Some(&json!("INSERT"));
            let most = records.iter().filter(inserted).count();
            assert!(
                calls.len() <= most,
                "{most} insertions, and these calls: {calls:?}"
            );
            names_what_came(&answer, records);
            if calls.is_empty() {
                assert_eq!(answer, json!({ "batchItemFailures": [] }));
            }
            Some((answer, calls.len()))
        }
    }
}

/// An answer in Lambda's form, that names at most one record, and one that was in the batch.
fn names_what_came(answer: &Value, records: &[Value]) {
    let failures = answer["batchItemFailures"].as_array();
    let failures = failures.expect("an answer has its failures");
    assert!(failures.len() <= 1, "the first failure is enough: {answer}");
    for failure in failures {
        let named = &failure["itemIdentifier"];
        let came = |record: &Value| record.pointer("/dynamodb/SequenceNumber") == Some(named);
        assert!(
            named.is_string() && records.iter().any(came),
            "names no record: {failure}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    /// The seeds are entries to the dispatcher, and not merely JSON.
    #[test]
    fn the_entries_among_the_seeds_are_settled_by_one_call_each() {
        let seeds = seeds::make().unwrap();
        let calls = |name: &str| {
            let seed = seeds
                .iter()
                .find(|s| s.target == "stream" && s.name == name);
            let event = serde_json::from_slice(&seed.unwrap().bytes).unwrap();
            SETTING.with_borrow(|setting| handled(setting, &event).unwrap().1)
        };
        assert_eq!(calls("fresh"), 1);
        assert_eq!(calls("claimed"), 1);
        assert_eq!(calls("mixed"), 2);
        assert_eq!(
            calls("held") + calls("newer") + calls("none") + calls("odd-key"),
            0
        );
    }
}
