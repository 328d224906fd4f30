//! What went through the proxy: every call, and what it consumed where that is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// One call that came in, whatever became of it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operation, e.g. `TransactWriteItems`.
    pub operation: String,
    /// The JSON that came with it, as the client wrote it.
    pub body: Value,
}

/// Capacity units as the engine counted them, indexes included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consumed {
    /// Of calls that write.
    pub writes: f64,
    /// Of calls that read.
    pub reads: f64,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    calls: Mutex<Vec<Call>>,
    measuring: AtomicBool,
    consumed: Mutex<Consumed>,
}

impl Ledger {
    pub(super) fn note(&self, operation: &str, body: &Value) {
        locked(&self.calls).push(Call {
            operation: operation.to_owned(),
            body: body.clone(),
        });
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        locked(&self.calls).clone()
    }

    pub(super) fn forget(&self) {
        locked(&self.calls).clear();
        *locked(&self.consumed) = Consumed::default();
        self.measuring.store(false, Ordering::Relaxed);
    }

    pub(super) fn measure(&self) {
        self.measuring.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.measuring.load(Ordering::Relaxed)
    }

    pub(super) fn consumed(&self) -> Consumed {
        *locked(&self.consumed)
    }

    /// Adds what an answer says: one object for a single-table call, a list for several tables.
    pub(super) fn add(&self, operation: &str, answer: &Value) {
        let Some(capacity) = answer.get("ConsumedCapacity") else {
            return;
        };
        let units: f64 = match capacity {
            Value::Array(tables) => tables.iter().filter_map(units).sum(),
            table => units(table).unwrap_or_default(),
        };
        let mut consumed = locked(&self.consumed);
        if matches!(
            operation,
            "GetItem" | "Query" | "Scan" | "BatchGetItem" | "TransactGetItems"
        ) {
            consumed.reads += units;
        } else {
            consumed.writes += units;
        }
    }
}

fn units(table: &Value) -> Option<f64> {
    table.get("CapacityUnits")?.as_f64()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
