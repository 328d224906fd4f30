//! `backoff`: the waits between tries, doubling from the first to the longest.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Backoff;
use toml::de::DeValue;

use super::report::{Read, Span};
use super::table::{Key, Table, key};
use super::value::time;

/// The keys of `backoff`.
pub(crate) const KEYS: &[Key] = &[key("first", "\"30s\""), key("max", "\"1h\"")];

const BOUNDS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(7 * 24 * 3600);

/// Reads `backoff`; what it does not say is as usual.
pub(crate) fn backoff(table: &Table<'_>, default: Backoff) -> Read<Backoff> {
    let Some(value) = table.get("backoff") else {
        return Ok(default);
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("backoff", value, "", "a table"));
    };
    let title = format!("`backoff` of {}", table.title);
    let inner = Table::of(table.report, entries, value.span(), title, KEYS);
    let first = inner.duration_or("first", default.first, BOUNDS);
    let max = inner.duration_or("max", default.max, BOUNDS);
    let (first, max) = (first?, max?);
    if first.value > max.value {
        let span: Span = first.span.or(max.span).unwrap_or(value.span());
        let message = format!(
            "`backoff`: first ({}) is longer than max ({})",
            time(first.value),
            time(max.value)
        );
        let help = format!(
            "write backoff = {{ first = \"{}\", max = \"{}\" }}",
            time(max.value),
            time(first.value)
        );
        return Err(table.report.mistake(&span, message, help));
    }
    Ok(Backoff {
        first: first.value,
        max: max.value,
    })
}
