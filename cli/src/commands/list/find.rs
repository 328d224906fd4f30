//! Finds what the filter takes: the index is asked by class and name, and what it names is read once more, for
//! it lags behind the table.

use ackbox_domain::{Name, Timestamp};
use ackbox_store::{Class, Listed, Store, StoreError};
use futures_util::{StreamExt as _, stream};

use super::filter::Filter;
use super::job::JobRow;
use super::row::Row;
use crate::commands::filter::{config_if_any, unknown_name};
use crate::commands::paused::Paused;

/// How many entries of a class and name are looked at where the index alone cannot tell which are wanted.
pub(super) const WINDOW: usize = 1000;

/// How many entries are read at a time.
const READS: usize = 16;

/// What was found.
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    pub(super) jobs: Vec<JobRow>,
    pub(super) paused: Vec<Paused>,
    /// Whether nothing else fits the filter.
    pub(super) complete: bool,
    /// When it was asked for.
    pub(super) now: Timestamp,
    /// What is said where it is nothing.
    pub(super) nothing: &'static str,
    pub(super) note: Option<String>,
}

impl Found {
    /// What is to be said beside it.
    pub(super) fn notes(&self) -> Vec<String> {
        const MORE: &str =
            "there are more: raise --limit, or name a --state, --destination, --source or --since";
        let more = (!self.complete).then(|| MORE.to_owned());
        let hint = self.jobs.first().map(JobRow::hint);
        self.note.iter().cloned().chain(hint).chain(more).collect()
    }
}

/// Rows, and whether nothing else fits.
pub(super) struct Paged<T> {
    pub(super) rows: Vec<T>,
    pub(super) complete: bool,
}

/// An item of the index, and where it stood.
pub(super) struct Hit {
    pub(super) class: Class,
    pub(super) name: Name,
    pub(super) listed: Listed,
}

pub(super) async fn find(store: &Store, filter: Filter, limit: usize) -> Result<Found, StoreError> {
    let filter = &filter;
    let meta = store.meta().await?;
    let (destination, source) = (filter.destination.as_ref(), filter.source.as_ref());
    let note = unknown_name(&meta, destination, source, config_if_any);
    let paused = Paused::among(store, filter.destinations(&meta)).await?;
    let entries = entries(store, filter, filter.queries(&meta), limit).await?;
    let jobs = JobRow::find(store, filter, filter.job_queries(&meta), limit).await?;
    Ok(Found {
        complete: entries.complete && jobs.complete,
        rows: entries.rows,
        jobs: jobs.rows,
        paused,
        now: filter.now,
        nothing: "nothing waits for attention",
        note,
    })
}

async fn entries(
    store: &Store,
    filter: &Filter,
    queries: Vec<(Class, Name)>,
    limit: usize,
) -> Result<Paged<Row>, StoreError> {
    let mut hits = Vec::new();
    let mut complete = true;
    for (class, name) in queries {
        let window = if filter.needs_entries(class) {
            WINDOW.max(limit)
        } else {
            limit
        };
        // One more than wanted tells whether there are others.
        let listing = store.list_between(class, &name, &filter.between, window + 1);
        let mut listed = listing.await?;
        listed.retain(|listed| filter.may_take(listed));
        complete &= listed.len() <= window;
        listed.truncate(window);
        let hit = |listed| Hit {
            class,
            name: name.clone(),
            listed,
        };
        hits.extend(listed.into_iter().map(hit));
    }
    hits.sort_by_key(|hit| hit.listed.due_at);
    let mut rows = Vec::new();
    let reads = hits.iter().map(|hit| Row::read(store, hit));
    let mut read = std::pin::pin!(stream::iter(reads).buffered(READS));
    while let Some(row) = read.next().await {
        match row? {
            Some(row) if filter.takes(&row) => {
                if rows.len() == limit {
                    complete = false;
                    break;
                }
                rows.push(row);
            }
            _ => {}
        }
    }
    Ok(Paged { rows, complete })
}
