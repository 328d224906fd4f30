//! The log lines of the dispatcher: `delivery.attempted` for each attempt, one for each entry that is
//! settled without one, and one for each change of a destination's pause. Never a body, a secret or a signature.

use ackbox_domain::causes::in_one_line;
use ackbox_domain::settlement::{Reason, Settled};
use ackbox_domain::{AttemptOutcome, Name, OutboxEntry, Pause, Timestamp};
use ackbox_store::{SettleResult, StoreError};

use crate::attempt::Attempted;

pub(crate) fn attempted(
    entry: &OutboxEntry,
    attempted: &Attempted,
    settled: &Settled,
    result: &Result<SettleResult, StoreError>,
) {
    let settle = match result {
        Ok(SettleResult::Settled) => "settled".to_owned(),
        Ok(SettleResult::Overtaken(state)) => format!("overtaken: {state}"),
        Err(error) => format!("failed, the lease will find it: {}", in_one_line(error)),
    };
    tracing::info!(
        name: "delivery.attempted",
        source = %entry.source,
        action.key = %entry.key,
        destination = %entry.destination,
        attempt.number = entry.fence,
        outcome = %attempted.outcome.kind,
        status = attempted.outcome.status,
        detail = own_words(&attempted.outcome),
        state = %settled.settlement.state(),
        reason = settled.settlement.reason().map(Reason::as_str),
        settle,
        duration_ms = u64::try_from(attempted.took.as_millis()).unwrap_or(u64::MAX),
        "delivery.attempted"
    );
}

/// What happened, where it is told in our own words. What a destination answered stays out of the log:
/// answers often repeat what they were sent. The entry keeps it.
fn own_words(outcome: &AttemptOutcome) -> Option<&str> {
    outcome.status.is_none().then_some(outcome.detail.as_str())
}

pub(crate) fn unattempted(entry: &OutboxEntry, settled: &Settled, result: &SettleResult) {
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

pub(crate) fn paused(destination: &Name, pause: &Pause) {
    tracing::warn!(
        name: "breaker.paused",
        destination = %destination,
        until = %pause.until,
        since = %pause.since,
        pause.number = pause.number,
        reason = pause.why,
        "breaker.paused"
    );
}

pub(crate) fn probing(destination: &Name, pause: &Pause) {
    tracing::info!(
        name: "breaker.probing",
        destination = %destination,
        until = %pause.until,
        since = %pause.since,
        pause.number = pause.number,
        "breaker.probing"
    );
}

pub(crate) fn ended(destination: &Name, pause: &Pause, now: Timestamp) {
    tracing::info!(
        name: "breaker.ended",
        destination = %destination,
        since = %pause.since,
        until = %now,
        pause.number = pause.number,
        "breaker.ended"
    );
}

/// A pause that could not be written, and what follows, is no failed delivery.
pub(crate) fn pause_unwritten(destination: &Name, error: &StoreError) {
    tracing::error!(
        name: "breaker.unwritten",
        destination = %destination,
        error = %in_one_line(error),
        "breaker.unwritten"
    );
}
