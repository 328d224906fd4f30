//! One cell's world: a table of its own on the shared engine, the faults before it, a destination, and
//! the functions' binaries as processes. In come sends and wakings, out comes what stands in the end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ackbox_domain::{EntryState, OutboxEntry, Timestamp};
use ackbox_store::schema::{attribute, kind};
use ackbox_tests::engine::{self, Engine, Item};
use ackbox_tests::events;
use ackbox_tests::function::{Function, Invoked, Setting, beside};
use ackbox_tests::requests::Host;
use ackbox_tests::sender::Webhook;
use ackbox_tests::world::{World, orders_source};
use serde_json::Value;

use super::cell::Keys;
use super::{paused, told};
use crate::destination::{Destination, Reply};

/// How long an invocation may take; the configuration below says the same.
pub(crate) const FUNCTION_TIMEOUT: Duration = Duration::from_secs(30);

/// How far the clocks may differ, by the configuration below.
const SKEW: Duration = Duration::from_millis(300);

/// The functions' binaries, and the engine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    endpoint: Arc<str>,
    receiver: PathBuf,
    dispatcher: PathBuf,
    reconciler: PathBuf,
}

impl Machine {
    /// The binaries beside this one, and the engine at `endpoint`.
    pub(crate) fn new(endpoint: &str) -> Result<Self, String> {
        Ok(Self {
            endpoint: endpoint.into(),
            receiver: beside("receiver")?,
            dispatcher: beside("dispatcher")?,
            reconciler: beside("reconciler")?,
        })
    }
}

/// What the receiver answered: the status and the outcome's word; `None` where its process died.
pub(crate) type Answer = Option<(u16, String)>;

/// One cell's world.
#[derive(Debug)]
pub(crate) struct Case {
    machine: Machine,
    pub(crate) world: World,
    pub(crate) destination: Destination,
    setting: Setting,
}

/// Whoever is told of trouble is at the same address.
fn telling(destination: &Destination) -> String {
    format!(
        r#"
[destination.operations]
url = "{}"
idempotency = {{ window = "24h" }}
timeout = "2s"
backoff = {{ first = "50ms", max = "200ms" }}
allow_private = true

[notify]
destination = "operations"
"#,
        destination.url()
    )
}

