//! An observation that does not agree with its job goes on the record, once for each disagreement, before
//! anything is acknowledged. The job is never touched.

use ackbox_domain::job::JobObservation;

use super::Disagreement;
use crate::item::observed::ObservedItem;
use crate::meta::Used;
use crate::once::Once;
use crate::{Deadline, Store, StoreError};

impl Store {
    /// Writes the item, or counts it where it is there already.
    pub(super) async fn record_disagreement(
        &self,
        seen: &JobObservation,
        disagreement: &Disagreement,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let used = Used::by_observation(&seen.source, &seen.job.space);
        self.remember(used, deadline).await?;
        let once = Once {
            operation: "recording a disagreement",
            item: ObservedItem::disagreement(seen, disagreement).encoded()?,
            last_seen: seen.seen_at,
            notice: self.notice_of_disagreement(seen, disagreement),
        };
        self.record(&once, deadline).await
    }
}
