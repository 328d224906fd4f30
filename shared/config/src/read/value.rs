//! Times and sizes as people write them: a text comes in, a value or a reason with a way out goes out.

use std::time::Duration;

use bytesize::ByteSize;

use super::nearest::shown;

/// What is wrong, and what to write instead.
pub type Wrong = (String, String);

const TIME_HELP: &str =
    "write a number with its unit, as in \"500ms\", \"10s\", \"5m\", \"24h\" or \"3d\"";
const SIZE_HELP: &str = "write a number with its unit, as in \"256 KiB\" or \"1 MiB\"";

/// A length of time: `"500ms"`, `"10s"`, `"1h 30m"`, `"3d"`. Not finer than a millisecond.
///
/// # Errors
///
/// It is none, or one of no sure length: months, years.
pub fn duration(text: &str) -> Result<Duration, Wrong> {
    let wrong = |why: &str, help: &str| (format!("{} {why}", shown(text)), help.to_owned());
    let is_vague = |unit: &str| {
        matches!(unit, "M" | "y") || unit.starts_with("month") || unit.starts_with("y")
    };
    if text.split(|c: char| !c.is_ascii_alphabetic()).any(is_vague) {
        return Err(wrong(
            "counts in months or years, whose length varies",
            "write minutes as \"m\", and more than weeks in days, as in \"90d\"",
        ));
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let help = format!(
            "write seconds as \"{}s\"; ms, m, h and d are known too",
            text.get(..12).unwrap_or(text)
        );
        return Err(wrong("is a number without a unit", &help));
    }
    let found =
        humantime::parse_duration(text).map_err(|_| wrong("is no length of time", TIME_HELP))?;
    if found.subsec_nanos() % 1_000_000 != 0 {
        return Err(wrong(
            "is finer than a millisecond",
            "write whole milliseconds, as in \"500ms\"",
        ));
    }
    Ok(found)
}

/// A size in bytes: `"256 KiB"`, `"1 MB"`, `"65536 B"`.
pub(crate) fn size(text: &str) -> Result<u64, Wrong> {
    let wrong = |why: &str| (format!("{} {why}", shown(text)), SIZE_HELP.to_owned());
    if !text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(wrong("is a number without a unit"));
    }
    text.parse()
        .map(|ByteSize(bytes)| bytes)
        .map_err(|_| wrong("is no size"))
}

/// A length of time as the configuration writes it: `1m 15s`.
pub(crate) fn time(duration: Duration) -> String {
    const UNITS: [(u128, &str); 5] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1000, "s"),
        (1, "ms"),
    ];
    let mut rest = duration.as_millis();
    let mut words = Vec::new();
    for (length, unit) in UNITS {
        if rest >= length {
            words.push(format!("{}{unit}", rest / length));
            rest %= length;
        }
    }
    if words.is_empty() {
        "0s".to_owned()
    } else {
        words.join(" ")
    }
}

/// A size as the configuration writes it: `256 KiB`.
pub(crate) fn bytes(size: u64) -> String {
    ByteSize(size).display().iec().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_back_as_they_are_shown() {
        for ms in [0, 1, 999, 1000, 75_000, 3_600_000, 259_200_000, 90_061_001] {
            let duration = Duration::from_millis(ms);
            assert_eq!(
                super::duration(&time(duration)),
                Ok(duration),
                "{}",
                time(duration)
            );
        }
        assert_eq!(time(Duration::from_secs(75)), "1m 15s");
    }

    #[test]
    fn times_without_a_sure_length_are_refused() {
        for (text, part) in [
            ("10", "without a unit"),
            ("", "no length of time"),
            ("10 q", "no length of time"),
            ("-5s", "no length of time"),
            ("3M", "months"),
            ("1year", "months or years"),
            ("10us", "finer"),
            ("99999999999999999999999999s", "no length of time"),
        ] {
            let (message, _) = duration(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert_eq!(duration("5min").unwrap(), Duration::from_secs(300));
    }

    #[test]
    fn sizes_need_a_unit() {
        assert_eq!(size("256 KiB"), Ok(262_144));
        assert_eq!(size("1 MB"), Ok(1_000_000));
        for bad in ["256", "", "KiB", "1 parsec", "-1 KB", "\u{212a}"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(bytes(262_144), "256.0 KiB");
    }
}
