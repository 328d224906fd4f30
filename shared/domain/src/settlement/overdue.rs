//! Whether an entry should have been taken up by now: its standing and `now` come in. Nothing that is decided
//! rests on it; it is what an operator looks for when something does not run.

use std::time::Duration;

use super::claim::Standing;
use crate::outbox::EntryState;
use crate::time::Timestamp;

/// How late is too late: twice as long as the sweep and the reconciler sleep.
pub const OVERDUE_AFTER: Duration = Duration::from_secs(120);

/// Whether the entry has waited for longer than [`OVERDUE_AFTER`]: since it was due, or since its claim ran
/// out. What waits for an operator, or is closed, never has.
pub fn is_overdue(standing: &Standing, now: Timestamp) -> bool {
    let since = match standing.state {
        EntryState::Pending | EntryState::Unknown => standing.due_at,
        EntryState::Claimed => standing.claim.map(|(_, lease_until)| lease_until),
        EntryState::Held | EntryState::Delivered | EntryState::Dead => None,
    };
    since.is_some_and(|since| now.since(since) > OVERDUE_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_795_953_600_000);

    fn standing(state: EntryState, due_ago: u64, lease_ago: Option<u64>) -> Standing {
        let ago = |secs| NOW.minus(Duration::from_secs(secs));
        Standing {
            state,
            fence: 1,
            accepted_at: ago(10_000),
            due_at: Some(ago(due_ago)),
            claim: lease_ago.map(|lease| (ago(lease + 30), ago(lease))),
            first_uncertain_at: None,
            cleared_fence: 0,
            origin: None,
            redriven_at: None,
            is_vouched: false,
            is_replaced: false,
        }
    }

    #[test]
    fn an_entry_is_overdue_two_minutes_after_its_time_and_a_claim_after_its_lease() {
        use EntryState::{Claimed, Dead, Delivered, Held, Pending, Unknown};
        for (state, due_ago, lease_ago, overdue) in [
            (Pending, 120, None, false),
            (Pending, 121, None, true),
            (Unknown, 120, None, false),
            (Unknown, 121, None, true),
            // It was late, and is being attempted now.
            (Claimed, 5_000, Some(0), false),
            (Claimed, 5_000, Some(120), false),
            (Claimed, 0, Some(121), true),
            (Held, 5_000, None, false),
            (Dead, 5_000, None, false),
            (Delivered, 5_000, None, false),
        ] {
            let standing = standing(state, due_ago, lease_ago);
            assert_eq!(is_overdue(&standing, NOW), overdue, "{standing:?}");
        }
        let future = Standing {
            due_at: Some(NOW.plus(Duration::from_secs(5))),
            ..standing(Pending, 0, None)
        };
        assert!(!is_overdue(&future, NOW));
    }
}
