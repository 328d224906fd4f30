//! The log lines of the reconciler: `reconcile.asked` for each question, `entry.settled` for what is
//! settled without one. Never a body, a secret, or what a destination answered: answers often repeat
//! what they were sent. The entry keeps it.

use ackbox_config::SourceConfig;
use ackbox_domain::job::JobObservation;
use ackbox_domain::settlement::{Reason, Settled};
use ackbox_domain::{Acceptance, ActionKey, OutboxEntry};
use ackbox_outbound::Asked;
use ackbox_store::{JobRecord, SettleResult};

/// `job.asked`: one question about a silent job.
pub(crate) fn looked_up(
    record: &JobRecord,
    source: &SourceConfig,
    told: &str,
    end: Option<&JobObservation>,
) {
    tracing::info!(
        name: "job.asked",
        job = %record.binding.job,
        source = %source.source.name,
        asked = record.asked + 1,
        outcome = end.map(|end| end.outcome.as_str()),
        detail = end.is_none().then_some(told),
        "job.asked"
    );
}

/// `job.silent`: nobody waits for it any more.
pub(crate) fn given_up(record: &JobRecord, actions: &[(ActionKey, Acceptance)]) {
    let keys: Vec<&str> = actions.iter().map(|(key, _)| key.as_str()).collect();
    tracing::warn!(
        name: "job.silent",
        job = %record.binding.job,
        asked = record.asked,
        action.keys = %keys.join(","),
        "job.silent"
    );
}

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
