//! Whether what a destination saw is explained by what the table says: every request of an action is
//! covered by a claim, and every request before the last by an attempt that the entry tells of.

use ackbox_domain::{EntryState, OutboxEntry, OutcomeKind};

use crate::destination::Received;

/// Checks the requests of one action against its entry, and panics with both where they disagree.
///
/// - No more requests than claims (the fence).
/// - Every repetition follows an attempt on the record that ended neither with success nor with a
///   final no.
/// - The same key and the same bytes every time.
/// - Delivered only where there was a request.
pub fn explained(entry: &OutboxEntry, received: &[Received]) {
    let requests = requests_of(entry, received);
    if let Some(why) = unexplained(entry, &requests) {
        panic!("{why}: {entry:#?}\n{requests:#?}");
    }
}

/// What of the requests of an action its entry does not explain; `None` where it explains all.
pub fn unexplained(entry: &OutboxEntry, requests: &[&Received]) -> Option<&'static str> {
    let many = requests.len() as u64;
    if many > entry.fence {
        return Some("more requests than claims");
    }
    if requests.windows(2).any(|two| two[0].body != two[1].body) {
        return Some("a repetition had other bytes");
    }
    let reasons = entry
        .attempts
        .iter()
        .filter(|attempt| attempt.kind != OutcomeKind::Succeeded)
        .count() as u64;
    if many > reasons + 1 {
        return Some("a repetition without a reason on the record");
    }
    if entry.state == EntryState::Delivered && many == 0 {
        return Some("delivered without a request");
    }
    None
}

/// The requests of one action.
pub fn requests_of<'r>(entry: &OutboxEntry, received: &'r [Received]) -> Vec<&'r Received> {
    received
        .iter()
        .filter(|request| request.key == entry.key.as_str())
        .collect()
}
