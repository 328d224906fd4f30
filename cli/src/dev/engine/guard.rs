//! Who may use an embedded engine: a request's head comes in, and whether it is answered goes out.
//!
//! The port is open to every process and every page on this machine, and the engine knows no signatures. A
//! request that a browser could send, or that does not show this start's key, must never reach the table.

use std::fmt;
use std::net::SocketAddr;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};
use subtle::ConstantTimeEq as _;

/// What a client of an engine must show, as the access key id of its signature. Another one at each start.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct EngineKey(String);

impl EngineKey {
    pub(super) fn new() -> Self {
        Self(ackbox_store::random_id())
    }

    /// The key itself, for a client's credentials.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn is(&self, shown: &[u8]) -> bool {
        shown.ct_eq(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for EngineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineKey(..)")
    }
}

/// Stands before one engine.
#[derive(Debug)]
pub(super) struct Guard {
    key: EngineKey,
    /// The names that the engine's address has on this machine.
    hosts: [String; 2],
}

impl Guard {
    pub(super) fn new(key: EngineKey, address: SocketAddr) -> Self {
        let hosts = [address.to_string(), format!("localhost:{}", address.port())];
        Self { key, hosts }
    }

    /// Whether the request may be answered. Its body has not been read.
    pub(super) fn allows(&self, head: &Parts) -> bool {
        head.method == Method::POST
            && !head.headers.contains_key(ORIGIN)
            && only(&head.headers, &HOST).is_some_and(|host| self.is_host(host))
            && only(&head.headers, &AUTHORIZATION)
                .and_then(access_key_id)
                .is_some_and(|shown| self.key.is(shown))
    }

    fn is_host(&self, host: &[u8]) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.any(|own| host.eq_ignore_ascii_case(own.as_bytes()))
    }
}

/// The header's value, where it is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.as_bytes())
}

/// Of `AWS4-HMAC-SHA256 Credential=<id>/<scope>, ..`.
fn access_key_id(authorization: &[u8]) -> Option<&[u8]> {
    let credential = authorization.strip_prefix(b"AWS4-HMAC-SHA256 Credential=")?;
    let end = credential.iter().position(|byte| *byte == b'/')?;
    credential.get(..end)
}
