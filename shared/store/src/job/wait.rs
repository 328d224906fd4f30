//! A bound job of which nothing was heard: it is looked at again later, or given up with the actions of the
//! steps that wait for that.

use ackbox_domain::job::{JobRef, give_up};
use ackbox_domain::{Acceptance, ActionKey, Name, Timestamp, Timing};

use super::JobRecord;
use super::end::{Beside, Committed, unchanged};
use crate::expression::{n, s, time};
use crate::item::outbox::DETAIL_MAX;
use crate::meta::Used;
use crate::schema::{Class, attribute, job_pk, job_shard, kind};
use crate::{Deadline, Store, StoreError};

const WAIT: &str = "waiting for a job";

impl Store {
    /// Notes that a job was asked about, what was heard, and when it is looked at again. False where it does
    /// not stand as it was read.
    pub async fn wait_for_job(
        &self,
        record: &JobRecord,
        told: Option<&str>,
        due_at: Timestamp,
        deadline: Deadline,
    ) -> Result<bool, StoreError> {
        let job = &record.binding.job;
        let mut update = unchanged(record);
        if let Some(told) = told {
            update.add(attribute::ASKED, n(1));
            update.set(attribute::DETAIL, s(cut(told)));
        }
        update.set(attribute::WORK_SHARD, s(waiting(Class::Job, job)));
        update.set(attribute::DUE_AT, time(due_at));
        self.remember(Used::by_job(&job.space), deadline).await?;
        self.update_standing(WAIT, &job_pk(job), kind::JOB, update, deadline)
            .await
    }

    /// Gives a job up: it is not looked at any more, and waits for an operator, with the actions of the steps
    /// that wait for this. `None` where it does not stand as it was read. An end that comes later is accepted as
    /// any other.
    pub async fn give_up_job(
        &self,
        record: &JobRecord,
        source: &Name,
        timing: &Timing,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Option<Vec<(ActionKey, Acceptance)>>, StoreError> {
        let job = &record.binding.job;
        let mut actions = give_up(&record.binding, source, now);
        actions.extend(self.notice_of_silence(record, source, now));
        let mut update = unchanged(record);
        update.require_presence(attribute::SILENT_AT, false);
        update.set(attribute::SILENT_AT, time(now));
        update.set(attribute::WORK_SHARD, s(waiting(Class::Silent, job)));
        update.set(attribute::DUE_AT, time(now));
        let committed = self.commit(record, update, Beside::default(), actions, timing, deadline);
        Ok(match committed.await? {
            Committed::Done(actions) => Some(actions),
            Committed::Changed => None,
        })
    }
}

fn waiting(class: Class, job: &JobRef) -> String {
    job_shard(class, &job.space, job)
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(DETAIL_MAX);
    text[..end].to_owned()
}
