//! How webhook senders sign: a message and secrets in, a proven message or a reason out.

mod algorithm;
mod builtin;
mod compile;
mod encoding;
mod error;
mod facts;
mod message;
mod read;
mod refusal;
mod scheme;
mod secret;
mod sign;
mod signed;
mod spec;
mod stamp;
mod template;
mod verified;
mod verify;

pub use error::{GrammarError, SecretFormError, SignError};
pub use facts::{Acknowledge, Facts, Locator, Redelivery};
pub use message::{Headers, Message};
pub use refusal::Refusal;
pub use scheme::Scheme;
pub use secret::Secret;
pub use sign::SignRequest;
pub use spec::{
    AcknowledgeSpec, LocatorSpec, RedeliverySpec, SchemeSpec, SecretSpec, SignatureSpec,
    TimestampSpec,
};
pub use verified::Verified;
