//! What a destination's own log says of its pauses: after so many failures in a row, the next request, the
//! probe, must not come before the pause is over; and after a probe that fails, not before the next one.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_domain::OutcomeKind;

use crate::demo::destination::Answered;
use crate::demo::evidence::{Attempt, Evidence};

/// A pause is counted from later than its last failure was read, but in whole milliseconds.
const GRAIN: Duration = Duration::from_millis(2);

/// The pauses of a run.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// How many there were.
    pub(super) count: usize,
    /// What came too early.
    pub(super) against: Vec<String>,
}

/// Finds the pauses that there must have been.
pub(super) fn of(evidence: &Evidence) -> Pauses {
    let mut by_destination: BTreeMap<&str, Vec<&Attempt>> = BTreeMap::new();
    for attempt in &evidence.attempts {
        let at = attempt.destination.as_str();
        by_destination.entry(at).or_default().push(attempt);
    }
    let mut pauses = Pauses::default();
    for attempts in by_destination.values() {
        pauses.follow(attempts);
    }
    pauses
}

impl Pauses {
    fn follow(&mut self, attempts: &[&Attempt]) {
        let (mut failures, mut number) = (0, 0);
        let mut not_before = Duration::ZERO;
        for attempt in attempts {
            let Some(breaker) = attempt.breaker else {
                return;
            };
            if attempt.at + GRAIN < not_before {
                let early = not_before - attempt.at;
                let (key, to) = (&attempt.key, &attempt.destination);
                self.against.push(format!(
                    "{key} came to {to} {early:?} before its pause was over"
                ));
            }
            match fails(attempt) {
                Some(true) => failures += 1,
                Some(false) => (failures, number) = (0, 0),
                // Of no weight before a pause; no better than a failure as a probe.
                None if number > 0 => failures += 1,
                None => {}
            }
            if failures >= breaker.after {
                number += 1;
                self.count += 1;
                not_before = attempt.at + breaker.wait(number, None);
            }
        }
    }
}

/// Whether an attempt says that its destination does not work; none, where it says nothing of that.
fn fails(attempt: &Attempt) -> Option<bool> {
    match (attempt.outcome(), attempt.answered) {
        (OutcomeKind::Busy | OutcomeKind::NotSent, _) => Some(true),
        (OutcomeKind::Unknown, Answered::Status(500..=599)) => Some(true),
        (OutcomeKind::Unknown, _) => None,
        (OutcomeKind::Succeeded | OutcomeKind::Rejected, _) => Some(false),
    }
}
