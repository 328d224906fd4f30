//! The registrar as a Lambda function: reads its configuration and waits for requests.

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_edge::Failure;
use ackbox_registrar::Registrar;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ackbox_edge::run("registrar", serve()).await
}

async fn serve() -> Result<(), Failure> {
    let config = Config::load(&Config::locate(ackbox_edge::environment))?;
    let store = ackbox_edge::store(&ackbox_edge::sdk().await);
    let registrar = Registrar::new(config, store, ackbox_edge::clock());
    ackbox_edge::http::serve(|request, left| registrar.handle(request, left)).await
}
