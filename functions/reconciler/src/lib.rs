//! The reconciler: entries of which nobody knows whether they arrived come in, each destination is
//! asked, and its word is settled. Bound jobs of which nothing was heard come in too, and their source is
//! asked; and so do parked observations, which are offered again to their jobs. In the end, what waits is
//! counted and told.
//!
//! It runs on a schedule, beside dispatchers and other reconcilers. Asking is not delivering: two that
//! ask about one entry do no harm, and of what they settle, the first holds. A destination's "not
//! applied" makes the entry pending again, for one attempt more; its "applied" closes it.
//!
//! What must never happen: that silence, an error or an answer that no rule knows is taken for a word.

use std::sync::Arc;
use std::time::Duration;

use ackbox_config::{Config, DestinationConfig, Reconcile};
use ackbox_domain::causes::in_one_line;
use ackbox_domain::settlement::{
    AskDecision, Settled, Settlement, Standing, Terms, Word, may_ask, may_ask_nobody, settle_asked,
    settle_unasked,
};
use ackbox_domain::{ActionKey, Name, OutboxEntry, StoredBody, Timestamp};
use ackbox_edge::Clock;
use ackbox_outbound::{Asked, Outbound, Question};
use ackbox_store::{Change, Class, Gauged, SettleResult, Store, StoreError};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

mod count;
mod gauge;
mod parked;
mod record;
mod silent;
mod time;

use count::Became;
pub use count::Reconciled;
use time::Time;

/// Everything one reconciler needs, built once per process.
#[derive(Clone)]
pub struct Reconciler(Arc<Inner>);

struct Inner {
    config: Config,
    store: Store,
    outbound: Outbound,
    clock: Clock,
}

impl Reconciler {
    /// A reconciler for this configuration.
    pub fn new(config: Config, store: Store, outbound: Outbound, clock: Clock) -> Self {
        let store = store
            .telling(config.notify.clone(), config.delivery.timing)
            .keeping(config.retentions());
        Self(Arc::new(Inner {
            config,
            store,
            outbound,
            clock,
        }))
    }

    /// Asks about every entry whose time has come, until none is left or `deadline` is near. The answer
    /// says how many became what ([`Reconciled`]).
    pub async fn run(&self, deadline: Instant) -> Value {
        let time = Time::until(deadline);
        // Erased, so that the compiler does not carry the whole way through every caller's type.
        let naming: BoxFuture<'_, Gauged> = self.names().boxed();
        let names = naming.await;
        let all: BoxFuture<'_, Reconciled> = self.all(&names, time).boxed();
        let total = all.await;
        tracing::info!(reconciled = ?total, "reconcile.ended");
        if total.left > 0 {
            // Once is a backlog; run after run, the function's time is too short for its questions.
            tracing::warn!(left = total.left, "reconcile.left");
        }
        let gauging: BoxFuture<'_, ()> = self.gauge(&names, time).boxed();
        gauging.await;
        serde_json::to_value(&total).unwrap_or_default()
    }

    async fn all(&self, names: &Gauged, time: Time) -> Reconciled {
        let Gauged {
            destinations,
            spaces,
            ..
        } = names.clone();
        let share = (self.0.config.delivery.concurrency / destinations.len().max(1)).max(4);
        // A task each, as the sweep has: none stands in the way of another.
        let mut tasks = JoinSet::new();
        for name in destinations {
            let reconciler = self.clone();
            tasks.spawn(async move { reconciler.destination(&name, share, time).await });
        }
        for space in spaces {
            let reconciler = self.clone();
            tasks.spawn(async move {
                // Side by side: much that is parked must not keep silent jobs from being asked about.
                let (parked, silent) = tokio::join!(
                    reconciler.parked(&space, time),
                    reconciler.silent(&space, time)
                );
                parked.add(&silent)
            });
        }
        let mut total = Reconciled::default();
        while let Some(ended) = tasks.join_next().await {
            match ended {
                Ok(reconciled) => total = total.add(&reconciled),
                Err(error) => {
                    tracing::error!(%error, "reconcile.destination_failed");
                    total.count(Became::Failed);
                }
            }
        }
        total
    }

    /// Every name that may have something, also where the configuration knows it no more.
    async fn names(&self) -> Gauged {
        let config = &self.0.config;
        let mut names = Gauged {
            destinations: config.destinations.keys().cloned().collect(),
            sources: config.sources.keys().cloned().collect(),
            spaces: config.spaces(),
        };
        match self.0.store.meta().await {
            Ok(meta) => {
                names.destinations.extend(meta.destinations);
                names.sources.extend(meta.sources);
                names.spaces.extend(meta.spaces);
            }
            Err(error) => {
                tracing::error!(error = %in_one_line(&error), "reconcile.names_unavailable");
            }
        }
        names
    }

    async fn destination(&self, name: &Name, share: usize, time: Time) -> Reconciled {
        let mut reconciled = Reconciled::default();
        let mut pages = self.0.store.due(Class::Unknown, name, self.now());
        loop {
            let keys = match pages.next().await {
                Ok(Some(keys)) => keys,
                Ok(None) => return reconciled,
                Err(error) => {
                    tracing::error!(destination = %name, error = %in_one_line(&error), "reconcile.page_failed");
                    reconciled.count(Became::Failed);
                    return reconciled;
                }
            };
            let became: Vec<Became> = stream::iter(keys)
                .map(|key| self.one(key, time))
                .buffer_unordered(share)
                .collect()
                .await;
            became.iter().for_each(|became| reconciled.count(*became));
            if became.contains(&Became::Left) {
                return reconciled;
            }
        }
    }

