//! For how long the table keeps what is closed. Time to live collects it; nothing that is decided rests on
//! that, and what is open never expires.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::name::Name;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// For how long the items of one source are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retention {
    /// What was accepted, from its acceptance: for so long a repetition is a duplicate.
    pub accepted: Duration,
    /// A body in an item of its own, from its delivery. One that was given up is kept as long as its entry:
    /// to send it again needs it.
    pub payload: Duration,
    /// An outbox entry, from when it was closed.
    pub entry: Duration,
    /// A conflict, from when it was resolved.
    pub conflict: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            accepted: 90 * DAY,
            payload: 7 * DAY,
            entry: 30 * DAY,
            conflict: 90 * DAY,
        }
    }
}

/// The retention of every source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retentions(BTreeMap<Name, Retention>);

impl Retentions {
    /// That of a source; of one that the configuration does not know, the default.
    pub fn of(&self, source: &Name) -> Retention {
        self.0.get(source).copied().unwrap_or_default()
    }
}

impl FromIterator<(Name, Retention)> for Retentions {
    fn from_iter<I: IntoIterator<Item = (Name, Retention)>>(sources: I) -> Self {
        Self(sources.into_iter().collect())
    }
}
