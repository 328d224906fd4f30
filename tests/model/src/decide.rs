//! The decisions of the domain, asked as the dispatcher, the reconciler and the terminal ask them. Nothing is
//! decided here: the standing, the policy and the clock are put together, and `ackbox_domain::settlement` and
//! `ackbox_domain::operator` answer. A guard that is taken away hands in something that never says no.

use ackbox_domain::operator::{self, Resolution, Risk, Way};
use ackbox_domain::settlement::{
    self, AskDecision, ClaimDecision, DeliveryPolicy, EndedAttempt, Idempotency, Settled, Standing,
    Terms, Timing,
};
use ackbox_domain::{AttemptOutcome, EntryState, Timestamp};

use std::time::Duration;

use crate::asking::Answer;
use crate::bounds::{Bounds, Guards};
use crate::clock::{Steps, at, lasting};
use crate::state::{Attempt, End, Entry, Word};

/// Nobody changes a destination's address here.
const ORIGIN: [u8; 8] = *b"the only";

/// The parameters of a run, as the decisions take them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub bounds: Bounds,
    pub guards: Guards,
    /// Whether states are made equal that nothing tells apart; never where a guard is missing.
    pub simplifies: bool,
    policy: DeliveryPolicy,
    timing: Timing,
    window_timing: Timing,
}

impl Rules {
    pub(crate) fn new(bounds: Bounds, guards: Guards) -> Self {
        let mut policy = bounds.policy();
        if !guards.window_check && bounds.keeps_keys() {
            policy.idempotency = Idempotency::Window(Duration::from_secs(1_000_000));
        }
        let timing = bounds.timing();
        let no_skew = Timing {
            clock_skew: Duration::ZERO,
            ..timing
        };
        Self {
            bounds,
            guards,
            simplifies: guards == Guards::ALL,
            policy,
            timing: if guards.expiry_skew { timing } else { no_skew },
            window_timing: if guards.window_skew { timing } else { no_skew },
        }
    }

    /// What a dispatcher that read the entry so is to do. `entry` is a reading, perhaps an old one.
    pub(crate) fn may_claim(&self, entry: &Entry, clock_off: Steps) -> ClaimDecision {
        let standing = self.standing(entry);
        let timing = match entry.state {
            EntryState::Claimed => &self.timing,
            _ => &self.window_timing,
        };
        settlement::may_claim(&standing, self.terms(timing), ORIGIN, at(clock_off))
    }

    /// Whether the attempt's request may leave now.
    pub(crate) fn may_begin(&self, entry: &Entry, attempt: &Attempt, clock_off: Steps) -> bool {
        let standing = self.standing_of(entry, attempt);
        let lease_until = if self.guards.lease_check {
            at(attempt.claimed_at).plus(self.timing.lease)
        } else {
            Timestamp::from_unix_ms(u64::MAX)
        };
        let now = at(clock_off);
        settlement::may_begin(&standing, lease_until, self.terms(&self.window_timing), now)
    }

    /// What the attempt's end means.
    pub(crate) fn settle(
        &self,
        entry: &Entry,
        attempt: &Attempt,
        end: End,
        clock_off: Steps,
    ) -> Settled {
        let outcome = AttemptOutcome::new(end.kind(), end.status(), "");
        let ended = EndedAttempt {
            claimed_at: at(attempt.claimed_at),
            outcome: &outcome,
            jitter: 0.0,
        };
        let standing = self.standing_of(entry, attempt);
        let now = at(clock_off);
        let mut settled =
            settlement::settle(&standing, &ended, self.terms(&self.window_timing), now);
        if !self.guards.word_carried_on {
            settled.cleared_fence = None;
        }
        settled
    }

    /// What an expired claim means.
    pub(crate) fn settle_expired(&self, entry: &Entry, clock_off: Steps) -> Settled {
        let standing = self.standing(entry);
        let claimed_at = at(entry.claimed_at);
        let now = at(clock_off);
        settlement::settle_expired(&standing, claimed_at, self.terms(&self.window_timing), now)
    }

