//! to come
use crate::{Class, Store, StoreError};
use ackbox_domain::{ActionKey, Name, Timestamp};

/// The keys that are due, a page at a time.
#[derive(Debug)]
pub struct DuePages {}
impl DuePages {
    /// The next page.
    pub async fn next(&mut self) -> Result<Option<Vec<ActionKey>>, StoreError> {
        todo!()
    }
}

/// One item of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The action.
    pub key: ActionKey,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it wants attention.
    pub due_at: Timestamp,
}
impl Store {
    /// What is due.
    pub fn due(&self, class: Class, name: &Name, now: Timestamp) -> DuePages {
        let _ = (class, name, now);
        todo!()
    }
    /// Lists.
    pub async fn list(
        &self,
        class: Class,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let _ = (class, name, limit);
        todo!()
    }
}
