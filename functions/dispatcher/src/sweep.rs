//! The sweep: finds entries whose time has come, by index, and dispatches them. Each destination is
//! swept beside the others with its own share, so that a dead one cannot stand in a healthy one's way.
//! One that is paused is not queried at all.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use ackbox_domain::breaker::Gate;
use ackbox_domain::causes::in_one_line;
use ackbox_domain::{ActionKey, Name, OutboxEntry};
use ackbox_store::{Class, StoreError};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Dispatcher;
use crate::dispatch::{Dispatched, Limits};

/// What a sweep did, by what became of each due entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Swept {
    /// Entries found due.
    pub(crate) found: u64,
    /// Attempts made and settled.
    pub(crate) attempted: u64,
    /// Settled without an attempt.
    pub(crate) settled: u64,
    /// Claims refused because somebody else was there first.
    pub(crate) refused: u64,
    /// Entries that were not to be touched after all (closed, not due, in progress).
    pub(crate) passed_over: u64,
    /// Entries left for the next sweep, for want of time or because their destination was paused.
    pub(crate) left: u64,
    /// Entries or pages that our own failure left undone.
    pub(crate) failed: u64,
    /// Destinations that were paused, or are since.
    pub(crate) paused: u64,
}

impl Swept {
    fn count(&mut self, dispatched: &Dispatched) {
        self.found += 1;
        *match dispatched {
            Dispatched::Attempted(_) => &mut self.attempted,
            Dispatched::Settled(_) => &mut self.settled,
            Dispatched::Refused => &mut self.refused,
            Dispatched::PassedOver => &mut self.passed_over,
            Dispatched::NoTime | Dispatched::Paused => &mut self.left,
            Dispatched::OursFailed => &mut self.failed,
        } += 1;
    }

    fn add(mut self, other: &Self) -> Self {
        self.found += other.found;
        self.attempted += other.attempted;
        self.settled += other.settled;
        self.refused += other.refused;
        self.passed_over += other.passed_over;
        self.left += other.left;
        self.failed += other.failed;
        self.paused += other.paused;
        self
    }
}

impl Dispatcher {
    pub(crate) async fn sweep(&self, deadline: Instant) -> Value {
        let names = self.destinations().await;
        let share = (self.0.config.delivery.concurrency / names.len().max(1)).max(4);
        let limits = Limits {
            begin_until: deadline,
            deadline,
        };
        // A task each: in one task, a destination with much to do takes the whole of the runtime's
        // budget for one turn, every time, and those behind it have none.
        let mut sweeps = JoinSet::new();
        for name in &names {
            let (dispatcher, name, limits) = (self.clone(), name.clone(), limits);
            sweeps.spawn(async move { dispatcher.sweep_destination(&name, share, &limits).await });
        }
        let mut total = Swept::default();
        while let Some(ended) = sweeps.join_next().await {
            match ended {
                Ok(swept) => total = total.add(&swept),
                Err(error) => {
                    tracing::error!(%error, "sweep.destination_failed");
                    total.failed += 1;
                }
            }
        }
        tracing::info!(swept = ?total, destinations = names.len(), "sweep.ended");
        serde_json::to_value(&total).unwrap_or_default()
    }

    /// Every destination that may have entries: of the configuration, and of the table's own memory,
    /// so that entries of a removed destination are still seen.
    async fn destinations(&self) -> BTreeSet<Name> {
        let mut names: BTreeSet<Name> = self.0.config.destinations.keys().cloned().collect();
        match self.0.store.meta().await {
            Ok(meta) => names.extend(meta.destinations),
            Err(error) => tracing::error!(error = %in_one_line(&error), "sweep.names_unavailable"),
        }
        names
    }

