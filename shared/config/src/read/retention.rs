//! `retention` of a source: for how long what is closed is kept. What is open never expires, whatever stands here.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Retention;

use super::report::Read;
use super::table::{Key, Table, key};

/// The keys of `retention`.
pub(crate) const KEYS: &[Key] = &[
    key("accepted", "\"90d\""),
    key("payload", "\"7d\""),
    key("entry", "\"30d\""),
    key("conflict", "\"90d\""),
];

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const TEN_YEARS: Duration = Duration::from_secs(3650 * 24 * 3600);
/// What is kept for less than a day would be collected while its sender still repeats it.
const ACCEPTED: RangeInclusive<Duration> = DAY..=TEN_YEARS;
const REST: RangeInclusive<Duration> = HOUR..=TEN_YEARS;

/// Reads the table; what it does not say is as usual.
pub(crate) fn retention(of: &Table<'_>) -> Read<Retention> {
    let usual = Retention::default();
    let Some(value) = of.get("retention") else {
        return Ok(usual);
    };
    let title = format!("`retention` of {}", of.title);
    let Some(entries) = value.get_ref().as_table() else {
        return Err(of.not_a("retention", value, "", "a table"));
    };
    let table = Table::of(of.report, entries, value.span(), title, KEYS);
    let accepted = table.duration_or("accepted", usual.accepted, ACCEPTED);
    let payload = table.duration_or("payload", usual.payload, REST);
    let entry = table.duration_or("entry", usual.entry, REST);
    let conflict = table.duration_or("conflict", usual.conflict, REST);
    Ok(Retention {
        accepted: accepted?.value,
        payload: payload?.value,
        entry: entry?.value,
        conflict: conflict?.value,
    })
}
