//! An observation that does not agree with its job goes on the record, once for each disagreement, before
//! anything is acknowledged. The job is never touched.

use ackbox_domain::job::JobObservation;
use aws_sdk_dynamodb::operation::put_item::PutItemError;

use crate::error::failed;
use crate::expression::{Update, n, time};
use crate::item::observed::ObservedItem;
use crate::meta::Used;
use crate::retry::within;
use crate::schema::attribute;
use crate::{Deadline, Store, StoreError};

const RECORD: &str = "recording a disagreement";

impl Store {
    /// Writes the item, or counts it where it is there already.
    pub(super) async fn record_disagreement(
        &self,
        seen: &JobObservation,
        why: &str,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        self.remember(
            Used::by_disagreement(&seen.source, &seen.job.space),
            deadline,
        )
        .await?;
        let item = ObservedItem::disagreement(seen, why);
        let put = self
            .inner
            .client
            .put_item()
            .table_name(&self.inner.table)
            .set_item(Some(item.encoded()?))
            // The first sight keeps its time and its bytes.
            .condition_expression("attribute_not_exists(#pk)")
            .expression_attribute_names("#pk", attribute::PK);
        within(deadline, RECORD, || async {
            let Err(error) = put.clone().send().await else {
                return Ok(());
            };
            match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(_)) => {}
                _ => return Err(failed(RECORD, &self.inner.table, error)),
            }
            let mut update = Update::default();
            update.set(attribute::LAST_SEEN, time(seen.seen_at));
            update.add(attribute::COUNT, n(1));
            update.require_presence(attribute::PK, true);
            let counted = self.update_standing(&item.pk, &item.sk, update, deadline);
            if counted.await? {
                return Ok(());
            }
            // There, and then not there: collected in between. The next try writes it.
            Err(StoreError::Unavailable {
                operation: RECORD,
                source: None,
            })
        })
        .await
    }
}
