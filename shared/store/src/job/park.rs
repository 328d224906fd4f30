//! The end of a job that is not bound yet is kept until it is, and taken up then.

use std::time::Duration;

use ackbox_domain::job::{JobObservation, JobRef, Unbound};
use ackbox_domain::{Timestamp, Timing};
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};

use super::{JobAcceptance, JobStory, ObservedRecord, Offer};
use crate::accept::transaction::put_if_absent;
use crate::cancelled::Failed;
use crate::error::failed;
use crate::expression::{Update, item_key, n, s, time};
use crate::item::observed::ObservedItem;
use crate::meta::Used;
use crate::retry::within;
use crate::schema::{EXPIRED_KEPT_DAYS, attribute, job_pk, kind};
use crate::{Deadline, ListedJob, Store, StoreError};

const PARK: &str = "parking an observation";
const TAKE: &str = "taking up a parked observation";
const LEAVE: &str = "leaving an observation parked";

/// When what is parked is first offered again. Registering takes it up at once; this is for a job whose
/// application writes the item itself, or whose registrar died in between.
const FIRST_OFFER: Duration = Duration::from_secs(10);

/// How long what was given up is kept.
const EXPIRED_KEPT: Duration = Duration::from_secs(EXPIRED_KEPT_DAYS * 24 * 60 * 60);

/// The positions in the transaction.
const JOB: usize = 0;
const PARKED: usize = 1;

/// What became of a parked observation whose job is still not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StillParked {
    /// It is offered again later.
    Waits,
    /// It has waited long enough, and is not offered any more. It stays, and binding the job still takes it up.
    Expired,
    /// It was taken up, or told again, meanwhile.
    Gone,
}

impl Store {
    /// `None`: the job is bound meanwhile.
    pub(super) async fn park(
        &self,
        seen: &JobObservation,
        Offer {
            parked_for,
            deadline,
            ..
        }: Offer<'_>,
    ) -> Result<Option<JobAcceptance>, StoreError> {
        let item = ObservedItem::parked(seen, parked_for, FIRST_OFFER);
        let attributes = item.encoded()?;
        self.remember(
            Used::by_observation(&seen.source, &seen.job.space),
            deadline,
        )
        .await?;
        let table = &self.inner.table;
        let writes = vec![
            still_unbound(table, &seen.job),
            put_if_absent(table, attributes),
        ];
        let failed = self.transact(PARK, writes, &[JOB, PARKED], deadline);
        match failed.await? {
            None => Ok(Some(JobAcceptance::Parked { again: false })),
            Some(Failed { position: JOB, .. }) => Ok(None),
            // It waits again as long as if it had come now: also where it had been given up.
            Some(Failed { .. }) => {
                let again = self.update_standing(PARK, &item.pk, &item.sk, item.again(), deadline);
                let parked = JobAcceptance::Parked { again: true };
                // Not there any more: it was taken up, and the job is bound.
                Ok(again.await?.then_some(parked))
            }
        }
    }

