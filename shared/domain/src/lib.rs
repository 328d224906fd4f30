//! The pure rules of ackbox, in the order in which a message passes them.
//!
//! A verified message is read as a [`document`], becomes [`observation`]s, each of which becomes
//! [`action`]s ([`follow`](mod@follow) is that way); an action is [`acceptance`]-compared with what the table holds, waits as an
//! [`outbox`] entry, and every [`delivery`] attempt is closed by a [`settlement`]. A destination that
//! does not work is paused by its [`breaker`], and one at an [`address`] that is not public is not spoken to.
//!
//! Nothing in here does I/O, reads a clock or knows a database: `now` is an argument, randomness is
//! an argument, and every function gives the same answer for the same input.

pub mod acceptance;
pub mod action;
pub mod address;
pub mod breaker;
pub mod carriage;
pub mod causes;
pub mod delivery;
pub mod document;
pub mod follow;
pub mod freshness;
pub mod identity;
pub mod job;
pub mod json;
pub mod name;
pub mod notice;
pub mod observation;
pub mod operator;
pub mod outbox;
pub mod retention;
pub mod settlement;
pub mod source;
pub mod template;
pub mod time;

pub use acceptance::{Acceptance, Comparison, Fingerprint, compare};
pub use action::{Action, ActionKey, RenderedBody, act};
pub use breaker::{Breaker, Gate, OperatorPause, Pause, PauseRecord};
pub use carriage::{Carriage, Form, Unfit};
pub use delivery::{AttemptOutcome, OutcomeKind};
pub use document::Document;
pub use follow::{Fact, follow};
pub use freshness::{MaxAge, fresh};
pub use identity::{RuleIdentity, RuleIdentityError};
pub use json::{Pointer, Scalar};
pub use name::Name;
pub use notice::{Notify, Trouble};
pub use observation::{Malformed, Observation, Phase, observe};
pub use outbox::{AttemptRecord, Claim, EntryState, OutboxEntry, StoredBody};
pub use retention::{Retention, Retentions};
pub use settlement::{
    Backoff, ClaimDecision, DeliveryPolicy, Idempotency, OnUnknown, Settled, Settlement, Timing,
};
pub use source::{Each, EventPattern, FingerprintPart, KeyPart, Locator, Payload, Rule, Source};
pub use time::Timestamp;
