//! The figures of the table, as log lines: at the end of a run, what waits of each class and name is counted
//! and told, in the time that is left. A figure that cannot be had is told, and fails nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_domain::Timestamp;
use ackbox_domain::causes::in_one_line;
use ackbox_store::{Class, Counted, Figure, Gauge, Gauged};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use crate::Reconciler;
use crate::time::Time;

/// How long counting may take, where the run has the time; and what it leaves of the run for its end.
const BUDGET: Duration = Duration::from_secs(10);
const LEFT: Duration = Duration::from_secs(2);

impl Reconciler {
    /// Counts and tells. What the run has no time for is left to the next one.
    pub(crate) async fn gauge(&self, gauged: &Gauged, time: Time) {
        let until = time.end(LEFT).min(Instant::now() + BUDGET);
        let now = self.now();
        let mut gauges = self.0.store.gauges(gauged, now);
        let mut totals: BTreeMap<Figure, Counted> = BTreeMap::new();
        loop {
            match timeout_at(until, gauges.next()).await {
                Ok(Some(Ok(gauge))) => {
                    tell(&gauge, now);
                    let total = totals.entry(gauge.figure).or_default();
                    *total = total.and(gauge.counted);
                }
                Ok(None) => break,
                // One that fails is not waited for again by each of the others.
                Ok(Some(Err(error))) => {
                    tracing::warn!(error = %in_one_line(&error), "gauge.failed");
                    return;
                }
                Err(_) => {
                    tracing::warn!("gauge.no_time");
                    return;
                }
            }
        }
        tell_totals(&totals, now);
    }
}

/// One line for each class and name that has something.
fn tell(gauge: &Gauge, now: Timestamp) {
    let Counted {
        count,
        more,
        oldest,
    } = gauge.counted;
    if count == 0 {
        return;
    }
    tracing::info!(
        name: "gauge",
        class = gauge.figure.as_str(),
        name = %gauge.name,
        count,
        more,
        oldest_age_seconds = age(oldest, now),
        "gauge"
    );
}

/// One line for all of it, also of what is nothing: an alarm wants to see that it is over.
fn tell_totals(totals: &BTreeMap<Figure, Counted>, now: Timestamp) {
    let count = |figure: Figure| totals.get(&figure).map_or(0, |total| total.count);
    let of = |class: Class| count(Figure::Of(class));
    let all = Figure::ALL
        .into_iter()
        .filter_map(|figure| totals.get(&figure));
    let oldest = all.clone().filter_map(|total| total.oldest).min();
    tracing::info!(
        name: "gauge.totals",
        open = of(Class::Open),
        unknown = of(Class::Unknown),
        held = of(Class::Held),
        dead = of(Class::Dead),
        conflict = of(Class::Conflict),
        parked = of(Class::Parked),
        silent = of(Class::Silent),
        overdue = count(Figure::Overdue),
        paused = count(Figure::Paused),
        more = all.clone().any(|total| total.more),
        oldest_age_seconds = age(oldest, now),
        "gauge.totals"
    );
}

fn age(oldest: Option<Timestamp>, now: Timestamp) -> Option<u64> {
    oldest.map(|oldest| now.since(oldest).as_secs())
}
