//! A decision comes in, and the attempt that led to it; the table says it afterwards, or says who was
//! faster. What must never happen: an older attempt undoing what a newer one knows, a closed entry
//! reopened, an attempt without a trace.

use ackbox_domain::settlement::Settlement;
use ackbox_domain::{
    ActionKey, AttemptRecord, EntryState, OutboxEntry, OutcomeKind, Retention, Settled, StoredBody,
    Timestamp,
};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::claim::{gone, read};
use crate::error::failed;
use crate::expression::{Update, item_key, n};
use crate::notice::{Notice, Told};
use crate::retry::within;
use crate::schema::{SCHEMA_VERSION, action_pk, attribute, kind};
use crate::{Deadline, Store, StoreError};

pub(crate) mod write;

const SETTLE: &str = "settle";

/// What became of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleResult {
    /// The table says it now.
    Settled,
    /// Another claim owns the entry, or it is closed; it stands so. The attempt is on its record.
    Overtaken(EntryState),
}

/// What is to be written onto an entry.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The decision.
    pub settled: &'a Settled,
    /// The attempt that led to it, and what happened in words, of which at most 120 bytes are kept;
    /// `None`: settled without one.
    pub attempt: Option<(&'a AttemptRecord, &'a str)>,
    /// What was heard in words, where there was no attempt.
    pub told: Option<&'a str>,
    /// When it was decided.
    pub now: Timestamp,
}

/// What the next write is, given how the entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The settlement.
    Settle,
    /// The attempt alone, as evidence.
    Evidence,
    /// None.
    Done(SettleResult),
}

impl Store {
    /// Writes a settlement onto the entry: `entry` as [`crate::Claimed::Started`] gave it, or, for a
    /// settlement without an attempt (a claim that ran out, no destination), as it was read.
    ///
    /// Where the store tells somebody of trouble ([`Store::telling`]), a settlement that is trouble and its
    /// notice are one transaction.
    ///
    /// It holds only for exactly that standing. Two exceptions: a success settles an entry delivered
    /// under any fence and in any state, since it proves arrival; and an attempt that was overtaken
    /// is still put on the record, without changing the state.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written.
    pub async fn settle(
        &self,
        entry: &OutboxEntry,
        change: Change<'_>,
        deadline: Deadline,
    ) -> Result<SettleResult, StoreError> {
        let mut standing = entry.clone();
        let mut next = change.first(&standing);
        let mut sent_evidence = false;
        let mut is_told = false;
        let kept = self.retentions.of(&entry.source);
        loop {
            let (update, notice) = match next {
                Next::Settle => (
                    write::settlement(&change, &standing, kept.entry),
                    self.notice_of_settlement(&standing, &change),
                ),
                Next::Evidence => (write::evidence(&change, &standing), None),
                Next::Done(result) => return Ok(result),
            };
            let beside: Vec<_> = match next {
                Next::Settle => self
                    .payload_expiry(&standing, &change, kept)
                    .into_iter()
                    .collect(),
                Next::Evidence | Next::Done(_) => Vec::new(),
            };
            let written = match notice.filter(|_| !is_told) {
                None if beside.is_empty() => self.write(&standing, &update, deadline).await,
                None => self.write_with(&standing, update, beside, deadline).await,
                Some(notice) => match self
                    .tell_of(&standing, update, beside, &notice, deadline)
                    .await
                {
                    Ok(Told::Written) => Ok(None),
                    Ok(Told::Before) => {
                        is_told = true;
                        continue;
                    }
                    Ok(Told::Refused(item)) => item.ok_or_else(gone).and_then(read).map(Some),
                    Err(error) => Err(error),
                },
            };
            match (next, written) {
                (Next::Settle, Ok(None)) => return Ok(SettleResult::Settled),
                // That the evidence could not be added does not change who settled the entry.
                (_, Ok(None)) => return Ok(SettleResult::Overtaken(standing.state)),
                (Next::Evidence, Err(error)) if error.is_retryable() => {
                    return Ok(SettleResult::Overtaken(standing.state));
                }
                (_, Err(error)) => return Err(error),
                (_, Ok(Some(old))) => {
                    sent_evidence |= next == Next::Evidence;
                    next = change.after_refusal(entry, &old, sent_evidence);
                    standing = old;
                }
            }
        }
    }

    /// Writes; `Some` is how the entry stands where it refused.
    async fn write(
        &self,
        standing: &OutboxEntry,
        update: &Update,
        deadline: Deadline,
    ) -> Result<Option<OutboxEntry>, StoreError> {
        let request = self.update_outbox(standing, update);
        within(deadline, SETTLE, || async {
            match request.clone().send().await {
                Ok(_) => Ok(None),
                Err(error) => self.settle_failed(error).map(Some),
            }
        })
        .await
    }

    /// As [`Store::write`], with what belongs to it.
    async fn write_with(
        &self,
        standing: &OutboxEntry,
        update: Update,
        beside: Vec<TransactWriteItem>,
        deadline: Deadline,
    ) -> Result<Option<OutboxEntry>, StoreError> {
        let mut writes = vec![self.outbox_write(standing, update)];
        writes.extend(beside);
        match self.transact(SETTLE, writes, &[0], deadline).await? {
            None => Ok(None),
            Some(refused) => refused.item.ok_or_else(gone).and_then(read).map(Some),
        }
    }

