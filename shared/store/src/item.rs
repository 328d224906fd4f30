//! to come
use crate::ItemError;
use ackbox_domain::OutboxEntry;

/// Reads an outbox item.
pub fn outbox_from_item(item: serde_dynamo::Item) -> Result<OutboxEntry, ItemError> {
    let _ = item;
    todo!()
}
