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

/// What is counted together.
#[derive(Clone, Copy, Debug)]
enum Task {
    One(Figure),
    /// What is open or unknown, and how much of it is overdue: where there is none, nothing more is asked.
    WithOverdue,
}

impl Task {
    fn all() -> impl Iterator<Item = (Self, Figure)> {
        let ones = Figure::ALL.into_iter().filter(|figure| {
            let of_another = [
                Figure::Of(Class::Open),
                Figure::Of(Class::Unknown),
                Figure::Overdue,
            ];
            !of_another.contains(figure)
        });
        let ones = ones.map(|figure| (Self::One(figure), figure));
        ones.chain([(Self::WithOverdue, Figure::Overdue)])
    }
}

impl Store {
    /// Each figure of each of these names, as it is counted; in no order.
    pub fn gauges(
        &self,
        gauged: &Gauged,
        now: Timestamp,
    ) -> BoxStream<'static, Result<Gauge, StoreError>> {
        self.gauges_of(Task::all(), gauged, now)
    }

    /// As [`Store::gauges`], without the pauses: for whoever reads those whole.
    pub fn gauges_but_pauses(
        &self,
        gauged: &Gauged,
        now: Timestamp,
    ) -> BoxStream<'static, Result<Gauge, StoreError>> {
        let tasks = Task::all().filter(|(_, figure)| *figure != Figure::Paused);
        self.gauges_of(tasks, gauged, now)
    }

    fn gauges_of(
        &self,
        tasks: impl Iterator<Item = (Task, Figure)>,
        gauged: &Gauged,
        now: Timestamp,
    ) -> BoxStream<'static, Result<Gauge, StoreError>> {
        let mut wanted = Vec::new();
        for (task, figure) in tasks {
            let names = figure.names(gauged).iter().cloned();
            wanted.extend(names.map(|name| (self.clone(), task, name)));
        }
        stream::iter(wanted)
            .map(move |(store, task, name)| async move {
                let figures = store.figures(task, &name, now).await;
                let gauges = figures.map(|figures| {
                    figures.into_iter().map(move |(figure, counted)| Gauge {
                        figure,
                        name: name.clone(),
                        counted,
                    })
                });
                match gauges {
                    Ok(gauges) => gauges.map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                }
            })
            .buffer_unordered(AT_ONCE)
            .flat_map(stream::iter)
            .boxed()
    }

    async fn figures(
        &self,
        task: Task,
        name: &Name,
        now: Timestamp,
    ) -> Result<Vec<(Figure, Counted)>, StoreError> {
        match task {
            Task::One(Figure::Paused) => {
                let paused = self.paused(name, now).await?;
                Ok(vec![(Figure::Paused, paused)])
            }
            Task::One(figure @ Figure::Of(class)) => Ok(vec![(
                figure,
                self.count(class, name, None, COUNTED).await?,
            )]),
            Task::One(Figure::Overdue) | Task::WithOverdue => self.with_overdue(name, now).await,
        }
    }

    async fn with_overdue(
        &self,
        name: &Name,
        now: Timestamp,
    ) -> Result<Vec<(Figure, Counted)>, StoreError> {
        let late = Some(now.minus(OVERDUE_AFTER));
        let (mut figures, mut overdue) = (Vec::new(), Counted::default());
        for class in [Class::Open, Class::Unknown] {
            let all = self.count(class, name, None, COUNTED).await?;
            if all.count > 0 {
                overdue = overdue.and(self.count(class, name, late, COUNTED).await?);
            }
            figures.push((Figure::Of(class), all));
        }
        figures.push((Figure::Overdue, overdue));
        Ok(figures)
    }

    async fn paused(&self, name: &Name, now: Timestamp) -> Result<Counted, StoreError> {
        let since = self.pause_as_told(name).await?.paused_since(now);
        Ok(Counted {
            count: usize::from(since.is_some()),
            more: false,
            oldest: since,
        })
    }
}
