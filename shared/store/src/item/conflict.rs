//! The conflict item: other content that came under a known key, whole, so that nothing acknowledged is lost.

use std::time::Duration;

use ackbox_domain::{Action, Name, Timestamp};
use serde::{Deserialize, Serialize};

use super::{PrintAttributes, unpacked};
use crate::body::BodyAttributes;
use crate::schema::{self, Class, SCHEMA_VERSION, kind};
use crate::{ConflictKind, ConflictRecord, ItemError};

/// The conflict (or uncompared) item as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ConflictItem {
    pub(crate) pk: String,
    pub(crate) sk: String,
    v: u32,
    #[serde(flatten)]
    print: PrintAttributes,
    /// When the original was accepted.
    accepted_at: Timestamp,
    source: Name,
    rule: Name,
    dest: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(flatten)]
    body: BodyAttributes,
    first_seen: Timestamp,
    pub(crate) last_seen: Timestamp,
    count: u64,
    /// Only of a conflict: it wants an operator. What cannot be compared is on the record alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    work_shard: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    /// What an operator made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl ConflictItem {
    /// The item of an action that came when its key was taken, at `original`, by other content.
    /// What cannot be compared is closed from the beginning, and `kept` so long.
    pub(crate) fn new(
        action: &Action,
        kind: ConflictKind,
        original: Timestamp,
        kept: Duration,
    ) -> Self {
        let wants_operator = kind == ConflictKind::Conflict;
        let prefix = match kind {
            ConflictKind::Conflict => kind::CONFLICT,
            ConflictKind::Uncompared => kind::UNCOMPARED,
        };
        let shard = || schema::work_shard(Class::Conflict, &action.source, &action.key);
        Self {
            pk: schema::action_pk(&action.key),
            sk: format!("{prefix}{}", action.fingerprint.short()),
            v: SCHEMA_VERSION,
            print: (&action.fingerprint).into(),
            accepted_at: original,
            source: action.source.clone(),
            rule: action.rule.clone(),
            dest: action.destination.clone(),
            account: action.account.clone(),
            subject: action.subject.clone(),
            event: action.event.clone(),
            message_id: action.message_id.clone(),
            body: BodyAttributes::smallest(&action.body),
            first_seen: action.accepted_at,
            last_seen: action.accepted_at,
            count: 1,
            work_shard: wants_operator.then(shard),
            due_at: wants_operator.then_some(action.accepted_at),
            state: None,
            settled_at: None,
            expires_at: (!wants_operator).then(|| action.accepted_at.plus(kept).unix_s()),
        }
    }

    /// The record of a conflict item whose sort key says `kind`.
    pub(crate) fn into_record(self, kind: ConflictKind) -> Result<ConflictRecord, ItemError> {
        Ok(ConflictRecord {
            kind,
            fingerprint: self.print.into(),
            source: self.source,
            rule: self.rule,
            destination: self.dest,
            account: self.account,
            subject: self.subject,
            event: self.event,
            message_id: self.message_id,
            body: unpacked(self.body)?,
            resolved: self.state.zip(self.settled_at),
            first_seen: self.first_seen,
            last_seen: self.last_seen,
            count: self.count,
        })
    }
}
