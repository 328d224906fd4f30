//! The way of one message, end to end: a provider's request in; answers, items and deliveries out.
//! One module per flow. What may be asserted is listed in the harness.

mod accept;
mod configuration;
mod cost;
mod crash;
mod deliver;
mod durable;
mod failing;
mod http;
mod identity;
mod logs;
mod repeat;
mod several;
mod stream;
mod sweep;
