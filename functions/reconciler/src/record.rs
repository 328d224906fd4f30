//! The log lines of the reconciler: `reconcile.asked` for each question, `entry.settled` for what is
//! settled without one. Never a body, a secret, or what a destination answered: answers often repeat
//! what they were sent. The entry keeps it.

use ackbox_domain::OutboxEntry;
use ackbox_domain::settlement::{Reason, Settled};
use ackbox_outbound::Asked;
use ackbox_store::SettleResult;

pub(crate) fn asked(entry: &OutboxEntry, asked: &Asked, settled: &Settled, result: &SettleResult) {
    tracing::info!(
        name: "reconcile.asked",
        destination = %entry.destination,
        action.key = %entry.key,
        attempt.number = entry.fence,
        word = asked.word.as_str(),
        status = asked.status,
        detail = asked.status.is_none().then_some(asked.detail.as_str()),
        state = %settled.settlement.state(),
        reason = settled.settlement.reason().map(Reason::as_str),
        settle = ?result,
        "reconcile.asked"
    );
}

pub(crate) fn unasked(entry: &OutboxEntry, settled: &Settled, result: &SettleResult) {
    tracing::warn!(
        name: "entry.settled",
        destination = %entry.destination,
        action.key = %entry.key,
        was = %entry.state,
        attempt.number = entry.fence,
        state = %settled.settlement.state(),
        reason = settled.settlement.reason().map(Reason::as_str),
        settle = ?result,
        "entry.settled"
    );
}
