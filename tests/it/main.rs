//! The way of one message, end to end: a provider's request in; answers, items and deliveries out.
//! One module per flow. What may be asserted is listed in the harness.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests, with helpers that are not test functions themselves"
)]

mod accept;
mod boundaries;
mod breaker;
mod configuration;
mod cost;
mod crash;
mod deliver;
mod durable;
mod failing;
mod freshness;
mod gauges;
mod hostile;
mod http;
mod identity;
mod kinds;
mod logs;
mod notify;
mod operate;
mod reconcile;
mod registrar;
mod renamed;
mod repeat;
mod retention;
mod several;
mod stream;
mod sweep;
mod template;
mod workflow;
