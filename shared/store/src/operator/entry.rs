//! An operator's decision about an entry goes in, with who made it and why; the table says it afterwards, or
//! says who was faster. What must never happen: that an attempt that has begun since is undone, or that a body
//! expires under an entry that is open again.

use ackbox_domain::operator::Content;
use ackbox_domain::settlement::Settlement;
use ackbox_domain::{Action, Name, OutboxEntry, RenderedBody, Settled, StoredBody, Timing};
use aws_sdk_dynamodb::types::TransactWriteItem;

use super::OperatorRecord;
use crate::accept::transaction::{self, ACCEPTED, OUTBOX};
use crate::claim::read;
use crate::expression::{Update, item_key, n, s, time};
use crate::meta::Used;
use crate::schema::{action_pk, attribute, kind};
use crate::settle::write;
use crate::{AcceptedRecord, Change, Deadline, Store, StoreError, Story};

const WORD: &str = "writing an operator's word";

/// What an operator decided about an entry.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    /// The decision.
    pub settled: &'a Settled,
    /// The other destination that it goes to.
    pub to: Option<&'a Name>,
    /// Who, when and why.
    pub record: &'a OperatorRecord,
}

/// A new action in the place of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// What becomes of the entry; none: nothing.
    pub settled: Option<&'a Settled>,
    /// The new action.
    pub new: &'a Action,
    /// When the sweep takes it up.
    pub timing: &'a Timing,
    /// Who, when and why.
    pub record: &'a OperatorRecord,
}

/// What became of an operator's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The table says it now.
    Written,
    /// It does not stand as it was shown any more; nothing was written. How it stands; none: it is gone.
    Moved(Option<OutboxEntry>),
    /// The body to send is gone; nothing was written.
    NoBody,
    /// The new action is there already; nothing was written.
    MadeBefore,
}

