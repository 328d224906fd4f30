//! What the receiver's load is compared with: a function that carries out one bare transaction for each
//! invocation. Nothing else may be added here.

use ackbox_tests::bare::{TEMPLATE, any_pk, transaction};
use aws_config::BehaviorVersion;
use lambda_http::{Body, Error, Request, Response, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    #[allow(clippy::disallowed_methods, reason = "the process's edge")]
    let template = std::env::var(TEMPLATE)?;
    let template = serde_json::from_str(&template)?;
    let sdk = aws_config::defaults(BehaviorVersion::latest())
        .http_client(ackbox_store::http_client())
        .load()
        .await;
    let client = ackbox_store::client(&sdk);
    let (client, template) = (&client, &template);
    lambda_http::run(service_fn(async move |_: Request| {
        let items = transaction(template, &any_pk())?;
        let transaction = client.transact_write_items();
        transaction.set_transact_items(Some(items)).send().await?;
        Ok::<_, Error>(Response::new(Body::Empty))
    }))
    .await
}
