//! The dispatcher and the sweeper as Lambda functions: one binary, told apart by what wakes them.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
use ackbox_domain::Timestamp;
use ackbox_domain::causes::in_one_line;
use ackbox_outbound::Outbound;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use aws_config::BehaviorVersion;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_max_level(tracing::Level::INFO)
        .init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %in_one_line(error.as_ref()), "dispatcher.failed");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let config = Config::load(&Config::locate(environment))?;
    let sdk = aws_config::defaults(BehaviorVersion::latest())
        .http_client(ackbox_store::http_client())
        .load()
        .await;
    let table = environment("ACKBOX_TABLE").unwrap_or_else(|| "ackbox".to_owned());
    let store = Store::new(ackbox_store::client(&sdk), table);
    let outbound = Outbound::new(Secrets::new(environment));
    let dispatcher = Dispatcher::new(config, store, outbound, Arc::new(now));
    let dispatcher = &dispatcher;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Value>| async move {
        let ends = Timestamp::from_unix_ms(event.context.deadline);
        let deadline = Instant::now() + ends.since(now());
        Ok::<Value, Error>(dispatcher.handle(event.payload, deadline).await?)
    }))
    .await
}

#[allow(
    clippy::disallowed_methods,
    reason = "the process's edge: here the environment is read"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the process's edge: here the clock is read"
)]
fn now() -> Timestamp {
    SystemTime::now().into()
}
