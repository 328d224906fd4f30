//! What every sender sent and what it was answered, kept by the senders themselves. The verdict rests on
//! this and on the destinations' logs, so nothing in here ever comes from the table.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a message is sent, which says how it must be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A fact for the first time.
    New,
    /// A fact that was accepted before, signed afresh.
    Redelivery,
    /// A fact for the first time, from many senders at once.
    AtOnce,
    /// A known fact's id with other content.
    OtherBody,
    /// Signed with another secret.
    Forged,
    /// Signed rightly, long ago.
    Stale,
    /// Signed rightly, and larger than the source allows.
    TooLarge,
    /// The sender only tests the connection.
    Test,
    /// The end of a job that the application has not written down yet.
    Early,
    /// The end of a job that was asked about meanwhile.
    Late,
    /// Another end of a job that has ended.
    OtherEnd,
}

impl Kind {
    /// Whether an answer is as it must be. Of those at once, one is accepted and the others are
    /// duplicates: that one is the first is nobody's to say.
    pub fn expects(self, answer: &Answer) -> bool {
        let words: &[&str] = match self {
            Self::New => &["accepted"],
            Self::Redelivery | Self::Late => &["duplicate"],
            Self::AtOnce => &["accepted", "duplicate"],
            Self::OtherBody | Self::OtherEnd => &["conflict"],
            Self::Forged | Self::Stale => &["refused"],
            Self::TooLarge => &["too-large"],
            Self::Test => &["ignored"],
            Self::Early => &["parked"],
        };
        let status = match self {
            Self::Forged | Self::Stale => 401,
            Self::TooLarge => 413,
            _ => 200,
        };
        answer.status == status && words.contains(&answer.outcome.as_str())
    }
}

/// What the receiver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The word in `ackbox-outcome`.
    pub outcome: String,
}

impl Answer {
    /// Whether the sender was promised that this fact is kept: it will not send it again.
    pub fn promises(&self) -> bool {
        (200..300).contains(&self.status)
            && matches!(self.outcome.as_str(), "accepted" | "duplicate" | "parked")
    }

    /// Whether this answer is the one that accepted the fact: what is parked waits for its job, and is kept.
    pub fn accepts(&self) -> bool {
        self.promises() && self.outcome != "duplicate"
    }
}

/// One message, and what became of it in its sender's eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Why it was sent.
    pub kind: Kind,
    /// The source it was sent to.
    pub source: &'static str,
    /// The sender's own name for the fact.
    pub fact: &'static str,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The answer; none, where the exchange broke off, and why.
    pub answer: Result<Answer, String>,
}

/// Every message of a run, in the order of their answers.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<Sent>>);

impl Ledger {
    /// Writes down one message.
    pub fn note(&self, sent: Sent) {
        self.lock().push(sent);
    }

    /// All that was written down.
    pub fn pages(&self) -> Vec<Sent> {
        self.lock().clone()
    }

    // A vector is whole after every push, so a panic elsewhere does it no harm.
    fn lock(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
