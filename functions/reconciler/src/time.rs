//! The time of one run: what a question needs comes in; out comes whether this run has it, and whether
//! any could have.

use std::time::Duration;

use tokio::time::Instant;

/// From when a run began until when it must have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    began: Instant,
    deadline: Instant,
}

impl Time {
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            began: Instant::now(),
            deadline,
        }
    }

    /// When it ends, but for so much.
    pub(crate) fn end(self, left: Duration) -> Instant {
        self.deadline.checked_sub(left).unwrap_or(self.began)
    }

    /// Whether it is enough now.
    pub(crate) fn is_enough_for(self, needed: Duration) -> bool {
        Instant::now() + needed <= self.deadline
    }

    /// Whether it was when the run began. If not, it will not be for the next one either.
    pub(crate) fn was_enough_for(self, needed: Duration) -> bool {
        self.began + needed <= self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_no_time_any_more_had_it() {
        let now = Instant::now();
        let needed = Duration::from_secs(15);
        let late = Time {
            began: now - Duration::from_secs(50),
            deadline: now + Duration::from_secs(10),
        };
        assert!(!late.is_enough_for(needed) && late.was_enough_for(needed));
        let short = Time::until(now + Duration::from_secs(14));
        assert!(!short.is_enough_for(needed) && !short.was_enough_for(needed));
        let fresh = Time::until(now + Duration::from_secs(60));
        assert!(fresh.is_enough_for(needed) && fresh.was_enough_for(needed));
    }
}
