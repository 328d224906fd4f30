//! Records that passed the filter become invocations: in comes what one shard gave, out comes how far
//! it is handed over. One batch at a time, in order, repeated until the function takes it or the
//! retries are spent; what is dropped then is not lost, because the sweep finds its entry.

use std::future::Future;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Mapping;
use super::answer::repeat_from;
use super::record::Ready;
use crate::dev::invoke::InvocationError;

/// The most bytes of one event (Lambda's quotas, "Invocation payload": 6 MB, synchronous).
const EVENT_MAX: usize = 6 * 1024 * 1024 - 64 * 1024;

/// The longest pause before a batch is repeated.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// What one shard gave and no invocation has taken yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    records: Vec<Ready>,
    bytes: usize,
    since: Option<Instant>,
}

impl Waiting {
    pub(super) fn push(&mut self, record: Ready) {
        self.since.get_or_insert_with(Instant::now);
        self.bytes += record.bytes;
        self.records.push(record);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Until when more may join; `None`: a batch is to go now, or there is nothing.
    pub(super) fn open_until(&self, mapping: &Mapping) -> Option<Instant> {
        let is_full = self.records.len() >= mapping.batch || self.bytes >= EVENT_MAX;
        let until = self.since? + mapping.window;
        (!is_full && Instant::now() < until).then_some(until)
    }

    /// The next batch: at most as many records, and bytes, as one event holds.
    pub(super) fn take(&mut self, mapping: &Mapping) -> Vec<Ready> {
        let mut bytes = 0;
        let fitting = self
            .records
            .iter()
            .take(mapping.batch.max(1))
            .take_while(|record| {
                bytes += record.bytes;
                bytes <= EVENT_MAX
            })
            .count();
        // One that is too large alone goes alone.
        let rest = self
            .records
            .split_off(fitting.max(1).min(self.records.len()));
        let batch = std::mem::replace(&mut self.records, rest);
        self.bytes = self.records.iter().map(|record| record.bytes).sum();
        self.since = (!self.records.is_empty()).then(Instant::now);
        batch
    }
}

/// Hands one batch over; `false`: told to stop before all of it was taken. `taken` is told each
/// sequence number up to which nothing is to be repeated.
pub(super) async fn hand_over<I, F>(
    invoke: &I,
    mapping: &Mapping,
    batch: Vec<Ready>,
    mut stop: watch::Receiver<bool>,
    mut taken: impl FnMut(&str),
) -> bool
where
    I: Fn(Value) -> F,
    F: Future<Output = Result<Value, InvocationError>>,
{
    let mut batch = batch.as_slice();
    let mut retries = 0;
    while let Some(last) = batch.last() {
        let records: Vec<&Value> = batch.iter().map(|record| &record.json).collect();
        let from = match invoke(json!({ "Records": records })).await {
            Ok(answer) => repeat_from(&answer, batch),
            Err(error) => {
                tracing::warn!(%error, records = batch.len(), "stream.invocation_failed");
                Some(0)
            }
        };
        match from {
            None => {
                taken(&last.sequence_number);
                return true;
            }
            Some(0) => retries += 1,
            Some(at) => {
                // Something was taken: what is left counts anew.
                retries = 1;
                taken(&batch[at - 1].sequence_number);
                batch = &batch[at..];
            }
        }
        if retries > mapping.retries {
            tracing::error!(
                records = batch.len(),
                retries = mapping.retries,
                "stream.batch_dropped: the sweep finds its entries"
            );
            taken(&last.sequence_number);
            return true;
        }
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return false,
            () = tokio::time::sleep(pause(mapping.first_pause, retries)) => {}
        }
    }
    true
}

/// Doubled each time, and somewhere in its upper half, so that shards do not go in step.
fn pause(first: Duration, retries: u32) -> Duration {
    let full = first.saturating_mul(2_u32.saturating_pow(retries.min(16).saturating_sub(1)));
    full.min(PAUSE_MAX).mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests;