    async fn one(&self, key: ActionKey, time: Time) -> Became {
        match self.entry(&key, time).await {
            Ok(became) => became,
            Err(error) => {
                tracing::error!(action.key = %key, error = %in_one_line(&error), "reconcile.table_failed");
                Became::Failed
            }
        }
    }

    async fn entry(&self, key: &ActionKey, time: Time) -> Result<Became, StoreError> {
        // Read right before it is asked about: the index is behind.
        let Some(entry) = self.0.store.entry(key).await? else {
            return Ok(Became::PassedOver);
        };
        let standing = Standing::from(&entry);
        let destination = self.0.config.destinations.get(&entry.destination);
        let decision = match destination {
            Some(destination) => {
                let terms = self.terms(destination);
                may_ask(&standing, terms, destination.origin(), self.now())
            }
            None => may_ask_nobody(&standing, &self.0.config.delivery.timing, self.now()),
        };
        let question = destination.and_then(|to| Some((to, to.reconcile.as_ref()?)));
        match (decision, question) {
            (AskDecision::Settle(settled), _) => {
                self.settle_without_a_word(&entry, &settled, None).await
            }
            (AskDecision::Ask, Some((destination, reconcile))) => {
                self.ask(&entry, destination, reconcile, time).await
            }
            (AskDecision::Ask | AskDecision::NotDue { .. } | AskDecision::NotUnknown(_), _) => {
                Ok(Became::PassedOver)
            }
        }
    }

    async fn ask(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        reconcile: &Reconcile,
        time: Time,
    ) -> Result<Became, StoreError> {
        let margin = self.0.config.delivery.timing.settle_margin;
        let needed = reconcile.timeout + margin;
        if !time.is_enough_for(needed) {
            return self.leave(entry, reconcile, needed, time).await;
        }
        let asked = self.asked(entry, reconcile).await?;
        let now = self.now();
        let settled = settle_asked(
            &Standing::from(entry),
            asked.word,
            reconcile.give_up_after,
            self.terms(destination),
            fastrand::f64(),
            now,
        );
        let change = Change {
            settled: &settled,
            attempt: None,
            told: Some(&asked.detail),
            now,
        };
        let result = self.0.store.settle(entry, change, Instant::now() + margin);
        let result = result.await?;
        record::asked(entry, &asked, &settled, &result);
        Ok(match (result, asked.word) {
            (SettleResult::Overtaken(_), _) => Became::Overtaken,
            (SettleResult::Settled, Word::Applied) => Became::Applied,
            (SettleResult::Settled, Word::NotApplied) => Became::NotApplied,
            (SettleResult::Settled, Word::StillUnknown) => match settled.settlement {
                Settlement::Held(_) => Became::Held,
                _ => Became::StillUnknown,
            },
        })
    }

    /// Leaves an entry to a later run, if one could have the time that is `needed`.
    async fn leave(
        &self,
        entry: &OutboxEntry,
        reconcile: &Reconcile,
        needed: Duration,
        time: Time,
    ) -> Result<Became, StoreError> {
        // What only this run has no time for is asked about by the next one, however late.
        if time.was_enough_for(needed) {
            return Ok(Became::Left);
        }
        let standing = Standing::from(entry);
        let Some(settled) = settle_unasked(&standing, reconcile.give_up_after, self.now()) else {
            return Ok(Became::Left);
        };
        let why = format!("could not be asked: no run has the {needed:?} that a question needs");
        self.settle_without_a_word(entry, &settled, Some(&why))
            .await
    }

    async fn asked(&self, entry: &OutboxEntry, reconcile: &Reconcile) -> Result<Asked, StoreError> {
        let stored;
        let body = match &entry.body {
            StoredBody::Inline(body) => body,
            StoredBody::Payload => match self.0.store.payload(&entry.key).await? {
                Some(body) => {
                    stored = body;
                    &stored
                }
                None => {
                    return Ok(Asked {
                        word: Word::StillUnknown,
                        status: None,
                        detail: "could not be asked: the payload item is gone".to_owned(),
                    });
                }
            },
        };
        let key = &entry.key;
        let question = Question { key, body };
        let asking: BoxFuture<'_, Asked> = self.0.outbound.ask(reconcile, &question).boxed();
        Ok(asking.await)
    }

    async fn settle_without_a_word(
        &self,
        entry: &OutboxEntry,
        settled: &Settled,
        told: Option<&str>,
    ) -> Result<Became, StoreError> {
        let change = Change {
            settled,
            attempt: None,
            told,
            now: self.now(),
        };
        let deadline = Instant::now() + self.0.config.delivery.timing.settle_margin;
        let result = self.0.store.settle(entry, change, deadline).await?;
        record::unasked(entry, settled, &result);
        Ok(match result {
            SettleResult::Settled => Became::Held,
            SettleResult::Overtaken(_) => Became::Overtaken,
        })
    }

    fn terms<'t>(&'t self, destination: &'t DestinationConfig) -> Terms<'t> {
        Terms {
            policy: &destination.policy,
            timing: &self.0.config.delivery.timing,
        }
    }

    fn now(&self) -> Timestamp {
        (self.0.clock)()
    }
}

/// Shows nothing of what it knows: it knows secrets.
impl std::fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reconciler").finish_non_exhaustive()
    }
}
