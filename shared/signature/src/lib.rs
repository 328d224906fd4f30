//! How webhook senders sign: a message and secrets in, a proven message or a reason out. Never a panic, never a secret.
//!
//! The way of a message is [`Scheme::verify`]: `read` finds signatures and timestamp in the headers, `signed` collects
//! the signed bytes, `stamp` judges the age, `algorithm` compares. A scheme comes from `spec` (as written) by `compile`.
#![doc = include_str!("../README.md")]

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
pub use facts::{
    Acknowledge, Facts, JobFacts, Locator, LookupAnswer, LookupFacts, LookupMeans, Manual,
    Redelivery, Repeats,
};
pub use message::{Headers, Message};
pub use refusal::Refusal;
pub use scheme::Scheme;
pub use secret::Secret;
pub use sign::SignRequest;
pub use spec::{
    AcknowledgeSpec, JobSpec, LocatorSpec, LookupAnswerSpec, LookupSpec, RedeliverySpec,
    RepeatsSpec, SchemeSpec, SecretSpec, SignatureSpec, TimestampSpec,
};
pub use verified::Verified;
