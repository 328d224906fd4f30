//! An entry comes in as it was read; out goes the right to make one attempt, or who has it. The claim
//! is the note, written before any request, that an attempt may have begun.

use ackbox_domain::outbox::Origin;
use ackbox_domain::{Claim, EntryState, OutboxEntry, Timestamp};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{ReturnValue, ReturnValuesOnConditionCheckFailure};

use crate::error::failed;
use crate::expression::{Update, b, n, s, time};
use crate::retry::within;
use crate::schema::attribute;
use crate::size::Attributes;
use crate::{Deadline, ItemError, Store, StoreError, outbox_from_item};

const CLAIM: &str = "claim";

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The right to one attempt is ours; the entry as it stands now: claimed, its fence one higher.
    Started(OutboxEntry),
    /// Nothing is left to do.
    AlreadyClosed(EntryState),
    /// Somebody else holds a claim.
    InProgress {
        /// Until when.
        until: Timestamp,
    },
    /// Something else changed, or the entry is gone: read it again.
    Moved,
}

impl Store {
    /// Claims one attempt on an entry that was read as pending: one conditional update of one write
    /// unit, that leaves the index alone.
    ///
    /// `claim.id` must be new for every claim, of at most 32 bytes (the item's size counts on it).
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: the claim may have been taken; it
    /// then runs out, and counts as an attempt that may have arrived.
    pub async fn claim(
        &self,
        entry: &OutboxEntry,
        claim: Claim,
        origin: Origin,
        deadline: Deadline,
    ) -> Result<Claimed, StoreError> {
        let request = self
            .update_outbox(entry, &claim_update(entry, &claim, origin))
            .return_values(ReturnValue::AllNew);
        within(deadline, CLAIM, || async {
            match request.clone().send().await {
                Ok(answer) => {
                    let item = answer.attributes.ok_or(gone())?;
                    Ok(Claimed::Started(read(item)?))
                }
                Err(error) => self.claim_failed(&claim, error),
            }
        })
        .await
    }

    /// What a refused claim says: who stands in the way, or an error.
    fn claim_failed(
        &self,
        claim: &Claim,
        error: SdkError<UpdateItemError>,
    ) -> Result<Claimed, StoreError> {
        let Some(UpdateItemError::ConditionalCheckFailedException(refused)) =
            error.as_service_error()
        else {
            return Err(failed(CLAIM, &self.inner.table, error));
        };
        let Some(item) = refused.item() else {
            return Ok(Claimed::Moved);
        };
        let old = read(item.clone())?;
        Ok(match (&old.claim, old.state) {
            // The answer of an earlier try was lost: the claim is ours.
            (Some(held), EntryState::Claimed) if held.id == claim.id => Claimed::Started(old),
            (Some(held), EntryState::Claimed) => Claimed::InProgress {
                until: held.lease_until,
            },
            (_, state) if state.is_closed() => Claimed::AlreadyClosed(state),
            _ => Claimed::Moved,
        })
    }

    /// An update of the entry's outbox item that returns what stands there when it is refused.
    pub(crate) fn update_outbox(
        &self,
        entry: &OutboxEntry,
        update: &Update,
    ) -> aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder {
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(crate::schema::action_pk(&entry.key)))
            .key(attribute::SK, s(crate::schema::kind::OUTBOX))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        update.clone().on(request)
    }
}

fn claim_update(entry: &OutboxEntry, claim: &Claim, origin: Origin) -> Update {
    let mut update = Update::default();
    // Only a waiting entry may be attempted; a claim that ran out is settled first.
    update.require(attribute::STATE, s(EntryState::Pending.as_str()));
    // Exactly the entry that the decision to attempt was made on: nobody had an attempt since.
    update.require(attribute::FENCE, n(entry.fence));
    update.set(attribute::STATE, s(EntryState::Claimed.as_str()));
    update.set(attribute::FENCE, n(entry.fence.saturating_add(1)));
    update.set(attribute::CLAIM, s(&claim.id));
    update.set(attribute::CLAIMED_AT, time(claim.claimed_at));
    update.set(attribute::LEASE_UNTIL, time(claim.lease_until));
    update.set(attribute::ORIGIN, b(&origin));
    // What held it before is over, and the claim needs the room.
    update.remove(attribute::REASON);
    update.remove(attribute::SETTLED_AT);
    update
}

/// Reads the outbox item of an update's answer.
pub(crate) fn read(item: Attributes) -> Result<OutboxEntry, StoreError> {
    outbox_from_item(item.into()).map_err(StoreError::Item)
}

/// The error of an entry that is not there any more.
pub(crate) const fn gone() -> StoreError {
    StoreError::Item(ItemError::Gone)
}
