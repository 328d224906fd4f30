//! The outbox item: a promise to deliver, kept under one write unit for its whole life.

use ackbox_domain::outbox::Origin;
use ackbox_domain::{
    Action, AttemptOutcome, AttemptRecord, Claim, EntryState, Name, OutboxEntry, StoredBody,
    Timestamp, Timing,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::{PrintAttributes, broken, decode, unpacked};
use crate::ItemError;
use crate::body::BodyAttributes;
use crate::schema::{self, Class, SCHEMA_VERSION, WRITE_UNIT, attribute, kind};
use crate::size::digits_size;

/// The most bytes of the last attempt's detail that are kept: its 120 characters, where they are ASCII.
pub(crate) const DETAIL_MAX: usize = AttemptOutcome::DETAIL_MAX;

/// The most bytes of attempts in their compact text: ten of the usual length (`12u503+259200` and a
/// space). Where attempts have longer texts, fewer are kept.
pub(crate) const ATTEMPTS_MAX: usize = 160;

/// The longest claim id that [`RESERVE`] has room for, in bytes.
const CLAIM_ID_MAX: usize = 32;

/// A time in milliseconds has 13 digits until the year 2286.
const TIME: usize = digits_size(13);

/// What later writes can add to a fresh outbox item, in bytes. A claim and a settlement's end are
/// never on the item together; the claim is the larger of the two (a test runs both).
pub(crate) const RESERVE: usize = {
    let fence = digits_size(8) - digits_size(1);
    let claim = attribute::CLAIM.len() + CLAIM_ID_MAX;
    let claim_times = attribute::CLAIMED_AT.len() + attribute::LEASE_UNTIL.len() + 2 * TIME;
    let origin = attribute::ORIGIN.len() + size_of::<Origin>();
    let mark = attribute::FIRST_UNCERTAIN_AT.len() + TIME;
    let cleared = attribute::CLEARED_FENCE.len() + digits_size(8);
    let redriven = attribute::REDRIVEN_AT.len() + TIME + attribute::VOUCHED.len() + 1;
    let attempts = attribute::ATTEMPTS.len() + ATTEMPTS_MAX;
    let detail = attribute::DETAIL.len() + DETAIL_MAX;
    fence + claim + claim_times + origin + mark + cleared + redriven + attempts + detail
};

/// The outbox item as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OutboxItem {
    pub(crate) pk: String,
    sk: String,
    v: u32,
    #[serde(flatten)]
    print: PrintAttributes,
    accepted_at: Timestamp,
    source: Name,
    dest: Name,
    state: String,
    fence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_shard: Option<String>,
    #[serde(flatten)]
    body: BodyAttributes,
    #[serde(flatten)]
    course: Course,
}

/// What attempts leave on the item.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Course {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_uncertain_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_fence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redriven_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vouched: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<ByteArray<8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_at: Option<Timestamp>,
}

impl OutboxItem {
    /// The item of a fresh promise, without a body: pending, and due when the sweep should find it
    /// if the stream did not.
    pub(crate) fn fresh(action: &Action, timing: &Timing) -> Self {
        let (key, dest) = (&action.key, &action.destination);
        Self {
            pk: schema::action_pk(key),
            sk: kind::OUTBOX.to_owned(),
            v: SCHEMA_VERSION,
            print: (&action.fingerprint).into(),
            accepted_at: action.accepted_at,
            source: action.source.clone(),
            dest: dest.clone(),
            state: EntryState::Pending.as_str().to_owned(),
            fence: 0,
            due_at: Some(action.accepted_at.plus(timing.first_due)),
            work_shard: Some(schema::work_shard(Class::Open, dest, key)),
            body: BodyAttributes::default(),
            course: Course::default(),
        }
    }

