//! Trouble and its notice are one write: what is written about an entry or a conflict comes in with the
//! notice, and the table has both or neither. What must never happen: trouble on the table whose
//! notice was lost on the way.

use std::collections::BTreeMap;

use ackbox_domain::job::JobObservation;
use ackbox_domain::notice::Last;
use ackbox_domain::{Action, Name, Notify, OutboxEntry, Timestamp, Timing};
use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::accept::transaction::{ACCEPTED, Items, OUTBOX};
use crate::cancelled::Failed;
use crate::expression::Update;
use crate::meta::Used;
use crate::schema::attribute;
use crate::size::Attributes;
use crate::{Change, Deadline, Disagreement, JobRecord, Store, StoreError};

/// Who is told of trouble, and when the sweep takes up a notice that the stream lost.
#[derive(Debug)]
pub(crate) struct Notices {
    notify: Notify,
    timing: Timing,
}

/// One notice on its way to the table.
#[derive(Debug)]
pub(crate) struct Notice {
    action: Action,
    timing: Timing,
}

/// What became of a write with a notice.
#[derive(Debug)]
pub(crate) enum Told {
    /// Both are on the table.
    Written,
    /// This has been told before; nothing was written.
    Before,
    /// The write's own condition failed; what stands there. Nothing was written.
    Refused(Option<Attributes>),
}

/// The position of the write about which is told.
const TROUBLE: usize = 0;

impl Store {
    /// The same table; whatever is written from now on that is trouble to `notify` is told, in the same
    /// transaction. `None`: nobody is told.
    #[must_use]
    pub fn telling(mut self, notify: Option<Notify>, timing: Timing) -> Self {
        self.notices = notify.map(|notify| Notices { notify, timing }.into());
        self
    }

    /// Writes `trouble`, which has a condition, what belongs to it, and its notice: all or nothing.
    pub(crate) async fn tell(
        &self,
        operation: &'static str,
        trouble: TransactWriteItem,
        beside: Vec<TransactWriteItem>,
        notice: &Notice,
        deadline: Deadline,
    ) -> Result<Told, StoreError> {
        // Before anything of theirs is there: the sweep finds a destination by this memory.
        let Notice { action, timing } = notice;
        self.remember(Used::by_action(action, None), deadline)
            .await?;
        let mut writes = vec![trouble];
        writes.extend(self.creations(action, timing)?);
        writes.extend(beside);
        let conditional = [TROUBLE, 1 + ACCEPTED, 1 + OUTBOX];
        let failed = self.transact(operation, writes, &conditional, deadline);
        Ok(match failed.await? {
            None => Told::Written,
            Some(Failed {
                position: TROUBLE,
                item,
            }) => Told::Refused(item),
            Some(Failed { .. }) => Told::Before,
        })
    }

    /// The notice's items, the first two only if absent. Updates, not puts: a function that settles needs no
    /// permission to put, and so can never overwrite an item.
    fn creations(
        &self,
        notice: &Action,
        timing: &Timing,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let kept = self.retentions.of(&notice.source).accepted;
        let items = Items::of(notice, timing, kept)?;
        let table = &self.inner.table;
        // In the order of an acceptance's puts.
        let mut writes = vec![
            creation(table, items.accepted, true),
            creation(table, items.outbox, true),
        ];
        let payload = items.payload.into_iter();
        writes.extend(payload.map(|item| creation(table, item, false)));
        Ok(writes)
    }

    /// What is to be told of a settlement of `entry`, if anything.
    pub(crate) fn notice_of_settlement(
        &self,
        entry: &OutboxEntry,
        change: &Change<'_>,
    ) -> Option<Notice> {
        let notices = self.notices.as_ref()?;
        let (attempt, detail) = change.attempt.unzip();
        let last = Last {
            attempt,
            detail: detail.or(change.told).filter(|detail| !detail.is_empty()),
        };
        let notify = &notices.notify;
        let action = notify.of_settlement(entry, change.settled, last, change.now)?;
        Some(notices.notice(action))
    }

    /// What is to be told of other content under a known key, if anything.
    pub(crate) fn notice_of_conflict(
        &self,
        action: &Action,
        original: Timestamp,
    ) -> Option<Notice> {
        let notices = self.notices.as_ref()?;
        let action = notices.notify.of_conflict(action, original)?;
        Some(notices.notice(action))
    }
}

impl Store {
    /// What is to be told of an observation that does not agree with its job, if anything.
    pub(crate) fn notice_of_disagreement(
        &self,
        seen: &JobObservation,
        disagreement: &Disagreement,
    ) -> Option<Notice> {
        let notices = self.notices.as_ref()?;
        let action = notices.notify.of_disagreement(
            seen,
            &disagreement.place(),
            &disagreement.to_string(),
        )?;
        Some(notices.notice(action))
    }

    /// The notice of a job that is given up, where that is to be told.
    pub(crate) fn notice_of_silence(
        &self,
        record: &JobRecord,
        source: &Name,
        now: Timestamp,
    ) -> Option<Action> {
        let notify = &self.notices.as_ref()?.notify;
        let detail = record.detail.as_deref();
        notify.of_silence(&record.binding, (source, record.asked), detail, now)
    }
}

impl Notices {
    fn notice(&self, action: Action) -> Notice {
        let timing = self.timing;
        Notice { action, timing }
    }
}

/// An update that makes an item.
fn creation(table: &str, mut item: Attributes, only_if_absent: bool) -> TransactWriteItem {
    let keys = [attribute::PK, attribute::SK];
    let key = keys.iter().filter_map(|name| item.remove_entry(*name));
    let key: Attributes = key.collect();
    let mut update = Update::default();
    if only_if_absent {
        // The first telling stands, whatever a later one would say of the same trouble.
        update.require_presence(attribute::PK, false);
    }
    // In one order: the same notice is the same request.
    let item: BTreeMap<_, _> = item.into_iter().collect();
    for (name, value) in item {
        update.set(&name, value);
    }
    update.in_transaction(table, key)
}
