//! One line of `list`: an item of the index, with what its entry (or its conflict) says.

use ackbox_domain::settlement::Standing;
use ackbox_domain::{ActionKey, EntryState, Name, OutboxEntry, Timestamp};
use ackbox_store::{Class, ConflictKind, ItemError, Store, StoreError};
use serde_json::{Value, json};

use super::find::Hit;
use crate::commands::doubt::{self, Answered};
use crate::output::{Entry, Tone, age, until};

/// One entry, or one conflict.
#[derive(Debug)]
pub(super) struct Row {
    /// The entry's state; `None` for a conflict.
    pub(super) state: Option<EntryState>,
    pub(super) key: ActionKey,
    /// `None` where a conflict cannot be read.
    pub(super) destination: Option<Name>,
    /// `None` where the entry cannot be read.
    pub(super) source: Option<Name>,
    /// The entry's; `None` for a conflict, and where the entry cannot be read.
    pub(super) standing: Option<Standing>,
    accepted_at: Timestamp,
    due_at: Option<Timestamp>,
    attempts: u64,
    reason: Option<String>,
    detail: Option<String>,
    first_uncertain_at: Option<Timestamp>,
    cleared_fence: Option<u64>,
    /// The conflict's: how its fingerprint is written, and how often it was seen.
    conflict: Option<(String, u64)>,
    /// The reason, or what comes next where there is none; and what happened last. For people.
    why: String,
}

impl Row {
    pub(super) const HEADINGS: &[&str] = &[
        "STATE",
        "KEY",
        "DESTINATION",
        "SOURCE",
        "ACCEPTED",
        "DUE",
        "TRIES",
        "WHY",
    ];

    /// Reads what the item of the index stands for; `None` where it stands for nothing any more, for the
    /// index lags behind.
    pub(super) async fn read(store: &Store, hit: &Hit) -> Result<Option<Self>, StoreError> {
        let key = &hit.listed.key;
        if hit.class == Class::Conflict {
            return Self::read_conflict(store, hit).await;
        }
        match store.entry(key).await {
            Ok(entry) => Ok(entry
                .filter(|entry| entry.state != EntryState::Delivered)
                .map(Self::of_entry)),
            // One item that cannot be read must not hide the others.
            Err(StoreError::Item(error)) => Ok(Some(Self::unreadable(hit, &error))),
            Err(error) => Err(error),
        }
    }

    /// What the index alone tells.
    fn unreadable(hit: &Hit, error: &ItemError) -> Self {
        let of = hit.name.clone();
        let (state, destination, source) = match hit.class {
            Class::Conflict => (None, None, Some(of)),
            Class::Unknown => (Some(EntryState::Unknown), Some(of), None),
            Class::Held => (Some(EntryState::Held), Some(of), None),
            Class::Dead => (Some(EntryState::Dead), Some(of), None),
            _ => (Some(EntryState::Pending), Some(of), None),
        };
        Self {
            state,
            key: hit.listed.key.clone(),
            destination,
            source,
            standing: None,
            accepted_at: hit.listed.accepted_at,
            due_at: state.map(|_| hit.listed.due_at),
            attempts: 0,
            reason: Some("unreadable".to_owned()),
            detail: Some(error.to_string()),
            first_uncertain_at: None,
            cleared_fence: None,
            conflict: None,
            why: format!("unreadable: {error}"),
        }
    }

    pub(super) fn of_entry(entry: OutboxEntry) -> Self {
        Self {
            standing: Some(Standing::from(&entry)),
            cleared_fence: doubt::cleared(&entry),
            conflict: None,
            why: why(&entry),
            state: Some(entry.state),
            key: entry.key,
            destination: Some(entry.destination),
            source: Some(entry.source),
            accepted_at: entry.accepted_at,
            due_at: entry.due_at,
            attempts: entry.fence,
            reason: entry.reason,
            detail: entry.last_detail,
            first_uncertain_at: entry.first_uncertain_at,
        }
    }

