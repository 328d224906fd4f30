//! The outbox entry: the promise to deliver one action, and what has been tried so far.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::action::{ActionKey, RenderedBody};
use crate::delivery::OutcomeKind;
use crate::name::Name;
use crate::time::Timestamp;

/// Where an entry stands. `pending`, `claimed`, `unknown` and `held` are open; `delivered` and `dead` are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryState {
    /// Waits for its next attempt.
    Pending,
    /// Somebody holds the right to one attempt, until the lease ends.
    Claimed,
    /// May have arrived; the destination is to be asked.
    Unknown,
    /// Waits for an operator.
    Held,
    /// The destination said that it has the action.
    Delivered,
    /// Given up: the destination never had it, or said no.
    Dead,
}

impl EntryState {
    /// All states, in the order of an entry's life.
    pub const ALL: [EntryState; 6] = [
        Self::Pending,
        Self::Claimed,
        Self::Unknown,
        Self::Held,
        Self::Delivered,
        Self::Dead,
    ];

    /// The word in the table, in logs and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Unknown => "unknown",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    /// Whether the entry is closed. A closed entry is reopened only by an operator.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Delivered | Self::Dead)
    }
}

impl fmt::Display for EntryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for EntryState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(())
    }
}

/// The right to make one attempt, and the note that it may have begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who holds it: a random text per claim, so that a claim whose answer was lost is recognised.
    pub id: String,
    /// When it was taken: the earliest time at which its request can have left.
    pub claimed_at: Timestamp,
    /// Until when its request may run.
    pub lease_until: Timestamp,
}

/// The body to send: in the entry where it is small, else in an item of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBody {
    /// In the entry.
    Inline(RenderedBody),
    /// In the payload item of the same key.
    Payload,
}

/// One promise to deliver, as it stands in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The action's key: the partition, and the key under which the destination sees every attempt.
    pub key: ActionKey,
    /// The source whose message was accepted.
    pub source: Name,
    /// Where the action goes.
    pub destination: Name,
    /// Where the entry stands.
    pub state: EntryState,
    /// Why it stands there, where that is not the usual course ([`crate::settlement::Reason`]).
    pub reason: Option<String>,
    /// How many claims and operator's words there have been: the number of the last attempt that may have
    /// begun, or of the word since.
    pub fence: u64,
    /// The claim of the last attempt, while it is open.
    pub claim: Option<Claim>,
    /// When the action was accepted.
    pub accepted_at: Timestamp,
    /// When the entry wants attention next; `None` once delivered.
    pub due_at: Option<Timestamp>,
    /// When the first attempt that may have arrived began. Set once, never cleared.
    pub first_uncertain_at: Option<Timestamp>,
    /// The number of the last attempt of which the destination or an operator has said that it, and all before
    /// it, is in nobody's way; 0 where nobody has. It only grows.
    pub cleared_fence: u64,
    /// When an operator last had it sent again; its time for retries counts from then.
    pub redriven_at: Option<Timestamp>,
    /// Whether an operator ever vouched for a repetition of what may have arrived.
    pub is_vouched: bool,
    /// The origin (hash) of the destination that the last attempt spoke to.
    pub origin: Option<Origin>,
    /// The last attempts, oldest first, at most [`OutboxEntry::ATTEMPTS_KEPT`].
    pub attempts: Vec<AttemptRecord>,
    /// What happened last, in words.
    pub last_detail: Option<String>,
    /// The body that every attempt sends.
    pub body: StoredBody,
    /// When the entry was closed or held.
    pub settled_at: Option<Timestamp>,
}

impl OutboxEntry {
    /// How many attempts are kept on the entry. The fence says how many there were.
    pub const ATTEMPTS_KEPT: usize = 10;
}

/// The first 8 bytes of the hash of who answers at a destination: its scheme, host and port; a queue with its
/// grouping, a state machine, a function.
pub type Origin = [u8; 8];

/// One attempt in short: enough to explain a repetition at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttemptRecord {
    /// The attempt's number, from 1: its fence.
    pub number: u64,
    /// What is known of it.
    pub kind: OutcomeKind,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// How long after acceptance it began, in whole seconds.
    pub began_after: Duration,
}

impl AttemptRecord {
    /// A record of attempt `number`, in the precision in which it is kept: whole seconds.
    pub const fn new(
        number: u64,
        kind: OutcomeKind,
        status: Option<u16>,
        began_after: Duration,
    ) -> Self {
        Self {
            number,
            kind,
            status,
            began_after: Duration::from_secs(began_after.as_secs()),
        }
    }
}

/// The compact text of the table: number, a letter for the outcome, the status, seconds after
/// acceptance; `3b503+142` is attempt 3, busy, status 503, begun 142 s after acceptance.
impl fmt::Display for AttemptRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, letter(self.kind))?;
        if let Some(status) = self.status {
            write!(f, "{status}")?;
        }
        write!(f, "+{}", self.began_after.as_secs())
    }
}

impl FromStr for AttemptRecord {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (head, seconds) = text.split_once('+').ok_or(())?;
        let at = head.find(|c: char| c.is_ascii_alphabetic()).ok_or(())?;
        let (number, rest) = head.split_at(at);
        let (kind, status) = rest.split_at(1);
        let status = (!status.is_empty()).then(|| status.parse().map_err(|_| ()));
        Ok(Self {
            number: number.parse().map_err(|_| ())?,
            kind: kind_of(kind).ok_or(())?,
            status: status.transpose()?,
            began_after: Duration::from_secs(seconds.parse().map_err(|_| ())?),
        })
    }
}

const fn letter(kind: OutcomeKind) -> char {
    match kind {
        OutcomeKind::Succeeded => 's',
        OutcomeKind::Rejected => 'r',
        OutcomeKind::NotSent => 'n',
        OutcomeKind::Busy => 'b',
        OutcomeKind::Unknown => 'u',
    }
}

fn kind_of(letter: &str) -> Option<OutcomeKind> {
    Some(match letter {
        "s" => OutcomeKind::Succeeded,
        "r" => OutcomeKind::Rejected,
        "n" => OutcomeKind::NotSent,
        "b" => OutcomeKind::Busy,
        "u" => OutcomeKind::Unknown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_survives_its_compact_text() {
        let attempt = AttemptRecord {
            number: 12,
            kind: OutcomeKind::Busy,
            status: Some(503),
            began_after: Duration::from_secs(142),
        };
        assert_eq!(attempt.to_string(), "12b503+142");
        assert_eq!("12b503+142".parse(), Ok(attempt));
        let unsent = AttemptRecord {
            status: None,
            kind: OutcomeKind::NotSent,
            ..attempt
        };
        assert_eq!(unsent.to_string().parse(), Ok(unsent));
    }

    #[test]
    fn odd_texts_are_no_attempts() {
        for odd in [
            "",
            "+",
            "1",
            "s+1",
            "1x+1",
            "1s+",
            "1sabc+1",
            "1s99999+1",
            "1é+1",
        ] {
            assert!(odd.parse::<AttemptRecord>().is_err(), "{odd}");
        }
    }

    #[test]
    fn every_state_survives_its_word() {
        for state in EntryState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
    }
}