impl Store {
    /// Writes an operator's decision about an entry, for exactly this standing of it, and its record.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written.
    pub async fn decide(
        &self,
        entry: &OutboxEntry,
        decided: Decided<'_>,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        if let Some(to) = decided.to {
            let used = Used::by_operator(to);
            self.remember(used, deadline).await?;
        }
        self.word(entry, Some(decided), decided.record, Vec::new(), deadline)
            .await
    }

    /// Writes a new action in the place of an entry, what becomes of the entry, and the record.
    ///
    /// # Errors
    /// As [`Store::decide`]; [`StoreError::TooLarge`].
    pub async fn replace(
        &self,
        entry: &OutboxEntry,
        replacement: Replacement<'_>,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let Replacement {
            settled,
            record,
            new,
            timing,
        } = replacement;
        let kept = self.retentions.of(&new.source).accepted;
        let puts = transaction::puts(&self.inner.table, new, timing, kept)?;
        let used = Used::by_action(new, None);
        self.remember(used, deadline).await?;
        let decided = settled.map(|settled| Decided {
            settled,
            to: None,
            record,
        });
        self.word(entry, decided, record, puts, deadline).await
    }

    /// The entry's write and its payload's, the record, and the puts of a new action.
    async fn word(
        &self,
        entry: &OutboxEntry,
        decided: Option<Decided<'_>>,
        record: &OperatorRecord,
        puts: Vec<TransactWriteItem>,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let mut writes = vec![self.put_operator(action_pk(&entry.key), record)?];
        let update = match decided {
            Some(decided) => self.decision(entry, decided),
            None => numbered(entry),
        };
        writes.push(self.outbox_write(entry, update));
        let outbox = Some(writes.len() - 1);
        let payload = decided
            .filter(|_| entry.body == StoredBody::Payload)
            .and_then(|decided| {
                writes.push(self.payload_of(entry, decided)?);
                Some(writes.len() - 1)
            });
        let pair = (!puts.is_empty()).then_some(writes.len());
        writes.extend(puts);
        let mut conditional: Vec<usize> = outbox.into_iter().chain(payload).collect();
        conditional.extend(pair.into_iter().flat_map(|at| [at + ACCEPTED, at + OUTBOX]));
        let failed = self.transact(WORD, writes, &conditional, deadline).await?;
        let Some(failed) = failed else {
            return Ok(Heard::Written);
        };
        let at = Some(failed.position);
        Ok(if at == outbox {
            Heard::Moved(failed.item.map(read).transpose()?)
        } else if at == payload {
            Heard::NoBody
        } else {
            Heard::MadeBefore
        })
    }

    fn decision(&self, entry: &OutboxEntry, decided: Decided<'_>) -> Update {
        let Decided {
            settled,
            to,
            record,
        } = decided;
        let moved = to.map(|to| OutboxEntry {
            destination: to.clone(),
            ..entry.clone()
        });
        // Asked about in between, it is due from when it is said, not from when it was decided.
        let settled = match settled.settlement {
            Settlement::Retry { due_at } => Settled {
                settlement: Settlement::Retry {
                    due_at: due_at.max(record.at),
                },
                ..*settled
            },
            _ => *settled,
        };
        let change = Change {
            settled: &settled,
            attempt: None,
            told: None,
            now: record.at,
        };
        let kept = self.retentions.of(&entry.source).entry;
        let mut update = write::settlement(&change, moved.as_ref().unwrap_or(entry), kept);
        // Nothing that was decided before this, and comes to the table after it, fits any more.
        update.set(attribute::FENCE, n(entry.fence.saturating_add(1)));
        if let Some(to) = to {
            update.set(attribute::DESTINATION, s(to.as_str()));
        }
        if matches!(settled.settlement, Settlement::Retry { .. }) {
            update.set(attribute::REDRIVEN_AT, time(record.at));
        }
        update
    }

    /// What becomes of the body in an item of its own. Where it is to be sent, it must be there.
    fn payload_of(&self, entry: &OutboxEntry, decided: Decided<'_>) -> Option<TransactWriteItem> {
        let kept = self.retentions.of(&entry.source);
        let now = decided.record.at;
        match decided.settled.settlement {
            Settlement::Delivered => Some(self.expire_payload(&entry.key, now.plus(kept.payload))),
            Settlement::Dead(_) => Some(self.expire_payload(&entry.key, now.plus(kept.entry))),
            Settlement::Retry { .. } => {
                let mut update = Update::default();
                // An update of what is not there would write a stub without a body.
                update.require_presence(attribute::PK, true);
                update.remove(attribute::EXPIRES_AT);
                let key = item_key(action_pk(&entry.key), kind::PAYLOAD);
                Some(update.in_transaction(&self.inner.table, key))
            }
            Settlement::Unknown { .. } | Settlement::NoDestination { .. } | Settlement::Held(_) => {
                None
            }
        }
    }
}

/// The entry stays as it is, and this word of it takes a number: the next one is another.
fn numbered(entry: &OutboxEntry) -> Update {
    let mut update = Update::default();
    update.require(attribute::STATE, s(entry.state.as_str()));
    update.require(attribute::FENCE, n(entry.fence));
    update.set(attribute::FENCE, n(entry.fence.saturating_add(1)));
    update
}

impl Story {
    /// What is known of the action, to make a new one of it. `None`: the entry or its body is gone.
    pub fn content(&self) -> Option<Content<'_>> {
        let entry = self.outbox.as_ref()?;
        let accepted = self.accepted.as_ref();
        let told = |field: fn(&AcceptedRecord) -> &Option<String>| {
            accepted.and_then(|a| field(a).as_deref())
        };
        Some(Content {
            key: &entry.key,
            fingerprint: accepted.map(|accepted| &accepted.fingerprint),
            source: &entry.source,
            rule: accepted.map(|accepted| &accepted.rule),
            account: told(|accepted| &accepted.account),
            subject: told(|accepted| &accepted.subject),
            event: told(|accepted| &accepted.event),
            message_id: told(|accepted| &accepted.message_id),
            destination: &entry.destination,
            body: self.body()?,
        })
    }

    /// The body that is sent, wherever it stands; `None` where it is gone.
    pub fn body(&self) -> Option<&RenderedBody> {
        match self.outbox.as_ref().map(|entry| &entry.body) {
            Some(StoredBody::Inline(body)) => Some(body),
            _ => self.payload.as_ref(),
        }
    }
}
