//! What `list` is asked for, as queries of the index and as a test of what comes back.

use ackbox_domain::settlement::{OVERDUE_AFTER, is_overdue};
use ackbox_domain::{EntryState, Name, Timestamp};
use ackbox_store::{Between, Class, Delivered, Listed, Meta};

use super::row::Row;
use crate::commands::filter;

/// A state that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum State {
    /// Waits for its next attempt.
    Pending,
    /// Is being attempted.
    Claimed,
    /// May have arrived; the destination is to be asked.
    Unknown,
    /// Waits for an operator.
    Held,
    /// Given up.
    Dead,
    /// Other content came under a known key.
    Conflict,
    /// The end of a job that is not bound yet.
    Parked,
    /// A job of which nothing was heard, and that was given up.
    Silent,
    /// Should have been taken up more than two minutes ago: due, to be asked about, or left by a claim that ran out.
    Overdue,
    /// Done. In no index: needs --scan.
    Delivered,
}

impl State {
    const fn classes(self) -> &'static [Class] {
        match self {
            Self::Pending | Self::Claimed => &[Class::Open],
            Self::Overdue => &[Class::Open, Class::Unknown],
            Self::Unknown => &[Class::Unknown],
            Self::Held => &[Class::Held],
            Self::Dead => &[Class::Dead],
            Self::Conflict => &[Class::Conflict],
            Self::Parked => &[Class::Parked],
            Self::Silent => &[Class::Silent],
            Self::Delivered => &[],
        }
    }

    const fn entry_state(self) -> Option<EntryState> {
        match self {
            Self::Pending => Some(EntryState::Pending),
            Self::Claimed => Some(EntryState::Claimed),
            Self::Unknown => Some(EntryState::Unknown),
            Self::Held => Some(EntryState::Held),
            Self::Dead => Some(EntryState::Dead),
            Self::Delivered => Some(EntryState::Delivered),
            Self::Conflict | Self::Parked | Self::Silent | Self::Overdue => None,
        }
    }
}

/// Which entries are wanted.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) state: Option<State>,
    pub(super) destination: Option<Name>,
    pub(super) source: Option<Name>,
    /// When they were accepted; of what belongs to a job: observed, or registered.
    pub(super) between: Between,
    pub(super) now: Timestamp,
}

impl Filter {
    /// The classes and names to ask the index for.
    pub(super) fn queries(&self, meta: &Meta) -> Vec<(Class, Name)> {
        let all = [
            Class::Open,
            Class::Unknown,
            Class::Held,
            Class::Dead,
            Class::Conflict,
        ];
        let wanted = |class: &Class| {
            self.state
                .is_none_or(|state| state.classes().contains(class))
        };
        let mut queries = Vec::new();
        for class in all.into_iter().filter(wanted) {
            let (named, known) = match class {
                Class::Conflict => (&self.source, &meta.sources),
                _ => (&self.destination, &meta.destinations),
            };
            let names = filter::named(named.as_ref(), known).into_iter();
            queries.extend(names.map(|name| (class, name.clone())));
        }
        queries
    }

    /// The same for what belongs to jobs. It is of no destination; and of a source only where it was observed.
    pub(super) fn job_queries(&self, meta: &Meta) -> Vec<(Class, Name)> {
        let wanted = |class: &Class| match self.state {
            None => *class != Class::Silent || self.source.is_none(),
            Some(state) => state.classes().contains(class),
        };
        let classes = [Class::Parked, Class::Conflict, Class::Silent];
        let mut queries = Vec::new();
        for class in classes.into_iter().filter(wanted) {
            let names = match class {
                _ if self.destination.is_some() => continue,
                Class::Conflict => filter::named(self.source.as_ref(), &meta.sources),
                _ => filter::named(None, &meta.spaces),
            };
            queries.extend(names.into_iter().map(|name| (class, name.clone())));
        }
        queries
    }

    /// The destinations whose pause is of interest.
    pub(super) fn destinations<'a>(&'a self, meta: &'a Meta) -> Vec<&'a Name> {
        filter::named(self.destination.as_ref(), &meta.destinations)
    }

    /// Whether the index alone cannot tell which items of a class are wanted.
    pub(super) fn needs_entries(&self, class: Class) -> bool {
        match class {
            Class::Conflict => self.destination.is_some(),
            Class::Open => self.source.is_some() || self.state.is_some(),
            _ => self.source.is_some(),
        }
    }

    /// Whether an item of the index is worth a look. What is not due yet is not overdue, whatever it is.
    pub(super) fn may_take(&self, listed: &Listed) -> bool {
        let late = self.now.minus(OVERDUE_AFTER);
        self.state != Some(State::Overdue) || listed.due_at < late
    }

    /// The delivered entries that are wanted.
    pub(super) fn delivered(&self) -> Delivered {
        Delivered {
            destination: self.destination.clone(),
            source: self.source.clone(),
            between: self.between,
        }
    }

    /// Whether a row is wanted.
    pub(super) fn takes(&self, row: &Row) -> bool {
        let fits = |wanted: &Option<Name>, have: Option<&Name>| {
            wanted.is_none() || wanted.as_ref() == have
        };
        let state = match self.state.map(State::entry_state) {
            None => true,
            // One that cannot be read is told by what the index says.
            Some(_) if self.state == Some(State::Overdue) => row
                .standing
                .is_none_or(|standing| is_overdue(&standing, self.now)),
            Some(wanted) => wanted == row.state,
        };
        let destination = fits(&self.destination, row.destination.as_ref());
        state && destination && fits(&self.source, row.source.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta() -> Meta {
        let names = |all: &[&str]| all.iter().map(|name| name.parse().unwrap()).collect();
        Meta {
            schema_version: Some(1),
            destinations: names(&["mailer", "pipeline"]),
            sources: names(&["stripe"]),
            spaces: names(&[]),
            rules: std::collections::BTreeSet::new(),
        }
    }

    fn filter(state: Option<State>, destination: Option<&str>) -> Filter {
        Filter {
            state,
            destination: destination.map(|name| name.parse().unwrap()),
            source: None,
            between: Between::default(),
            now: Timestamp::from_unix_ms(10_000_000),
        }
    }

    #[test]
    fn each_query_is_of_one_class_and_one_name() {
        assert_eq!(filter(None, None).queries(&meta()).len(), 4 * 2 + 1);
        let held = filter(Some(State::Held), Some("mailer")).queries(&meta());
        assert_eq!(held, [(Class::Held, "mailer".parse().unwrap())]);
        let claimed = filter(Some(State::Claimed), None).queries(&meta());
        assert!(claimed.iter().all(|(class, _)| *class == Class::Open));
        let overdue = filter(Some(State::Overdue), Some("mailer")).queries(&meta());
        let mailer: Name = "mailer".parse().unwrap();
        assert_eq!(
            overdue,
            [(Class::Open, mailer.clone()), (Class::Unknown, mailer)]
        );
        assert!(
            filter(Some(State::Delivered), None)
                .queries(&meta())
                .is_empty()
        );
    }
}
