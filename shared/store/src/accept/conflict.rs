//! Puts other content under a known key on the record, once per content, before anything is
//! acknowledged. The original is never touched.

use ackbox_domain::{Action, Timestamp};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;

use super::transaction::put_if_absent;
use crate::error::failed;
use crate::expression::{Update, n, s, time};
use crate::item::conflict::ConflictItem;
use crate::item::encode;
use crate::notice::{Notice, Told};
use crate::retry::within;
use crate::schema::attribute;
use crate::{ConflictKind, Deadline, Store, StoreError};

const RECORD: &str = "recording a conflict";

impl Store {
    /// Writes the conflict item, or counts it where it is there already. Seen again after an
    /// operator closed it, it is counted and stays closed: it is never put into the index twice.
    pub(super) async fn record_conflict(
        &self,
        action: &Action,
        kind: ConflictKind,
        original: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let item = ConflictItem::new(action, kind, original);
        let notice = match kind {
            ConflictKind::Conflict => self.notice_of_conflict(action, original),
            ConflictKind::Uncompared => None,
        };
        let notice = notice.as_ref();
        within(deadline, RECORD, || async {
            if self.write_conflict(&item, notice, deadline).await?
                || self.count_conflict(&item).await?
            {
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

    /// Writes the item, and what there is to tell of it; false where it is there.
    async fn write_conflict(
        &self,
        item: &ConflictItem,
        notice: Option<&Notice>,
        deadline: Deadline,
    ) -> Result<bool, StoreError> {
        let Some(notice) = notice else {
            return self.put_conflict(item).await;
        };
        let put = put_if_absent(&self.inner.table, encode(item)?);
        match self.tell(RECORD, put, notice, deadline).await? {
            Told::Written => Ok(true),
            Told::Refused(_) => Ok(false),
            // A conflict that was collected meanwhile, and comes again.
            Told::Before => self.put_conflict(item).await,
        }
    }

    /// Writes the item alone; false where it is there.
    async fn put_conflict(&self, item: &ConflictItem) -> Result<bool, StoreError> {
        let put = self
            .inner
            .client
            .put_item()
            .table_name(&self.inner.table)
            .set_item(Some(encode(item)?))
            // The first sight keeps its time and its bytes.
            .condition_expression("attribute_not_exists(#pk)")
            .expression_attribute_names("#pk", attribute::PK);
        match put.send().await {
            Ok(_) => Ok(true),
            Err(error) => self.put_conflict_failed(error),
        }
    }

    fn put_conflict_failed(&self, error: SdkError<PutItemError>) -> Result<bool, StoreError> {
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            _ => Err(failed(RECORD, &self.inner.table, error)),
        }
    }

    /// Counts one more sight; false where the item is gone.
    async fn count_conflict(&self, item: &ConflictItem) -> Result<bool, StoreError> {
        let mut update = Update::default();
        update.set(attribute::LAST_SEEN, time(item.last_seen));
        update.add(attribute::COUNT, n(1));
        // An update of what is not there would write a stub without content.
        update.require_presence(attribute::PK, true);
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(&item.pk))
            .key(attribute::SK, s(&item.sk));
        match update.on(request).send().await {
            Ok(_) => Ok(true),
            Err(error) => self.count_conflict_failed(error),
        }
    }

    fn count_conflict_failed(&self, error: SdkError<UpdateItemError>) -> Result<bool, StoreError> {
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(false),
            _ => Err(failed(RECORD, &self.inner.table, error)),
        }
    }
}
