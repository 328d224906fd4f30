//! The reconciler as a Lambda function: a schedule wakes it.

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_edge::Failure;
use ackbox_outbound::Outbound;
use ackbox_reconciler::Reconciler;
use ackbox_secrets::Secrets;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ackbox_edge::run("reconciler", serve()).await
}

async fn serve() -> Result<(), Failure> {
    let config = Config::load(&Config::locate(ackbox_edge::environment))?;
    let store = ackbox_edge::store(&ackbox_edge::sdk().await);
    let outbound = Outbound::new(Secrets::new(ackbox_edge::environment));
    let reconciler = &Reconciler::new(config, store, outbound, ackbox_edge::clock());
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Value>| async move {
        let deadline = Instant::now() + ackbox_edge::left_until(event.context.deadline);
        Ok::<Value, Failure>(reconciler.run(deadline).await)
    }))
    .await
}
