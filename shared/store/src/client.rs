//! The DynamoDB client whose retries and timeouts leave the time budget to this crate.

use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

/// How long connecting may take before another try.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long one try may take. DynamoDB answers in milliseconds; a stalled connection must leave room
/// for other tries inside a budget of seconds.
const TRY_TIMEOUT: Duration = Duration::from_secs(2);

/// A DynamoDB client of this configuration (region, endpoint, credentials).
///
/// The SDK's own retries are off: every operation of [`crate::Store`] repeats what passes by itself
/// inside the deadline that its caller gave, with one idempotency token, and one try is bounded to
/// two seconds, so that a stalled table is noticed.
pub fn client(config: &SdkConfig) -> aws_sdk_dynamodb::Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(TRY_TIMEOUT)
        .build();
    let config = aws_sdk_dynamodb::config::Builder::from(config)
        .http_client(http_client())
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build();
    aws_sdk_dynamodb::Client::from_conf(config)
}

/// The HTTP client of [`client`]: rustls with ring. Also for the SDK's credential providers, which
/// need one where credentials do not come from the environment.
pub fn http_client() -> SharedHttpClient {
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https()
}
