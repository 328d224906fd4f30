//! The receiver as a Lambda function: reads its configuration and waits for requests.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ackbox_config::Config;
use ackbox_domain::Timestamp;
use ackbox_domain::causes::in_one_line;
use ackbox_receiver::Receiver;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use aws_config::BehaviorVersion;
use lambda_http::{Error, Request, RequestExt as _, service_fn};

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
            tracing::error!(error = %in_one_line(error.as_ref()), "receiver.failed");
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
    let receiver = Receiver::new(config, store, Secrets::new(environment), Arc::new(now));
    lambda_http::run(service_fn(|request: Request| async {
        let deadline = request
            .lambda_context_ref()
            .map(|context| Timestamp::from_unix_ms(context.deadline));
        let remaining: Option<Duration> = deadline.map(|end| end.since(now()));
        Ok::<_, Error>(receiver.receive(request, remaining).await)
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
