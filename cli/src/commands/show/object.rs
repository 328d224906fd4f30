//! A story for programs: one JSON object. Times are RFC 3339, in UTC; what is not known is null.

use ackbox_domain::{ActionKey, OutboxEntry, RenderedBody, Timestamp};
use ackbox_store::{AcceptedRecord, Story};
use serde_json::{Value, json};

use super::timeline;
use crate::commands::doubt;

/// The object.
pub(super) fn of(key: &ActionKey, story: &Story, body: Option<&RenderedBody>) -> Value {
    let unreadable: Vec<Value> = story
        .unreadable
        .iter()
        .map(|(sort_key, error)| json!({"sort_key": sort_key, "problem": error.to_string()}))
        .collect();
    let moments = timeline::of(story).into_iter().map(|moment| moment.json);
    json!({
        "key": key.as_str(),
        "known": true,
        "entry": story.outbox.as_ref().map(entry),
        "accepted": story.accepted.as_ref().map(accepted),
        "body": body.map(sizes),
        "timeline": moments.collect::<Vec<_>>(),
        "unreadable": unreadable,
    })
}

fn entry(entry: &OutboxEntry) -> Value {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    json!({
        "state": entry.state.as_str(),
        "reason": entry.reason,
        "source": entry.source,
        "destination": entry.destination,
        "attempts": entry.fence,
        "accepted_at": entry.accepted_at.to_string(),
        "due_at": time(entry.due_at),
        "first_uncertain_at": time(entry.first_uncertain_at),
        "cleared_fence": doubt::cleared(entry),
        "settled_at": time(entry.settled_at),
        "detail": entry.last_detail,
    })
}

fn accepted(record: &AcceptedRecord) -> Value {
    let parts: Vec<Value> = record
        .parts
        .iter()
        .map(|(name, value)| json!({"part": name, "value": value.as_str()}))
        .collect();
    json!({
        "namespace": record.namespace,
        "parts": parts,
        "source": record.source,
        "rule": record.rule,
        "destination": record.destination,
        "account": record.account,
        "subject": record.subject,
        "event": record.event,
        "message_id": record.message_id,
        "fingerprint": record.fingerprint.short(),
        "accepted_at": record.accepted_at.to_string(),
    })
}

/// Of the body only what it is, not what it says.
fn sizes(body: &RenderedBody) -> Value {
    json!({
        "bytes": body.bytes.len(),
        "content_type": body.content_type,
        "content_encoding": body.content_encoding,
    })
}
