//! Where the process meets its surroundings: the environment and the clock are read here and nowhere else.

use std::sync::Arc;
use std::time::SystemTime;

use ackbox_domain::Timestamp;

/// The value of an environment variable. One that is empty, or not text, counts as none.
#[allow(
    clippy::disallowed_methods,
    reason = "the process's edge: here the environment is read"
)]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The time.
#[allow(
    clippy::disallowed_methods,
    reason = "the process's edge: here the clock is read"
)]
pub fn now() -> Timestamp {
    SystemTime::now().into()
}

/// The clock as a value, for what takes one.
pub fn clock() -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    Arc::new(now)
}
