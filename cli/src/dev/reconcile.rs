//! The schedule that wakes the reconciler: a tick comes in, one run goes out. Two of its runs never
//! overlap; a tick that finds one running is left out.

use std::time::Duration;

use ackbox_reconciler::Reconciler;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

/// Reconciles now, and then every so often, until it is told to stop. A run may take `timeout`.
pub(super) async fn run(
    reconciler: Reconciler,
    timeout: Duration,
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
        // What does not fit into it is left to the next tick, as the end of a sandbox would leave it.
        let run = reconciler.run(Instant::now() + timeout);
        let _ = tokio::time::timeout(timeout, run).await;
    }
}