    /// Writes a settlement and its notice in one transaction.
    async fn tell_of(
        &self,
        standing: &OutboxEntry,
        update: Update,
        beside: Vec<TransactWriteItem>,
        notice: &Notice,
        deadline: Deadline,
    ) -> Result<Told, StoreError> {
        let trouble = self.outbox_write(standing, update);
        self.tell(SETTLE, trouble, beside, notice, deadline).await
    }

    pub(crate) fn outbox_write(&self, standing: &OutboxEntry, update: Update) -> TransactWriteItem {
        let key = item_key(action_pk(&standing.key), kind::OUTBOX);
        update.in_transaction(&self.inner.table, key)
    }

    /// Until when a body in an item of its own is kept, once its entry is closed: it is written with that, so
    /// that no body is left behind. A late repetition of this write changes nothing.
    fn payload_expiry(
        &self,
        standing: &OutboxEntry,
        change: &Change<'_>,
        kept: Retention,
    ) -> Option<TransactWriteItem> {
        let kept = match change.state() {
            EntryState::Delivered => kept.payload,
            EntryState::Dead => kept.entry,
            _ => return None,
        };
        (standing.body == StoredBody::Payload)
            .then(|| self.expire_payload(&standing.key, change.now.plus(kept)))
    }

    /// Where the body is gone already, nothing but the expiry stands there until then.
    pub(crate) fn expire_payload(&self, key: &ActionKey, until: Timestamp) -> TransactWriteItem {
        let mut update = Update::default();
        update.set(attribute::VERSION, n(u64::from(SCHEMA_VERSION)));
        update.set(attribute::EXPIRES_AT, n(until.unix_s()));
        update.in_transaction(&self.inner.table, item_key(action_pk(key), kind::PAYLOAD))
    }

    /// What a refused settlement says: how the entry stands, or an error.
    fn settle_failed(&self, error: SdkError<UpdateItemError>) -> Result<OutboxEntry, StoreError> {
        let Some(UpdateItemError::ConditionalCheckFailedException(refused)) =
            error.as_service_error()
        else {
            return Err(failed(SETTLE, &self.inner.table, error));
        };
        read(refused.item().cloned().ok_or_else(gone)?)
    }
}

/// Whether the record knows an end of this very attempt, of which this settlement only says that
/// none is known: a claim was taken for run out while its holder wrote.
fn is_heard_of(standing: &OutboxEntry, attempt: &AttemptRecord) -> bool {
    let mut known = standing.attempts.iter();
    attempt.kind == OutcomeKind::Unknown && known.any(|known| known.number == attempt.number)
}

impl Change<'_> {
    fn state(&self) -> EntryState {
        self.settled.settlement.state()
    }

    fn is_success(&self) -> bool {
        self.settled.settlement == Settlement::Delivered
    }

    /// A closed entry is not reopened, whoever asks.
    fn first(&self, entry: &OutboxEntry) -> Next {
        if !entry.state.is_closed() || (self.is_success() && entry.state != EntryState::Delivered) {
            return Next::Settle;
        }
        self.otherwise(entry)
    }

    /// What to do where `old` stands in the way of a settlement that was decided on `entry`.
    fn after_refusal(&self, entry: &OutboxEntry, old: &OutboxEntry, sent_evidence: bool) -> Next {
        if !sent_evidence && self.is_on_record(entry, old) {
            // The answer of an earlier try was lost: it was written.
            return Next::Done(SettleResult::Settled);
        }
        // A success proves arrival: it holds under any fence.
        let late_success = self.is_success() && old.state != EntryState::Delivered;
        // Only the list of attempts grew, by the evidence of an older attempt: the right is still ours.
        let same_standing = (old.state, old.fence) == (entry.state, entry.fence);
        if late_success || (same_standing && !old.state.is_closed()) {
            return Next::Settle;
        }
        self.otherwise(old)
    }

    /// The settlement does not hold; the attempt is evidence, where it is not on the record yet.
    fn otherwise(&self, standing: &OutboxEntry) -> Next {
        match self.attempt {
            // "Nothing was heard of it" is no news where something has been heard since.
            Some((attempt, _)) if is_heard_of(standing, attempt) => {
                Next::Done(SettleResult::Overtaken(standing.state))
            }
            Some((attempt, _)) if write::is_news(standing, attempt) => Next::Evidence,
            _ => Next::Done(SettleResult::Overtaken(standing.state)),
        }
    }

    /// Whether `old` says already what this settlement says: an earlier try wrote it.
    fn is_on_record(&self, entry: &OutboxEntry, old: &OutboxEntry) -> bool {
        if old.state != self.state() {
            return false;
        }
        let same_fence = old.fence == entry.fence;
        match self.attempt {
            // An attempt gets there by its own settlement, or as evidence, which was not sent yet.
            Some((attempt, _)) => {
                (same_fence || self.is_success()) && old.attempts.contains(attempt)
            }
            None => {
                let index = write::index(&self.settled.settlement, self.now);
                same_fence && old.due_at == index.map(|(_, due_at)| due_at)
            }
        }
    }
}
