//! The schedule that wakes the sweeper: a tick comes in, one invocation with a scheduled event goes
//! out. Two of its invocations never run at once; a tick that finds one running is left out.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::invoke::Invoker;
use crate::edge::Clock;

/// Sweeps now, and then every so often, until it is told to stop.
pub(super) async fn run(
    invoker: Invoker,
    clock: Clock,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    // Tokio's interval has no zero.
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = invoker.invoke(scheduled(&clock)).await {
            // The next tick is the repetition.
            tracing::warn!(%error, "sweep.invocation_failed");
        }
    }
}

/// The event of an EventBridge schedule (EventBridge user guide, "Scheduled events").
pub(super) fn scheduled(clock: &Clock) -> Value {
    let now = clock();
    let whole_seconds = ackbox_domain::Timestamp::from_unix_ms(now.unix_s() * 1000).to_string();
    json!({
        "version": "0",
        "id": format!("{:032x}", fastrand::u128(..)),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "000000000000",
        "time": whole_seconds.replace(".000Z", "Z"),
        "region": "local",
        "resources": ["arn:aws:events:local:000000000000:rule/ackbox-sweep"],
        "detail": {},
    })
}
