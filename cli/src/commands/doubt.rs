//! What is known of the doubt about an entry, in words: an entry comes in; what its destination said when
//! it was asked, and what that means, comes out. Never more than it said: its word is about the attempts
//! up to a number, and about no later one.

use ackbox_domain::{EntryState, OutboxEntry, OutcomeKind};
use ackbox_outbound::Asked;

/// The number of the last attempt of which the destination has said that it was not applied.
pub fn cleared(entry: &OutboxEntry) -> Option<u64> {
    Some(entry.cleared_fence).filter(|fence| *fence > 0)
}

/// What it has said of its attempts: `the destination said that attempts up to 2 were not applied`.
pub fn word(entry: &OutboxEntry) -> Option<String> {
    let number = cleared(entry)?;
    let of = match number {
        1 => "attempt 1 was".to_owned(),
        _ => format!("attempts up to {number} were"),
    };
    Some(format!("the destination said that {of} not applied"))
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

/// Whether it is delivered because the destination said that it has it, and not by an attempt's answer.
pub fn is_delivered_by_word(entry: &OutboxEntry) -> bool {
    let mut attempts = entry.attempts.iter();
    entry.state == EntryState::Delivered
        && heard(entry).is_some()
        && !attempts.any(|attempt| attempt.kind == OutcomeKind::Succeeded)
}
