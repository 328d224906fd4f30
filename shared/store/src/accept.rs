//! An action comes in; out goes whether it was accepted now, before, or before with other content.
//! One transaction decides, no read does. What must never happen: an answer other than an error
//! without the fact being on the table.

use ackbox_domain::{Acceptance, Action, Comparison, RuleIdentity, Timing, compare};

use crate::cancelled::Failed;
use crate::item::accepted::First;
use crate::item::decode;
use crate::meta::Used;
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
        let kept = self.retentions.of(&action.source).accepted;
        let items = transaction::puts(&self.inner.table, action, timing, kept)?;
        let rule = RuleIdentity::of_action(action);
        self.remember(Used::by_action(action, rule.as_ref()), deadline)
            .await?;
        // A tombstone may have expired before its entry: either of the two carries the fingerprint.
        let pair = [transaction::ACCEPTED, transaction::OUTBOX];
        let taken = self.transact(ACCEPT, items, &pair, deadline).await?;
        match taken {
            None => Ok(Acceptance::Accepted),
            Some(taken) => self.seen_before(action, taken, deadline).await,
        }
    }

    /// What the first acceptance, which stands where a condition failed, makes of an action that comes again.
    pub(crate) async fn seen_before(
        &self,
        action: &Action,
        taken: Failed,
        deadline: Deadline,
    ) -> Result<Acceptance, StoreError> {
        let item = taken.item.ok_or(StoreError::Item(ItemError::Gone))?;
        let first: First = decode(item).map_err(StoreError::Item)?;
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
