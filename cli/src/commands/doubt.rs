//! What is known of the doubt about an entry, in words: an entry comes in; what its destination said when
//! it was asked, and what that means, comes out. Never more than it said: its word is about the attempts
//! up to a number, and about no later one.

use ackbox_domain::{EntryState, OutboxEntry, OutcomeKind};
use ackbox_outbound::Asked;
use ackbox_store::OperatorRecord;

use crate::output::escaped;

/// The number of the last attempt of which the destination has said that it was not applied.
pub fn cleared(entry: &OutboxEntry) -> Option<u64> {
    Some(entry.cleared_fence).filter(|fence| *fence > 0)
}

/// By whose word an attempt more is made of an entry that is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The destination said that none before was applied.
    ByDestination,
    /// An operator said so, or that it is to be sent all the same.
    ByOperator,
}

/// By whose word the doubt about its attempts is answered. None: there is none, or nobody has.
pub fn answered(entry: &OutboxEntry) -> Option<Answered> {
    match is_cleared(entry) {
        true if entry.is_vouched => Some(Answered::ByOperator),
        // What an operator has sent again, and nobody vouched for, was refused: nothing of it was in doubt.
        true if entry.redriven_at.is_none() => Some(Answered::ByDestination),
        _ => None,
    }
}

/// What has been said of its attempts: `the destination said that attempts up to 2 were not applied`.
pub fn word(entry: &OutboxEntry, operators: &[OperatorRecord]) -> Option<String> {
    let said = |who: &str, last: u64| match last {
        1 => format!("{who} said that attempt 1 was not applied"),
        _ => format!("{who} said that attempts up to {last} were not applied"),
    };
    if let Some(word) = not_applied(entry, operators) {
        // The word takes a number of its own, after the attempts that it is about.
        let last = word.number.unwrap_or_default().saturating_sub(1);
        return Some(said(&escaped(&word.by), last));
    }
    if entry.is_vouched {
        let last = operators.iter().rev().find(|word| word.did == did::REDRIVE);
        let by = last.map_or("an operator".to_owned(), |word| escaped(&word.by));
        return Some(format!(
            "{by} had it sent again, whatever became of it before"
        ));
    }
    let number = cleared(entry).filter(|_| entry.redriven_at.is_none())?;
    Some(said("the destination", number))
}

/// Who has said of this attempt that it was not applied: `the destination`, or an operator.
pub fn denied_by(
    entry: &OutboxEntry,
    attempt: u64,
    operators: &[OperatorRecord],
) -> Option<String> {
    if let Some(word) = not_applied(entry, operators) {
        let is_about = word.number.is_some_and(|number| attempt < number);
        return is_about.then(|| escaped(&word.by));
    }
    let number = cleared(entry).filter(|_| entry.redriven_at.is_none())?;
    (attempt <= number).then(|| "the destination".to_owned())
}

/// An operator's last word that nothing was applied, where no other word of one came after it.
fn not_applied<'o>(
    entry: &OutboxEntry,
    operators: &'o [OperatorRecord],
) -> Option<&'o OperatorRecord> {
    let mut words = operators.iter().rev().filter(|word| word.number.is_some());
    words
        .next()
        .filter(|word| entry.is_vouched && word.did == did::NOT_APPLIED)
}

/// What operators do to entries, as it stands on their records.
pub mod did {
    /// Sent again.
    pub const REDRIVE: &str = "redrive";
    /// Sent as a new action.
    pub const REDRIVE_AS_NEW: &str = "redrive-as-new";
    /// Said to have arrived.
    pub const APPLIED: &str = "resolve-applied";
    /// Said not to have arrived, and sent again.
    pub const NOT_APPLIED: &str = "resolve-not-applied";
    /// Given up.
    pub const DEAD: &str = "resolve-dead";
    /// A conflict: as if it had not come.
    pub const DISMISS: &str = "dismiss";
    /// A conflict: a new action was made of it.
    pub const SUPERSEDE: &str = "supersede";
    /// The bodies were removed.
    pub const REDACT: &str = "redact";
}

/// Whether all attempts so far are ones that were not applied, by the destination's word.
pub fn is_cleared(entry: &OutboxEntry) -> bool {
    cleared(entry).is_some_and(|number| number >= entry.fence)
}

/// What was heard when the destination was last asked: `it said 503: busy`. None: it was not, or there
/// has been an attempt since.
pub fn heard(entry: &OutboxEntry) -> Option<&str> {
    // Nobody asks about an entry of which nothing may have arrived.
    entry.first_uncertain_at?;
    Asked::told_in(entry.last_detail.as_deref()?)
}

/// What happened at the last attempt. None: nothing is known, or what is known last is what was heard
/// since.
pub fn happened(entry: &OutboxEntry) -> Option<&str> {
    let detail = entry.last_detail.as_deref();
    detail.filter(|_| heard(entry).is_none())
}

/// Whether it is delivered because an operator said so, and not by what came of an attempt since.
pub fn is_delivered_by_operator(entry: &OutboxEntry, operators: &[OperatorRecord]) -> bool {
    let mut words = operators.iter();
    entry.state == EntryState::Delivered
        && words.any(|word| word.did == did::APPLIED && word.number == Some(entry.fence))
}

/// Whether it is delivered because the destination said that it has it, and not by an attempt's answer.
pub fn is_delivered_by_word(entry: &OutboxEntry) -> bool {
    let mut attempts = entry.attempts.iter();
    entry.state == EntryState::Delivered
        && heard(entry).is_some()
        && !attempts.any(|attempt| attempt.kind == OutcomeKind::Succeeded)
}
