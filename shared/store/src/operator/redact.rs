//! Bodies are removed, and what was accepted stays: a repetition is still a duplicate. What must never happen:
//! that the body of an entry goes that is still to be sent.

use std::collections::HashMap;

use ackbox_domain::ActionKey;
use ackbox_domain::job::JobRef;
use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};

use super::OperatorRecord;
use crate::expression::{Update, item_key, s};
use crate::schema::{action_pk, attribute, job_pk, kind};
use crate::{ConflictKind, Deadline, JobStory, Store, StoreError, Story};

const REDACT: &str = "redacting";

/// How many items one transaction takes beside the record and the entry: a transaction has at most 100.
const BATCH: usize = 90;

/// What became of a redaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redacted {
    /// The bodies are gone.
    Done,
    /// Something does not stand as it was shown any more. What was removed is on the record; say it again.
    Moved,
}

impl Store {
    /// Removes every body of an action as `story` shows it: the one to send, wherever it stands, those of other
    /// content under its key, and what was last said of it in words. Only of an entry that is closed.
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
        let pk = action_pk(key);
        let mut writes: Vec<TransactWriteItem> = story
            .conflicts
            .iter()
            .map(|conflict| {
                let prefix = match conflict.kind {
                    ConflictKind::Conflict => kind::CONFLICT,
                    ConflictKind::Uncompared => kind::UNCOMPARED,
                };
                self.without_body(&pk, &format!("{prefix}{}", conflict.fingerprint.short()))
            })
            .collect();
        if let Some(entry) = &story.outbox {
            let mut update = body_removed();
            update.remove(attribute::DETAIL);
            // A closed entry is opened by operators alone; one who does so now needs the body.
            update.require(attribute::STATE, s(entry.state.as_str()));
            update.require(attribute::FENCE, crate::expression::n(entry.fence));
            writes.push(self.outbox_write(entry, update));
        }
        if story.payload.is_some() {
            writes.push(self.deleted(&pk, kind::PAYLOAD));
        }
        self.remove(&pk, writes, record, deadline).await
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
        let pk = job_pk(job);
        let writes = story.observed.iter();
        let writes = writes.map(|observed| self.without_body(&pk, &observed.sk));
        self.remove(&pk, writes.collect(), record, deadline).await
    }

    async fn remove(
        &self,
        pk: &str,
        mut writes: Vec<TransactWriteItem>,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Redacted, StoreError> {
        // Each transaction says by whom: none of them is there without a word.
        while !writes.is_empty() {
            let mut batch: Vec<_> = writes.drain(..writes.len().min(BATCH)).collect();
            let conditional: Vec<usize> = (0..batch.len()).collect();
            batch.push(self.put_operator(pk.to_owned(), record)?);
            let failed = self.transact(REDACT, batch, &conditional, deadline);
            if failed.await?.is_some() {
                return Ok(Redacted::Moved);
            }
        }
        Ok(Redacted::Done)
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
            .set_key(Some(
                item_key(pk, sk).into_iter().collect::<HashMap<_, _>>(),
            ))
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
