//! A fact's own signed time, and whether it is too old to be believed new: an observation and `now` come in, a
//! refusal goes out. What must never happen: that a fact is taken whose tombstone may have expired, where the
//! user said how old one may be.

use std::time::Duration;

use chrono::DateTime;

use crate::json::Scalar;
use crate::observation::{Malformed, Observation, Problem};
use crate::source::{Locator, Source};
use crate::time::Timestamp;

/// How old a fact of a source may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxAge {
    /// No older than this.
    pub most: Duration,
    /// Dated no further ahead of now than this: by so much a sender's clock may differ from ours.
    pub ahead: Duration,
    /// Where the fact's time stands; the first that is there. The signature covers every one of them.
    pub time: Vec<Locator>,
}

/// Refuses a fact that is older than its source allows, that is dated ahead, or that does not say how old it is.
///
/// A test of the connection is about nothing, so it has no age. Clocks differ, so a fact may be dated a little ahead
/// of now. One that is dated further would stay young for longer than what was accepted of it is known.
///
/// # Errors
/// [`Problem::TooOld`], [`Problem::Ahead`], or that its time is not there or cannot be read.
pub fn fresh(
    source: &Source,
    observation: &Observation<'_>,
    now: Timestamp,
) -> Result<(), Malformed> {
    let Some(max_age) = &source.max_age else {
        return Ok(());
    };
    if observation.is_test {
        return Ok(());
    }
    let malformed = |place, problem| Malformed {
        rule: None,
        what: "the fact's time".to_owned(),
        place,
        problem,
    };
    let places = || {
        let places: Vec<String> = max_age.time.iter().map(ToString::to_string).collect();
        places.join(" or ")
    };
    let found = observation
        .located(&max_age.time)
        .map_err(|(place, problem)| malformed(place, problem))?
        .ok_or_else(|| malformed(places(), Problem::Missing))?;
    let at = time(&found).ok_or_else(|| malformed(places(), Problem::NotATime))?;
    let (most, ahead) = (max_age.most, max_age.ahead);
    if at.since(now) > ahead {
        return Err(malformed(places(), Problem::Ahead { at, most: ahead }));
    }
    if now.since(at) <= most {
        return Ok(());
    }
    Err(malformed(places(), Problem::TooOld { at, most }))
}

/// A time as senders write it: RFC 3339, or a number of seconds, milliseconds or microseconds since 1970, told
/// apart by its magnitude. A time before 1970 counts as 1970.
fn time(scalar: &Scalar) -> Option<Timestamp> {
    let text = scalar.as_str().trim();
    number(text).or_else(|| {
        let time = DateTime::parse_from_rfc3339(text).ok()?;
        let ms = u64::try_from(time.timestamp_millis()).unwrap_or(0);
        Some(Timestamp::from_unix_ms(ms))
    })
}

/// 10^11 seconds are the year 5138, and 10^11 milliseconds are 1973: what is less is no millisecond of a webhook.
const SECONDS_END: u64 = 100_000_000_000;
const MILLISECONDS_END: u64 = SECONDS_END * 1000;
const MICROSECONDS_END: u64 = MILLISECONDS_END * 1000;

fn number(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let ms = match whole {
        0..SECONDS_END => whole * 1000,
        SECONDS_END..MILLISECONDS_END => whole,
        MILLISECONDS_END..MICROSECONDS_END => whole / 1000,
        _ => return None,
    };
    Some(Timestamp::from_unix_ms(ms))
}

#[cfg(test)]
mod tests;
