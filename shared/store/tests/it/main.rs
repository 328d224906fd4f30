//! The store against an engine: an embedded one over loopback HTTP, or, where
//! `AWS_ENDPOINT_URL_DYNAMODB` is set, the one that it names. Each test has a table of its own.
//!
//! What a test may look at: answers of the store, items read by the engine's own client, and the
//! requests that left. `faults` and `lost_answers` speak to a double in place of the service, for
//! what engines do not do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so by ending"
)]

mod accept;
mod action;
mod claim;
mod conflict;
mod count;
mod due;
mod engine;
mod faults;
mod job;
mod lost_answers;
mod meta;
mod notice;
mod operator;
mod operator_job;
mod operator_pause;
mod operator_redact;
mod pause;
mod recorder;
mod settle;
mod size;
mod story;
mod table;
mod wire;
mod write_units;
