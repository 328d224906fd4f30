//! What belongs to jobs among what waits for attention: observations that are parked or disagree, and jobs
//! that were given up. A line for each, and how everything about the job is seen.

use ackbox_domain::Timestamp;
use ackbox_domain::job::JobRef;
use ackbox_store::{Class, ListedJob, ObservedRecord, Store, StoreError};
use serde_json::{Value, json};

use super::filter::Filter;
use super::find::{Paged, WINDOW};
use crate::commands::job::show_command;
use crate::output::{Entry, Tone, age, until};

/// One item of a job.
#[derive(Debug)]
pub(super) struct JobRow {
    state: &'static str,
    job: JobRef,
    since: Timestamp,
    due_at: Option<Timestamp>,
    /// `None`: a job that was given up, or an item that cannot be read.
    seen: Option<ObservedRecord>,
    why: String,
}

impl JobRow {
    pub(super) const HEADINGS: &[&str] = &[
        "STATE", "SPACE", "JOB", "ACCOUNT", "SOURCE", "OUTCOME", "SINCE", "DUE", "WHY",
    ];

    /// Those that the filter takes, up to `limit`, what is due first first.
    pub(super) async fn find(
        store: &Store,
        filter: &Filter,
        queries: Vec<(Class, ackbox_domain::Name)>,
        limit: usize,
    ) -> Result<Paged<Self>, StoreError> {
        let mut complete = true;
        let mut listed = Vec::new();
        for (class, name) in queries {
            let window = if filter.source.is_some() && class == Class::Parked {
                WINDOW.max(limit)
            } else {
                limit
            };
            let listing = store.list_jobs_between(class, &name, &filter.between, window + 1);
            let mut found = listing.await?;
            complete &= found.len() <= window;
            found.truncate(window);
            listed.extend(found.into_iter().map(|listed| (class, listed)));
        }
        listed.sort_by_key(|(_, listed)| listed.due_at);
        let mut rows = Vec::new();
        for (class, listed) in listed {
            let Some(row) = Self::read(store, class, listed).await? else {
                continue;
            };
            let source = row.seen.as_ref().map(|seen| &seen.seen.source);
            if filter.source.is_some() && filter.source.as_ref() != source {
                continue;
            }
            if rows.len() == limit {
                complete = false;
                break;
            }
            rows.push(row);
        }
        Ok(Paged { rows, complete })
    }

    /// `None`: it stands for nothing any more, for the index lags behind.
    async fn read(
        store: &Store,
        class: Class,
        listed: ListedJob,
    ) -> Result<Option<Self>, StoreError> {
        let mut story = store.job_story(&listed.job).await?;
        let waits = class == Class::Parked;
        let row = |seen: Option<ObservedRecord>, why: String| Self {
            state: class.as_str(),
            due_at: waits.then_some(listed.due_at),
            since: listed.since,
            job: listed.job.clone(),
            seen,
            why,
        };
        if let Some((_, error)) = story.unreadable.iter().find(|(sk, _)| *sk == listed.sk) {
            return Ok(Some(row(None, format!("unreadable: {error}"))));
        }
        if class == Class::Silent {
            let job = story.job.filter(|job| job.ended.is_none());
            return Ok(job.map(|job| row(None, job.detail.unwrap_or_default())));
        }
        let at = story.observed.iter().position(|one| one.sk == listed.sk);
        Ok(at.map(|at| {
            let seen = story.observed.swap_remove(at);
            let why = match (&seen.why, seen.until) {
                (Some(why), _) => why.clone(),
                (None, Some(until)) => format!("its job is not bound; waits until {until}"),
                (None, None) => String::new(),
            };
            row(Some(seen), why)
        }))
    }

    pub(super) fn cells(&self, now: Timestamp) -> Vec<Entry> {
        let seen = self.seen.as_ref().map(|record| &record.seen);
        let of_job = self.job.account.as_deref();
        let account = seen.map(|seen| seen.account.as_str()).or(of_job);
        vec![
            Entry::new(self.state).toned(Tone::Warn),
            Entry::new(self.job.space.as_str()),
            Entry::new(&self.job.id),
            Entry::new(account.unwrap_or_default()),
            Entry::new(seen.map_or("", |seen| seen.source.as_str())),
            Entry::new(seen.map_or("", |seen| seen.outcome.as_str())),
            Entry::new(age(self.since, now)),
            Entry::new(self.due_at.map(|due| until(due, now)).unwrap_or_default()),
            Entry::new(&self.why),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let record = self.seen.as_ref();
        let seen = record.map(|record| &record.seen);
        json!({
            "state": self.state,
            "space": self.job.space,
            "id": self.job.id,
            "account": seen.map(|seen| seen.account.as_str()).or(self.job.account.as_deref()),
            "source": seen.map(|seen| &seen.source),
            "outcome": seen.map(|seen| &seen.outcome),
            "since": self.since.to_string(),
            "due_at": self.due_at.map(|due| due.to_string()),
            "until": record.and_then(|record| record.until).map(|until| until.to_string()),
            "count": record.map(|record| record.count),
            "why": self.why,
        })
    }

    /// How everything about the job is seen.
    pub(super) fn hint(&self) -> String {
        format!(
            "{} shows all of the first of these jobs",
            show_command(&self.job)
        )
    }
}
