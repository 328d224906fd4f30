//! Every seed, through the same functions as the fuzzer, on stable.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod replay;
