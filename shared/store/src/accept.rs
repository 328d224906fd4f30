//! to come
use crate::{Deadline, Store, StoreError};
use ackbox_domain::{Acceptance, Action, Timing};
impl Store {
    /// Offers an action to the table.
    pub async fn accept(
        &self,
        action: &Action,
        timing: &Timing,
        deadline: Deadline,
    ) -> Result<Acceptance, StoreError> {
        let _ = (action, timing, deadline);
        todo!()
    }
}
