//! Bodies are removed, and what was accepted stays: a repetition is still a duplicate. What must never happen:
//! that the body of an entry goes that is still to be sent.

use ackbox_domain::job::JobRef;
use ackbox_domain::{ActionKey, OutboxEntry};
use aws_sdk_dynamodb::types::{ConditionCheck, Delete, TransactWriteItem};

use super::OperatorRecord;
use crate::expression::{Update, item_key, n, s};
use crate::schema::{action_pk, attribute, job_pk, kind};
use crate::{ConflictKind, Deadline, JobStory, Store, StoreError, Story};

const REDACT: &str = "redacting";

/// How many items one transaction takes beside the record. The items of one weigh at most 4 MB, and each of these up
/// to 400 KB.
const BATCH: usize = 9;

/// What became of a redaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redacted {
    /// The bodies are gone.
    Done,
    /// Something of it cannot be read by this version; nothing was removed.
    Unreadable,
    /// The entry may still be sent, and needs its body; nothing was removed.
    Open,
    /// Something does not stand as it was shown any more. What was removed is on the record; say it again.
    Moved,
}

impl Store {
    /// Removes every body of an action as `story` shows it: the one to send, wherever it stands, those of other
    /// content under its key, and what was last said of it in words. Only of an entry that is closed, and only where
    /// everything of it can be read. The record says how many.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: part of it may have been written. Repeating it
    /// removes the rest.
    pub async fn redact(
        &self,
        key: &ActionKey,
        story: &Story,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Redacted, StoreError> {
        if !story.unreadable.is_empty() {
            return Ok(Redacted::Unreadable);
        }
        if story
            .outbox
            .as_ref()
            .is_some_and(|entry| !entry.state.is_closed())
        {
            return Ok(Redacted::Open);
        }
        let pk = action_pk(key);
        // In one transaction: whoever opens the entry again finds its body, or that it is gone.
        let mut first = vec![self.closed_entry(&pk, story.outbox.as_ref())];
        if story.payload.is_some() {
            first.push(self.deleted(&pk, kind::PAYLOAD));
        }
        let of_entry = usize::from(story.body().is_some());
        let removed = self.remove(&pk, first, of_entry, record, deadline).await?;
        if removed != Redacted::Done {
            return Ok(removed);
        }
        let conflicts = story.conflicts.iter().filter(|one| one.body.is_some());
        let conflicts = conflicts.map(|conflict| {
            let prefix = match conflict.kind {
                ConflictKind::Conflict => kind::CONFLICT,
                ConflictKind::Uncompared => kind::UNCOMPARED,
            };
            self.without_body(&pk, &format!("{prefix}{}", conflict.fingerprint.short()))
        });
        self.remove_all(&pk, conflicts.collect(), record, deadline)
            .await
    }

    /// Removes the bodies and values of everything that was observed of a job. The binding is the application's
    /// own, and stays.
    ///
    /// # Errors
    /// As [`Store::redact`].
    pub async fn redact_job(
        &self,
        job: &JobRef,
        story: &JobStory,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Redacted, StoreError> {
        if !story.unreadable.is_empty() {
            return Ok(Redacted::Unreadable);
        }
        let pk = job_pk(job);
        let writes = story.observed.iter();
        let writes = writes.map(|observed| self.without_body(&pk, &observed.sk));
        self.remove_all(&pk, writes.collect(), record, deadline)
            .await
    }

    async fn remove_all(
        &self,
        pk: &str,
        mut writes: Vec<TransactWriteItem>,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Redacted, StoreError> {
        while !writes.is_empty() {
            let batch: Vec<_> = writes.drain(..writes.len().min(BATCH)).collect();
            let bodies = batch.len();
            let removed = self.remove(pk, batch, bodies, record, deadline).await?;
            if removed != Redacted::Done {
                return Ok(removed);
            }
        }
        Ok(Redacted::Done)
    }

    /// One transaction, which says by whom.
    async fn remove(
        &self,
        pk: &str,
        mut writes: Vec<TransactWriteItem>,
        bodies: usize,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Redacted, StoreError> {
        let conditional: Vec<usize> = (0..writes.len()).collect();
        let record = OperatorRecord {
            detail: Some(match bodies {
                1 => "1 body".to_owned(),
                many => format!("{many} bodies"),
            }),
            ..record.clone()
        };
        writes.push(self.put_operator(pk.to_owned(), &record)?);
        let failed = self
            .transact(REDACT, writes, &conditional, deadline)
            .await?;
        Ok(failed.map_or(Redacted::Done, |_| Redacted::Moved))
    }

    /// The entry without its body and its last words, where it stands closed as it was read; that there is none,
    /// where there was none.
    fn closed_entry(&self, pk: &str, entry: Option<&OutboxEntry>) -> TransactWriteItem {
        let Some(entry) = entry else {
            let check = ConditionCheck::builder()
                .table_name(&self.inner.table)
                .set_key(Some(item_key(pk, kind::OUTBOX)))
                .condition_expression("attribute_not_exists(#pk)")
                .expression_attribute_names("#pk", attribute::PK)
                .build()
                .expect("a check has a table, a key and a condition");
            return TransactWriteItem::builder().condition_check(check).build();
        };
        let mut update = body_removed();
        update.remove(attribute::DETAIL);
        // A closed entry is opened by operators alone; one who does so now needs the body.
        update.require(attribute::STATE, s(entry.state.as_str()));
        update.require(attribute::FENCE, n(entry.fence));
        self.outbox_write(entry, update)
    }

    fn without_body(&self, pk: &str, sk: &str) -> TransactWriteItem {
        let mut update = body_removed();
        update.remove(attribute::VALUES);
        // An update of what is not there would write a stub.
        update.require_presence(attribute::PK, true);
        update.in_transaction(&self.inner.table, item_key(pk, sk))
    }

    fn deleted(&self, pk: &str, sk: &str) -> TransactWriteItem {
        let delete = Delete::builder()
            .table_name(&self.inner.table)
            .set_key(Some(item_key(pk, sk)))
            .build()
            .expect("a delete has a table and a key");
        TransactWriteItem::builder().delete(delete).build()
    }
}

fn body_removed() -> Update {
    let mut update = Update::default();
    for part in [
        attribute::BODY,
        attribute::BODY_DEFLATED,
        attribute::CONTENT_TYPE,
        attribute::CONTENT_ENCODING,
    ] {
        update.remove(part);
    }
    update
}