    fn into_entry(self) -> Result<OutboxEntry, ItemError> {
        let key = schema::action_of(&self.pk)
            .ok_or_else(|| broken(format!("partition key {:?}", self.pk)))?;
        let state = self
            .state
            .parse()
            .map_err(|()| broken(format!("state {:?}", self.state)))?;
        let body = unpacked(self.body)?.map_or(StoredBody::Payload, StoredBody::Inline);
        let course = self.course;
        let claim = match (course.claim, course.claimed_at, course.lease_until) {
            (Some(id), Some(claimed_at), Some(lease_until)) => Some(Claim {
                id,
                claimed_at,
                lease_until,
            }),
            _ => None,
        };
        Ok(OutboxEntry {
            key,
            source: self.source,
            destination: self.dest,
            state,
            reason: course.reason,
            fence: self.fence,
            claim,
            accepted_at: self.accepted_at,
            due_at: self.due_at,
            first_uncertain_at: course.first_uncertain_at,
            cleared_fence: course.cleared_fence.unwrap_or_default(),
            redriven_at: course.redriven_at,
            is_vouched: course.vouched.unwrap_or_default(),
            origin: course.origin.map(ByteArray::into_array),
            attempts: attempts_of(course.attempts.as_deref().unwrap_or_default())?,
            last_detail: course.detail,
            body,
            settled_at: course.settled_at,
        })
    }
}

/// How many bytes of body attributes an otherwise complete fresh item of `size` bytes has room for.
pub(crate) const fn inline_room(size: usize) -> usize {
    WRITE_UNIT.saturating_sub(size + RESERVE)
}

/// Attempts as the one text that the table holds; the oldest are left out where it would be too long.
pub(crate) fn attempts_text(attempts: &[AttemptRecord]) -> String {
    let mut text = String::new();
    for attempt in attempts.iter().rev().take(OutboxEntry::ATTEMPTS_KEPT) {
        let next = attempt.to_string();
        let longer = next.len() + usize::from(!text.is_empty()) + text.len();
        if longer > ATTEMPTS_MAX {
            break;
        }
        text = if text.is_empty() {
            next
        } else {
            format!("{next} {text}")
        };
    }
    text
}

fn attempts_of(text: &str) -> Result<Vec<AttemptRecord>, ItemError> {
    text.split_ascii_whitespace()
        .map(|attempt| {
            attempt
                .parse()
                .map_err(|()| broken(format!("attempt {attempt:?}")))
        })
        .collect()
}

/// Reads an outbox item, from a stream record's new image or from the table.
///
/// # Errors
/// `NotOutbox` for another kind of item, `NewerSchema` for one that a newer version wrote (leave it
/// alone), `Broken` for one that no version wrote.
pub fn outbox_from_item(item: serde_dynamo::Item) -> Result<OutboxEntry, ItemError> {
    match item.get(attribute::SK) {
        Some(serde_dynamo::AttributeValue::S(sk)) if sk == kind::OUTBOX => {}
        _ => return Err(ItemError::NotOutbox),
    }
    decode::<OutboxItem>(item)?.into_entry()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ackbox_domain::OutcomeKind;

    use super::*;

    fn attempt(number: u64, began_after: u64) -> AttemptRecord {
        AttemptRecord {
            number,
            kind: OutcomeKind::Unknown,
            status: Some(503),
            began_after: Duration::from_secs(began_after),
        }
    }

    #[test]
    fn ten_usual_attempts_fit_and_longer_ones_push_out_the_oldest() {
        let usual: Vec<_> = (90..=102).map(|n| attempt(n, 259_200)).collect();
        let text = attempts_text(&usual);
        assert_eq!(attempts_of(&text).unwrap(), usual[3..]);
        let long: Vec<_> = (1..=10)
            .map(|n| attempt(u64::MAX - n, u64::MAX))
            .rev()
            .collect();
        let text = attempts_text(&long);
        assert!(text.len() <= ATTEMPTS_MAX);
        let kept = attempts_of(&text).unwrap();
        assert_eq!(kept.last(), long.last());
    }
}