    /// Exactly the one that the index names: a key can have several, and some of them closed.
    async fn read_conflict(store: &Store, hit: &Hit) -> Result<Option<Self>, StoreError> {
        let key = &hit.listed.key;
        let conflict = match store.conflict(key, &hit.listed.sk).await {
            Err(StoreError::Item(error)) => return Ok(Some(Self::unreadable(hit, &error))),
            read => read?,
        };
        let Some(conflict) = conflict.filter(|conflict| conflict.resolved.is_none()) else {
            return Ok(None);
        };
        let reason = match conflict.kind {
            ConflictKind::Conflict => "differs",
            ConflictKind::Uncompared => "uncompared",
        };
        let (fingerprint, seen) = (conflict.fingerprint.short(), conflict.count);
        let last = conflict.last_seen;
        let detail = format!("{fingerprint}, seen {seen} times, last at {last}");
        Ok(Some(Self {
            state: None,
            key: key.clone(),
            destination: Some(conflict.destination),
            source: Some(conflict.source),
            standing: None,
            accepted_at: hit.listed.accepted_at,
            due_at: None,
            attempts: 0,
            why: format!("{reason}: {detail}"),
            reason: Some(reason.to_owned()),
            detail: Some(detail),
            first_uncertain_at: None,
            cleared_fence: None,
            conflict: Some((fingerprint, seen)),
        }))
    }

    fn state(&self) -> &'static str {
        self.state.map_or("conflict", EntryState::as_str)
    }

    pub(super) fn cells(&self, now: Timestamp) -> Vec<Entry> {
        let tone = match self.state {
            Some(EntryState::Held | EntryState::Unknown) | None => Tone::Warn,
            Some(EntryState::Dead) => Tone::Bad,
            Some(EntryState::Delivered) => Tone::Good,
            _ => Tone::Dim,
        };
        // What waits for an operator is due for nobody.
        let is_theirs = matches!(self.state, Some(EntryState::Held | EntryState::Dead));
        let due = self.due_at.filter(|_| !is_theirs);
        vec![
            Entry::new(self.state()).toned(tone),
            Entry::new(self.key.as_str()),
            Entry::new(self.destination.as_ref().map_or("?", Name::as_str)),
            Entry::new(self.source.as_ref().map_or("?", Name::as_str)),
            Entry::new(age(self.accepted_at, now)),
            Entry::new(due.map(|due| until(due, now)).unwrap_or_default()),
            Entry::new(self.attempts.to_string()),
            Entry::new(self.why.as_str()),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        json!({
            "state": self.state(),
            "key": self.key.as_str(),
            "destination": self.destination,
            "source": self.source,
            "accepted_at": self.accepted_at.to_string(),
            "due_at": time(self.due_at),
            "attempts": self.attempts,
            "reason": self.reason,
            "detail": self.detail,
            "first_uncertain_at": time(self.first_uncertain_at),
            "cleared_fence": self.cleared_fence,
            "fingerprint": self.conflict.as_ref().map(|(fingerprint, _)| fingerprint),
            "count": self.conflict.as_ref().map(|(_, seen)| seen),
        })
    }
}

/// Why an entry waits: its reason, or what comes next where it has none; then what happened last.
fn why(entry: &OutboxEntry) -> String {
    let heard = doubt::heard(entry);
    let next = match entry.state {
        EntryState::Unknown if heard.is_some() => Some("to be asked again"),
        EntryState::Unknown => Some("to be asked"),
        EntryState::Pending => doubt::answered(entry).map(|answered| match answered {
            Answered::ByDestination => "not applied, to be sent once more",
            Answered::ByOperator => "to be sent once more, by an operator's word",
        }),
        _ => None,
    };
    let told = [
        entry.reason.as_deref().or(next),
        heard.or(entry.last_detail.as_deref()),
    ];
    let told: Vec<&str> = told.into_iter().flatten().collect();
    told.join(": ")
}