    /// Sweeps one destination: nothing where it is paused; where its pause is over, one entry after the
    /// other until one of them, the probe, has ended it; and the rest side by side.
    async fn sweep_destination(&self, name: &Name, share: usize, limits: &Limits) -> Swept {
        let mut swept = Swept::default();
        let is_done = AtomicBool::new(false);
        let mut keys = self.due_keys(name, &is_done);
        loop {
            match self.gate(name).await {
                Ok(Gate::Open) => break,
                Ok(Gate::Over) => {}
                Ok(Gate::Paused { .. }) => {
                    swept.paused += 1;
                    return swept;
                }
                Err(error) => {
                    tracing::error!(destination = %name, error = %in_one_line(&error), "sweep.pause_unavailable");
                    swept.failed += 1;
                    return swept;
                }
            }
            let Some(key) = keys.next().await else {
                return swept;
            };
            let dispatched = self.dispatch_found(name, key, limits).await;
            swept.count(&dispatched);
            // Without an answer of the table nobody knows whether the probe is taken.
            if matches!(dispatched, Dispatched::NoTime | Dispatched::OursFailed) {
                return swept;
            }
        }
        let mut done = keys
            .map(|key| self.dispatch_found(name, key, limits))
            .buffer_unordered(self.at_once(name, share))
            // Boxed, so that the compiler sees that the whole may run on any thread.
            .boxed();
        let mut is_paused = false;
        while let Some(dispatched) = done.next().await {
            is_paused |= dispatched == Dispatched::Paused;
            if is_paused || dispatched == Dispatched::NoTime {
                is_done.store(true, Ordering::Relaxed);
            }
            swept.count(&dispatched);
        }
        swept.paused += u64::from(is_paused);
        swept
    }

    /// How many entries of a destination are dispatched at a time.
    fn at_once(&self, name: &Name, share: usize) -> usize {
        let destination = self.0.config.destinations.get(name);
        let own = destination.and_then(|destination| destination.concurrency);
        own.map_or(share, |own| own.min(share))
    }

    async fn dispatch_found(
        &self,
        name: &Name,
        key: Result<ActionKey, StoreError>,
        limits: &Limits,
    ) -> Dispatched {
        match key {
            Ok(key) => self.dispatch_key(name, &key, limits).await,
            Err(error) => {
                tracing::error!(destination = %name, error = %in_one_line(&error), "sweep.page_failed");
                Dispatched::OursFailed
            }
        }
    }

    /// The keys of a destination's due entries, page after page, until none is left or time is up.
    fn due_keys<'a>(
        &'a self,
        name: &'a Name,
        is_done: &'a AtomicBool,
    ) -> stream::BoxStream<'a, Result<ActionKey, StoreError>> {
        let pages = self.0.store.due(Class::Open, name, self.now());
        stream::unfold(Some(pages), move |pages| async move {
            let mut pages = pages?;
            if is_done.load(Ordering::Relaxed) {
                return None;
            }
            match pages.next().await {
                Ok(Some(keys)) => Some((keys.into_iter().map(Ok).collect::<Vec<_>>(), Some(pages))),
                Ok(None) => None,
                Err(error) => Some((vec![Err(error)], None)),
            }
        })
        .flat_map(stream::iter)
        .boxed()
    }

    async fn dispatch_key(&self, name: &Name, key: &ActionKey, limits: &Limits) -> Dispatched {
        match self.entry_to_dispatch(name, key).await {
            Ok(Ok(entry)) => self.dispatch(entry, limits).await,
            Ok(Err(instead)) => instead,
            Err(error) => {
                tracing::error!(action.key = %key, error = %in_one_line(&error), "sweep.entry_unavailable");
                Dispatched::OursFailed
            }
        }
    }

    /// The entry as it stands now, or why it is not dispatched.
    async fn entry_to_dispatch(
        &self,
        name: &Name,
        key: &ActionKey,
    ) -> Result<Result<OutboxEntry, Dispatched>, StoreError> {
        // It was found before the pause began: not even read now.
        if let Gate::Paused { .. } = self.gate(name).await? {
            return Ok(Err(Dispatched::Paused));
        }
        // Read right before it is claimed: the index is behind, and another sweep may have been here.
        let entry = self.0.store.entry(key).await?;
        Ok(entry.ok_or(Dispatched::PassedOver))
    }
}
