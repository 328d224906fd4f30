//! A time on the command line: a text comes in, a point in time goes out.

use std::time::Duration;

use ackbox_domain::Timestamp;

use crate::edge;

const HELP: &str =
    "write a time as in 2026-11-29T12:00:00Z, or how long ago it was, as in 90m, 2h or 3d";

/// A time: RFC 3339, or a span back from now.
pub(super) fn when(text: &str) -> Result<Timestamp, String> {
    let text = text.trim();
    if let Ok(span) = humantime::parse_duration(text) {
        return Ok(edge::now().minus(span));
    }
    let time = humantime::parse_rfc3339_weak(text).map_err(|_| HELP.to_owned())?;
    let since = time
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let ms = u64::try_from(since.as_millis()).map_err(|_| HELP.to_owned())?;
    Ok(Timestamp::from_unix_ms(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_one_or_a_span_back() {
        let exact = when("2026-11-29T12:00:00Z").unwrap();
        assert_eq!(exact.to_string(), "2026-11-29T12:00:00.000Z");
        assert_eq!(when("2026-11-29 12:00:00"), Ok(exact));
        let (an_hour, two) = (when("1h").unwrap(), when(" 2h ").unwrap());
        assert!(an_hour.since(two) > Duration::from_secs(3500));
        for wrong in ["", "yesterday", "2h ago", "-1h", "2026-13-01T00:00:00Z"] {
            assert!(when(wrong).is_err(), "{wrong:?}");
        }
    }
}
