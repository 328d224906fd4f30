//! What hostile messages are sent to: a configuration with a source for each provider, secrets that
//! depend on nothing, a clock that stands still, and a table that is not there.

use std::sync::{Arc, LazyLock};

use ackbox_config::{Config, SourceConfig};
use ackbox_domain::Timestamp;
use ackbox_secrets::Secrets;
use ackbox_signature::{Headers, Secret, SignRequest};
use data_encoding::BASE64;

/// When everything happens, in milliseconds since 1970: when most vectors were signed.
pub(crate) const NOW_MS: u64 = 1_735_689_600_000;

/// The configuration.
pub(crate) static CONFIG: LazyLock<Config> =
    LazyLock::new(
        || match Config::parse("hostile.toml", include_str!("../hostile.toml")) {
            Ok(config) => config,
            Err(mistakes) => panic!("{mistakes}"),
        },
    );

/// The clock of the functions.
pub(crate) fn clock() -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    Arc::new(|| Timestamp::from_unix_ms(NOW_MS))
}

/// The secret under a name, in a form that every scheme takes.
pub(crate) fn secret_text(name: &str) -> String {
    let mut bytes: Vec<u8> = name.bytes().cycle().take(32).collect();
    bytes[31] = b'!';
    format!("whsec_{}", BASE64.encode(&bytes))
}

/// The secrets of the functions.
pub(crate) fn secrets() -> Secrets {
    Secrets::new(|name| Some(secret_text(name)))
}

/// The first secret of a source, as its scheme reads it.
pub(crate) fn secret_of(source: &SourceConfig) -> Secret {
    let reference = source.secrets[0].to_string();
    let text = secret_text(reference.trim_start_matches("env:"));
    let secret = source.scheme.secret(&reference, &text);
    secret.expect("every scheme takes a secret of this form")
}

/// The headers that this source's sender would send; none where these values cannot be signed.
pub(crate) fn signed(
    source: &SourceConfig,
    secret: &Secret,
    id: &str,
    event: Option<&str>,
    body: &[u8],
) -> Option<Headers> {
    let request = SignRequest {
        method: "POST",
        url: "/hooks/hostile",
        body,
        now_ms: NOW_MS,
        id,
        event,
    };
    Some(
        source
            .scheme
            .sign(&request, secret)
            .ok()?
            .into_iter()
            .collect(),
    )
}