    /// Takes up everything that is parked of a job: each observation is offered, in the order in which they
    /// came, and is parked no more once it is on the job's record. Nothing happens where the job is not bound.
    ///
    /// # Errors
    /// As [`Store::observe`]; what was not taken up is still parked.
    pub async fn take_up(
        &self,
        job: &JobRef,
        timing: &Timing,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Vec<JobAcceptance>, StoreError> {
        let mut taken = Vec::new();
        if self.job_until(job, deadline).await?.is_none() {
            return Ok(taken);
        }
        let mut story = JobStory::default();
        for item in self.parked_of(job, deadline).await? {
            story.add(job, item);
        }
        story.observed.sort_by_key(|observed| observed.seen.seen_at);
        let offer = Offer {
            unbound: Unbound::Ignore,
            parked_for: Duration::ZERO,
            timing,
            now,
            deadline,
        };
        // One that cannot be taken up must not stand in the way of the others.
        let mut failed = None;
        for parked in &story.observed {
            match self.taken_up(job, parked, offer).await {
                Ok(became) => taken.extend(became),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(taken), Err)
    }

    async fn taken_up(
        &self,
        job: &JobRef,
        parked: &ObservedRecord,
        offer: Offer<'_>,
    ) -> Result<Option<JobAcceptance>, StoreError> {
        let became = self.observe(&parked.seen, offer).await?;
        if became == JobAcceptance::Unbound {
            return Ok(None);
        }
        // After the acceptance: whoever repeats it, or comes here again, finds the end on the record.
        self.unpark(job, &parked.sk, offer.deadline).await?;
        Ok(Some(became))
    }

    async fn unpark(&self, job: &JobRef, sk: &str, deadline: Deadline) -> Result<(), StoreError> {
        let delete = self
            .inner
            .client
            .delete_item()
            .table_name(&self.inner.table)
            .set_key(Some(item_key(job_pk(job), sk)));
        within(deadline, TAKE, || async {
            match delete.clone().send().await {
                Ok(_) => Ok(()),
                Err(error) => Err(failed(TAKE, &self.inner.table, error)),
            }
        })
        .await
    }

    /// Leaves a parked observation whose job is not bound for later, or gives it up where it has waited its
    /// time.
    pub async fn leave_parked(
        &self,
        parked: &ListedJob,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<StillParked, StoreError> {
        let pk = job_pk(&parked.job);
        let Some(item) = self.item(&pk, &parked.sk, deadline).await? else {
            return Ok(StillParked::Gone);
        };
        // Also of an item that does not read otherwise.
        let until = item
            .get(attribute::UNTIL)
            .and_then(|until| until.as_n().ok());
        let until = until.and_then(|until| until.parse().ok());
        let until = until.map(Timestamp::from_unix_ms);
        let is_over = until.is_some_and(|until| until <= now);
        let mut update = Update::default();
        update.require_presence(attribute::PK, true);
        // Told again meanwhile, it waits anew.
        match until {
            Some(until) => update.require(attribute::UNTIL, time(until)),
            None => update.require_presence(attribute::UNTIL, false),
        }
        if is_over {
            update.remove(attribute::WORK_SHARD);
            update.remove(attribute::DUE_AT);
            update.set(attribute::EXPIRED_AT, time(now));
            update.set(attribute::EXPIRES_AT, n(now.plus(EXPIRED_KEPT).unix_s()));
        } else {
            let next = now.plus(next_offer(now.since(parked.since)));
            update.set(
                attribute::DUE_AT,
                time(until.map_or(next, |until| next.min(until))),
            );
        }
        if !self
            .update_standing(LEAVE, &pk, &parked.sk, update, deadline)
            .await?
        {
            return Ok(StillParked::Gone);
        }
        Ok(if is_over {
            StillParked::Expired
        } else {
            StillParked::Waits
        })
    }

    /// Writes a conditional update; false where its condition failed.
    pub(super) async fn update_standing(
        &self,
        operation: &'static str,
        pk: &str,
        sk: &str,
        update: Update,
        deadline: Deadline,
    ) -> Result<bool, StoreError> {
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(pk))
            .key(attribute::SK, s(sk));
        let request = update.on(request);
        within(deadline, operation, || async {
            let Err(error) = request.clone().send().await else {
                return Ok(true);
            };
            match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(false),
                _ => Err(failed(operation, &self.inner.table, error)),
            }
        })
        .await
    }
}

/// The longer it has waited, the longer it waits once more.
fn next_offer(waited: Duration) -> Duration {
    waited.clamp(FIRST_OFFER, Duration::from_secs(600))
}

fn still_unbound(table: &str, job: &JobRef) -> TransactWriteItem {
    let check = ConditionCheck::builder()
        .table_name(table)
        .set_key(Some(item_key(job_pk(job), kind::JOB)))
        .condition_expression("attribute_not_exists(#pk)")
        .expression_attribute_names("#pk", attribute::PK)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .expect("a check has a table, a key and a condition");
    TransactWriteItem::builder().condition_check(check).build()
}
