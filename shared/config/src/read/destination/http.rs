//! `kind = "http"`: where the `POST` goes, its headers, and by which secrets it is signed.

use super::idempotency::{DEFAULT_HEADER, Known};
use super::{
    ALLOW_PRIVATE_KEY, BACKOFF_KEY, BREAKER_KEY, CONCURRENCY_KEY, KIND, ON_UNKNOWN_KEY,
    RECONCILE_KEY, RETRY_FOR_KEY, TIMEOUT_KEY,
};
use crate::config::HttpDestination;
use crate::read::report::Read;
use crate::read::table::{Key, Table, key};
use crate::read::{address, headers, secrets};

/// The keys of such a destination.
pub(super) const KEYS: &[Key] = &[
    KIND,
    key("url", "\"https://mail.example.com/actions\""),
    key(
        "headers",
        "{ Authorization = \"env:MAILER_AUTHORIZATION\" }",
    ),
    key(
        "idempotency",
        "{ header = \"Idempotency-Key\", window = \"24h\" }",
    ),
    ON_UNKNOWN_KEY,
    TIMEOUT_KEY,
    RETRY_FOR_KEY,
    BACKOFF_KEY,
    key("signing", "[\"env:MAILER_SIGNING_SECRET\"]"),
    ALLOW_PRIVATE_KEY,
    RECONCILE_KEY,
    CONCURRENCY_KEY,
    BREAKER_KEY,
];

/// Reads what only this kind has.
pub(super) fn http(
    table: &Table<'_>,
    known: Option<&Known>,
    allow_private: bool,
) -> Read<HttpDestination> {
    let url = address::url(table, allow_private);
    let header = known.map_or(DEFAULT_HEADER, |known| known.header.as_str());
    let headers = headers::headers(table, header);
    let signing = secrets::optional(table, "signing");
    Ok(HttpDestination {
        url: url?,
        headers: headers?,
        idempotency_header: header.to_owned(),
        signing: signing?,
        allow_private,
    })
}
