//! An operator closes what a job has open: an observation that does not agree with it, or that nothing was
//! heard of it. What must never happen: that a job's end changes without the actions that its new end makes.

use ackbox_domain::job::{Mismatch, qualify};
use ackbox_domain::{Acceptance, ActionKey, Retention, Timing};

use super::conflict::{DISMISSED, SUPERSEDED};
use super::{Heard, OperatorRecord, closed};
use crate::accept::transaction;
use crate::expression::{Update, item_key, n, s, time};
use crate::item::observed::ObservedItem;
use crate::job::{Beside, Committed};
use crate::schema::{attribute, job_pk, kind};
use crate::{Deadline, JobRecord, ObservedRecord, Store, StoreError};

const CLOSE: &str = "closing what a job has open";

/// What became of an end that was put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Superseded {
    /// The job has ended so now, with these actions of its steps.
    Written(Vec<(ActionKey, Acceptance)>),
    /// The job does not stand as it was shown any more; nothing was written.
    Moved,
    /// The observation does not fit the binding; nothing was written.
    Unfit(Mismatch),
    /// The observation disagrees in something else than how the job ended; nothing was written.
    Other,
}

impl Store {
    /// Dismisses an observation that does not agree with its job.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written.
    pub async fn dismiss_disagreement(
        &self,
        observed: &ObservedRecord,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let mut update = self.closed_disagreement(DISMISSED, observed, record);
        // Nobody closed it since.
        update.require_presence(attribute::WORK_SHARD, true);
        let pk = job_pk(&observed.seen.job);
        let key = item_key(pk.clone(), observed.sk.as_str());
        self.close(update, key, pk, record, deadline).await
    }

    /// Closes a job of which nothing was heard, as it stands: nobody is asked about it any more. An end that
    /// comes later is accepted as any other, for as long as the job is kept: its source's `retention` says.
    ///
    /// # Errors
    /// As [`Store::dismiss_disagreement`].
    pub async fn dismiss_silence(
        &self,
        job: &JobRecord,
        retention: Retention,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let mut update = crate::job::unchanged(job);
        update.require_presence(attribute::SILENT_AT, true);
        update.require_presence(attribute::WORK_SHARD, true);
        update.remove(attribute::WORK_SHARD);
        update.remove(attribute::DUE_AT);
        let until = record.at.plus(retention.accepted);
        update.set(attribute::EXPIRES_AT, n(until.unix_s()));
        let pk = job_pk(&job.binding.job);
        let key = item_key(pk.clone(), kind::JOB);
        self.close(update, key, pk, record, deadline).await
    }

    async fn close(
        &self,
        update: Update,
        key: crate::size::Attributes,
        pk: String,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let writes = vec![
            update.in_transaction(&self.inner.table, key),
            self.put_operator(pk, record)?,
        ];
        let failed = self.transact(CLOSE, writes, &[0], deadline).await?;
        Ok(failed.map_or(Heard::Written, |_| Heard::Moved(None)))
    }

    /// Puts the end that an observation tells in the place of the one on the record, with the actions of the
    /// steps that wait for it. Steps that have run already are left as they are: their keys are the binding's.
    ///
    /// # Errors
    /// As [`Store::dismiss_disagreement`]; [`StoreError::TooLarge`].
    pub async fn supersede_end(
        &self,
        job: &JobRecord,
        observed: &ObservedRecord,
        record: &OperatorRecord,
        timing: &Timing,
        deadline: Deadline,
    ) -> Result<Superseded, StoreError> {
        let Some(ended) = &job.ended else {
            return Ok(Superseded::Moved);
        };
        let seen = &observed.seen;
        if !observed.is_of_outcome() {
            return Ok(Superseded::Other);
        }
        let actions = match qualify(&job.binding, seen, record.at) {
            Ok(actions) => actions,
            Err(mismatch) => return Ok(Superseded::Unfit(mismatch)),
        };
        let kept_until = record.at.plus(self.retentions.of(&seen.source).accepted);
        let mut update = Update::default();
        // Exactly the job and the end that were shown.
        update.require(attribute::BINDING, s(job.written()));
        update.require(attribute::OUTCOME, s(ended.outcome.as_str()));
        update.set(attribute::OUTCOME, s(seen.outcome.as_str()));
        update.set(attribute::ENDED_AT, time(record.at));
        update.set(attribute::SOURCE, s(seen.source.as_str()));
        update.set(attribute::EXPIRES_AT, n(kept_until.unix_s()));
        let pk = job_pk(&seen.job);
        let mut closed = self.closed_disagreement(SUPERSEDED, observed, record);
        // Nobody closed it since.
        closed.require_presence(attribute::WORK_SHARD, true);
        let table = &self.inner.table;
        let evidence = ObservedItem::seen(seen, kept_until).encoded()?;
        let beside = Beside {
            guards: vec![closed.in_transaction(table, item_key(pk.clone(), observed.sk.as_str()))],
            writes: vec![
                transaction::put_always(table, evidence),
                self.put_operator(pk, record)?,
            ],
        };
        let committed = self.commit(job, update, beside, actions, timing, deadline);
        Ok(match committed.await? {
            Committed::Done(actions) => Superseded::Written(actions),
            Committed::Changed => Superseded::Moved,
        })
    }

    fn closed_disagreement(
        &self,
        state: &str,
        observed: &ObservedRecord,
        record: &OperatorRecord,
    ) -> Update {
        let kept = self.retentions.of(&observed.seen.source).conflict;
        closed(state, record.at, record.at.plus(kept))
    }
}
