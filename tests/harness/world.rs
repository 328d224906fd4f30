//! One test's world: an engine with a table, faults between it and the functions, the functions
//! themselves, and a clock that stands still until the test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
use ackbox_domain::{ActionKey, Name, OutboxEntry, Timestamp};
use ackbox_outbound::Outbound;
use ackbox_receiver::Receiver;
use ackbox_reconciler::Reconciler;
use ackbox_registrar::Registrar;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use ackbox_store::schema::kind;
use serde_json::Value;
use tokio::time::Instant;

use crate::destination::{Behaviour, Destination};
use crate::engine::{self, Engine, Table};
use crate::events;
use crate::faults::Faults;
use crate::sender::{self, Webhook};

/// A clock that a test sets. All functions of a world share it.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// Stands at 2026-11-29T12:00:00Z.
    pub fn standing() -> Self {
        Self(Arc::new(AtomicU64::new(1_795_953_600_000)))
    }

    /// What it shows.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::SeqCst))
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// As the functions take it.
    pub fn reader(&self) -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }
}

/// One test's world.
#[derive(Debug)]
pub struct World {
    /// What the functions read.
    pub config: Config,
    /// Between the functions and the engine.
    pub faults: Faults,
    /// The table, read past the faults.
    pub table: Table,
    /// What time it is.
    pub clock: Clock,
    engine: Engine,
}

impl World {
    /// A world with this `ackbox.toml` and a fresh table.
    pub async fn new(config: &str) -> Self {
        Self::on(Engine::start().await, &engine::table_name(), config).await
    }

    /// A world on this engine; its table is created where it is not there.
    pub async fn on(engine: Engine, table: &str, config: &str) -> Self {
        let faults = Faults::before(engine.endpoint())
            .await
            .expect("a proxy starts");
        let direct = Table::new(engine.endpoint(), table).await;
        let world = Self {
            config: parsed(config),
            faults,
            table: direct,
            clock: Clock::standing(),
            engine,
        };
        world.store().await.create_table().await.expect("a table");
        world.faults.forget();
        world
    }

    /// A store through the faults, with a memory of its own, as another process would have.
    pub async fn store(&self) -> Store {
        self.store_at(&self.faults.endpoint()).await
    }

    /// A store at another endpoint.
    pub async fn store_at(&self, endpoint: &str) -> Store {
        Store::new(engine::client(endpoint).await, self.table.name())
    }

    /// Where the engine itself answers, past the faults.
    pub fn engine_endpoint(&self) -> &str {
        self.engine.endpoint()
    }

    /// A receiver, as another process would be.
    pub async fn receiver(&self) -> Receiver {
        self.receiver_on(self.store().await)
    }

    /// A receiver on this store.
    pub fn receiver_on(&self, store: Store) -> Receiver {
        Receiver::new(self.config.clone(), store, secrets(), self.clock.reader())
    }

    /// A registrar, as another process would be.
    pub async fn registrar(&self) -> Registrar {
        Registrar::new(self.config.clone(), self.store().await, self.clock.reader())
    }

    /// A dispatcher, as another process would be.
    pub async fn dispatcher(&self) -> Dispatcher {
        self.dispatcher_with(self.config.clone()).await
    }

    /// A dispatcher whose configuration is another one.
    pub async fn dispatcher_with(&self, config: Config) -> Dispatcher {
        let outbound = Outbound::new(secrets());
        Dispatcher::new(config, self.store().await, outbound, self.clock.reader())
    }

    /// A reconciler, as another process would be.
    pub async fn reconciler(&self) -> Reconciler {
        self.reconciler_with(self.config.clone()).await
    }

    /// A reconciler whose configuration is another one.
    pub async fn reconciler_with(&self, config: Config) -> Reconciler {
        let outbound = Outbound::new(secrets());
        Reconciler::new(config, self.store().await, outbound, self.clock.reader())
    }

    /// Reconciles once, with a minute to go.
    pub async fn reconcile(&self, reconciler: &Reconciler) -> Value {
        reconciler
            .run(Instant::now() + Duration::from_secs(60))
            .await
    }

