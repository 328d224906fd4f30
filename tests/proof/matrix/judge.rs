//! Decides over a cell: what the sender was told, what the table says and what the destination saw go
//! in, a row of the table comes out, with every violation in words. Nothing here asks the functions.

use std::ops::RangeInclusive;

use ackbox_domain::notice::SOURCE;
use ackbox_domain::{EntryState, OutboxEntry};
use ackbox_tests::destination::Received;
use ackbox_tests::evidence::{requests_of, unexplained};

use super::cell::{Cell, Disturbance, Keys, Order, Step, Taking, Troubled};
use super::told;
use crate::destination::Stage;

/// What stands in the end.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many wanted messages a sender had a 2xx for.
    pub acknowledged: usize,
    /// The table's entries.
    pub entries: Vec<OutboxEntry>,
    /// The conflict items.
    pub conflicts: usize,
    /// What the destination read.
    pub requests: Vec<Received>,
    /// What went wrong on the way.
    pub problems: Vec<String>,
    /// Why the cell did not come to its step.
    pub unplayed: Option<String>,
}

impl Seen {
    /// A cell that could not be played.
    pub(crate) fn unplayed(why: String) -> Self {
        Self {
            unplayed: Some(why),
            ..Self::default()
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub function: &'static str,
    pub what: String,
    pub keys: Keys,
    pub accepted: usize,
    pub lost: usize,
    pub ends: String,
    pub requests: String,
    pub explained: bool,
    pub violations: Vec<String>,
}

/// The row of a cell.
pub(crate) fn judge(cell: &Cell, seen: &Seen) -> Row {
    let mut violations = seen.problems.clone();
    let lost = lost(cell, seen);
    if lost > 0 {
        violations.push(format!("{lost} lost"));
    }
    let mut explained = true;
    for entry in &seen.entries {
        let requests = requests_of(entry, &seen.requests);
        if let Some(why) = unexplained(entry, &requests) {
            explained = false;
            violations.push(why.to_owned());
        }
        if !matches!(cell, Cell::Told { .. }) {
            violations.extend(forbidden(cell.keys(), entry, requests.len()));
        }
    }
    if let Cell::Told { .. } = cell {
        violations.extend(told::violations(seen));
    }
    let (most, least) = most_and_least(seen);
    if let Some(expected) = expected(cell)
        && (!expected.contains(&most) || !expected.contains(&least))
    {
        violations.push(format!(
            "{least} to {most} requests for a key, {expected:?} expected"
        ));
    }
    let conflicts = usize::from(matches!(
        cell,
        Cell::Receiver {
            call: Taking::Conflict,
            ..
        } | Cell::Told {
            troubled: Troubled::Conflict,
            ..
        }
    ));
    if seen.conflicts != conflicts {
        violations.push(format!("{} conflict items", seen.conflicts));
    }
    Row {
        function: cell.function(),
        what: cell.what(),
        keys: cell.keys(),
        accepted: seen.acknowledged,
        lost,
        ends: ends(seen),
        requests: if most == least {
            most.to_string()
        } else {
            format!("{least} to {most}")
        },
        explained,
        violations,
    }
}

/// Acknowledged, and neither delivered, refused by the destination, nor before an operator's eyes.
fn lost(cell: &Cell, seen: &Seen) -> usize {
    let refuses = matches!(cell, Cell::Told { .. });
    let safe = |entry: &&OutboxEntry| {
        let is_safe = match entry.state {
            EntryState::Delivered | EntryState::Held => true,
            EntryState::Dead => refuses,
            EntryState::Pending | EntryState::Claimed | EntryState::Unknown => false,
        };
        is_safe && entry.source.as_str() != SOURCE
    };
    let safe = seen.entries.iter().filter(safe).count();
    seen.acknowledged.saturating_sub(safe)
}

/// What must not be, whatever the cell.
fn forbidden(keys: Keys, entry: &OutboxEntry, requests: usize) -> Vec<String> {
    let mut violations = Vec::new();
    match (entry.state, keys) {
        (EntryState::Delivered, _) => {}
        // A doubt is always cleared up: this destination can say.
        (EntryState::Held, Keys::None) => {
            if entry.first_uncertain_at.is_none() {
                violations.push("held, and certain".to_owned());
            }
        }
        (state, _) => violations.push(format!("ends {state}, {:?}", entry.reason)),
    }
    // Nothing may come twice: the one never says that nothing arrived, the other only where it is true.
    if keys != Keys::Kept && requests > 1 {
        violations.push(format!("{requests} requests to one that keeps no keys"));
    }
    violations
}

fn most_and_least(seen: &Seen) -> (usize, usize) {
    let counts = seen
        .entries
        .iter()
        .map(|e| requests_of(e, &seen.requests).len());
    let counts: Vec<usize> = counts.collect();
    let most = counts.iter().max().copied().unwrap_or_default();
    let least = counts.iter().min().copied().unwrap_or_default();
    (most, least)
}

/// How many requests a key may have seen; `None` where only the general rules hold.
fn expected(cell: &Cell) -> Option<RangeInclusive<usize>> {
    let Cell::Dispatcher {
        step,
        disturbance,
        keys,
        ..
    } = cell
    else {
        return match cell {
            Cell::Records {
                order: Order::AgainAfterDeath,
                keys: Keys::Kept,
            } => Some(1..=2),
            Cell::Records {
                order: Order::AgainAfterDeath,
                keys: Keys::None,
            } => Some(0..=1),
            Cell::Told { .. } => None,
            // Once more for each failure, and once more for each probe whose end nobody heard.
            Cell::Paused { .. } => Some(1..=4),
            _ => Some(1..=1),
        };
    };
    if *keys == Keys::Asked {
        return Some(1..=1);
    }
    let kept = *keys == Keys::Kept;
    match (step, disturbance) {
        (Step::Payload, Disturbance::KilledBefore | Disturbance::KilledAfter)
        | (Step::Claim, Disturbance::KilledAfter | Disturbance::Frozen) => {
            let many = usize::from(kept);
            Some(many..=many)
        }
        // The claim that arrives late may come before or after the sweep has looked.
        (Step::Claim, Disturbance::KilledInFlight) => Some(usize::from(kept)..=1),
        // What was written before the death is read after it, or never was.
        (Step::Send(Stage::Connected | Stage::HeadRead), _) if kept => Some(1..=2),
        (Step::Send(Stage::Connected | Stage::HeadRead), _) => Some(0..=1),
        (Step::Send(_), _)
        | (Step::Settle, Disturbance::KilledBefore | Disturbance::CallDropped) => {
            Some(1..=1 + usize::from(kept))
        }
        (Step::Settle, Disturbance::KilledAfter | Disturbance::AnswerDropped) => Some(1..=1),
        (Step::Claim, Disturbance::KilledBefore) | (Step::Due | Step::Entry, _) => Some(1..=1),
        _ => None,
    }
}

fn ends(seen: &Seen) -> String {
    let mut states: Vec<String> = Vec::new();
    for state in [
        EntryState::Delivered,
        EntryState::Held,
        EntryState::Dead,
        EntryState::Pending,
        EntryState::Claimed,
        EntryState::Unknown,
    ] {
        let many = seen.entries.iter().filter(|e| e.state == state).count();
        match (many, seen.entries.len()) {
            (0, _) => {}
            (_, 1) => states.push(state.to_string()),
            (many, _) => states.push(format!("{many} {state}")),
        }
    }
    states.join(", ")
}
