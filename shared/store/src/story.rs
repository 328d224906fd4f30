//! to come
use crate::{ItemError, Store, StoreError};
use ackbox_domain::{ActionKey, Fingerprint, Name, OutboxEntry, RenderedBody, Scalar, Timestamp};

/// Everything that the table holds about one action.
#[derive(Debug, Default)]
pub struct Story {
    /// What was accepted.
    pub accepted: Option<AcceptedRecord>,
    /// The promise to deliver it.
    pub outbox: Option<OutboxEntry>,
    /// Its body, where that is an item of its own.
    pub payload: Option<RenderedBody>,
    /// Other content that came under the same key.
    pub conflicts: Vec<ConflictRecord>,
    /// Items that this version cannot read: sort key and reason.
    pub unreadable: Vec<(String, ItemError)>,
}

/// The accepted item: what was accepted, from whom, and how its key came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedRecord {
    /// The key's namespace.
    pub namespace: String,
    /// The key's parts: how the rule names each, and its value.
    pub parts: Vec<(String, Scalar)>,
    /// What must be the same on every repetition.
    pub fingerprint: Fingerprint,
    /// The source.
    pub source: Name,
    /// The rule.
    pub rule: Name,
    /// The account, where the source tells.
    pub account: Option<String>,
    /// What the fact is about, where the source tells.
    pub subject: Option<String>,
    /// The event's type.
    pub event: Option<String>,
    /// The message's own id, where the source tells.
    pub message_id: Option<String>,
    /// Where it goes.
    pub destination: Name,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

/// Why other content stands beside an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// The same fingerprint recipe says that it differs.
    Conflict,
    /// The recipe changed in between and the raw bytes differ, so nothing can be said.
    Uncompared,
}

/// Other content that came under a known key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictRecord {
    /// Whether it differs, or cannot be compared.
    pub kind: ConflictKind,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its source.
    pub source: Name,
    /// Its rule.
    pub rule: Name,
    /// Its destination.
    pub destination: Name,
    /// Its account, where the source tells.
    pub account: Option<String>,
    /// What it is about, where the source tells.
    pub subject: Option<String>,
    /// Its event's type.
    pub event: Option<String>,
    /// Its message's id, where the source tells.
    pub message_id: Option<String>,
    /// The body that would have been sent.
    pub body: RenderedBody,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// How often it was seen: at least so often, for a repeated write whose answer was lost counts twice.
    pub count: u64,
}
impl Store {
    /// The entry of an action, read consistently.
    pub async fn entry(&self, key: &ActionKey) -> Result<Option<OutboxEntry>, StoreError> {
        let _ = key;
        todo!()
    }
    /// The payload of an action, read consistently.
    pub async fn payload(&self, key: &ActionKey) -> Result<Option<RenderedBody>, StoreError> {
        let _ = key;
        todo!()
    }
    /// Everything about an action.
    pub async fn story(&self, key: &ActionKey) -> Result<Story, StoreError> {
        let _ = key;
        todo!()
    }
}
