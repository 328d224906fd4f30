//! What a filter finds, by the index and never by a scan. The index lags: each entry is read before it is
//! decided about.

use std::collections::BTreeSet;

use ackbox_domain::settlement::Reason;
use ackbox_domain::{ActionKey, EntryState, Name};
use ackbox_store::{Between, Class, Store, StoreError};

use super::plan::{self, How, Planned};

/// A state whose entries can be chosen together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum State {
    /// Given up.
    Dead,
    /// Waits for an operator.
    Held,
    /// May have arrived; the destination is to be asked.
    Unknown,
}

impl State {
    const fn of(self) -> (Class, EntryState) {
        match self {
            Self::Dead => (Class::Dead, EntryState::Dead),
            Self::Held => (Class::Held, EntryState::Held),
            Self::Unknown => (Class::Unknown, EntryState::Unknown),
        }
    }
}

/// How many entries are read before it is looked whether they are enough.
const PIECE: usize = 200;

/// Which entries are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter<'a> {
    pub(super) state: State,
    pub(super) destination: Option<&'a Name>,
    pub(super) source: Option<&'a Name>,
    pub(super) between: Between,
    pub(super) limit: usize,
}

/// The entries that the filter takes, oldest first, and what is to happen to each.
pub(super) async fn planned(
    store: &Store,
    how: &How<'_>,
    filter: &Filter<'_>,
) -> Result<Vec<Planned>, StoreError> {
    let (class, state) = filter.state.of();
    let destinations: BTreeSet<Name> = match filter.destination {
        Some(name) => BTreeSet::from([name.clone()]),
        None => {
            let known = store.meta().await?.destinations;
            let configured = how.config.destinations.keys().cloned();
            known.into_iter().chain(configured).collect()
        }
    };
    let mut found = Vec::new();
    for name in &destinations {
        let listed = store
            .list_between(class, name, &filter.between, usize::MAX)
            .await?;
        found.extend(listed);
    }
    found.sort_by(|a, b| (a.accepted_at, &a.key).cmp(&(b.accepted_at, &b.key)));
    let keys: Vec<ActionKey> = found.into_iter().map(|one| one.key).collect();
    let mut planned = Vec::new();
    // In pieces, so that a limit is not paid for by reading everything.
    for piece in keys.chunks(PIECE) {
        let read = plan::of_keys(store, how, piece.to_vec()).await?;
        planned.extend(read.into_iter().filter(|one| {
            one.entry.as_ref().is_some_and(|entry| {
                // What an operator closed is sent again by its key alone.
                let is_closed_by_hand = entry.reason.as_deref() == Some(Reason::Operator.as_str());
                entry.state == state
                    && !is_closed_by_hand
                    && filter.source.is_none_or(|source| entry.source == *source)
            })
        }));
        // What is refused takes nobody's place.
        let ready = |one: &&Planned| one.decision.is_ok();
        if planned.iter().filter(ready).count() >= filter.limit {
            break;
        }
    }
    let mut ready = 0;
    planned.retain(|one| {
        ready += usize::from(one.decision.is_ok());
        one.decision.is_err() || ready <= filter.limit
    });
    Ok(planned)
}
