//! to come
use crate::{Deadline, Store, StoreError};
use ackbox_domain::{AttemptRecord, EntryState, OutboxEntry, Settled, Timestamp};

/// What became of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleResult {
    /// The table says it now.
    Settled,
    /// Another claim owns the entry, or it is closed; it stands so. The attempt is on its record.
    Overtaken(EntryState),
}
impl Store {
    /// Settles.
    pub async fn settle(
        &self,
        entry: &OutboxEntry,
        settled: &Settled,
        attempt: Option<(&AttemptRecord, &str)>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<SettleResult, StoreError> {
        let _ = (entry, settled, attempt, now, deadline);
        todo!()
    }
}
