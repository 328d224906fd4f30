//! Binding a job, as an application in Rust does it, and as `POST /jobs` and `ackbox job add` do.

use ackbox_config::Config;
use ackbox_domain::Timestamp;
use ackbox_domain::job::{Binding, NotABinding, binding};
use ackbox_store::{Bound, Deadline, JobAcceptance, JobRecord, Store, StoreError};

use crate::check::{Refused, check};

/// A record that was read, checked and offered to the table.
#[derive(Debug)]
pub struct Bind {
    /// The record.
    pub binding: Binding,
    /// What became of it.
    pub registered: Registered,
    /// Whether somebody asks about the job where nothing is heard of it; `None`: the record wants nobody to.
    pub is_asked: Option<bool>,
    /// What was parked of the job, and what became of it: in the order in which it had come. An error: the job
    /// is bound all the same, and the reconciler takes up what is still parked.
    pub taken_up: Result<Vec<JobAcceptance>, StoreError>,
}

/// What became of a record.
#[derive(Debug)]
pub enum Registered {
    /// The job is bound now.
    New,
    /// It was bound before, to the same. Nothing was written.
    Same,
    /// It is bound to something else. Nothing was written.
    Other(Box<JobRecord>),
}

/// Why a record was not offered to the table, or is not on it.
#[derive(Debug, thiserror::Error)]
pub enum NotRegistered {
    /// It is none.
    #[error(transparent)]
    NotABinding(#[from] NotABinding),
    /// It does not go with the configuration.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The table did not take it.
    #[error(transparent)]
    Store(StoreError),
}

/// Binds the job of which `json` is the record (`docs/jobs.md` has its form), and takes up what is parked of
/// it. Repeating it is safe, and takes up what an earlier try left.
///
/// An application that keeps its own data in the same table writes the item itself, in a transaction of its
/// own: `docs/jobs.md` has the item's shape too.
///
/// # Errors
/// Nothing was written, except where the table's own answer got lost ([`NotRegistered::Store`] that is
/// [retryable](StoreError::is_retryable)): then repeat it.
pub async fn bind_job(
    store: &Store,
    config: &Config,
    json: &[u8],
    now: Timestamp,
    deadline: Deadline,
) -> Result<Bind, NotRegistered> {
    let (binding, text) = checked(config, json, now)?;
    let job = &binding.job;
    let bound = store.bind(&binding, text, now, deadline).await;
    let registered = match bound.map_err(NotRegistered::Store)? {
        Bound::New => Registered::New,
        Bound::Same => Registered::Same,
        Bound::Other => {
            let standing = store.job(job).await.map_err(NotRegistered::Store)?;
            let gone = || NotRegistered::Store(StoreError::Item(ackbox_store::ItemError::Gone));
            Registered::Other(Box::new(standing.ok_or_else(gone)?))
        }
    };
    let taken_up = match registered {
        Registered::Other(_) => Ok(Vec::new()),
        Registered::New | Registered::Same => {
            let timing = &config.delivery.timing;
            store.take_up(job, timing, now, deadline).await
        }
    };
    let is_asked = binding.poll_after.map(|_| has_lookup(config, &binding));
    Ok(Bind {
        binding,
        registered,
        is_asked,
        taken_up,
    })
}

/// The record that `json` is, if all of it can come true. Nothing is written.
///
/// # Errors
/// [`NotRegistered::NotABinding`] and [`NotRegistered::Refused`].
pub fn checked<'j>(
    config: &Config,
    json: &'j [u8],
    now: Timestamp,
) -> Result<(Binding, &'j str), NotRegistered> {
    let text = std::str::from_utf8(json).map_err(|error| NotABinding::Shape(error.to_string()))?;
    let binding = binding(json)?;
    let ids = config.ids_of(&binding.job.space).unwrap_or_default();
    let binding = binding.within(ids);
    check(config, &binding, now)?;
    Ok((binding, text))
}

/// Whether a source of the job's account can be asked about it, as the reconciler does.
pub fn has_lookup(config: &Config, binding: &Binding) -> bool {
    let mut sources = config.sources_of(&binding.job.space);
    sources.any(|(source, jobs)| source.lookup.is_some() && jobs.own_account() == binding.account)
}
