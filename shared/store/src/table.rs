//! to come
use crate::{Store, StoreError};

/// Whether a table had to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It was created now.
    New,
    /// It was there.
    AlreadyThere,
}
impl Store {
    /// Creates the table.
    pub async fn create_table(&self) -> Result<Created, StoreError> {
        todo!()
    }
}
