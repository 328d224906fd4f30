//! Where a process meets its surroundings: environment, clock, log, the SDK's configuration and the
//! exit code come in here and nowhere else, and go on as values. What must never happen: that a stage
//! reads one of them itself, or that a function ends without a line on why.

#[cfg(feature = "http")]
pub mod host;
#[cfg(feature = "http")]
pub mod http;
mod visible;

pub use visible::visible;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ackbox_domain::Timestamp;
use ackbox_domain::causes::in_one_line;
use ackbox_store::Store;
use aws_config::{BehaviorVersion, SdkConfig};

/// Reads the clock. A value, so that tests choose what time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What ends a process: an error of any kind.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The variable that names the table.
pub const TABLE_VARIABLE: &str = "ACKBOX_TABLE";

/// The table's name where nothing names another.
pub const DEFAULT_TABLE: &str = "ackbox";

/// Runs a function with its log: `serve` reads the configuration and waits for invocations. Where it
/// fails, the log says `<function>.failed` with every cause, and the exit code says that it failed.
pub async fn run(
    function: &'static str,
    serve: impl Future<Output = Result<(), Failure>>,
) -> ExitCode {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_max_level(tracing::Level::INFO)
        .init();
    match serve.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %in_one_line(error.as_ref()), "{function}.failed");
            ExitCode::FAILURE
        }
    }
}

/// How AWS is spoken to: region, credentials and endpoints from where the SDK looks for them.
pub async fn sdk() -> SdkConfig {
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(ackbox_store::http_client())
        .load()
        .await
}

/// The table that [`TABLE_VARIABLE`] names.
pub fn store(sdk: &SdkConfig) -> Store {
    let table = environment(TABLE_VARIABLE).unwrap_or_else(|| DEFAULT_TABLE.to_owned());
    Store::new(ackbox_store::client(sdk), table)
}

/// The time left of an invocation that ends `deadline_ms` milliseconds after the Unix epoch; zero
/// where that has passed.
pub fn left_until(deadline_ms: u64) -> Duration {
    Timestamp::from_unix_ms(deadline_ms).since(now())
}

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
pub fn clock() -> Clock {
    Arc::new(now)
}
