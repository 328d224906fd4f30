//! to come
use crate::{Deadline, Store, StoreError};
use ackbox_domain::outbox::Origin;
use ackbox_domain::{Claim, EntryState, OutboxEntry, Timestamp};

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The right to one attempt is ours; the entry as it stands now: claimed, its fence one higher.
    Started(OutboxEntry),
    /// Nothing is left to do.
    AlreadyClosed(EntryState),
    /// Somebody else holds a claim.
    InProgress {
        /// Until when.
        until: Timestamp,
    },
    /// Something else changed, or the entry is gone: read it again.
    Moved,
}
impl Store {
    /// Claims one attempt.
    pub async fn claim(
        &self,
        entry: &OutboxEntry,
        claim: Claim,
        origin: Origin,
        deadline: Deadline,
    ) -> Result<Claimed, StoreError> {
        let _ = (entry, claim, origin, deadline);
        todo!()
    }
}
