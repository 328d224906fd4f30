//! The commands as a shell sees them: arguments, files and environment in, exit code and two outputs out.
//! A test may assert those three, and what a server on loopback saw; nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this whole binary is tests, their support functions included"
)]

mod check;
mod compared;
mod job;
mod list_and_show;
mod listed;
mod operate;
mod pause;
mod reconciled;
mod send;
mod shape;
mod stats;
mod support;
mod tabled;
mod verify;
