//! An operator closes a conflict: it leaves the index, and where its content is to count after all, a new
//! action is made of it in the same transaction.

use ackbox_domain::operator::Content;
use ackbox_domain::{Action, ActionKey, Timing};

use super::{Heard, OperatorRecord, closed};
use crate::accept::transaction::{self, ACCEPTED, OUTBOX};
use crate::expression::item_key;
use crate::meta::Used;
use crate::schema::{action_pk, attribute, kind};
use crate::{ConflictRecord, Deadline, Store, StoreError};

const CLOSE: &str = "closing a conflict";

/// The positions of the conflict's own write, and of the pair of the new action.
const CONFLICT: usize = 0;
const PAIR: usize = 2;

impl Store {
    /// Closes a conflict under a key: dismissed, or superseded by `new`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written;
    /// [`StoreError::TooLarge`].
    pub async fn close_conflict(
        &self,
        key: &ActionKey,
        conflict: &ConflictRecord,
        new: Option<(&Action, &Timing)>,
        record: &OperatorRecord,
        deadline: Deadline,
    ) -> Result<Heard, StoreError> {
        let kept = self.retentions.of(&conflict.source);
        let state = if new.is_some() { SUPERSEDED } else { DISMISSED };
        let mut update = closed(state, record.at, record.at.plus(kept.conflict));
        // Nobody closed it since.
        update.require_presence(attribute::WORK_SHARD, true);
        let sk = format!("{}{}", kind::CONFLICT, conflict.fingerprint.short());
        let pk = action_pk(key);
        let mut writes = vec![
            update.in_transaction(&self.inner.table, item_key(pk.clone(), sk)),
            self.put_operator(pk, record)?,
        ];
        let mut conditional = vec![CONFLICT];
        if let Some((new, timing)) = new {
            let used = Used::by_action(new, None);
            self.remember(used, deadline).await?;
            let kept = self.retentions.of(&new.source).accepted;
            writes.extend(transaction::puts(&self.inner.table, new, timing, kept)?);
            conditional.extend([PAIR + ACCEPTED, PAIR + OUTBOX]);
        }
        let failed = self.transact(CLOSE, writes, &conditional, deadline);
        Ok(match failed.await? {
            None => Heard::Written,
            Some(failed) if failed.position == CONFLICT => Heard::Moved(None),
            Some(_) => Heard::MadeBefore,
        })
    }
}

/// What an operator made of a conflict.
pub(super) const DISMISSED: &str = "dismissed";
pub(super) const SUPERSEDED: &str = "superseded";

impl ConflictRecord {
    /// What is known of the content, to make an action of it. `None`: its body is gone.
    pub fn content<'a>(&'a self, key: &'a ActionKey) -> Option<Content<'a>> {
        Some(Content {
            key,
            fingerprint: Some(&self.fingerprint),
            source: &self.source,
            rule: Some(&self.rule),
            account: self.account.as_deref(),
            subject: self.subject.as_deref(),
            event: self.event.as_deref(),
            message_id: self.message_id.as_deref(),
            destination: &self.destination,
            body: self.body.as_ref()?,
        })
    }
}
