//! What was accepted must be known for as long as it can come again: a sender's own span, and the longest that an
//! entry of it may be tried. Else a redelivery makes a second action of one fact.

use std::time::Duration;

use ackbox_domain::{Idempotency, OnUnknown};

use crate::config::{DestinationConfig, SourceConfig};
use crate::read::Named;
use crate::read::destination::Destination;
use crate::read::report::{Report, Span};
use crate::read::table::Value;
use crate::read::value::time;

/// Checks each source that could be read. `found` has their places.
pub(crate) fn check_retentions(
    report: &Report<'_>,
    found: &[Named<'_>],
    sources: &[SourceConfig],
    destinations: &[Destination<'_>],
) {
    let destinations: Vec<&DestinationConfig> = destinations
        .iter()
        .filter_map(|destination| destination.config.as_ref().ok())
        .collect();
    for source in sources {
        let name = source.source.name.as_str();
        let Some((_, value)) = found.iter().find(|(title, _)| *title.get_ref() == name) else {
            continue;
        };
        let kept = Kept {
            report,
            source,
            place: place(value),
        };
        kept.outlasts_redeliveries(&destinations);
    }
}

/// Where the user wrote it, as near as he did.
fn place(source: &Value<'_>) -> Span {
    let inner = |value: &Value<'_>, name: &str| {
        let table = value.get_ref().as_table()?;
        table.get(name).map(|value| value.span())
    };
    let table = source.get_ref().as_table();
    let retention = table.and_then(|table| table.get("retention"));
    retention
        .and_then(|value| inner(value, "accepted").or(Some(value.span())))
        .unwrap_or_else(|| source.span())
}

struct Kept<'r, 'a> {
    report: &'r Report<'a>,
    source: &'r SourceConfig,
    place: Span,
}

impl Kept<'_, '_> {
    fn outlasts_redeliveries(&self, destinations: &[&DestinationConfig]) {
        let accepted = self.source.retention.accepted;
        let max_age = self.source.source.max_age.as_ref().map(|age| age.most);
        // An older fact is refused; a younger one finds what was accepted, which came later than the fact.
        if max_age.is_some_and(|most| most <= accepted) {
            return;
        }
        let repeats = self.source.scheme.facts().repeats;
        if repeats.is_unbounded() {
            self.warn_of_replay(accepted, max_age);
        }
        let Some(span) = repeats.span() else {
            return;
        };
        let span = max_age.map_or(span, |most| span.min(most));
        let window = self.longest_window(destinations);
        if accepted >= span + window {
            return;
        }
        let message = format!(
            "what [source.{}] accepts is kept for {}, and must be for {}: \"{}\" delivers a fact again for {}, and an entry may be tried for {}; a redelivery after that would make a new action",
            self.source.source.name,
            time(accepted),
            time(span + window),
            self.source.scheme.slug(),
            time(span),
            time(window)
        );
        let help = format!(
            "write retention = {{ accepted = \"{}\" }} in [source.{}], or a max_age of at most {} with the `time` of a fact",
            time(whole_days(span + window)),
            self.source.source.name,
            time(accepted)
        );
        self.report.mistake(&self.place, message, help);
    }

    fn warn_of_replay(&self, accepted: Duration, max_age: Option<Duration>) {
        let name = &self.source.source.name;
        let message = format!(
            "\"{}\" can have a fact delivered again at any time: a redelivery to [source.{name}] after {} makes a new action",
            self.source.scheme.slug(),
            time(accepted)
        );
        let help = match max_age {
            None => format!(
                "write max_age = \"{}\" and the `time` of a fact, where the body has one that is signed; or a longer retention = {{ accepted = \"..\" }}",
                time(accepted)
            ),
            Some(most) => format!(
                "write a max_age of at most {} in place of {}",
                time(accepted),
                time(most)
            ),
        };
        self.report.warn(&self.place, message, help);
    }

    /// The longest that an entry of this source may be tried or asked about.
    fn longest_window(&self, destinations: &[&DestinationConfig]) -> Duration {
        // A job's binding names the destinations of its steps when it is made.
        let has_jobs = self.source.source.jobs.is_some();
        let rules = &self.source.source.rules;
        let is_used = |destination: &&&DestinationConfig| {
            has_jobs
                || rules
                    .iter()
                    .any(|rule| rule.destination == destination.name)
        };
        let used = destinations.iter().filter(is_used);
        used.map(|destination| window(destination))
            .max()
            .unwrap_or_default()
    }
}

fn window(destination: &DestinationConfig) -> Duration {
    let kept = match destination.policy.idempotency {
        Idempotency::Window(window) => window,
        Idempotency::None => Duration::ZERO,
    };
    let asked = match (destination.policy.on_unknown, &destination.reconcile) {
        (OnUnknown::Reconcile, Some(reconcile)) => reconcile.give_up_after,
        _ => Duration::ZERO,
    };
    destination.policy.retry_for.max(kept).max(asked)
}

fn whole_days(span: Duration) -> Duration {
    const DAY: u64 = 24 * 3600;
    Duration::from_secs(span.as_secs().div_ceil(DAY) * DAY)
}
