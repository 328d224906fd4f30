//! to come
use crate::{Store, StoreError};
use ackbox_domain::Name;
use std::collections::BTreeSet;

/// What the table knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The newest schema version that ever wrote here; `None` where nothing was ever accepted.
    pub schema_version: Option<u32>,
    /// Every destination that ever had an entry.
    pub destinations: BTreeSet<Name>,
    /// Every source that ever had an action accepted.
    pub sources: BTreeSet<Name>,
}
impl Store {
    /// Reads META.
    pub async fn meta(&self) -> Result<Meta, StoreError> {
        todo!()
    }
}
