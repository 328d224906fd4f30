//! What waits, as figures: every name that the table or a configuration has comes in; for each class and name
//! how many there are goes out, one after the other, a few counted at a time. For operators and alarms; nothing
//! is decided by it.

use std::collections::BTreeSet;

use ackbox_domain::settlement::OVERDUE_AFTER;
use ackbox_domain::{Name, Timestamp};
use futures_util::stream::{self, BoxStream, StreamExt as _};

use crate::{COUNTED, Class, Counted, Meta, Store, StoreError};

/// How many are counted at a time; each asks all parts of its index side by side.
const AT_ONCE: usize = 4;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// What stands in the index under this class.
    Of(Class),
    /// Entries of a destination that were due, or were to be asked about, more than two minutes ago. One that
    /// was late and is being attempted now is still among them.
    Overdue,
    /// Whether a destination is paused, and since when.
    Paused,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Of what.
    pub figure: Figure,
    /// Of which destination, source or job space.
    pub name: Name,
    /// How many.
    pub counted: Counted,
}

/// Whose figures are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gauged {
    /// Open, unknown, held, dead and overdue entries, and pauses, are by destination.
    pub destinations: BTreeSet<Name>,
    /// Conflicts are by source.
    pub sources: BTreeSet<Name>,
    /// Parked observations and silent jobs are by job space.
    pub spaces: BTreeSet<Name>,
}

impl Figure {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 9] = [
        Self::Of(Class::Open),
        Self::Of(Class::Unknown),
        Self::Of(Class::Held),
        Self::Of(Class::Dead),
        Self::Of(Class::Conflict),
        Self::Of(Class::Parked),
        Self::Of(Class::Silent),
        Self::Overdue,
        Self::Paused,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Of(class) => class.as_str(),
            Self::Overdue => "overdue",
            Self::Paused => "paused",
        }
    }

    fn names(self, gauged: &Gauged) -> &BTreeSet<Name> {
        match self {
            Self::Of(Class::Conflict) => &gauged.sources,
            Self::Of(Class::Parked | Class::Job | Class::Silent) => &gauged.spaces,
            _ => &gauged.destinations,
        }
    }
}

impl From<Meta> for Gauged {
    fn from(meta: Meta) -> Self {
        Self {
            destinations: meta.destinations,
            sources: meta.sources,
            spaces: meta.spaces,
        }
    }
}

impl Counted {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            more: self.more || other.more,
            oldest: self.oldest.into_iter().chain(other.oldest).min(),
        }
    }
}

impl Store {
    /// Each figure of each of these names, as it is counted; in no order.
    pub fn gauges(
        &self,
        gauged: &Gauged,
        now: Timestamp,
    ) -> BoxStream<'static, Result<Gauge, StoreError>> {
        let mut wanted = Vec::new();
        for figure in Figure::ALL {
            let names = figure.names(gauged).iter().cloned();
            wanted.extend(names.map(|name| (self.clone(), figure, name)));
        }
        stream::iter(wanted)
            .map(move |(store, figure, name)| async move {
                let counted = store.figure(figure, &name, now).await?;
                Ok(Gauge {
                    figure,
                    name,
                    counted,
                })
            })
            .buffer_unordered(AT_ONCE)
            .boxed()
    }

    async fn figure(
        &self,
        figure: Figure,
        name: &Name,
        now: Timestamp,
    ) -> Result<Counted, StoreError> {
        match figure {
            Figure::Of(class) => self.count(class, name, None, COUNTED).await,
            Figure::Overdue => {
                let late = Some(now.minus(OVERDUE_AFTER));
                let open = self.count(Class::Open, name, late, COUNTED).await?;
                let unknown = self.count(Class::Unknown, name, late, COUNTED).await?;
                Ok(open.and(unknown))
            }
            Figure::Paused => {
                let record = match self.pause(name).await {
                    // What cannot be understood pauses nothing.
                    Err(StoreError::Item(_)) => Default::default(),
                    read => read?,
                };
                let by_operator = record.operator_pause(now).map(|pause| pause.since);
                let since = by_operator.or(record.pause.map(|pause| pause.since));
                Ok(Counted {
                    count: usize::from(since.is_some()),
                    more: false,
                    oldest: since,
                })
            }
        }
    }
}
