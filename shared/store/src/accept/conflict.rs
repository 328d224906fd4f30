//! Puts other content under a known key on the record, once per content, before anything is
//! acknowledged. The original is never touched.

use ackbox_domain::{Action, Timestamp};

use crate::item::conflict::ConflictItem;
use crate::item::encode;
use crate::once::Once;
use crate::{ConflictKind, Deadline, Store, StoreError};

impl Store {
    /// Writes the conflict item, or counts it where it is there already.
    pub(super) async fn record_conflict(
        &self,
        action: &Action,
        kind: ConflictKind,
        original: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let once = Once {
            operation: "recording a conflict",
            item: encode(&ConflictItem::new(
                action,
                kind,
                original,
                self.retentions.of(&action.source).conflict,
            ))?,
            last_seen: action.accepted_at,
            notice: match kind {
                ConflictKind::Conflict => self.notice_of_conflict(action, original),
                ConflictKind::Uncompared => None,
            },
        };
        self.record(&once, deadline).await
    }
}
