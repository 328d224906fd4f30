//! The local runtime from outside: signed requests over HTTP in, requests at destinations out; and
//! `ackbox dev` as a process that is stopped, killed and started again. A test may assert what a sender
//! was answered, what a destination saw, and what the process said and left behind.

#![allow(
    clippy::unwrap_used,
    reason = "the whole binary is tests: what fails here fails one"
)]

mod process;
mod runtime;
mod support;
