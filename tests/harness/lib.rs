//! What the tests of the whole are made of: an engine, a sender, scripted destinations, faults, and
//! the functions built on them with a clock that stands still until it is moved.
//!
//! A test sends as a provider would, wakes the dispatcher as Lambda would, and then asserts what can
//! be seen from outside, and nothing else:
//!
//! 1. the HTTP status and the headers of an answer ([`sender::Answer`]);
//! 2. the items in the table, as any client of the engine sees them ([`engine::Table`]);
//! 3. the requests at the destination ([`destination::Destination::received`]);
//! 4. the calls that went over the wire to the engine ([`faults::Faults::calls`]);
//! 5. what the dispatcher answers to Lambda (`batchItemFailures`, a sweep's counts), and the log.
//!
//! Every test has a table of its own ([`world::World`]). With `AWS_ENDPOINT_URL_DYNAMODB` set, that
//! table is on the engine of that endpoint; else on an embedded engine of its own, in memory. What
//! one engine cannot do is named in [`engine::Ability`], and a test that needs it says so by name.
//!
//! Nothing here sleeps: whatever is awaited is a condition. Time is either [`world::Clock`], which
//! the test moves, or a ratio of two measurements of one run. A setting that is wrong by itself (a
//! configuration with mistakes, a scan that fails) panics: no test wants to go on from there.
#![allow(clippy::panic, reason = "only tests and the bench use it")]

pub mod backlog;
pub mod bare;
pub mod engine;
pub mod events;
pub mod evidence;
pub mod faults;
pub mod function;
pub mod growth;
pub mod log;
pub mod requests;
pub mod runtime_api;
pub mod sender;
pub mod workflow;
pub mod world;

pub use ackbox::demo::destination;