    /// Whether the destination is to be asked about an entry that reads so.
    pub(crate) fn may_ask(&self, entry: &Entry, clock_off: Steps) -> bool {
        let standing = self.standing(entry);
        let terms = self.terms(&self.timing);
        settlement::may_ask(&standing, terms, ORIGIN, at(clock_off)) == AskDecision::Ask
    }

    /// What an answer means, for the reading on which it was asked for.
    pub(crate) fn settle_asked(&self, entry: &Entry, answer: &Answer) -> Settled {
        let standing = Standing {
            state: EntryState::Unknown,
            fence: u64::from(answer.seen),
            claim: None,
            // The mark is set once and never moves: what was read is what stands there.
            ..self.standing(entry)
        };
        settlement::settle_asked(
            &standing,
            answer.said,
            lasting(self.bounds.give_up),
            self.terms(&self.timing),
            0.0,
            at(answer.clock_off),
        )
    }

    /// What an operator's word means for an entry that reads so; `None` where it does not fit.
    pub(crate) fn hear(&self, entry: &Entry, word: Word, clock_off: Steps) -> Option<Settled> {
        let standing = self.standing(entry);
        let terms = self.terms(&self.window_timing);
        let now = at(clock_off);
        let redrive = |past_window| {
            let risk = Risk {
                past_window,
                elsewhere: false,
            };
            let way = Way {
                terms,
                origin: ORIGIN,
                is_other: false,
            };
            operator::redrive(&standing, &way, risk, now)
        };
        let resolve = |resolution| operator::resolve(&standing, resolution, &self.timing, now);
        let settled = match word {
            Word::Redrive => redrive(!self.guards.risk_said),
            Word::RedriveAllTheSame => redrive(true),
            Word::Applied => resolve(Resolution::Applied),
            Word::NotApplied => resolve(Resolution::NotApplied),
            Word::Dead => resolve(Resolution::Dead),
        };
        let mut settled = settled.ok()?;
        if !self.guards.redrive_keeps_word && word == Word::Redrive {
            settled.cleared_fence = None;
        }
        Some(settled)
    }

    /// Whether somebody's word has answered the doubt about the entry.
    pub(crate) fn is_answered(&self, entry: &Entry) -> bool {
        entry.first_uncertain_at.is_some() && self.standing(entry).doubt().is_none()
    }

    const fn terms<'a>(&'a self, timing: &'a Timing) -> Terms<'a> {
        Terms {
            policy: &self.policy,
            timing,
        }
    }

    fn standing(&self, entry: &Entry) -> Standing {
        let claimed_at = at(entry.claimed_at);
        let is_claimed = entry.state == EntryState::Claimed;
        Standing {
            state: entry.state,
            fence: u64::from(entry.fence),
            accepted_at: at(entry.accepted_at),
            due_at: Some(at(entry.due_at)),
            claim: is_claimed.then(|| (claimed_at, claimed_at.plus(self.timing.lease))),
            first_uncertain_at: entry.first_uncertain_at.map(at),
            cleared_fence: match entry.cleared_fence {
                // A word that does not run out is for whatever comes.
                1.. if !self.guards.one_attempt_a_word => u64::from(entry.fence),
                fence => u64::from(fence),
            },
            origin: Some(ORIGIN),
            redriven_at: entry.redriven_at.map(at),
            is_vouched: entry.is_vouched,
            is_replaced: false,
        }
    }

    /// The entry as the claim's answer showed it: what came later is not in it.
    fn standing_of(&self, entry: &Entry, attempt: &Attempt) -> Standing {
        let claimed_at = at(attempt.claimed_at);
        // The mark is set once and never moves: where the attempt saw one, it is the entry's.
        let mark = entry.first_uncertain_at.filter(|_| attempt.after_uncertain);
        Standing {
            state: EntryState::Claimed,
            fence: u64::from(attempt.fence),
            claim: Some((claimed_at, claimed_at.plus(self.timing.lease))),
            first_uncertain_at: mark.map(at),
            cleared_fence: match attempt.on_word {
                true => u64::from(attempt.fence - 1),
                false => 0,
            },
            ..self.standing(entry)
        }
    }
}
