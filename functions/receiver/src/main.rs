//! The receiver as a Lambda function: reads its configuration and waits for requests.

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_edge::Failure;
use ackbox_receiver::Receiver;
use ackbox_secrets::Secrets;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ackbox_edge::run("receiver", serve()).await
}

async fn serve() -> Result<(), Failure> {
    let config = Config::load(&Config::locate(ackbox_edge::environment))?;
    let store = ackbox_edge::store(&ackbox_edge::sdk().await);
    let secrets = Secrets::new(ackbox_edge::environment);
    let receiver = Receiver::new(config, store, secrets, ackbox_edge::clock());
    ackbox_edge::http::serve(|request, left| receiver.receive(request, left)).await
}
