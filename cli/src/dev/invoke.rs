//! One invocation of the dispatcher, as Lambda would run it: an event comes in, an answer or a
//! function error goes out. It never outlives its timeout, and a kill ends it wherever it stands.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackbox_dispatcher::Dispatcher;
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Invokes the dispatcher. Clones share what is in flight.
#[derive(Clone)]
pub(super) struct Invoker {
    dispatcher: Dispatcher,
    timeout: Duration,
    in_flight: Arc<InFlight>,
}

/// Why an invocation has no answer: what Lambda calls a function error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvocationError {
    /// Its sandbox was killed.
    #[error("the invocation was killed")]
    Killed,
    /// It ran longer than `function_timeout`.
    #[error("the invocation ran longer than {timeout:?}")]
    TimedOut {
        /// How long it might have run.
        timeout: Duration,
    },
    /// It panicked.
    #[error("the invocation panicked")]
    Panicked,
    /// The function refused the event.
    #[error("{0}")]
    Refused(String),
}

impl InvocationError {
    /// As Lambda answers a caller that waits.
    pub(super) fn to_json(&self) -> Value {
        let kind = match self {
            Self::Killed => "Runtime.ExitError",
            Self::TimedOut { .. } => "Sandbox.Timedout",
            Self::Panicked | Self::Refused(_) => "Runtime.HandlerError",
        };
        json!({ "errorType": kind, "errorMessage": self.to_string() })
    }
}

impl Invoker {
    pub(super) fn new(dispatcher: Dispatcher, timeout: Duration) -> Self {
        let in_flight = Arc::default();
        Self {
            dispatcher,
            timeout,
            in_flight,
        }
    }

    /// Runs one invocation to its end. Dropping the future ends the invocation too.
    pub(super) async fn invoke(&self, event: Value) -> Result<Value, InvocationError> {
        let dispatcher = self.dispatcher.clone();
        let deadline = Instant::now() + self.timeout;
        // A task, so that it can be aborted from outside, and so that its panic stays in it.
        let task = tokio::spawn(async move { dispatcher.handle(event, deadline).await });
        let _registered = self.in_flight.register(task.abort_handle());
        match tokio::time::timeout_at(deadline, task).await {
            Err(_) => Err(InvocationError::TimedOut {
                timeout: self.timeout,
            }),
            Ok(Err(ended)) if ended.is_cancelled() => Err(InvocationError::Killed),
            Ok(Err(_)) => Err(InvocationError::Panicked),
            Ok(Ok(Err(refused))) => Err(InvocationError::Refused(refused.to_string())),
            Ok(Ok(Ok(answer))) => Ok(answer),
        }
    }

    /// Ends every invocation in flight, wherever it stands.
    pub(super) fn kill(&self) {
        for handle in self.in_flight.handles().values() {
            handle.abort();
        }
    }
}

/// The invocations in flight.
#[derive(Default)]
struct InFlight {
    next: AtomicU64,
    handles: Mutex<HashMap<u64, AbortHandle>>,
}

impl InFlight {
    fn register(self: &Arc<Self>, handle: AbortHandle) -> Registered {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.handles().insert(number, handle);
        Registered {
            in_flight: Arc::clone(self),
            number,
        }
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<u64, AbortHandle>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An invocation that somebody waits for; when nobody does any more, it ends.
struct Registered {
    in_flight: Arc<InFlight>,
    number: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(handle) = self.in_flight.handles().remove(&self.number) {
            handle.abort();
        }
    }
}
