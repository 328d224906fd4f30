//! What the table holds of one action becomes one story, in the order of time.

use ackbox_domain::{AttemptRecord, EntryState, OutboxEntry, OutcomeKind, Timestamp};
use ackbox_store::{AcceptedRecord, ConflictKind, ConflictRecord, OperatorRecord, Story};
use serde_json::{Value, json};

use crate::commands::doubt::{self, Answered};
use crate::output::{Tone, escaped};

/// Something that happened, or is to happen.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct Moment {
    pub(in crate::commands) at: Timestamp,
    pub(in crate::commands) what: String,
    pub(super) tone: Option<Tone>,
    pub(super) json: Value,
}

impl Moment {
    fn new(at: Timestamp, kind: &str, what: String) -> Self {
        Self {
            at,
            what,
            tone: None,
            json: json!({"at": at.to_string(), "kind": kind}),
        }
    }

    /// Its number in the entry's count, where it has one.
    fn number(&self) -> Option<u64> {
        self.json["number"].as_u64()
    }

    /// What comes first of what has one time.
    fn rank(&self) -> u8 {
        match self.json["kind"].as_str() {
            Some("accepted") => 0,
            Some("settled" | "waiting" | "due") => 2,
            _ => 1,
        }
    }

    fn toned(self, tone: Tone) -> Self {
        Self {
            tone: Some(tone),
            ..self
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.json[name] = value;
        self
    }
}

/// Every moment of a story, oldest first.
pub(super) fn of(story: &Story) -> Vec<Moment> {
    let mut moments = Vec::new();
    moments.extend(story.accepted.as_ref().map(accepted));
    moments.extend(story.conflicts.iter().map(conflict));
    if let Some(entry) = &story.outbox {
        if story.accepted.is_none() {
            let what = "accepted (its record has expired)".to_owned();
            moments.push(Moment::new(entry.accepted_at, "accepted", what));
        }
        let attempts = entry.attempts.iter();
        moments.extend(attempts.map(|one| attempt(entry, one, &story.operators)));
        moments.extend(claim(entry));
        moments.extend(settled(entry, &story.operators));
        moments.extend(due(entry));
    }
    moments.extend(story.operators.iter().map(operator));
    in_order(moments)
}

/// In the order of time. An attempt's time is kept in whole seconds, so among what has a number in the entry's
/// count, the number says what came first.
fn in_order(moments: Vec<Moment>) -> Vec<Moment> {
    let (mut numbered, others): (Vec<_>, Vec<_>) = moments
        .into_iter()
        .partition(|moment| moment.number().is_some());
    numbered.sort_by_key(Moment::number);
    let mut last = Timestamp::from_unix_ms(0);
    let numbered = numbered.into_iter().map(|moment| {
        last = last.max(moment.at);
        (last, moment)
    });
    let mut all: Vec<_> = numbered.collect();
    all.extend(others.into_iter().map(|moment| (moment.at, moment)));
    // A stable sort: of what happened at the same time, acceptance comes first, and what became of it last.
    all.sort_by_key(|(at, moment)| (*at, moment.rank()));
    all.into_iter().map(|(_, moment)| moment).collect()
}

fn accepted(record: &AcceptedRecord) -> Moment {
    let event = match &record.event {
        Some(event) => format!("event {}", escaped(event)),
        None => "an event without a type".to_owned(),
    };
    let id = match &record.message_id {
        Some(id) => format!(" (message {})", escaped(id)),
        None => String::new(),
    };
    let what = format!(
        "accepted: {event} of {}{id}, rule {}, for {}",
        record.source, record.rule, record.destination
    );
    Moment::new(record.accepted_at, "accepted", what)
        .with("source", json!(record.source))
        .with("rule", json!(record.rule))
        .with("event", json!(record.event))
        .with("message_id", json!(record.message_id))
}

fn conflict(record: &ConflictRecord) -> Moment {
    let kind = match record.kind {
        ConflictKind::Conflict => "other content under the same key",
        ConflictKind::Uncompared => {
            "content that cannot be compared, for the rule's fingerprint was edited in between"
        }
    };
    let id = match &record.message_id {
        Some(id) => format!(" (message {})", escaped(id)),
        None => String::new(),
    };
    let print = record.fingerprint.short();
    let what = format!(
        "conflict: {kind}, of {}{id}, fingerprint {print}, {}; seen {} times, last at {}{}",
        record.source,
        record
            .body
            .as_ref()
            .map_or("its body is removed".to_owned(), |body| format!(
                "{} bytes",
                body.bytes.len()
            )),
        record.count,
        record.last_seen,
        record
            .resolved
            .as_ref()
            .map_or(String::new(), |(how, at)| format!(
                "; {} at {at}",
                escaped(how)
            )),
    );
    let word = match record.kind {
        ConflictKind::Conflict => "conflict",
        ConflictKind::Uncompared => "uncompared",
    };
    let tone = if record.resolved.is_some() {
        Tone::Dim
    } else {
        Tone::Warn
    };
    let resolution = record.resolved.as_ref().map(|(how, _)| how);
    Moment::new(record.first_seen, word, what)
        .toned(tone)
        .with("resolution", json!(resolution))
        .with("source", json!(record.source))
        .with("rule", json!(record.rule))
        .with("event", json!(record.event))
        .with("message_id", json!(record.message_id))
        .with("fingerprint", json!(print))
        .with(
            "bytes",
            json!(record.body.as_ref().map(|body| body.bytes.len())),
        )
        .with("count", json!(record.count))
        .with("last_seen", json!(record.last_seen.to_string()))
}

fn attempt(entry: &OutboxEntry, one: &AttemptRecord, operators: &[OperatorRecord]) -> Moment {
    let at = entry.accepted_at.plus(one.began_after);
    let mut what = format!("attempt {}: {}", one.number, one.kind);
    if let Some(status) = one.status {
        what.push_str(&format!(" ({status})"));
    }
    let is_last = entry.attempts.last() == Some(one);
    if let Some(detail) = doubt::happened(entry).filter(|_| is_last) {
        what.push_str(&format!(": {}", escaped(detail)));
    }
    // An attempt's time is kept in whole seconds.
    let is_first_uncertain = entry
        .first_uncertain_at
        .is_some_and(|first| first.since(entry.accepted_at).as_secs() == one.began_after.as_secs())
        && one.kind == OutcomeKind::Unknown;
    let denied = doubt::denied_by(entry, one.number, operators);
    // A rejection says so itself.
    let denied = denied.filter(|_| one.kind == OutcomeKind::Unknown);
    if let Some(who) = &denied {
        what.push_str(&format!("; not applied, {who} said later"));
    } else if is_first_uncertain && entry.state != EntryState::Delivered {
        what.push_str("; from here on it may have arrived");
    }
    let tone = match one.kind {
        OutcomeKind::Succeeded => Tone::Good,
        OutcomeKind::Rejected => Tone::Bad,
        _ => Tone::Warn,
    };
    Moment::new(at, "attempt", what)
        .toned(tone)
        .with("number", json!(one.number))
        .with("outcome", json!(one.kind.as_str()))
        .with("status", json!(one.status))
        .with("not_applied", json!(denied.is_some()))
}

/// What an operator did.
pub(in crate::commands) fn operator(record: &OperatorRecord) -> Moment {
    let mut what = format!("{} by {}", record.did, escaped(&record.by));
    if let Some(detail) = &record.detail {
        what.push_str(&format!(": {}", escaped(detail)));
    }
    if let Some(reason) = &record.reason {
        what.push_str(&format!(" (why: {})", escaped(reason)));
    }
    Moment::new(record.at, "operator", what)
        .toned(Tone::Bold)
        .with("did", json!(record.did))
        .with("by", json!(record.by))
        .with("number", json!(record.number))
        .with("detail", json!(record.detail))
        .with("reason", json!(record.reason))
}

fn claim(entry: &OutboxEntry) -> Option<Moment> {
    let claim = entry
        .claim
        .as_ref()
        .filter(|_| entry.state == EntryState::Claimed)?;
    let what = format!(
        "attempt {}: claimed until {}, not settled yet",
        entry.fence, claim.lease_until
    );
    let moment = Moment::new(claim.claimed_at, "claimed", what)
        .with("number", json!(entry.fence))
        .with("lease_until", json!(claim.lease_until.to_string()));
    Some(moment)
}

fn settled(entry: &OutboxEntry, operators: &[OperatorRecord]) -> Option<Moment> {
    let at = entry.settled_at?;
    let is_end = entry.state.is_closed() || entry.state == EntryState::Held;
    let tone = match entry.state {
        EntryState::Delivered => Tone::Good,
        EntryState::Dead => Tone::Bad,
        _ => Tone::Warn,
    };
    let reason = match &entry.reason {
        Some(reason) => format!(" ({})", escaped(reason)),
        None => String::new(),
    };
    let what = if doubt::is_delivered_by_operator(entry, operators) {
        "delivered: an operator said so".to_owned()
    } else if doubt::is_delivered_by_word(entry) {
        "delivered: the destination was asked, and has it".to_owned()
    } else if is_end {
        format!("{}{reason}", entry.state)
    } else {
        format!("waiting since then{reason}")
    };
    let moment = Moment::new(at, if is_end { "settled" } else { "waiting" }, what)
        .toned(tone)
        .with("state", json!(entry.state.as_str()))
        .with("reason", json!(entry.reason));
    Some(moment)
}

fn due(entry: &OutboxEntry) -> Option<Moment> {
    let at = entry.due_at?;
    let what = match entry.state {
        EntryState::Pending if entry.fence == 0 => {
            "due for the sweep, should the stream not have brought it before"
        }
        EntryState::Pending => match doubt::answered(entry) {
            Some(Answered::ByDestination) => "due for one attempt more, by the destination's word",
            Some(Answered::ByOperator) => "due for one attempt more, by an operator's word",
            None => "due for its next attempt",
        },
        EntryState::Unknown => "the destination is asked what became of it",
        // The claim's own moment says until when.
        EntryState::Claimed | EntryState::Held | EntryState::Delivered | EntryState::Dead => {
            return None;
        }
    };
    Some(Moment::new(at, "due", what.to_owned()).toned(Tone::Dim))
}

#[cfg(test)]
mod tests;
