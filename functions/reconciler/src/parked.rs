//! Parked observations whose time has come: each is offered again to its job. What must never happen: that
//! one is dropped because nobody was there to take it up.

use ackbox_domain::Name;
use ackbox_domain::causes::in_one_line;
use ackbox_store::{Class, ListedJob, StillParked, StoreError};
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::Reconciler;
use crate::count::{Became, Reconciled};
use crate::time::Time;

/// How many are offered at a time.
const AT_ONCE: usize = 8;

impl Reconciler {
    /// Offers what is due of a job space.
    pub(super) async fn parked(&self, space: &Name, time: Time) -> Reconciled {
        let mut reconciled = Reconciled::default();
        let mut pages = self.0.store.due_jobs(Class::Parked, space, self.now());
        loop {
            let found = match pages.next().await {
                Ok(Some(found)) => found,
                Ok(None) => return reconciled,
                Err(error) => return self.page_failed(space, &error, reconciled),
            };
            let became: Vec<Became> = stream::iter(found)
                .map(|parked| self.offer(parked, time))
                .buffer_unordered(AT_ONCE)
                .collect()
                .await;
            became.iter().for_each(|became| reconciled.count(*became));
            if became.contains(&Became::Left) {
                return reconciled;
            }
        }
    }

    pub(super) fn page_failed(
        &self,
        space: &Name,
        error: &StoreError,
        mut reconciled: Reconciled,
    ) -> Reconciled {
        tracing::error!(job.space = %space, error = %in_one_line(error), "reconcile.page_failed");
        reconciled.count(Became::Failed);
        reconciled
    }

    async fn offer(&self, parked: ListedJob, time: Time) -> Became {
        let margin = self.0.config.delivery.timing.settle_margin;
        if !time.is_enough_for(margin) {
            return Became::Left;
        }
        match self.offered(&parked, Instant::now() + margin).await {
            Ok(became) => became,
            Err(error) => {
                tracing::error!(job = %parked.job, error = %in_one_line(&error), "reconcile.table_failed");
                Became::Failed
            }
        }
    }

    async fn offered(&self, parked: &ListedJob, deadline: Instant) -> Result<Became, StoreError> {
        let store = &self.0.store;
        let timing = &self.0.config.delivery.timing;
        let taken = store.take_up(&parked.job, timing, self.now(), deadline);
        let taken = taken.await;
        if let Ok(taken) = &taken
            && !taken.is_empty()
        {
            tracing::info!(name: "parked.taken_up", job = %parked.job, became = ?taken, "parked.taken_up");
            return Ok(Became::TakenUp);
        }
        // Also one that cannot be taken up waits on, and has its end.
        let left = store.leave_parked(parked, self.now(), deadline).await?;
        taken?;
        Ok(match left {
            StillParked::Waits => Became::StillParked,
            StillParked::Gone => Became::PassedOver,
            StillParked::Expired => {
                tracing::warn!(name: "parked.expired", job = %parked.job, "parked.expired");
                Became::Expired
            }
        })
    }
}
