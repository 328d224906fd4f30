//! The SDK's clients: for an engine on this machine, or for what the environment says.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_dynamodbstreams::config::SharedHttpClient;
use url::{Host, Url};

use super::EngineKey;
use crate::cli;
use crate::edge;

/// A client for the table, and one for its stream. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Clients {
    /// The table's.
    pub dynamodb: aws_sdk_dynamodb::Client,
    /// The stream's.
    pub streams: aws_sdk_dynamodbstreams::Client,
}

impl Clients {
    /// For an engine on this machine that answers everybody, over plain HTTP, with credentials that say nothing.
    pub async fn local(endpoint: &str) -> Self {
        Self::shown(endpoint, None).await
    }

    /// For an engine on this machine that answers who shows this key, over plain HTTP.
    pub(super) async fn shown(endpoint: &str, key: Option<&EngineKey>) -> Self {
        let sdk = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(endpoint)
            .region(region())
            .credentials_provider(credentials(key.map_or("local", EngineKey::expose)))
            .build();
        Self::over(&sdk, plain_http(), None)
    }

    /// For what AWS itself, or the endpoint that the SDK finds, answers as: everything is where the SDK looks
    /// for it, and its configuration is handed on for other services.
    pub async fn in_aws() -> (Self, SdkConfig) {
        let sdk = edge::sdk().await;
        let clients = Self::over(&sdk, ackbox_store::http_client(), None);
        (clients, sdk)
    }

    /// As the SDK's own environment says: `AWS_ENDPOINT_URL_DYNAMODB` (else `AWS_ENDPOINT_URL`),
    /// `AWS_ENDPOINT_URL_DYNAMODB_STREAMS` (else the same endpoint), region and credentials.
    ///
    /// An endpoint on this machine gets credentials that say nothing where neither
    /// `AWS_ACCESS_KEY_ID` nor `AWS_PROFILE` is set: no engine there looks at them.
    pub async fn from_environment() -> Self {
        let endpoint = cli::endpoint();
        let is_local = endpoint.as_deref().is_some_and(is_loopback);
        let has_credentials = ["AWS_ACCESS_KEY_ID", "AWS_PROFILE"]
            .iter()
            .any(|name| edge::environment(name).is_some());
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(ackbox_store::http_client());
        if is_local && !has_credentials {
            loader = loader
                .credentials_provider(credentials("local"))
                .region(region());
        }
        let sdk = loader.load().await;
        // The SDK knows each service's own variable; where the stream has none, it is where the table is.
        let streams = edge::environment("AWS_ENDPOINT_URL_DYNAMODB_STREAMS");
        let needs_tls = [&endpoint, &streams]
            .into_iter()
            .flatten()
            .any(|endpoint| endpoint.starts_with("https:"));
        let http = if is_local && !needs_tls {
            plain_http()
        } else {
            ackbox_store::http_client()
        };
        let streams = if streams.is_none() { endpoint } else { None };
        Self::over(&sdk, http, streams)
    }

    fn over(sdk: &SdkConfig, http: SharedHttpClient, streams_endpoint: Option<String>) -> Self {
        let table = ackbox_store::client(sdk)
            .config()
            .to_builder()
            .http_client(http.clone())
            .build();
        let mut streams = aws_sdk_dynamodbstreams::config::Builder::from(sdk).http_client(http);
        if let Some(endpoint) = streams_endpoint {
            streams = streams.endpoint_url(endpoint);
        }
        Self {
            dynamodb: aws_sdk_dynamodb::Client::from_conf(table),
            streams: aws_sdk_dynamodbstreams::Client::from_conf(streams.build()),
        }
    }
}

/// Whether the URL's host is this machine.
pub(super) fn is_loopback(endpoint: &str) -> bool {
    let url = Url::parse(endpoint).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Reads no root certificates, and is ready at once.
fn plain_http() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http()
}

/// No engine on this machine looks at the secret.
fn credentials(access_key_id: &str) -> SharedCredentialsProvider {
    SharedCredentialsProvider::new(Credentials::new(
        access_key_id,
        "local",
        None,
        None,
        "ackbox",
    ))
}

fn region() -> Region {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"]
        .iter()
        .find_map(|name| edge::environment(name));
    Region::new(named.unwrap_or_else(|| "us-east-1".to_owned()))
}