    /// A webhook of this source, signed now.
    pub fn webhook(&self, source: &str, id: &str, body: impl Into<Vec<u8>>) -> Webhook {
        let source = &self.config.sources[source];
        Webhook::new(source, id, body, self.clock.now())
    }

    /// Wakes a dispatcher by this event, with a minute to go.
    pub async fn wake(&self, dispatcher: &Dispatcher, event: Value) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        dispatcher
            .handle(event, deadline)
            .await
            .expect("an event that the dispatcher knows")
    }

    /// Sweeps once, with a minute to go.
    pub async fn sweep(&self, dispatcher: &Dispatcher) -> Value {
        self.wake(dispatcher, events::schedule()).await
    }

    /// A batch of the stream with the insertion of every outbox item that the table holds now.
    pub async fn stream(&self) -> Value {
        let items = self.table.of_kind(kind::OUTBOX).await;
        let records = items
            .iter()
            .zip(1..)
            .map(|(item, n)| events::insert(item, n));
        events::batch(records.collect())
    }

    /// The one entry in the table. Panics where there is none or more.
    pub async fn entry(&self) -> OutboxEntry {
        let items = self.table.of_kind(kind::OUTBOX).await;
        assert_eq!(items.len(), 1, "one entry: {items:#?}");
        items[0].entry()
    }

    /// The entry of an action.
    pub async fn entry_of(&self, key: &ActionKey) -> OutboxEntry {
        let item = self.table.item(key, kind::OUTBOX).await;
        item.expect("an outbox item").entry()
    }

    /// Ends everything but what is on the engine, which comes back.
    pub fn into_engine(self) -> Engine {
        self.engine
    }
}

/// Reads an `ackbox.toml`; a test's own mistakes in it are shown whole.
pub fn parsed(config: &str) -> Config {
    match Config::parse("ackbox.toml", config) {
        Ok(config) => config,
        Err(mistakes) => panic!("a test's configuration:\n{mistakes}"),
    }
}

/// Secrets whose values are [`sender::secret`] of their names.
pub fn secrets() -> Secrets {
    Secrets::new(|name| Some(sender::secret(name)))
}

/// A name in the configuration.
pub fn name(text: &str) -> Name {
    text.parse().expect("a test's name")
}

/// A destination that always answers so.
pub async fn answering(status: u16) -> Destination {
    Destination::start(move |_| Behaviour::status(status))
        .await
        .expect("a destination starts")
}

/// A source `orders` (Standard Webhooks) whose `order.paid` goes to the destination `warehouse`, which
/// keeps keys for a day.
pub fn orders(destination: &Destination) -> String {
    format!(
        "{}{}",
        orders_source(),
        warehouse(destination, "{ window = \"24h\" }", "retry")
    )
}

/// The same, with a destination that keeps no keys.
pub fn orders_without_keys(destination: &Destination) -> String {
    format!(
        "{}{}",
        orders_source(),
        warehouse(destination, "\"none\"", "hold")
    )
}

/// The source `orders` alone.
pub fn orders_source() -> String {
    r#"
[source.orders]
scheme = "standard-webhooks"
secrets = ["env:ORDERS"]

[[source.orders.rule]]
name = "ship"
on = ["order.paid"]
key = ["message:id"]
destination = "warehouse"
"#
    .to_owned()
}

/// The destination `warehouse`.
pub fn warehouse(destination: &Destination, idempotency: &str, on_unknown: &str) -> String {
    format!(
        r#"
[destination.warehouse]
url = "{}"
idempotency = {idempotency}
on_unknown = "{on_unknown}"
timeout = "5s"
allow_private = true
"#,
        destination.url("/orders")
    )
}

/// A body of the source `orders` that its rule wants.
pub fn order(number: u64) -> Vec<u8> {
    format!(r#"{{"type":"order.paid","data":{{"order":{number},"total":"19.90"}}}}"#).into_bytes()
}
