//! Everything that is asserted through the public interface, as one binary.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this whole binary is tests, their support functions included"
)]

mod covered;
mod grammar;
mod job;
mod properties;
mod refusals;
mod repeats;
mod secrets;
mod several;
mod signing;
mod support;
mod times;
mod vectors;
