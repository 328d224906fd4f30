//! How often no rule wanted an event: a source and a type come in, the count so far goes out, for the
//! log and the terminal. What must never happen: that a sender fills our memory with types.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ackbox_domain::Name;

/// More types than this are counted together.
const TYPES: usize = 1000;

/// What counts all types beyond [`TYPES`].
const OTHER: &str = "(other)";

/// How much is kept of a type, in characters.
const LENGTH: usize = 100;

type Counts = BTreeMap<(Name, String), u64>;

/// The counts of one process, by source and type.
#[derive(Debug, Default)]
pub(crate) struct Ignored(Mutex<Counts>);

impl Ignored {
    /// Counts one more, and tells how many of its type there were. Without a type it counts as "".
    pub(crate) fn count(&self, source: &Name, event: Option<&str>) -> u64 {
        let event: String = event.unwrap_or_default().chars().take(LENGTH).collect();
        let mut counts = self.counts();
        let mut key = (source.clone(), event);
        if counts.len() >= TYPES && !counts.contains_key(&key) {
            key.1 = OTHER.to_owned();
        }
        let count = counts.entry(key).or_default();
        *count += 1;
        *count
    }

    /// Every count.
    pub(crate) fn all(&self) -> Vec<(Name, String, u64)> {
        self.counts()
            .iter()
            .map(|((source, event), count)| (source.clone(), event.clone(), *count))
            .collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic elsewhere leaves the counts as true as they were.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_makes_types_up_is_counted_together() {
        let ignored = Ignored::default();
        let hub: Name = "hub".parse().unwrap();
        for number in 0..TYPES {
            assert_eq!(ignored.count(&hub, Some(&number.to_string())), 1);
        }
        assert_eq!(ignored.count(&hub, Some("one more")), 1);
        assert_eq!(ignored.count(&hub, Some("and another")), 2);
        assert_eq!(ignored.count(&hub, Some("7")), 2);
        assert_eq!(ignored.all().len(), TYPES + 1);
    }

    #[test]
    fn a_long_type_is_counted_by_its_beginning() {
        let ignored = Ignored::default();
        let hub: Name = "hub".parse().unwrap();
        ignored.count(&hub, Some(&"ä".repeat(10_000)));
        assert_eq!(ignored.all()[0].1, "ä".repeat(LENGTH));
    }
}
