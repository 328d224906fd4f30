//! An operator's change of a destination's pause: what was read comes in with what is to stand instead and the
//! record of who wants it, and the table has both or neither. What must never happen: a change over one that the
//! operator has not seen.

use ackbox_domain::{Name, OperatorPause, PauseRecord};

use super::{Next, PauseChange, change, read, refused_change};
use crate::expression::item_key;
use crate::meta::Used;
use crate::random::random_id;
use crate::retry::read_deadline;
use crate::schema::{destination_pk, kind};
use crate::{Deadline, OperatorRecord, Store, StoreError};

const OPERATE: &str = "changing a destination's pause for an operator";

/// The position of the pause in the transaction.
const PAUSE: usize = 0;

impl Store {
    /// As [`Store::pause`], as it stands now: for whoever is told it, and changes it for good.
    ///
    /// # Errors
    /// [`StoreError::Item`] for an item that this version does not know.
    pub async fn pause_now(&self, destination: &Name) -> Result<PauseRecord, StoreError> {
        let pk = destination_pk(destination);
        let item = self.item(&pk, kind::PAUSE, read_deadline()).await?;
        item.map_or(Ok(PauseRecord::default()), read)
    }

    /// Puts an operator's pause in the place of whatever was `seen`, a breaker's pause included; `None` ends
    /// it. Holds only where nobody has changed the record since.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written.
    pub async fn operate_pause(
        &self,
        destination: &Name,
        seen: &PauseRecord,
        next: Option<&OperatorPause>,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<PauseChange, StoreError> {
        // Whoever lists what is paused finds a destination by this memory.
        let used = Used::by_operator(destination);
        self.remember(used, deadline).await?;
        let (id, pk) = (random_id(), destination_pk(destination));
        let update = change(seen, next.map_or(Next::Open, Next::Operator), &id);
        let key = item_key(&pk, kind::PAUSE);
        let writes = vec![
            update.in_transaction(&self.inner.table, key),
            self.put_operator(pk, record)?,
        ];
        match self.transact(OPERATE, writes, &[PAUSE], deadline).await? {
            None => Ok(PauseChange::Written(seen.operated(next.cloned()))),
            Some(failed) => refused_change(&id, failed.item.as_ref()),
        }
    }
}
