//! The application's record of a job goes in, once.

use ackbox_domain::Timestamp;
use ackbox_domain::job::Binding;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;

use super::{Bound, record};
use crate::error::failed;
use crate::item::encode;
use crate::item::job::JobItem;
use crate::meta::Used;
use crate::retry::within;
use crate::schema::{ITEM_MAX, attribute};
use crate::size::{Attributes, item_size};
use crate::{Deadline, ItemError, Store, StoreError};

const BIND: &str = "binding a job";

/// What the job's end, and what is asked until then, may add to the item.
const GROWTH: usize = 2 * 1024;

impl Store {
    /// Binds a job. `text` is the JSON of which `binding` was read.
    ///
    /// What is parked of the job is not taken up by this: see [`Store::take_up`].
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] before anything is written.
    pub async fn bind(
        &self,
        binding: &Binding,
        text: &str,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Bound, StoreError> {
        let item = encode(&JobItem::new(binding, text, now))?;
        let bytes = item_size(&item) + GROWTH;
        if bytes > ITEM_MAX {
            return Err(StoreError::TooLarge { bytes });
        }
        self.remember(Used::by_job(&binding.job.space), deadline)
            .await?;
        let put = self
            .inner
            .client
            .put_item()
            .table_name(&self.inner.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#pk)")
            .expression_attribute_names("#pk", attribute::PK)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let standing = within(deadline, BIND, || async {
            match put.clone().send().await {
                Ok(_) => Ok(None),
                Err(error) => self.bind_failed(error).map(Some),
            }
        })
        .await?;
        let Some(standing) = standing else {
            return Ok(Bound::New);
        };
        let standing = record(standing, &binding.job)?;
        Ok(if standing.binding.print() == binding.print() {
            Bound::Same
        } else {
            Bound::Other
        })
    }

    fn bind_failed(&self, error: SdkError<PutItemError>) -> Result<Attributes, StoreError> {
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(refused)) => refused
                .item()
                .cloned()
                .ok_or(StoreError::Item(ItemError::Gone)),
            _ => Err(failed(BIND, &self.inner.table, error)),
        }
    }
}
