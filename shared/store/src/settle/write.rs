//! The two writes of a settlement: the settlement itself, and an attempt as evidence beside another's.

use std::time::Duration;

use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{AttemptRecord, OutboxEntry, Timestamp};

use aws_sdk_dynamodb::types::AttributeValue;

use super::Change;
use crate::expression::{Update, n, s, time};
use crate::item::outbox::{DETAIL_MAX, attempts_text};
use crate::schema::{Class, attribute, work_shard};

/// The settlement, for exactly this standing of the entry, which is kept so long once it is closed.
pub(crate) fn settlement(change: &Change<'_>, standing: &OutboxEntry, kept: Duration) -> Update {
    let mut update = only_if_it_stands_so(standing);
    let settlement = &change.settled.settlement;
    update.set(attribute::STATE, s(settlement.state().as_str()));
    update.set_or_remove(
        attribute::REASON,
        settlement.reason().map(|r| s(r.as_str())),
    );
    for over in [
        attribute::CLAIM,
        attribute::CLAIMED_AT,
        attribute::LEASE_UNTIL,
    ] {
        update.remove(over);
    }
    let index = index(settlement, change.now);
    let shard = index.map(|(class, _)| s(work_shard(class, &standing.destination, &standing.key)));
    update.set_or_remove(attribute::WORK_SHARD, shard);
    update.set_or_remove(attribute::DUE_AT, index.map(|(_, due_at)| time(due_at)));
    let settled_at = settled_at(settlement, standing, change.now);
    update.set_or_remove(attribute::SETTLED_AT, settled_at.map(time));
    // An open entry never expires.
    let expires_at = settlement
        .state()
        .is_closed()
        .then(|| change.now.plus(kept));
    update.set_or_remove(attribute::EXPIRES_AT, expires_at.map(|at| n(at.unix_s())));
    mark(&mut update, change);
    // That attempts were not applied is noted beside the mark, by the number of the last one.
    if let Some(fence) = change.settled.cleared_fence {
        update.set(attribute::CLEARED_FENCE, n(fence));
    }
    if change.settled.is_vouched {
        update.set(attribute::VOUCHED, AttributeValue::Bool(true));
    }
    if let Some((attempt, detail)) = change.attempt {
        update.set(attribute::ATTEMPTS, s(with(standing, attempt)));
        let detail = cut(detail);
        update.set_or_remove(attribute::DETAIL, (!detail.is_empty()).then(|| s(detail)));
    } else if let Some(told) = change.told {
        update.set(attribute::DETAIL, s(cut(told)));
    }
    update
}

/// The attempt alone, and its mark: the state stays as another wrote it. So does what has been cleared:
/// whoever wrote since may know of a newer attempt, whose number this one's would undo.
pub(super) fn evidence(change: &Change<'_>, standing: &OutboxEntry) -> Update {
    let mut update = only_if_it_stands_so(standing);
    mark(&mut update, change);
    if let Some((attempt, _)) = change.attempt {
        update.set(attribute::ATTEMPTS, s(with(standing, attempt)));
    }
    update
}

/// Whether the record would say more with this attempt in it.
pub(super) fn is_news(standing: &OutboxEntry, attempt: &AttemptRecord) -> bool {
    with(standing, attempt) != attempts_text(&standing.attempts)
}

/// Where the settled entry stands in the index, and when it wants attention; `None`: nowhere.
pub(super) const fn index(settlement: &Settlement, now: Timestamp) -> Option<(Class, Timestamp)> {
    match settlement {
        Settlement::Delivered => None,
        Settlement::Retry { due_at } | Settlement::NoDestination { due_at } => {
            Some((Class::Open, *due_at))
        }
        Settlement::Unknown { due_at } => Some((Class::Unknown, *due_at)),
        // What a new action stands for wants nobody's attention.
        Settlement::Dead(Reason::Replaced) => None,
        Settlement::Dead(_) => Some((Class::Dead, now)),
        Settlement::Held(_) => Some((Class::Held, now)),
    }
}

fn only_if_it_stands_so(standing: &OutboxEntry) -> Update {
    let mut update = Update::default();
    // Nobody settled it in between; of a claimed entry: the claim is still open.
    update.require(attribute::STATE, s(standing.state.as_str()));
    // Nobody claimed it in between: an older attempt cannot undo what a newer one knows.
    update.require(attribute::FENCE, n(standing.fence));
    // The list is replaced as a whole: nobody added an attempt in between.
    match attempts_text(&standing.attempts) {
        none if none.is_empty() => update.require_presence(attribute::ATTEMPTS, false),
        attempts => update.require(attribute::ATTEMPTS, s(attempts)),
    }
    update
}

/// The first attempt that may have arrived sets the mark; nothing ever moves or clears it.
fn mark(update: &mut Update, change: &Change<'_>) {
    if let Some(first) = change.settled.first_uncertain_at {
        update.set_once(attribute::FIRST_UNCERTAIN_AT, time(first));
    }
}

/// When the entry was closed or held; while its destination is not known, since when.
fn settled_at(
    settlement: &Settlement,
    standing: &OutboxEntry,
    now: Timestamp,
) -> Option<Timestamp> {
    let unknown = Some(Reason::NoSuchDestination.as_str());
    match settlement {
        Settlement::NoDestination { .. } if standing.reason.as_deref() == unknown => {
            standing.settled_at.or(Some(now))
        }
        Settlement::NoDestination { .. } => Some(now),
        Settlement::Retry { .. } | Settlement::Unknown { .. } => None,
        Settlement::Delivered | Settlement::Dead(_) | Settlement::Held(_) => Some(now),
    }
}

/// The attempts with this one among them, in the order of their numbers.
fn with(standing: &OutboxEntry, attempt: &AttemptRecord) -> String {
    let mut attempts = standing.attempts.clone();
    attempts.retain(|known| known.number != attempt.number);
    attempts.push(*attempt);
    attempts.sort_by_key(|known| known.number);
    attempts_text(&attempts)
}

/// As much of the detail as the item has room for, cut between characters.
fn cut(detail: &str) -> &str {
    &detail[..detail.floor_char_boundary(DETAIL_MAX)]
}
