//! An operator's own pause of a destination: until they end it, or until a time; without a probe, for it says
//! nothing of whether the destination works. What must never happen: that a breaker ends, shortens or replaces it.

use std::time::Duration;

use super::{Gate, PauseRecord};
use crate::time::Timestamp;

/// An operator's pause, as it stands on the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperatorPause {
    /// Since when.
    pub since: Timestamp,
    /// From when on the destination is simply open again; `None`: when an operator says so.
    pub until: Option<Timestamp>,
    /// Who made it.
    pub by: String,
    /// Why, where they said it.
    pub why: Option<String>,
}

impl OperatorPause {
    /// Whether it holds at `now`.
    pub fn stands(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether both say the same, but since when.
    pub fn says_the_same(&self, other: &Self) -> bool {
        (self.until, &self.by, &self.why) == (other.until, &other.by, &other.why)
    }
}

impl PauseRecord {
    /// The record after an operator's change of it.
    #[must_use]
    pub fn operated(&self, next: Option<OperatorPause>) -> Self {
        Self {
            fence: self.fence.saturating_add(1),
            pause: None,
            operator: next,
        }
    }

    /// The operator's pause that holds at `now`.
    pub fn operator_pause(&self, now: Timestamp) -> Option<&OperatorPause> {
        self.operator.as_ref().filter(|pause| pause.stands(now))
    }

    /// Since when the destination is paused at `now`, by whomever; `None`: it is not. An operator's pause that is
    /// over is none; a breaker's stands until its probe has ended it.
    pub fn paused_since(&self, now: Timestamp) -> Option<Timestamp> {
        let by_operator = self.operator_pause(now).map(|pause| pause.since);
        by_operator.or(self.pause.as_ref().map(|pause| pause.since))
    }

    /// Whether a breaker may begin a pause: nothing stands, and an operator's is over by any clock.
    pub fn is_free(&self, now: Timestamp, clock_skew: Duration) -> bool {
        let surely = now.minus(clock_skew);
        self.operator_pause(surely).is_none() && self.gate(now) == Gate::Open
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pause;
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_795_953_600_000);
    const SKEW: Duration = Duration::from_secs(5);

    fn paused(until: Option<Timestamp>) -> PauseRecord {
        PauseRecord::default().operated(Some(OperatorPause {
            since: NOW,
            until,
            by: "ada".to_owned(),
            why: None,
        }))
    }

    #[test]
    fn without_an_end_it_holds_for_good() {
        let record = paused(None);
        let far = NOW.plus(Duration::from_secs(100 * 365 * 86_400));
        for now in [NOW, far] {
            assert_eq!(record.gate(now), Gate::Paused { until: None });
            assert!(!record.is_free(now, SKEW));
        }
    }

    #[test]
    fn at_its_end_the_destination_is_open_without_a_probe() {
        let until = NOW.plus(Duration::from_secs(60));
        let record = paused(Some(until));
        let just_before = until.minus(Duration::from_millis(1));
        assert_eq!(
            record.gate(just_before),
            Gate::Paused { until: Some(until) }
        );
        assert_eq!(record.gate(until), Gate::Open);
        assert_eq!(record.operator_pause(until), None);
        assert_eq!(record.paused_since(just_before), Some(NOW));
        assert_eq!(record.paused_since(until), None);
    }

    #[test]
    fn a_breaker_may_begin_one_when_an_operators_is_over_by_any_clock() {
        let until = NOW.plus(Duration::from_secs(60));
        let record = paused(Some(until));
        assert!(!record.is_free(until, SKEW));
        assert!(!record.is_free(until.plus(Duration::from_millis(4_999)), SKEW));
        assert!(record.is_free(until.plus(SKEW), SKEW));
        assert!(PauseRecord::default().is_free(NOW, SKEW));
    }

    #[test]
    fn an_operators_takes_the_place_of_a_breakers_and_its_end_leaves_none() {
        let breakers = PauseRecord {
            fence: 7,
            pause: Some(Pause {
                since: NOW,
                until: NOW.plus(SKEW),
                number: 3,
                is_probing: true,
                why: "busy (503)".to_owned(),
            }),
            operator: None,
        };
        assert!(!breakers.is_free(NOW, SKEW));
        // Past its end too: until the probe, nobody knows more.
        for now in [NOW, NOW.plus(SKEW), NOW.plus(SKEW * 2)] {
            assert_eq!(breakers.paused_since(now), Some(NOW));
        }
        assert_eq!(PauseRecord::default().paused_since(NOW), None);
        let stands = breakers.operated(paused(None).operator);
        assert_eq!((stands.fence, &stands.pause), (8, &None));
        let open = stands.operated(None);
        assert_eq!((open.fence, open.gate(NOW)), (9, Gate::Open));
    }
}
