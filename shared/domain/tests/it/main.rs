//! What holds of every message and of every course of an entry, by the crate's public face alone.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod identity;
mod schema;
mod settlement;
