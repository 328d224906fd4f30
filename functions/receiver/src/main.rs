//! The receiver as a Lambda function: reads its configuration and waits for requests.

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_edge::Failure;
use ackbox_receiver::{Receiver, host};
use ackbox_secrets::Secrets;
use lambda_http::request::LambdaRequest;
use lambda_http::{
    Adapter, LambdaEvent, Request, RequestExt as _, Service as _, lambda_runtime, service_fn,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ackbox_edge::run("receiver", serve()).await
}

async fn serve() -> Result<(), Failure> {
    let config = Config::load(&Config::locate(ackbox_edge::environment))?;
    let store = ackbox_edge::store(&ackbox_edge::sdk().await);
    let secrets = Secrets::new(ackbox_edge::environment);
    let receiver = Receiver::new(config, store, secrets, ackbox_edge::clock());
    let receive = Adapter::from(service_fn(|request: Request| async {
        let context = request.lambda_context_ref();
        let left = context.map(|context| ackbox_edge::left_until(context.deadline));
        Ok::<_, Failure>(receiver.receive(request, left).await)
    }));
    // As `lambda_http::run` does, with what a stranger wrote made harmless before it is a request.
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let LambdaEvent { payload, context } = event;
        let event = LambdaEvent::new(host::with_a_url(payload), context);
        receive.clone().call(event)
    }))
    .await
}
