//! A table that is not there: every call is counted, and answered at once with an empty success. It
//! shows which calls an input causes, and nothing of what a table would make of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackbox_store::Store;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};

/// The calls since they were last taken, by operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offline(Arc<Mutex<Vec<String>>>);

impl Offline {
    /// The calls since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls())
    }

    /// A store on this table.
    pub(crate) fn store(&self) -> Store {
        let connector = SharedHttpConnector::new(self.clone());
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("none", "none", None, None, "hostile"))
            .http_client(http_client_fn(move |_, _| connector.clone()))
            .build();
        Store::new(aws_sdk_dynamodb::Client::from_conf(config), "hostile")
    }

    fn calls(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpConnector for Offline {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        self.calls().push(operation.to_owned());
        let status = 200_u16.try_into().expect("200 is a status");
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status, "{}".into())))
    }
}
