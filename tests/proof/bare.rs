//! What the receiver's start is compared with: a function that builds a DynamoDB client, and asks for
//! its first invocation. Nothing else may be added here.

use aws_config::BehaviorVersion;
use lambda_http::{Body, Error, Request, Response, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let sdk = aws_config::defaults(BehaviorVersion::latest())
        .http_client(ackbox_store::http_client())
        .load()
        .await;
    let client = aws_sdk_dynamodb::Client::new(&sdk);
    let client = &client;
    lambda_http::run(service_fn(async move |_: Request| {
        let _ = client;
        Ok::<_, Error>(Response::new(Body::Empty))
    }))
    .await
}
