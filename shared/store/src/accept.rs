//! An action comes in; out goes whether it was accepted now, before, or before with other content.
//! One transaction decides, no read does. What must never happen: an answer other than an error
//! without the fact being on the table.

use ackbox_domain::{Acceptance, Action, Comparison, Timing, compare};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;

use crate::error::failed;
use crate::item::accepted::First;
use crate::item::decode;
use crate::retry::within;
use crate::size::Attributes;
use crate::{ConflictKind, Deadline, Store, StoreError};

mod conflict;
mod transaction;

const ACCEPT: &str = "accept";

impl Store {
    /// Offers an action to the table.
    ///
    /// Uncontended, this is one DynamoDB call, for a new action and for a duplicate alike; the first
    /// call for a source or destination in a process reads META once more. A duplicate writes
    /// nothing. A conflict, and a duplicate that could not be compared, is on the record before
    /// this returns, and the original is untouched.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] before anything is written; [`StoreError::Unavailable`] when
    /// `deadline` has passed: the transaction may have been committed, and a repetition sees that.
    pub async fn accept(
        &self,
        action: &Action,
        timing: &Timing,
        deadline: Deadline,
    ) -> Result<Acceptance, StoreError> {
        let items = transaction::items(&self.inner.table, action, timing)?;
        self.remember(&action.source, &action.destination, deadline)
            .await?;
        // One token for all tries (it lasts ten minutes): a commit whose answer was lost is found
        // to be ours by the next try.
        let request = self
            .inner
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .client_request_token(token());
        let first = within(deadline, ACCEPT, || async {
            match request.clone().send().await {
                Ok(_) => Ok(None),
                Err(error) => self.accept_failed(error).map(Some),
            }
        })
        .await?;
        match first {
            None => Ok(Acceptance::Accepted),
            Some(first) => self.seen_before(action, &first, deadline).await,
        }
    }

    /// What a cancelled transaction says: who was first, or an error.
    fn accept_failed(&self, error: SdkError<TransactWriteItemsError>) -> Result<First, StoreError> {
        let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
            error.as_service_error()
        else {
            return Err(failed(ACCEPT, &self.inner.table, error));
        };
        match Cancelled::read(cancelled.cancellation_reasons()) {
            Cancelled::Taken(item) => decode(item).map_err(StoreError::Item),
            Cancelled::Passes => Err(StoreError::Unavailable {
                operation: ACCEPT,
                source: Some(Box::new(error.into())),
            }),
            Cancelled::Refused(code) => Err(StoreError::Refused {
                operation: ACCEPT,
                code,
                source: Box::new(error.into()),
            }),
        }
    }

    async fn seen_before(
        &self,
        action: &Action,
        first: &First,
        deadline: Deadline,
    ) -> Result<Acceptance, StoreError> {
        let accepted_at = first.accepted_at;
        let kind = match compare(&first.fingerprint(), &action.fingerprint) {
            Comparison::Same => {
                return Ok(Acceptance::Duplicate {
                    accepted_at,
                    uncompared: false,
                });
            }
            Comparison::Different => ConflictKind::Conflict,
            Comparison::Uncompared => ConflictKind::Uncompared,
        };
        self.record_conflict(action, kind, accepted_at, deadline)
            .await?;
        Ok(match kind {
            ConflictKind::Conflict => Acceptance::Conflict { accepted_at },
            ConflictKind::Uncompared => Acceptance::Duplicate {
                accepted_at,
                uncompared: true,
            },
        })
    }
}

/// Why a transaction was cancelled.
#[derive(Debug, PartialEq)]
enum Cancelled {
    /// The key is taken; this item (accepted or outbox: both carry the fingerprint) took it.
    Taken(Attributes),
    /// Another transaction or a throttle was in the way: try again.
    Passes,
    /// Something that trying again does not mend.
    Refused(String),
}

impl Cancelled {
    /// Reads the reasons by their positions in the transaction.
    ///
    /// A failed condition on the accepted *or* the outbox item is the answer, whatever the other
    /// positions say: a tombstone may have expired before its entry, and a throttle beside it
    /// changes nothing.
    fn read(reasons: &[CancellationReason]) -> Self {
        let refused = |reason: &CancellationReason| reason.code() == Some("ConditionalCheckFailed");
        let conditional = [transaction::ACCEPTED, transaction::OUTBOX];
        let mut taken = conditional
            .iter()
            .filter_map(|position| reasons.get(*position))
            .filter(|reason| refused(reason));
        if let Some(item) = taken.clone().find_map(|reason| reason.item()) {
            return Self::Taken(item.clone());
        }
        if taken.next().is_some() {
            return Self::Refused("a failed condition without its item".to_owned());
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

/// A client request token: 32 random characters (36 are allowed).
fn token() -> String {
    (0..32).map(|_| fastrand::alphanumeric()).collect()
}

#[cfg(test)]
mod tests;
