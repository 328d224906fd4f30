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
    let requests: Vec<&Received> = received
        .iter()
        .filter(|request| request.key == entry.key.as_str())
        .collect();
    let story = || format!("{entry:#?}\n{requests:#?}");
    let many = requests.len() as u64;
    assert!(
        many <= entry.fence,
        "more requests than claims: {}",
        story()
    );
    if let Some(first) = requests.first() {
        let same = requests.iter().all(|request| request.body == first.body);
        assert!(same, "a repetition had other bytes: {}", story());
    }
    let reasons = entry
        .attempts
        .iter()
        .filter(|attempt| attempt.kind != OutcomeKind::Succeeded)
        .count() as u64;
    assert!(
        many <= reasons + 1,
        "a repetition without a reason on the record: {}",
        story()
    );
    if entry.state == EntryState::Delivered {
        assert!(many > 0, "delivered without a request: {}", story());
    }
}

/// The requests of one action.
pub fn requests_of<'r>(entry: &OutboxEntry, received: &'r [Received]) -> Vec<&'r Received> {
    received
        .iter()
        .filter(|request| request.key == entry.key.as_str())
        .collect()
}
