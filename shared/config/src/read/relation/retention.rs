//! What was accepted must be known for as long as it comes again by itself: for the sender's automatic repeats, and the
//! longest that an entry of it may be tried. Else a redelivery makes a second action of one fact. What somebody must
//! ask for is warned of. And a `max_age` must not refuse what the sender only repeats.

use std::time::Duration;

use ackbox_domain::{Idempotency, MaxAge, OnUnknown};
use ackbox_signature::Manual;

use crate::config::{DestinationConfig, SourceConfig};
use crate::read::Named;
use crate::read::destination::Destination;
use crate::read::freshness::ahead;
use crate::read::report::{Report, Span};
use crate::read::table::Value;
use crate::read::value::time;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

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
            place: place(value, "retention", Some("accepted")),
        };
        kept.outlasts_repeats(&destinations);
        kept.is_not_too_old(&place(value, "max_age", None));
    }
}

/// Where the user wrote it, as near as he did.
fn place(source: &Value<'_>, name: &str, inner: Option<&str>) -> Span {
    let within = |value: &Value<'_>, name: &str| {
        let table = value.get_ref().as_table()?;
        table.get(name).map(|value| value.span())
    };
    let table = source.get_ref().as_table();
    let found = table.and_then(|table| table.get(name));
    found
        .map(|value| {
            let inner = inner.and_then(|inner| within(value, inner));
            inner.unwrap_or_else(|| value.span())
        })
        .unwrap_or_else(|| source.span())
}

struct Kept<'r, 'a> {
    report: &'r Report<'a>,
    source: &'r SourceConfig,
    place: Span,
}

impl Kept<'_, '_> {
    fn outlasts_repeats(&self, destinations: &[&DestinationConfig]) {
        let accepted = self.source.retention.accepted;
        // An older fact is refused; a younger one finds what was accepted, which came no sooner before the fact than
        // one may be dated ahead.
        let young = |age: &MaxAge| age.most + age.ahead;
        if self.max_age().is_some_and(|age| young(age) <= accepted) {
            return;
        }
        self.warn_of_replay();
        let Some(span) = self.automatic() else {
            return;
        };
        let span = self.max_age().map_or(span, |age| span.min(age.most));
        let window = self.longest_window(destinations);
        if accepted >= span + window {
            return;
        }
        let name = &self.source.source.name;
        let message = format!(
            "what [source.{name}] accepts is kept for {}, and must be for {}: \"{}\" repeats a fact by itself for {}, and an entry may be tried for {}; a redelivery after that would make a new action",
            time(accepted),
            time(span + window),
            self.source.scheme.slug(),
            time(span),
            time(window)
        );
        let mut help = format!(
            "write retention = {{ accepted = \"{}\" }} in [source.{name}]",
            time(whole_days(span + window))
        );
        if let Some(most) = self.fitting_age() {
            help += &format!(
                ", or a max_age of at most {} with the `time` of a fact",
                time(most)
            );
        }
        self.report.mistake(&self.place, message, help);
    }

    /// What somebody can have delivered again after it was forgotten.
    fn warn_of_replay(&self) {
        let accepted = self.source.retention.accepted;
        let (until, kept) = match self.source.scheme.facts().repeats.manual {
            Some(Manual::Unbounded) => (
                "at any time".to_owned(),
                "a longer retention = { accepted = \"..\" }".to_owned(),
            ),
            Some(Manual::For(span)) if span > accepted => (
                format!("for {}", time(span)),
                format!(
                    "retention = {{ accepted = \"{}\" }}",
                    time(whole_days(span))
                ),
            ),
            Some(Manual::For(_)) | None => return,
        };
        let message = format!(
            "\"{}\" can have a fact delivered again {until}: a redelivery to [source.{}] after {} makes a new action",
            self.source.scheme.slug(),
            self.source.source.name,
            time(accepted)
        );
        let help = match (self.fitting_age(), self.max_age()) {
            (None, _) => format!("write {kept}"),
            (Some(fits), None) => format!(
                "write max_age = \"{}\" and the `time` of a fact, where the body has one that is signed; or {kept}",
                time(fits)
            ),
            (Some(fits), Some(age)) => format!(
                "write a max_age of at most {} in place of {}; or {kept}",
                time(fits),
                time(age.most)
            ),
        };
        self.report.warn(&self.place, message, help);
    }

    /// A repetition of what could not be accepted must not be refused for its age.
    fn is_not_too_old(&self, place: &Span) {
        let Some(most) = self.max_age().map(|age| age.most) else {
            return;
        };
        let (name, slug) = (&self.source.source.name, self.source.scheme.slug());
        match self.automatic() {
            Some(span) if most < span => {
                let message = format!(
                    "`max_age` of [source.{name}] is {}, and \"{slug}\" repeats a fact by itself for {}: what could not be accepted for {}, as in an outage of ours, would be refused each time that it comes again, and lost",
                    time(most),
                    time(span),
                    time(most)
                );
                let help = format!(
                    "write max_age = \"{}\", or longer",
                    time(whole_days(span + HOUR))
                );
                self.report.mistake(place, message, help);
            }
            None if most < HOUR => {
                let message = format!(
                    "`max_age` of [source.{name}] is {}, and for how long \"{slug}\" repeats a fact by itself is not known: what could not be accepted for so long is refused when it comes again, and lost",
                    time(most)
                );
                let help = format!(
                    "write at least max_age = \"{}\", or longer than the sender repeats itself",
                    time(HOUR)
                );
                self.report.warn(place, message, help);
            }
            Some(_) | None => {}
        }
    }

    fn max_age(&self) -> Option<&MaxAge> {
        self.source.source.max_age.as_ref()
    }

    fn automatic(&self) -> Option<Duration> {
        self.source.scheme.facts().repeats.automatic
    }

    /// The longest `max_age` within what is known of the accepted, in whole days where it is one; `None` where that
    /// would refuse what the sender repeats by itself.
    fn fitting_age(&self) -> Option<Duration> {
        let source = self.source;
        let ahead = ahead(source.tolerance, source.scheme.facts());
        let room = source.retention.accepted.saturating_sub(ahead);
        let days = room.as_secs() / DAY.as_secs();
        let most = if days > 0 {
            Duration::from_secs(days * DAY.as_secs())
        } else {
            room
        };
        let least = self.automatic().unwrap_or(HOUR);
        (most >= least).then_some(most)
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
    let days = span.as_secs().div_ceil(DAY.as_secs());
    Duration::from_secs(days * DAY.as_secs())
}
