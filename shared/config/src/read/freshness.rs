//! `max_age` and `time` of a source: how old its facts may be, and where each says when it was. A time that the
//! signature does not cover is refused, also where the user trusts what is not covered: whoever replays an old
//! message would write a new time into it.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::{Locator, MaxAge};
use ackbox_signature::Facts;

use super::locator::places;
use super::report::Read;
use super::sender::Sender;
use super::table::Table;

const MAX_AGE: RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(3650 * 24 * 3600);

/// By how much a sender's clock may be ahead of ours, where neither the source nor its scheme says it.
const AHEAD: Duration = Duration::from_secs(300);

/// Reads both: each needs the other. The `tolerance` is the source's own.
pub(crate) fn max_age(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
    tolerance: Option<Duration>,
) -> Read<Option<MaxAge>> {
    let most = table.duration("max_age", MAX_AGE);
    let Some(sender) = sender else {
        return most.map(|_| None);
    };
    let time = places(table, "time", sender.scheme.facts(), &[]);
    let (most, time) = (most?, time?);
    if time.is_empty() {
        let Some(most) = most else {
            return Ok(None);
        };
        let message = "`max_age` does not say where the time of a fact stands";
        let help = "write time = \"/pointer\", to a value that the signature covers and that stays when the fact is delivered again";
        return Err(table.report.mistake(&most.span(), message, help));
    }
    let Some(most) = most else {
        let message = "`time` is read for `max_age` alone, and this source has none";
        let help = "write max_age = \"30d\", or remove `time`";
        return Err(table.report.mistake(&table.place("time"), message, help));
    };
    for place in &time {
        is_signed(table, sender, place)?;
    }
    Ok(Some(MaxAge {
        most: most.into_inner(),
        ahead: ahead(tolerance, sender.scheme.facts()),
        time,
    }))
}

/// How far a fact may be dated ahead of now.
pub(crate) fn ahead(tolerance: Option<Duration>, facts: &Facts) -> Duration {
    tolerance.or(facts.tolerance).unwrap_or(AHEAD)
}

fn is_signed(table: &Table<'_>, sender: &Sender<'_>, place: &Locator) -> Read<()> {
    let scheme = sender.scheme.slug();
    let what = match place {
        Locator::Header { covered: true, .. } => return Ok(()),
        Locator::Header { name, .. } => format!("the header {name}"),
        Locator::Body(_) if sender.scheme.facts().covers_body => return Ok(()),
        Locator::Body(_) => "the body".to_owned(),
    };
    let message = format!(
        "`time` stands in {what}, which the signature of \"{scheme}\" does not cover: whoever replays an old message can make it young"
    );
    let help = "name a value that is signed, or remove `time` and `max_age`; trust_unsigned_id and trust_body do not help here";
    Err(table.report.mistake(&table.place("time"), message, help))
}
