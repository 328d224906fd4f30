//! An observed end of a job as an item: as evidence, parked, or in disagreement with the job.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_domain::job::{JobObservation, JobRef};
use ackbox_domain::{Name, RenderedBody, Timestamp};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::{encode, unpacked};
use crate::body::BodyAttributes;
use crate::expression::{Update, s, time};
use crate::job::{Disagreement, Observed, ObservedRecord};
use crate::schema::{self, Class, ITEM_MAX, SCHEMA_VERSION, attribute, kind};
use crate::size::{Attributes, item_size};
use crate::{ItemError, StoreError};

/// An observation as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ObservedItem {
    pub(crate) pk: String,
    pub(crate) sk: String,
    v: u32,
    /// When it came first.
    accepted_at: Timestamp,
    source: Name,
    account: String,
    outcome: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    digest: ByteArray<32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<Name, String>,
    /// Absent where it had no room.
    #[serde(flatten)]
    body: BodyAttributes,
    /// What it disagrees in.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_seen: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Until when it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_shard: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    /// What an operator made of it, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_at: Option<Timestamp>,
}

impl ObservedItem {
    fn new(seen: &JobObservation, sk: String) -> Self {
        Self {
            pk: schema::job_pk(&seen.job),
            sk,
            v: SCHEMA_VERSION,
            accepted_at: seen.seen_at,
            source: seen.source.clone(),
            account: seen.account.clone(),
            outcome: seen.outcome.clone(),
            event: seen.event.clone(),
            message_id: seen.message_id.clone(),
            digest: ByteArray::new(seen.digest),
            values: seen.values.clone(),
            body: BodyAttributes::smallest(&seen.body),
            detail: None,
            last_seen: None,
            count: None,
            until: None,
            expired_at: None,
            work_shard: None,
            due_at: None,
            expires_at: None,
            state: None,
            settled_at: None,
        }
    }

    /// The evidence of a job's end, which is kept until then.
    pub(crate) fn seen(seen: &JobObservation, kept_until: Timestamp) -> Self {
        Self {
            expires_at: Some(kept_until.unix_s()),
            ..Self::new(seen, format!("{}{}", kind::SEEN, named(seen)))
        }
    }

    /// What waits `wait` long for its binding, and is offered again after `first`.
    pub(crate) fn parked(seen: &JobObservation, wait: Duration, first: Duration) -> Self {
        let until = seen.seen_at.plus(wait);
        let shard = schema::job_shard(Class::Parked, &seen.job.space, &seen.job);
        Self {
            until: Some(until),
            work_shard: Some(shard),
            due_at: Some(seen.seen_at.plus(first).min(until)),
            ..Self::new(seen, format!("{}{}", kind::PARKED, named(seen)))
        }
    }

    /// What makes a parked item wait as long again as this one, wherever it stands.
    pub(crate) fn again(&self) -> Update {
        let mut update = Update::default();
        update.require_presence(attribute::PK, true);
        for (name, value) in [
            (attribute::UNTIL, self.until.map(time)),
            (attribute::WORK_SHARD, self.work_shard.as_deref().map(s)),
            (attribute::DUE_AT, self.due_at.map(time)),
        ] {
            update.set_or_remove(name, value);
        }
        update.remove(attribute::EXPIRED_AT);
        update.remove(attribute::EXPIRES_AT);
        update
    }

    /// What disagrees with the job, and in what. The same disagreement is one item, however often and in
    /// whatever bytes it is told.
    pub(crate) fn disagreement(seen: &JobObservation, disagreement: &Disagreement) -> Self {
        let print = HEXLOWER.encode(&seen.disagreement(&disagreement.place()));
        let shard = schema::job_shard(Class::Conflict, &seen.source, &seen.job);
        Self {
            detail: Some(disagreement.to_string()),
            last_seen: Some(seen.seen_at),
            count: Some(1),
            work_shard: Some(shard),
            due_at: Some(seen.seen_at),
            ..Self::new(seen, format!("{}{print}", kind::CONFLICT))
        }
    }

    /// The attributes; without the body, and without the values too, where one item has no room for them.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`].
    pub(crate) fn encoded(&self) -> Result<Attributes, StoreError> {
        let bare = Self {
            body: BodyAttributes::default(),
            ..self.clone()
        };
        let barest = Self {
            values: BTreeMap::new(),
            ..bare.clone()
        };
        self.fits()
            .or_else(|_| bare.fits())
            .or_else(|_| barest.fits())
    }

    fn fits(&self) -> Result<Attributes, StoreError> {
        let item = encode(self)?;
        let bytes = item_size(&item);
        if bytes > ITEM_MAX {
            return Err(StoreError::TooLarge { bytes });
        }
        Ok(item)
    }

    /// The record of an item of this job, whose sort key says `kind`.
    pub(crate) fn into_record(
        self,
        job: &JobRef,
        kind: Observed,
    ) -> Result<ObservedRecord, ItemError> {
        let body = unpacked(self.body)?;
        Ok(ObservedRecord {
            kind,
            sk: self.sk,
            is_whole: body.is_some(),
            seen: JobObservation {
                job: job.clone(),
                source: self.source,
                account: self.account,
                outcome: self.outcome,
                event: self.event,
                message_id: self.message_id,
                values: self.values,
                body: body.unwrap_or(RenderedBody {
                    bytes: Vec::new(),
                    content_type: None,
                    content_encoding: None,
                }),
                digest: self.digest.into_array(),
                seen_at: self.accepted_at,
            },
            why: self.detail,
            last_seen: self.last_seen.unwrap_or(self.accepted_at),
            count: self.count.unwrap_or(1),
            until: self.until,
            expired_at: self.expired_at,
            resolved: self.state.zip(self.settled_at),
        })
    }
}

fn named(seen: &JobObservation) -> String {
    HEXLOWER.encode(&seen.identity())
}
