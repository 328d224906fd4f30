//! The dispatcher and the sweeper as Lambda functions: one binary, told apart by what wakes them.

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
use ackbox_edge::Failure;
use ackbox_outbound::Outbound;
use ackbox_secrets::Secrets;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ackbox_edge::run("dispatcher", serve()).await
}

async fn serve() -> Result<(), Failure> {
    let config = Config::load(&Config::locate(ackbox_edge::environment))?;
    let sdk = ackbox_edge::sdk().await;
    let store = ackbox_edge::store(&sdk);
    let outbound = Outbound::with_aws(Secrets::new(ackbox_edge::environment), sdk);
    let dispatcher = &Dispatcher::new(config, store, outbound, ackbox_edge::clock());
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Value>| async move {
        let deadline = Instant::now() + ackbox_edge::left_until(event.context.deadline);
        Ok::<Value, Failure>(dispatcher.handle(event.payload, deadline).await?)
    }))
    .await
}
