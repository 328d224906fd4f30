//! One transaction: writes go in, and out goes which of their conditions failed, if one did, or an error. The
//! reasons are read by position, never by their order of importance to the service.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};

use crate::error::failed;
use crate::random::random_id;
use crate::retry::within;
use crate::size::Attributes;
use crate::{Deadline, Store, StoreError};

impl Store {
    /// Writes all of it, or nothing; `None` where it is on the table, else which of the conditions at
    /// `conditional` positions failed.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been committed.
    pub(crate) async fn transact(
        &self,
        operation: &'static str,
        writes: Vec<TransactWriteItem>,
        conditional: &[usize],
        deadline: Deadline,
    ) -> Result<Option<Failed>, StoreError> {
        let request = self
            .inner
            .client
            .transact_write_items()
            .set_transact_items(Some(writes))
            // One token for all tries (it lasts ten minutes): a commit whose answer was lost is found to be
            // ours by the next try.
            .client_request_token(random_id());
        within(deadline, operation, || async {
            match request.clone().send().await {
                Ok(_) => Ok(None),
                Err(error) => {
                    failed_condition(operation, &self.inner.table, conditional, error).map(Some)
                }
            }
        })
        .await
    }
}

/// A condition that failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    /// Its write's position in the transaction.
    pub(crate) position: usize,
    /// What stands there; `None`: nothing does.
    pub(crate) item: Option<Attributes>,
}

/// What a transaction that did not commit says of the conditions at `conditional` positions.
///
/// A failed condition is the answer, whatever the other positions say: a throttle beside it changes
/// nothing. Of several, the first that shows what stands there.
///
/// # Errors
/// Where no condition failed: [`StoreError::Unavailable`] for what passes by itself.
fn failed_condition(
    operation: &'static str,
    table: &str,
    conditional: &[usize],
    error: SdkError<TransactWriteItemsError>,
) -> Result<Failed, StoreError> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
        error.as_service_error()
    else {
        return Err(failed(operation, table, error));
    };
    match Cancelled::read(conditional, cancelled.cancellation_reasons()) {
        Cancelled::Failed(condition) => Ok(condition),
        Cancelled::Passes => Err(StoreError::Unavailable {
            operation,
            source: Some(Box::new(error.into())),
        }),
        Cancelled::Refused(code) => Err(StoreError::Refused {
            operation,
            code,
            source: Box::new(error.into()),
        }),
    }
}

/// Why a transaction was cancelled.
#[derive(Debug, PartialEq)]
enum Cancelled {
    /// A condition failed.
    Failed(Failed),
    /// Another transaction or a throttle was in the way: try again.
    Passes,
    /// Something that trying again does not mend.
    Refused(String),
}

impl Cancelled {
    fn read(conditional: &[usize], reasons: &[CancellationReason]) -> Self {
        let failed = |position: &usize| {
            let reason = reasons.get(*position)?;
            (reason.code() == Some("ConditionalCheckFailed")).then(|| Failed {
                position: *position,
                item: reason.item().cloned(),
            })
        };
        let all: Vec<Failed> = conditional.iter().filter_map(failed).collect();
        let first = all.iter().find(|failed| failed.item.is_some());
        if let Some(failed) = first.or(all.first()) {
            return Self::Failed(failed.clone());
        }
        let mut codes = reasons
            .iter()
            .filter_map(|reason| reason.code())
            .filter(|code| *code != "None")
            .peekable();
        if codes.peek().is_none() {
            return Self::Refused("cancelled without a reason".to_owned());
        }
        match codes.find(|code| !passes(code)) {
            Some(code) => Self::Refused(code.to_owned()),
            None => Self::Passes,
        }
    }
}

/// Cancellation codes that pass by themselves (API reference of TransactWriteItems, "Cancellation Reasons").
fn passes(code: &str) -> bool {
    matches!(
        code,
        "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded"
    )
}

#[cfg(test)]
mod tests;
