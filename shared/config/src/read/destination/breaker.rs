//! `breaker`: after how many failures a destination is paused, and for how long; or `"off"`. On where
//! nothing is written.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Breaker;
use toml::Spanned;
use toml::de::DeValue;

use crate::read::report::Read;
use crate::read::table::{Key, Table, key};
use crate::read::value::time;

/// The keys of `breaker`.
pub(super) const BREAKER_KEYS: &[Key] = &[
    key("after", "10"),
    key("pause", "\"30s\""),
    key("max_pause", "\"10m\""),
];

/// What is not written.
const USUAL: Breaker = Breaker {
    after: 10,
    pause: Duration::from_secs(30),
    max_pause: Duration::from_secs(600),
};

const AFTER: RangeInclusive<usize> = 1..=1000;
const PAUSE: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 3600);

const CHOICES: &str =
    "write breaker = { after = 10, pause = \"30s\", max_pause = \"10m\" }, or breaker = \"off\"";

/// Reads `breaker`; `None` where it is off. `window`: how long the destination keeps a key.
pub(super) fn breaker(
    table: &Table<'_>,
    window: Option<&Spanned<Duration>>,
) -> Read<Option<Breaker>> {
    let window = window.map(|window| *window.get_ref());
    let Some(value) = table.get("breaker") else {
        return Ok(Some(with_usual(None, None, None, window)));
    };
    let entries = match value.get_ref() {
        DeValue::String(word) if word == "off" => return Ok(None),
        DeValue::Table(entries) => entries,
        _ => {
            let message = "`breaker` is neither \"off\" nor a table";
            return Err(table.report.mistake(&value.span(), message, CHOICES));
        }
    };
    let title = format!("`breaker` of {}", table.title);
    let inner = Table::of(table.report, entries, value.span(), title, BREAKER_KEYS);
    let after = inner.count("after", AFTER);
    let pause = inner.duration("pause", PAUSE);
    let longest = inner.duration("max_pause", PAUSE);
    let (after, pause, longest) = (after?, pause?, longest?);
    let written = |time: &Option<Spanned<Duration>>| time.as_ref().map(|time| *time.get_ref());
    let breaker = with_usual(after, written(&pause), written(&longest), window);
    if breaker.pause > breaker.max_pause {
        let message = format!(
            "`breaker`: pause ({}) is longer than max_pause ({})",
            time(breaker.pause),
            time(breaker.max_pause)
        );
        let place = inner.place("pause");
        return Err(table.report.mistake(&place, message, CHOICES));
    }
    if let Some(window) = window.filter(|window| breaker.max_pause >= *window) {
        let message = format!(
            "`breaker`: a pause of up to {} outlasts the destination's window ({})",
            time(breaker.max_pause),
            time(window)
        );
        let help = "write a shorter max_pause, or what may have arrived before a long pause is held after it";
        table.report.warn(&inner.place("max_pause"), message, help);
    }
    Ok(Some(breaker))
}

/// What is written, and the usual for the rest. A pause that nobody wrote leaves half of the window:
/// what may have arrived before it is repeated only inside.
fn with_usual(
    after: Option<usize>,
    pause: Option<Duration>,
    longest: Option<Duration>,
    window: Option<Duration>,
) -> Breaker {
    let usual_longest = match window {
        Some(window) => USUAL.max_pause.min(window / 2).max(*PAUSE.start()),
        None => USUAL.max_pause,
    };
    let max_pause = longest.unwrap_or(usual_longest.max(pause.unwrap_or_default()));
    Breaker {
        after: after
            .and_then(|after| u32::try_from(after).ok())
            .unwrap_or(USUAL.after),
        pause: pause.unwrap_or(USUAL.pause.min(max_pause)),
        max_pause,
    }
}
