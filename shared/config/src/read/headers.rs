//! Headers whose names are settings. A sender's; and a destination's own: names that are ours are refused, and values are references to secrets,
//! never the values: the file is kept in a repository and travels in the package.

use std::sync::Arc;

use ackbox_signature::{GrammarError, Scheme};
use toml::Spanned;
use toml::de::DeValue;

use super::locator::is_header_name;
use super::nearest::shown;
use super::report::{Read, Reported, Span};
use super::secrets;
use super::table::{Table, kind};
use crate::reference::SecretRef;

/// Ours: what describes the body and the connection (RFC 9110, sections 7.6.1 and 8; RFC 9112, section 6).
const OURS: [&str; 15] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn is_ours(name: &str) -> bool {
    OURS.contains(&name) || name.starts_with("webhook-")
}

/// The headers in the order of the file, their names lower-case. `key_header` carries the action's key.
pub(crate) fn headers(table: &Table<'_>, key_header: &str) -> Read<Vec<(String, SecretRef)>> {
    let Some(value) = table.get("headers") else {
        return Ok(Vec::new());
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("headers", value, "", "a table"));
    };
    let mut failed: Option<Reported> = None;
    let mut headers: Vec<(Span, String, SecretRef)> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut written: Vec<_> = entries.iter().collect();
    written.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in written {
        let text = Spanned::new(name.span(), name.get_ref().as_ref());
        let allowed = allowed(table, &text, key_header, &mut seen);
        let reference = reference(table, name.get_ref(), value);
        match (allowed, reference) {
            (Ok(name), Ok(reference)) => headers.push((text.span(), name, reference)),
            (Err(reported), _) | (_, Err(reported)) => failed = Some(reported),
        }
    }
    let headers = headers
        .into_iter()
        .map(|(_, name, reference)| (name, reference));
    failed.map_or(Ok(headers.collect()), Err)
}

fn allowed(
    table: &Table<'_>,
    text: &Spanned<&str>,
    key_header: &str,
    seen: &mut Vec<String>,
) -> Read<String> {
    let wrong =
        |message: String, help: &str| Err(table.report.mistake(&text.span(), message, help));
    let name = text.get_ref().to_ascii_lowercase();
    if !is_header_name(&name) {
        return wrong(
            format!("{} is not the name of a header", shown(text.get_ref())),
            "write a name such as Authorization = \"env:NAME\"",
        );
    }
    if name == key_header {
        return wrong(
            format!(
                "the header {} carries the action's key",
                shown(text.get_ref())
            ),
            "remove it: the key is sent by itself, the same on every attempt",
        );
    }
    if is_ours(&name) {
        return wrong(
            format!(
                "the header {} is set by every delivery itself",
                shown(text.get_ref())
            ),
            "remove it: a second value would contradict the body, its signature or the connection",
        );
    }
    if seen.contains(&name) {
        return wrong(
            format!(
                "the header {} stands twice (case makes no difference)",
                shown(text.get_ref())
            ),
            "remove one of the two",
        );
    }
    seen.push(name.clone());
    Ok(name)
}

fn reference(table: &Table<'_>, name: &str, value: &Spanned<DeValue<'_>>) -> Read<SecretRef> {
    let Some(text) = value.get_ref().as_str() else {
        let message = format!(
            "the value of the header {} is {}, not a reference to a secret",
            shown(name),
            kind(value)
        );
        return Err(table.report.mistake(
            &value.span(),
            message,
            "write \"env:NAME\", \"file:PATH\" or \"ssm:/name\"",
        ));
    };
    secrets::one(
        table.report,
        &value.span(),
        text,
        &format!("the value of the header {}", shown(name)),
    )
}

/// A sender's scheme under the names of headers that are settings at the sender.
pub(crate) fn moved(table: &Table<'_>, scheme: Arc<Scheme>) -> Read<Arc<Scheme>> {
    let signature = table.text("signature_header")?;
    let timestamp = table.text("timestamp_header")?;
    if signature.is_none() && timestamp.is_none() {
        return Ok(scheme);
    }
    let text =
        |given: &Option<Spanned<&str>>| given.as_ref().map(|text| (*text.get_ref()).to_owned());
    let (signature, timestamp) = (text(&signature), text(&timestamp));
    let moved = scheme.with_headers(signature.as_deref(), timestamp.as_deref());
    moved.map(Arc::new).map_err(|mistakes| {
        for GrammarError { field, message } in mistakes {
            let key = if field == "timestamp_header" {
                "timestamp_header"
            } else {
                "signature_header"
            };
            let slug = scheme.slug();
            let message = format!("`{key}` of the scheme \"{slug}\": {message}");
            let help = "remove it, or write the name that stands in the sender's settings";
            table.report.mistake(&table.place(key), message, help);
        }
        Reported
    })
}

/// The header that carries the action's key, lower-case.
pub(crate) fn idempotency(table: &Table<'_>, text: &Spanned<&str>) -> Read<String> {
    let name = text.get_ref().to_ascii_lowercase();
    let (message, help) = if !is_header_name(&name) {
        (
            format!("{} is not the name of a header", shown(text.get_ref())),
            "write header = \"Idempotency-Key\", or the name in the destination's documentation",
        )
    } else if is_ours(&name) || name == "authorization" {
        (
            format!(
                "the header {} cannot carry the action's key",
                shown(text.get_ref())
            ),
            "write header = \"Idempotency-Key\"; a destination that reads webhook-id has the key there, where `signing` is set",
        )
    } else {
        return Ok(name);
    };
    Err(table.report.mistake(&text.span(), message, help))
}
