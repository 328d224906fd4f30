//! An action comes in; out goes whether it was accepted now, before, or before with other content.
//! One transaction decides, no read does. What must never happen: an answer other than an error
//! without the fact being on the table.

use ackbox_domain::{Acceptance, Action, Comparison, Timing, compare};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;

use crate::cancelled::failed_condition;
use crate::item::accepted::First;
use crate::item::decode;
use crate::meta::Used;
use crate::random::random_id;
use crate::retry::within;
use crate::{ConflictKind, Deadline, ItemError, Store, StoreError};

mod conflict;
pub(crate) mod transaction;

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
        let items = transaction::puts(&self.inner.table, action, timing)?;
        self.remember(
            Used::by_action(&action.source, &action.destination),
            deadline,
        )
        .await?;
        // One token for all tries (it lasts ten minutes): a commit whose answer was lost is found
        // to be ours by the next try.
        let request = self
            .inner
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .client_request_token(random_id());
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

    /// What a transaction that did not commit says: who was first, or an error.
    fn accept_failed(&self, error: SdkError<TransactWriteItemsError>) -> Result<First, StoreError> {
        // A tombstone may have expired before its entry: either of the two carries the fingerprint.
        let pair = [transaction::ACCEPTED, transaction::OUTBOX];
        let taken = failed_condition(ACCEPT, &self.inner.table, &pair, error)?;
        let item = taken.item.ok_or(StoreError::Item(ItemError::Gone))?;
        decode(item).map_err(StoreError::Item)
    }

    /// What a first acceptance makes of an action that comes again.
    pub(crate) async fn seen_before(
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
