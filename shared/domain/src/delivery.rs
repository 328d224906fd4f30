//! What is known of one attempt to deliver. A failed attempt is data, never an error.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What one attempt tells us about whether the destination has the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutcomeKind {
    /// The destination said that it has the action (2xx).
    Succeeded,
    /// The destination received the request and said no.
    Rejected,
    /// The request never left: the name did not resolve, no connection, no TLS. Or it was turned away
    /// before anybody looked at the action, where the service says so (access denied by AWS).
    NotSent,
    /// The destination said "later" and, by that, that it did nothing.
    Busy,
    /// The request may have left, and nothing that came back proves what happened.
    Unknown,
}

impl OutcomeKind {
    const ALL: [OutcomeKind; 5] = [
        Self::Succeeded,
        Self::Rejected,
        Self::NotSent,
        Self::Busy,
        Self::Unknown,
    ];

    /// The word that logs, the table and the terminal use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::Busy => "busy",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the destination may have the action after an attempt that ended so.
    ///
    /// Only "never left" and "later" say that it has not.
    pub const fn may_have_arrived(self) -> bool {
        !matches!(self, Self::NotSent | Self::Busy)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for OutcomeKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(())
    }
}

/// One attempt's end: the kind, and what an operator wants to read about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// What is known.
    pub kind: OutcomeKind,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// How long the destination asked us to wait, as it said it.
    pub retry_after: Option<Duration>,
    /// What happened in words, cut to [`AttemptOutcome::DETAIL_MAX`] characters, without control
    /// characters, secrets or signatures.
    pub detail: String,
}

impl AttemptOutcome {
    /// The longest detail kept, in characters.
    pub const DETAIL_MAX: usize = 120;

    /// An outcome whose detail is cut and stripped of control characters.
    pub fn new(kind: OutcomeKind, status: Option<u16>, detail: &str) -> Self {
        let detail = detail
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(Self::DETAIL_MAX)
            .collect();
        Self {
            kind,
            status,
            retry_after: None,
            detail,
        }
    }

    /// The same outcome with the wait that the destination asked for.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Whether a rejection is final. 408, 409 and 425 speak of this request, not of the action:
    /// another request may be answered otherwise (RFC 9110, sections 15.5.9 and 15.5.10; RFC 8470, 5.2).
    pub fn is_final_rejection(&self) -> bool {
        self.kind == OutcomeKind::Rejected && !matches!(self.status, Some(408 | 409 | 425))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_its_word() {
        for kind in OutcomeKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert_eq!("done".parse::<OutcomeKind>(), Err(()));
    }

    #[test]
    fn a_detail_is_cut_by_characters_and_holds_no_control_characters() {
        let outcome = AttemptOutcome::new(
            OutcomeKind::Unknown,
            None,
            &format!("\u{1b}[31m\n{}", "ä".repeat(500)),
        );
        assert_eq!(outcome.detail.chars().count(), AttemptOutcome::DETAIL_MAX);
        assert!(!outcome.detail.contains(|c: char| c.is_control()));
    }
}
