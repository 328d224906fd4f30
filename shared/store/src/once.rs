//! What goes on the record once, and is counted when it comes again: other content under a known key, an
//! observation that does not agree with its job. Whatever it is about is never touched.

use ackbox_domain::Timestamp;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;

use crate::accept::transaction::put_if_absent;
use crate::error::failed;
use crate::expression::{Update, n, time};
use crate::notice::{Notice, Told};
use crate::retry::within;
use crate::schema::attribute;
use crate::size::Attributes;
use crate::{Deadline, Store, StoreError};

/// What is to be on the record.
#[derive(Debug)]
pub(crate) struct Once {
    pub(crate) operation: &'static str,
    pub(crate) item: Attributes,
    /// When it was seen now.
    pub(crate) last_seen: Timestamp,
    /// What there is to tell of it the first time.
    pub(crate) notice: Option<Notice>,
}

impl Store {
    /// Writes the item, or counts it where it is there already. Seen again after an operator closed it, it is
    /// counted and stays closed: it is never put into the index twice.
    pub(crate) async fn record(&self, once: &Once, deadline: Deadline) -> Result<(), StoreError> {
        let operation = once.operation;
        within(deadline, operation, || async {
            if self.write_once(once, deadline).await? || self.count_again(once).await? {
                return Ok(());
            }
            // There, and then not there: collected in between. The next try writes it.
            Err(StoreError::Unavailable {
                operation,
                source: None,
            })
        })
        .await
    }

    /// Writes the item, and what there is to tell of it; false where it is there.
    async fn write_once(&self, once: &Once, deadline: Deadline) -> Result<bool, StoreError> {
        let Some(notice) = &once.notice else {
            return self.put_once(once).await;
        };
        let put = put_if_absent(&self.inner.table, once.item.clone());
        match self
            .tell(once.operation, put, Vec::new(), notice, deadline)
            .await?
        {
            Told::Written => Ok(true),
            Told::Refused(_) => Ok(false),
            // One that was collected meanwhile, and comes again.
            Told::Before => self.put_once(once).await,
        }
    }

    /// Writes the item alone; false where it is there.
    async fn put_once(&self, once: &Once) -> Result<bool, StoreError> {
        let put = self
            .inner
            .client
            .put_item()
            .table_name(&self.inner.table)
            .set_item(Some(once.item.clone()))
            // The first sight keeps its time and its bytes.
            .condition_expression("attribute_not_exists(#pk)")
            .expression_attribute_names("#pk", attribute::PK);
        match put.send().await {
            Ok(_) => Ok(true),
            Err(error) => self.put_once_failed(once.operation, error),
        }
    }

    fn put_once_failed(
        &self,
        operation: &'static str,
        error: SdkError<PutItemError>,
    ) -> Result<bool, StoreError> {
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            _ => Err(failed(operation, &self.inner.table, error)),
        }
    }

    /// Counts one more sight; false where the item is gone.
    async fn count_again(&self, once: &Once) -> Result<bool, StoreError> {
        let mut update = Update::default();
        update.set(attribute::LAST_SEEN, time(once.last_seen));
        update.add(attribute::COUNT, n(1));
        // An update of what is not there would write a stub without content.
        update.require_presence(attribute::PK, true);
        let keys = [attribute::PK, attribute::SK];
        let key = keys.map(|name| {
            once.item
                .get(name)
                .map(|value| (name.to_owned(), value.clone()))
        });
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .set_key(Some(key.into_iter().flatten().collect()));
        match update.on(request).send().await {
            Ok(_) => Ok(true),
            Err(error) => self.count_again_failed(once.operation, error),
        }
    }

    fn count_again_failed(
        &self,
        operation: &'static str,
        error: SdkError<UpdateItemError>,
    ) -> Result<bool, StoreError> {
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(false),
            _ => Err(failed(operation, &self.inner.table, error)),
        }
    }
}
