//! A proxy in front of a DynamoDB-compatible engine that fails on demand: calls go in, and go on to
//! the engine, except where a rule says otherwise. What no rule names must pass unchanged.
//!
//! A [`Rule`] picks calls by operation (the last part of `X-Amz-Target`), by a text in their body,
//! and by number among those that it picks; its [`Fault`] says what happens to them. Every call is
//! counted when it comes in. The proxy knows nothing of ackbox and of no test's runtime: it serves
//! any client that can be told an endpoint, another process included.
//!
//! ```text
//! client ---> [count] ---> rule? ---> [fault] ---> engine
//!                           no rule ----------------^
//! ```

mod answer;
mod ledger;
mod rule;
mod serve;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use answer::Refusal;
pub use ledger::{Call, Consumed};
pub use rule::{Fault, Injected, Rule};

/// A running proxy. Dropping it ends it, and every call in it.
#[derive(Debug)]
pub struct Faults {
    address: SocketAddr,
    shared: Arc<serve::Shared>,
    serving: JoinHandle<()>,
}

impl Faults {
    /// Starts a proxy on a port of its own, in front of the engine at `endpoint` (`http://host:port`).
    ///
    /// # Errors
    /// The listening socket could not be had.
    pub async fn before(endpoint: &str) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let upstream = endpoint.trim_start_matches("http://").trim_end_matches('/');
        let shared = Arc::new(serve::Shared::new(upstream));
        let serving = tokio::spawn(serve::serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            serving,
        })
    }

    /// Where clients send their calls instead of to the engine.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on, the calls that `rule` picks meet `fault`. Where several rules pick a call, the
    /// one that was injected first wins.
    pub fn inject(&self, rule: Rule, fault: Fault) -> Injected {
        self.shared.rules.add(rule, fault)
    }

    /// Forgets every rule. Calls that are stalled stay so until released.
    pub fn clear(&self) {
        self.shared.rules.clear();
    }

    /// Every call since the start, or since [`Faults::forget`], in the order they came in.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.ledger.calls()
    }

    /// How many calls of one operation came in.
    pub fn count(&self, operation: &str) -> usize {
        self.calls()
            .iter()
            .filter(|call| call.operation == operation)
            .count()
    }

    /// Starts counting anew.
    pub fn forget(&self) {
        self.shared.ledger.forget();
    }

    /// From now on asks the engine for `ReturnConsumedCapacity` with every call, and adds up what it
    /// says, until [`Faults::forget`].
    pub fn measure(&self) {
        self.shared.ledger.measure();
    }

    /// What the engine said was consumed since [`Faults::measure`].
    pub fn consumed(&self) -> Consumed {
        self.shared.ledger.consumed()
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[cfg(test)]
mod tests;
