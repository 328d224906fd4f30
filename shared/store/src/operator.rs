//! What operators do: each write of theirs and its record are one transaction, so that nobody finds an entry
//! changed and no word of who changed it.

use std::time::Duration;

use ackbox_domain::Timestamp;
use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::accept::transaction::put_always;
use crate::expression::{Update, n, s, time};
use crate::item::{decode, encode};
use crate::random::random_id;
use crate::schema::{OPERATOR_KEPT_DAYS, SCHEMA_VERSION, attribute, kind};
use crate::size::Attributes;
use crate::{ItemError, Store, StoreError};

mod conflict;
mod entry;
mod job;
mod redact;

pub use entry::{Decided, Heard, Replacement};
pub use job::Superseded;
pub use redact::Redacted;

const KEPT: Duration = Duration::from_secs(OPERATOR_KEPT_DAYS * 24 * 60 * 60);

/// What an operator did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRecord {
    /// When.
    pub at: Timestamp,
    /// Who, as they said or as AWS knows them.
    pub by: String,
    /// What: a word such as `redrive` or `resolve-applied`.
    pub did: String,
    /// How it stood before, and what became of it, in words.
    pub detail: Option<String>,
    /// Of an entry: the number that this took in its count of claims.
    pub number: Option<u64>,
    /// Why.
    pub reason: Option<String>,
}

/// The record as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OperatorItem {
    pk: String,
    sk: String,
    v: u32,
    at: Timestamp,
    by: String,
    did: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    expires_at: u64,
}

impl Store {
    /// The write that puts a record into the partition of what it is about.
    pub(crate) fn put_operator(
        &self,
        pk: String,
        record: &OperatorRecord,
    ) -> Result<TransactWriteItem, StoreError> {
        let at = record.at;
        let item = OperatorItem {
            pk,
            // A new one each time: nothing of what an operator did before is written over.
            sk: format!("{}{:013}#{}", kind::OPERATOR, at.unix_ms(), random_id()),
            v: SCHEMA_VERSION,
            at,
            by: record.by.clone(),
            did: record.did.clone(),
            fence: record.number,
            detail: record.detail.clone(),
            reason: record.reason.clone(),
            expires_at: at.plus(KEPT).unix_s(),
        };
        Ok(put_always(&self.inner.table, encode(&item)?))
    }
}

/// What closes an item that is open: it leaves the index, and is kept until then.
fn closed(state: &str, at: Timestamp, kept_until: Timestamp) -> Update {
    let mut update = Update::default();
    update.set(attribute::STATE, s(state));
    update.set(attribute::SETTLED_AT, time(at));
    update.set(attribute::EXPIRES_AT, n(kept_until.unix_s()));
    update.remove(attribute::WORK_SHARD);
    update.remove(attribute::DUE_AT);
    update
}

/// Reads a record.
pub(crate) fn read(item: Attributes) -> Result<OperatorRecord, ItemError> {
    let item: OperatorItem = decode(item)?;
    Ok(OperatorRecord {
        at: item.at,
        by: item.by,
        did: item.did,
        number: item.fence,
        detail: item.detail,
        reason: item.reason,
    })
}
