//! What operators do, through the binary: on the embedded engine, or on the one that `AWS_ENDPOINT_URL_DYNAMODB`
//! names. A test has a table of its own, and looks at it through the store.

mod bulk;
mod conflict;
mod job;
mod redact;
mod redrive;
mod resolve;

use std::time::Duration;

use ackbox::dev::{Clients, Engine};
use ackbox_domain::outbox::Claim;
use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{
    ActionKey, AttemptRecord, EntryState, OutboxEntry, OutcomeKind, Settled, Timestamp, Timing,
};
use ackbox_store::{Change, Claimed, SettleResult, Store, Story};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::list_and_show::{action, key};
use crate::support::{Ended, Place};
use crate::tabled;
pub(crate) use crate::tabled::soon;

/// Two destinations that keep keys, one that does not, and one that is asked.
const CONFIG: &str = r#"
[source.shop]
scheme = "stripe"
secrets = ["env:SHOP"]

[[source.shop.rule]]
name = "paid"
on = ["invoice.paid"]
key = ["message:id"]
destination = "mailer"

[source.tornado]
scheme = "tornado"
secrets = ["env:SHOP"]
job = {}

[destination.mailer]
url = "https://mailer.example/actions"
idempotency = { window = "1h" }

[destination.mailer-eu]
url = "https://mailer.example.eu/actions"
idempotency = { window = "1h" }

[destination.till]
url = "https://till.example/actions"
idempotency = "none"
on_unknown = "hold"
"#;

/// A table on an engine, and a folder with a configuration in which commands run on it.
pub(crate) struct Desk {
    pub(crate) place: Place,
    pub(crate) store: Store,
    runtime: Runtime,
    engine: Option<Engine>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let ((endpoint, engine), table) = (tabled::engine(), tabled::table());
        let store = runtime.block_on(async {
            let clients = Clients::local(&endpoint).await;
            let store = Store::new(clients.dynamodb, table.clone());
            store.create_table().await.unwrap();
            store
        });
        let place = Place::empty()
            .with("SHOP", "whsec_shop_current_0123456789")
            .with("AWS_ENDPOINT_URL_DYNAMODB", &endpoint)
            .with("ACKBOX_TABLE", &table)
            .with("USER", "ada");
        place.file("ackbox.toml", CONFIG);
        Self {
            place,
            store,
            runtime,
            engine,
        }
    }

    pub(crate) fn on<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.place.run(arguments)
    }

    /// The command's JSON; it must end with this code.
    #[track_caller]
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let ended = self.run(&arguments);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        ended.json()
    }

    pub(crate) fn entry(&self, id: &str) -> OutboxEntry {
        self.on(self.store.entry(&key(id))).unwrap().unwrap()
    }

    pub(crate) fn story(&self, key: &ActionKey) -> Story {
        self.on(self.store.story(key)).unwrap()
    }

    /// An entry that came to this end after one attempt of this kind, which began so long ago.
    pub(crate) fn ended(&self, id: &str, to: &str, body: &str, end: End, ago: Duration) {
        self.on(async {
            let now = now();
            let mut action = action(id, to, body, 1);
            action.accepted_at = now.minus(ago + Duration::from_secs(1));
            let store = &self.store;
            store.accept(&action, &TIMING, soon()).await.unwrap();
            if end == End::Fresh {
                return;
            }
            let entry = store.entry(&action.key).await.unwrap().unwrap();
            let claim = Claim {
                id: id.to_owned(),
                claimed_at: now.minus(ago),
                lease_until: now.minus(ago).plus(TIMING.lease),
            };
            let config = ackbox_config::Config::parse("ackbox.toml", CONFIG).unwrap();
            let destination = config.destinations.get(&entry.destination);
            let origin = destination.map_or([0; 8], |destination| destination.origin());
            let claimed = store.claim(&entry, claim, origin, soon()).await.unwrap();
            let Claimed::Started(entry) = claimed else {
                panic!("{claimed:?}");
            };
            let (kind, settlement) = match end {
                End::Claimed => return,
                End::Dead => (OutcomeKind::Rejected, Settlement::Dead(Reason::Rejected)),
                End::Delivered => (OutcomeKind::Succeeded, Settlement::Delivered),
                _ => (
                    OutcomeKind::Unknown,
                    Settlement::Held(Reason::OutcomeUnknown),
                ),
            };
            let attempt = AttemptRecord::new(1, kind, None, Duration::from_secs(1));
            let first = kind.may_have_arrived().then(|| now.minus(ago));
            let change = Change {
                settled: &Settled {
                    cleared_fence: (end == End::Dead).then_some(1),
                    ..Settled::new(settlement, first)
                },
                attempt: Some((&attempt, "the connection was closed")),
                told: None,
                now: now.minus(ago),
            };
            let settled = store.settle(&entry, change, soon()).await.unwrap();
            assert_eq!(settled, SettleResult::Settled);
        });
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.runtime.block_on(engine.stop());
        }
    }
}

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Fresh,
    Claimed,
    Held,
    Dead,
    Delivered,
}

pub(crate) const TIMING: Timing = Timing {
    lease: Duration::from_secs(45),
    settle_margin: Duration::from_secs(5),
    clock_skew: Duration::from_secs(5),
    first_due: Duration::from_secs(60),
    no_destination_hold: Duration::from_secs(3600),
};

pub(crate) const MINUTES: Duration = Duration::from_secs(600);
pub(crate) const HOURS: Duration = Duration::from_secs(10_000);

#[allow(
    clippy::disallowed_methods,
    reason = "the tests' edge: the commands read the same clock"
)]
pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap())
}

#[track_caller]
pub(crate) fn is(entry: &OutboxEntry, state: EntryState, fence: u64) {
    assert_eq!((entry.state, entry.fence), (state, fence), "{entry:?}");
}
