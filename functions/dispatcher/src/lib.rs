//! The dispatcher: an outbox entry comes in, one attempt under its stable key goes out, and what is
//! known of the attempt is settled.
//!
//! Who acts: a function on the table's stream (new entries) and a function on a schedule (entries
//! whose time has come). Both run this code; only `trigger` tells them apart, and both may run many
//! times at once. What keeps them apart is the claim alone: a conditional write that gives one of
//! them the right to one attempt, until a time. The stream is a hint. Without any stream record, the
//! sweep finds every entry by the index; a record that comes twice, late or out of order finds an
//! entry that is claimed or closed.
//!
//! What must never happen: a request without a claim that covers it, and an attempt that may have
//! arrived and leaves no trace. The claim is that trace: it is written before the request opens, and
//! a claim that ran out without an end on record counts as an attempt that may have arrived.

use std::sync::Arc;

use ackbox_config::Config;
use ackbox_domain::Timestamp;
use ackbox_edge::Clock;
use ackbox_outbound::Outbound;
use ackbox_store::Store;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::Instant;

mod attempt;
mod breaker;
mod dispatch;
mod permits;
mod record;
mod stream;
mod sweep;
mod trigger;

pub use trigger::NotATrigger;

use breaker::Circuits;
use trigger::Trigger;

/// Everything one dispatcher needs, built once per process.
#[derive(Clone)]
pub struct Dispatcher(Arc<Inner>);

struct Inner {
    config: Config,
    store: Store,
    outbound: Outbound,
    clock: Clock,
    circuits: Circuits,
}

impl Dispatcher {
    /// A dispatcher for this configuration.
    pub fn new(config: Config, store: Store, outbound: Outbound, clock: Clock) -> Self {
        let store = store
            .telling(config.notify.clone(), config.delivery.timing)
            .keeping(config.retentions());
        Self(Arc::new(Inner {
            circuits: Circuits::of(&config),
            config,
            store,
            outbound,
            clock,
        }))
    }

    /// Handles one invocation, which ends at `deadline`. The answer is what Lambda expects of the trigger.
    ///
    /// # Errors
    /// An event that is neither a stream batch nor a sweep.
    pub async fn handle(&self, event: Value, deadline: Instant) -> Result<Value, NotATrigger> {
        // Erased, so that the compiler does not carry the whole way through every caller's type.
        let handled: BoxFuture<'_, Value> = match Trigger::parse(event)? {
            Trigger::Stream(records) => self.stream(records, deadline).boxed(),
            Trigger::Sweep => self.sweep(deadline).boxed(),
        };
        Ok(handled.await)
    }

    fn now(&self) -> Timestamp {
        (self.0.clock)()
    }
}
