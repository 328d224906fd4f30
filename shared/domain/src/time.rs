//! Points in time as values: milliseconds since the Unix epoch, in UTC. The clock itself is never read here.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The point `ms` milliseconds after the Unix epoch.
    pub const fn from_unix_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn unix_ms(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, as DynamoDB's time to live wants them.
    pub const fn unix_s(self) -> u64 {
        self.0 / 1000
    }

    /// The time that has passed since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This point moved later by `by`, saturating.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis(by)))
    }

    /// This point moved earlier by `by`, not before the epoch.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(millis(by)))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl From<SystemTime> for Timestamp {
    /// A clock that stands before 1970 reads as the epoch.
    fn from(time: SystemTime) -> Self {
        Self(
            time.duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, millis),
        )
    }
}

/// RFC 3339 with milliseconds, in UTC: `2026-11-29T13:40:00.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The calendar of the formatter ends with the year 9999.
        const LAST: u64 = 253_402_300_799_999;
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.min(LAST));
        humantime::format_rfc3339_millis(time).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_timestamp_can_be_printed() {
        assert_eq!(
            Timestamp::from_unix_ms(0).to_string(),
            "1970-01-01T00:00:00.000Z"
        );
        assert!(
            Timestamp::from_unix_ms(u64::MAX)
                .to_string()
                .starts_with("9999-12-31")
        );
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let end = Timestamp::from_unix_ms(u64::MAX);
        assert_eq!(end.plus(Duration::from_secs(1)), end);
        let start = Timestamp::from_unix_ms(5);
        assert_eq!(start.minus(Duration::from_secs(1)).unix_ms(), 0);
        assert_eq!(start.since(end), Duration::ZERO);
    }
}
