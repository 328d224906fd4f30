//! Any bytes come in as one of the inputs that strangers can write; nothing comes out. What must hold
//! of them is asserted on the way, and what must never happen is a panic.
//!
//! One plain function for each input, so that the fuzzer (`fuzz/`, `make fuzz`) and the stable tests
//! (`it/`, which replays every seed) run the same code. A seed is a text that a person can read and
//! write: `seeds` makes the committed ones from the providers' vectors.
#![allow(
    clippy::panic,
    reason = "what does not hold ends the run: that is the report"
)]

pub mod config;
pub mod event;
pub mod grammar;
pub mod observe;
mod offline;
mod oracle;
pub mod pointer;
pub mod seeds;
mod setting;
pub mod stream;
mod text;
pub mod verify;

/// One input that strangers can write, and what must hold of any bytes in its place.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: of the fuzz target, and of the folder of its seeds.
    pub name: &'static str,
    /// Takes any bytes. Panics where something does not hold.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "config",
        run: config::run,
    },
    Target {
        name: "event",
        run: event::run,
    },
    Target {
        name: "grammar",
        run: grammar::run,
    },
    Target {
        name: "observe",
        run: observe::run,
    },
    Target {
        name: "pointer",
        run: pointer::run,
    },
    Target {
        name: "stream",
        run: stream::run,
    },
    Target {
        name: "verify",
        run: verify::run,
    },
];

/// A message for people: says something, and nothing in it steers a terminal.
fn says_something(message: &str) {
    assert!(!message.trim().is_empty(), "an error without words");
    assert!(
        !message.contains(char::is_control),
        "a message with control characters: {message:?}"
    );
}
