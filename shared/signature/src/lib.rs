//! How webhook senders sign: a message and secrets in, a proven message or a reason out.

mod error;
mod facts;
mod message;
mod refusal;
mod scheme;
mod secret;
mod spec;
mod verified;

pub use error::{GrammarError, SecretFormError, SignError};
pub use facts::{Acknowledge, Facts, Locator, Redelivery};
pub use message::{Headers, Message};
pub use refusal::Refusal;
pub use scheme::{Scheme, SignRequest};
pub use secret::Secret;
pub use spec::{
    AcknowledgeSpec, LocatorSpec, RedeliverySpec, SchemeSpec, SecretSpec, SignatureSpec,
    TimestampSpec,
};
pub use verified::Verified;
