//! A time as an operator writes it comes in: a moment (`2026-11-29T12:00:00Z`) or a span back from now (`2h`). Spans
//! are read as the configuration reads them. What must never happen: that `1M` is taken for a minute or a month.

use std::time::Duration;

use ackbox_config::duration;
use ackbox_domain::Timestamp;
use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};

/// The longest span, and how it is written.
const MOST: (Duration, &str) = (Duration::from_secs(365 * 86_400), "365d");

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// This one.
    At(Timestamp),
    /// So long ago.
    Ago(Duration),
}

impl When {
    /// Which time that is.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(span) => now.minus(span),
        }
    }
}

/// Reads one.
///
/// # Errors
///
/// It is neither; what to write instead.
pub fn when(text: &str) -> Result<When, String> {
    let text = text.trim();
    let why = match bounded(text) {
        Ok(span) => return Ok(When::Ago(span)),
        Err(why) => why,
    };
    let time = DateTime::from_str(text, DateTimeFormat::DateTimeWithOffset).ok();
    let ms = time.and_then(|time| u64::try_from(time.to_millis().ok()?).ok());
    ms.map(|ms| When::At(Timestamp::from_unix_ms(ms)))
        .ok_or_else(|| {
            let help = "write a time (2026-11-29T12:00:00Z) or how long ago it was (30m, 2h, 3d)";
            match is_like_a_span(text) {
                true => format!("{why}: {help}"),
                false => help.to_owned(),
            }
        })
}

/// A span of time that is not nothing.
///
/// # Errors
///
/// It is none; what to write instead.
pub fn span(text: &str) -> Result<Duration, String> {
    let help = "write a span of time: 30m, 2h, 3d";
    match bounded(text.trim()) {
        Ok(span) if !span.is_zero() => Ok(span),
        Err(why) if is_like_a_span(text) => Err(format!("{why}: {help}")),
        _ => Err(help.to_owned()),
    }
}

fn bounded(text: &str) -> Result<Duration, String> {
    let (most, written) = MOST;
    match duration(text) {
        Ok(span) if span > most => Err(format!("it is longer than {written}")),
        Ok(span) => Ok(span),
        Err((why, _)) => Err(why),
    }
}

/// Whether the reason why it is no span helps: `1M`, and neither `yesterday` nor `2026-11-29`.
fn is_like_a_span(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(['-', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_any_zone_and_a_span_back_are_moments() {
        let at = |ms| Ok(When::At(Timestamp::from_unix_ms(ms)));
        assert_eq!(when("1970-01-01T00:00:01Z"), at(1_000));
        assert_eq!(when("1970-01-01T00:00:01.500Z"), at(1_500));
        assert_eq!(when(" 1970-01-01T02:00:01+02:00 "), at(1_000));
        assert_eq!(when("2h 30m"), Ok(When::Ago(Duration::from_secs(9_000))));
        let now = Timestamp::from_unix_ms(10_000);
        assert_eq!(when("3s").unwrap().at(now).unix_ms(), 7_000);
        assert_eq!(when("365d").unwrap().at(now).unix_ms(), 0);
    }

    #[test]
    fn anything_else_is_none() {
        for wrong in [
            "",
            "2",
            "yesterday",
            "2026-11-29",
            "2026-13-01T00:00:00Z",
            "-2h",
            "1960-01-01T00:00:00Z",
        ] {
            let why = when(wrong).unwrap_err();
            assert!(why.contains("how long ago"), "{wrong}: {why}");
            assert!(!why.contains("months"), "{wrong}: {why}");
        }
        for wrong in ["", "0s", "2", "2026-11-29T12:00:00Z"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
    }

    #[test]
    fn a_span_of_no_sure_length_or_over_a_year_is_refused_and_says_why() {
        for (wrong, part) in [
            ("1M", "months or years"),
            ("2months", "months or years"),
            ("100000years", "months or years"),
            ("366d", "longer than 365d"),
            ("8761h", "longer than 365d"),
            ("90", "without a unit"),
        ] {
            for why in [when(wrong).unwrap_err(), span(wrong).unwrap_err()] {
                assert!(why.contains(part), "{wrong}: {why}");
            }
        }
        assert_eq!(span("365d"), Ok(MOST.0));
    }
}