/// Short times, within the relations that a configuration must keep.
fn config(destination: &Destination, keys: Keys) -> String {
    let (idempotency, on_unknown) = match keys {
        Keys::Kept => (r#"{ window = "24h" }"#, "retry"),
        Keys::None => (r#""none""#, "hold"),
        Keys::Asked => (r#""none""#, "reconcile"),
    };
    let reconcile = match keys {
        Keys::Kept | Keys::None => String::new(),
        Keys::Asked => format!(
            r#"
[destination.warehouse.reconcile]
url = "{}"
timeout = "2s"
answers = [{{ status = 200, means = "applied" }}, {{ status = 404, means = "not_applied" }}]
"#,
            destination.question()
        ),
    };
    format!(
        r#"{}
[destination.warehouse]
url = "{}"
idempotency = {idempotency}
on_unknown = "{on_unknown}"
timeout = "2s"
backoff = {{ first = "50ms", max = "200ms" }}
allow_private = true
{reconcile}
[delivery]
lease = "4s"
settle_margin = "1500ms"
clock_skew = "300ms"
first_due = "5s"
stream_budget = "5s"
function_timeout = "30s"
accept_budget = "1s"
"#,
        orders_source(),
        destination.url()
    )
}

impl Case {
    pub(crate) async fn new(machine: &Machine, keys: Keys) -> Result<Self, String> {
        let destination = Destination::start(|_| Reply::Status(200))
            .await
            .map_err(|error| format!("the destination: {error}"))?;
        let config = config(&destination, keys);
        Self::with(machine, destination, config).await
    }

    /// A case whose destination refuses everything but notices of trouble, which go there too.
    pub(crate) async fn telling(machine: &Machine) -> Result<Self, String> {
        let destination = Destination::start(|request| Reply::Status(told::replies(&request.body)))
            .await
            .map_err(|error| format!("the destination: {error}"))?;
        let config = config(&destination, Keys::Kept) + &telling(&destination);
        Self::with(machine, destination, config).await
    }

    /// A case whose destination fails so often, is paused by that, and works from then on.
    pub(crate) async fn pausing(machine: &Machine, failures: usize) -> Result<Self, String> {
        let requests = AtomicUsize::new(0);
        let destination = Destination::start(move |_| {
            let before = requests.fetch_add(1, Ordering::SeqCst);
            Reply::Status(if before < failures { 503 } else { 200 })
        });
        let destination = destination
            .await
            .map_err(|error| format!("the destination: {error}"))?;
        let after = paused::AFTER;
        let pausing = format!(
            "allow_private = true\nconcurrency = 1\n\
             breaker = {{ after = {after}, pause = \"300ms\", max_pause = \"1s\" }}\n"
        );
        let config = config(&destination, Keys::Kept).replace("allow_private = true\n", &pausing);
        Self::with(machine, destination, config).await
    }

    async fn with(
        machine: &Machine,
        destination: Destination,
        config: String,
    ) -> Result<Self, String> {
        let table = engine::table_name();
        let world = World::on(Engine::at(&machine.endpoint), &table, &config).await;
        Ok(Self {
            machine: machine.clone(),
            world,
            destination,
            setting: Setting::new(&config, &table)?,
        })
    }

    /// A new environment of the receiver.
    pub(crate) async fn receiver(&self) -> Result<Function, String> {
        let endpoint = self.world.faults.endpoint();
        Function::start(&self.machine.receiver, &self.setting, &endpoint).await
    }

    /// A new environment of the dispatcher.
    pub(crate) async fn dispatcher(&self) -> Result<Function, String> {
        let endpoint = self.world.faults.endpoint();
        Function::start(&self.machine.dispatcher, &self.setting, &endpoint).await
    }

    /// A new environment of the reconciler.
    pub(crate) async fn reconciler(&self) -> Result<Function, String> {
        let endpoint = self.world.faults.endpoint();
        Function::start(&self.machine.reconciler, &self.setting, &endpoint).await
    }

    /// One webhook to this environment, signed now.
    pub(crate) async fn send(&self, receiver: &Function, id: &str, body: &str) -> Answer {
        let source = &self.world.config.sources["orders"];
        let webhook = Webhook::new(source, id, body, now());
        let event = webhook.wire().event(Host::FunctionUrl);
        match receiver.invoke(&event, FUNCTION_TIMEOUT).await {
            Invoked::Answered(answer) => {
                let status = answer["statusCode"].as_u64().unwrap_or_default();
                let outcome = answer["headers"]["ackbox-outcome"].as_str();
                Some((
                    u16::try_from(status).unwrap_or_default(),
                    outcome.unwrap_or_default().to_owned(),
                ))
            }
            Invoked::Failed(_) | Invoked::Died | Invoked::TimedOut => None,
        }
    }

    /// A batch with the insertion of every entry on the table.
    pub(crate) async fn batch(&self) -> Value {
        self.world.stream().await
    }

    /// Every entry on the table.
    pub(crate) async fn entries(&self) -> Vec<OutboxEntry> {
        let items = self.items(kind::OUTBOX).await;
        items.iter().map(Item::entry).collect()
    }

    /// Every item of a kind.
    pub(crate) async fn items(&self, kind: &str) -> Vec<Item> {
        self.world.table.of_kind(kind).await
    }

    /// Waits until the sweep would find every entry.
    pub(crate) async fn until_due(&self) {
        let entries = self.entries().await;
        if let Some(last) = entries.iter().filter_map(|entry| entry.due_at).max() {
            until(last).await;
        }
    }

    /// Waits until the pause that stands is over.
    pub(crate) async fn until_over(&self) -> Result<(), String> {
        until(self.paused_until().await.ok_or("nothing is paused")?).await;
        Ok(())
    }

    async fn paused_until(&self) -> Option<Timestamp> {
        let items = self.items(kind::PAUSE).await;
        let untils = items
            .iter()
            .filter_map(|item| item.number(attribute::UNTIL));
        untils.max().map(Timestamp::from_unix_ms)
    }

    /// Sweeps until the entry is unknown, and waits until it is to be asked about.
    pub(crate) async fn until_unknown(&self) -> Result<(), String> {
        let sweeper = self.dispatcher().await?;
        for _ in 0..20 {
            let entries = self.entries().await;
            let next = entries.iter().filter_map(next).min();
            until(next.ok_or("nothing is open")?).await;
            if entries
                .iter()
                .all(|entry| entry.state == EntryState::Unknown)
            {
                return Ok(());
            }
            sweeper.invoke(&events::schedule(), FUNCTION_TIMEOUT).await;
        }
        Err("the entry never became unknown".to_owned())
    }

    /// Sweeps, and reconciles, with new environments, whenever something is due, until nothing is open.
    pub(crate) async fn repair(&self) -> Result<(), String> {
        /// More sweeps than any cell needs.
        const SWEEPS: usize = 40;
        let (sweeper, reconciler) = (self.dispatcher().await?, self.reconciler().await?);
        for _ in 0..SWEEPS {
            let entries = self.entries().await;
            let Some(next) = entries.iter().filter_map(next).min() else {
                return Ok(());
            };
            until(self.paused_until().await.unwrap_or(next).max(next)).await;
            let schedule = events::schedule();
            sweeper.invoke(&schedule, FUNCTION_TIMEOUT).await;
            reconciler.invoke(&schedule, FUNCTION_TIMEOUT).await;
        }
        // Still open: the judge says so.
        Ok(())
    }
}

/// When an open entry may be taken up; `None` where it is closed or held.
fn next(entry: &OutboxEntry) -> Option<Timestamp> {
    match entry.state {
        EntryState::Delivered | EntryState::Dead | EntryState::Held => None,
        EntryState::Claimed => {
            let lease_over = entry.claim.as_ref().map(|c| c.lease_until.plus(SKEW));
            lease_over.max(entry.due_at)
        }
        EntryState::Pending | EntryState::Unknown => entry.due_at,
    }
}

/// Until the real clock shows more than this.
async fn until(time: Timestamp) {
    let left = time.plus(Duration::from_millis(10)).since(now());
    tokio::time::sleep(left).await;
}

fn now() -> Timestamp {
    ackbox::edge::now()
}
