//! A time as an operator writes it comes in: a moment (`2026-11-29T12:00:00Z`) or a span back from now (`2h`).

use std::time::Duration;

use ackbox_domain::Timestamp;
use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(Timestamp),
    /// So long ago.
    Ago(Duration),
}

impl Moment {
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
pub fn moment(text: &str) -> Result<Moment, String> {
    let text = text.trim();
    if let Ok(span) = humantime::parse_duration(text) {
        return Ok(Moment::Ago(span));
    }
    let time = DateTime::from_str(text, DateTimeFormat::DateTimeWithOffset).ok();
    let ms = time.and_then(|time| u64::try_from(time.to_millis().ok()?).ok());
    ms.map(|ms| Moment::At(Timestamp::from_unix_ms(ms)))
        .ok_or_else(|| {
            "write a time (2026-11-29T12:00:00Z) or how long ago it was (30m, 2h, 3days)".to_owned()
        })
}

/// A span of time that is not nothing.
///
/// # Errors
///
/// It is none; what to write instead.
pub fn span(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text.trim()) {
        Ok(span) if !span.is_zero() => Ok(span),
        _ => Err("write a span of time: 30m, 2h, 3days".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_any_zone_and_a_span_back_are_moments() {
        let at = |ms| Ok(Moment::At(Timestamp::from_unix_ms(ms)));
        assert_eq!(moment("1970-01-01T00:00:01Z"), at(1_000));
        assert_eq!(moment("1970-01-01T00:00:01.500Z"), at(1_500));
        assert_eq!(moment(" 1970-01-01T02:00:01+02:00 "), at(1_000));
        assert_eq!(
            moment("2h 30m"),
            Ok(Moment::Ago(Duration::from_secs(9_000)))
        );
        let now = Timestamp::from_unix_ms(10_000);
        assert_eq!(moment("3s").unwrap().at(now).unix_ms(), 7_000);
        assert_eq!(moment("10years").unwrap().at(now).unix_ms(), 0);
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
            assert!(moment(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "0s", "2", "2026-11-29T12:00:00Z"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
    }
}
