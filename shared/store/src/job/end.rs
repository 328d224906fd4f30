//! An observed end of a job becomes the end on the record and the actions of its steps: one transaction.

use std::time::Duration;

use ackbox_domain::job::{JobObservation, Unbound, agree, qualify};
use ackbox_domain::{Acceptance, Action, ActionKey, Timestamp, Timing};
use aws_sdk_dynamodb::types::TransactWriteItem;

use super::{Disagreement, JobAcceptance, JobRecord};
use crate::accept::transaction::{self, ACCEPTED, OUTBOX};
use crate::expression::{Update, item_key, n, s, time};
use crate::item::observed::ObservedItem;
use crate::meta::Used;
use crate::schema::{attribute, job_pk, kind};
use crate::{Deadline, Store, StoreError};

const END: &str = "accepting the end of a job";

/// How often what has changed meanwhile is looked at anew. Each time somebody else has written.
const LOOKS: usize = 8;

/// The position of the job's own write.
const JOB: usize = 0;

/// On which terms an observed end is offered.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'t> {
    /// What becomes of it where the job is not bound.
    pub unbound: Unbound,
    /// How long it may wait for that.
    pub parked_for: Duration,
    /// How the actions' deliveries are timed.
    pub timing: &'t Timing,
    /// When it is offered.
    pub now: Timestamp,
    /// Until when this may take.
    pub deadline: Deadline,
}

/// What goes beside a job's own write.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Writes whose conditions say whether everything still stands as it was read.
    pub(crate) guards: Vec<TransactWriteItem>,
    /// Writes without conditions.
    pub(crate) writes: Vec<TransactWriteItem>,
}

/// What became of a transaction about a job.
pub(crate) enum Committed {
    /// It is on the table, with these actions.
    Done(Vec<(ActionKey, Acceptance)>),
    /// The job does not stand as it was read; nothing was written.
    Changed,
}

impl Store {
    /// Offers the observed end of a job to the table. Whatever is answered but [`JobAcceptance::Unbound`] is
    /// on the record before this returns.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] for an end that would have to wait and has no room; otherwise as
    /// [`Store::accept`].
    pub async fn observe(
        &self,
        seen: &JobObservation,
        offer: Offer<'_>,
    ) -> Result<JobAcceptance, StoreError> {
        for _ in 0..LOOKS {
            let standing = self.job_until(&seen.job, offer.deadline).await?;
            let became = match (standing, offer.unbound) {
                (Some(record), _) => self.end(&record, seen, offer).await?,
                (None, Unbound::Park) => self.park(seen, offer).await?,
                (None, Unbound::Refuse | Unbound::Ignore) => Some(JobAcceptance::Unbound),
            };
            if let Some(became) = became {
                return Ok(became);
            }
        }
        Err(StoreError::Unavailable {
            operation: END,
            source: None,
        })
    }

    /// `None`: the job does not stand as it was read.
    async fn end(
        &self,
        record: &JobRecord,
        seen: &JobObservation,
        offer: Offer<'_>,
    ) -> Result<Option<JobAcceptance>, StoreError> {
        if let Err(mismatch) = agree(&record.binding, seen) {
            return self.disagrees(seen, mismatch.into(), offer.deadline).await;
        }
        if let Some(ended) = &record.ended {
            if ended.outcome == seen.outcome {
                return Ok(Some(JobAcceptance::Duplicate));
            }
            let disagreement = Disagreement::Outcome {
                known: ended.outcome.clone(),
                seen: seen.outcome.clone(),
            };
            return self.disagrees(seen, disagreement, offer.deadline).await;
        }
        let actions = match qualify(&record.binding, seen, offer.now) {
            Ok(actions) => actions,
            Err(mismatch) => return self.disagrees(seen, mismatch.into(), offer.deadline).await,
        };
        // From here on the job is closed, and kept as long as what it has made.
        let kept_until = offer.now.plus(self.retentions.of(&seen.source).accepted);
        let evidence = ObservedItem::seen(seen, kept_until).encoded()?;
        let beside = Beside {
            guards: Vec::new(),
            writes: vec![transaction::put_always(&self.inner.table, evidence)],
        };
        let mut update = unchanged(record);
        update.set(attribute::OUTCOME, s(seen.outcome.as_str()));
        update.set(attribute::ENDED_AT, time(offer.now));
        update.set(attribute::SOURCE, s(seen.source.as_str()));
        update.set(attribute::EXPIRES_AT, n(kept_until.unix_s()));
        update.remove(attribute::WORK_SHARD);
        update.remove(attribute::DUE_AT);
        let Offer {
            timing, deadline, ..
        } = offer;
        let committed = self.commit(record, update, beside, actions, timing, deadline);
        Ok(match committed.await? {
            Committed::Done(actions) => Some(JobAcceptance::Ended(actions)),
            Committed::Changed => None,
        })
    }

    async fn disagrees(
        &self,
        seen: &JobObservation,
        disagreement: Disagreement,
        deadline: Deadline,
    ) -> Result<Option<JobAcceptance>, StoreError> {
        self.record_disagreement(seen, &disagreement, deadline)
            .await?;
        Ok(Some(JobAcceptance::Disagrees(disagreement)))
    }

    /// Writes an update of a job, what goes `beside` it, and the items of all actions: all of it or nothing. An action that is there is left out, with what that makes of it, and the rest is tried again.
    pub(crate) async fn commit(
        &self,
        record: &JobRecord,
        update: Update,
        beside: Beside,
        mut actions: Vec<Action>,
        timing: &Timing,
        deadline: Deadline,
    ) -> Result<Committed, StoreError> {
        let space = Used::by_job(&record.binding.job.space);
        self.remember(space, deadline).await?;
        for action in &actions {
            let used = Used::by_action(action, None);
            self.remember(used, deadline).await?;
        }
        let table = &self.inner.table;
        let job = update.in_transaction(table, item_key(job_pk(&record.binding.job), kind::JOB));
        let mut made = Vec::new();
        loop {
            let mut writes = vec![job.clone()];
            writes.extend(beside.guards.iter().cloned());
            let mut conditional: Vec<usize> = (JOB..writes.len()).collect();
            let guards = conditional.len();
            writes.extend(beside.writes.iter().cloned());
            for action in &actions {
                let first = writes.len();
                conditional.extend([first + ACCEPTED, first + OUTBOX]);
                let kept = self.retentions.of(&action.source).accepted;
                writes.extend(transaction::puts(table, action, timing, kept)?);
            }
            let failed = self.transact(END, writes, &conditional, deadline).await?;
            let Some(failed) = failed else {
                made.extend(actions.into_iter().map(|a| (a.key, Acceptance::Accepted)));
                return Ok(Committed::Done(made));
            };
            // After the job's own and the guards', they come in pairs.
            let at = conditional.iter().position(|at| *at == failed.position);
            let Some(pair) = at.and_then(|at| at.checked_sub(guards)).map(|at| at / 2) else {
                return Ok(Committed::Changed);
            };
            let action = actions.remove(pair);
            let acceptance = self.seen_before(&action, failed, deadline).await?;
            made.push((action.key, acceptance));
        }
    }
}

/// An update of a job that stands as it was read: bound to the same, and without an end.
pub(crate) fn unchanged(record: &JobRecord) -> Update {
    let mut update = Update::default();
    update.require(attribute::BINDING, s(&record.text));
    update.require_presence(attribute::OUTCOME, false);
    update
}
