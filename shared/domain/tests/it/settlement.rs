//! Whatever stands in the table, and whatever comes back from a destination: an entry that is taken up
//! whenever it may be ends, closed or held, and never later than its policy says.

use std::time::Duration;

use ackbox_domain::outbox::Origin;
use ackbox_domain::settlement::{
    AskDecision, EndedAttempt, Standing, Terms, Word, may_ask, may_claim, settle, settle_asked,
    settle_expired, settle_no_destination,
};
use ackbox_domain::{
    AttemptOutcome, Backoff, ClaimDecision, DeliveryPolicy, EntryState, Idempotency, OnUnknown,
    OutcomeKind, Settled, Settlement, Timestamp, Timing,
};
use proptest::prelude::*;

const ACCEPTED: Timestamp = Timestamp::from_unix_ms(1_000_000_000_000);
const ORIGIN: Origin = [1; 8];
const TIMING: Timing = Timing {
    lease: secs(45),
    settle_margin: secs(5),
    clock_skew: secs(5),
    first_due: secs(60),
    no_destination_hold: secs(3600),
};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// For how long a destination is asked.
const GIVE_UP_AFTER: Duration = secs(86_400);

/// What becomes of one attempt: an answer, or the process dies over it. And what the destination says
/// where it is asked next.
#[derive(Clone, Debug)]
struct Course {
    attempt: Attempt,
    word: Word,
}

#[derive(Clone, Debug)]
enum Attempt {
    Ends {
        outcome: AttemptOutcome,
        after: Duration,
        jitter: f64,
    },
    Dies,
}

fn any_course() -> impl Strategy<Value = Course> {
    let kind = prop::sample::select(vec![
        OutcomeKind::Rejected,
        OutcomeKind::NotSent,
        OutcomeKind::Busy,
        OutcomeKind::Unknown,
    ]);
    let status = prop::option::of(prop::sample::select(vec![
        400_u16, 408, 409, 425, 429, 500, 503,
    ]));
    let asked = prop::option::of(prop_oneof![0..10_000_u64, Just(u64::MAX)]);
    let ends = (kind, status, asked, 1..10_u64, 0.0..1.0_f64).prop_map(
        |(kind, status, asked, after, jitter)| Attempt::Ends {
            outcome: AttemptOutcome::new(kind, status, "").with_retry_after(asked.map(secs)),
            after: secs(after),
            jitter,
        },
    );
    let attempt = prop_oneof![4 => ends, 1 => Just(Attempt::Dies)];
    let words = vec![
        Word::NotApplied,
        Word::StillUnknown,
        Word::StillUnknown,
        Word::Applied,
    ];
    let word = prop::sample::select(words);
    (attempt, word).prop_map(|(attempt, word)| Course { attempt, word })
}

fn any_policy() -> impl Strategy<Value = DeliveryPolicy> {
    let idempotency = prop_oneof![
        Just(Idempotency::None),
        (1..200_000_u64).prop_map(|window| Idempotency::Window(secs(window))),
    ];
    let on_unknown = prop::sample::select(vec![
        OnUnknown::Retry,
        OnUnknown::Reconcile,
        OnUnknown::Hold,
    ]);
    let backoff = (1..600_u64, 0..7_200_u64);
    (idempotency, on_unknown, 1..30_u64, 1..300_000_u64, backoff).prop_map(
        |(idempotency, on_unknown, timeout, retry_for, (first, more))| {
            // A few hundred attempts show what thousands do.
            let first = first.max(retry_for / 300);
            DeliveryPolicy {
                idempotency,
                on_unknown,
                timeout: secs(timeout),
                retry_for: secs(retry_for),
                backoff: Backoff {
                    first: secs(first),
                    max: secs(first + more),
                },
            }
        },
    )
}

/// An open entry, as any course before this one may have left it.
fn any_standing() -> impl Strategy<Value = (Standing, Timestamp)> {
    let age = prop_oneof![0..100_u64, 0..400_000_u64];
    let states = vec![
        EntryState::Pending,
        EntryState::Claimed,
        EntryState::Unknown,
    ];
    let state = prop::sample::select(states);
    let due = prop::option::of(0..400_000_u64);
    let uncertain = prop::option::of(0..400_000_u64);
    let cleared = prop::option::of(0..50_u64);
    (
        age,
        state,
        0..50_u64,
        due,
        (uncertain, cleared),
        any::<bool>(),
    )
        .prop_map(|(age, state, fence, due, (uncertain, cleared), moved)| {
            let now = ACCEPTED.plus(secs(age));
            let claimed_at = now.minus(secs(20.min(age)));
            let is_claimed = state == EntryState::Claimed;
            let is_unknown = state == EntryState::Unknown;
            let fence = fence.max(u64::from(is_claimed || is_unknown));
            let uncertain = uncertain.or(is_unknown.then_some(0));
            let standing = Standing {
                state,
                fence,
                accepted_at: ACCEPTED,
                due_at: due.map(|due| ACCEPTED.plus(secs(due))),
                claim: is_claimed.then(|| (claimed_at, claimed_at.plus(TIMING.lease))),
                first_uncertain_at: uncertain.map(|at| ACCEPTED.plus(secs(at.min(age)))),
                // A word is only ever given of what was doubtful.
                cleared_fence: uncertain
                    .and(cleared)
                    .map_or(0, |cleared| cleared.min(fence)),
                origin: Some(if moved { [2; 8] } else { ORIGIN }),
                redriven_at: None,
                is_vouched: false,
                is_replaced: false,
            };
            (standing, now)
        })
}

/// What holds of every settlement at `now`.
fn is_lawful(
    before: &Standing,
    settled: &Settled,
    policy: &DeliveryPolicy,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    if let Some(mark) = before.first_uncertain_at {
        prop_assert_eq!(settled.first_uncertain_at, Some(mark), "the mark moved");
    }
    match settled.settlement {
        Settlement::Retry { due_at } => {
            let last = ACCEPTED.plus(policy.retry_for);
            prop_assert!(now < last, "a retry after `retry_for`");
            prop_assert!(due_at >= now, "due in the past: {} at {}", due_at, now);
            prop_assert!(due_at <= last, "due after the last attempt");
            // In doubt: only under a key that is kept, or by the destination's own word.
            if settled.first_uncertain_at.is_some() && settled.cleared_fence.is_none() {
                let is_kept = matches!(policy.idempotency, Idempotency::Window(_));
                let is_safe = is_kept && policy.on_unknown == OnUnknown::Retry;
                prop_assert!(is_safe, "an unsafe repetition");
            }
        }
        Settlement::Unknown { due_at } => prop_assert!(due_at >= now),
        Settlement::NoDestination { due_at } => prop_assert!(due_at > now),
        Settlement::Dead(_) => {
            // By the destination's own word there is no doubt any more.
            prop_assert!(before.doubt().is_none(), "doubt became dead");
            prop_assert!(!(before.is_vouched && before.first_uncertain_at.is_some()));
        }
        Settlement::Delivered | Settlement::Held(_) => {}
    }
    Ok(())
}

/// An entry on its way, and what time it is there.
struct Way<'p> {
    standing: Standing,
    now: Timestamp,
    policy: &'p DeliveryPolicy,
}

/// What one look at the entry comes to.
enum Step {
    Waited,
    Settled(Settled),
}

impl<'p> Way<'p> {
    fn terms(&self) -> Terms<'p> {
        Terms {
            policy: self.policy,
            timing: &TIMING,
        }
    }

    /// Takes the entry up, asks about it, or waits until one of the two may be done.
    fn step(&mut self, course: &Course) -> Result<Step, TestCaseError> {
        if self.standing.state == EntryState::Unknown {
            return self.ask(course.word);
        }
        match may_claim(&self.standing, self.terms(), ORIGIN, self.now) {
            ClaimDecision::NotDue { due_at } => self.wait_until(due_at),
            ClaimDecision::InProgress { until } => self.wait_until(until.plus(TIMING.clock_skew)),
            ClaimDecision::Settle(settled) => Ok(Step::Settled(settled)),
            ClaimDecision::NotOpen(state) => {
                Err(TestCaseError::fail(format!("{state} is left alone")))
            }
            ClaimDecision::Expired { claimed_at } => {
                let settled = settle_expired(&self.standing, claimed_at, self.terms(), self.now);
                Ok(Step::Settled(settled))
            }
            ClaimDecision::Attempt => Ok(self.attempt(&course.attempt)),
        }
    }

    fn wait_until(&mut self, due_at: Timestamp) -> Result<Step, TestCaseError> {
        prop_assert!(due_at > self.now, "told to wait for a time that has come");
        self.now = due_at;
        Ok(Step::Waited)
    }

    fn attempt(&mut self, attempt: &Attempt) -> Step {
        let claimed_at = self.now;
        self.standing.state = EntryState::Claimed;
        self.standing.fence += 1;
        self.standing.claim = Some((claimed_at, claimed_at.plus(TIMING.lease)));
        self.standing.origin = Some(ORIGIN);
        let Attempt::Ends {
            outcome,
            after,
            jitter,
        } = attempt
        else {
            return Step::Waited;
        };
        self.now = self.now.plus((*after).min(self.policy.timeout));
        let ended = EndedAttempt {
            claimed_at,
            outcome,
            jitter: *jitter,
        };
        Step::Settled(settle(&self.standing, &ended, self.terms(), self.now))
    }

    fn ask(&mut self, word: Word) -> Result<Step, TestCaseError> {
        match may_ask(&self.standing, self.terms(), ORIGIN, self.now) {
            AskDecision::NotDue { due_at } => self.wait_until(due_at),
            AskDecision::NotUnknown(state) => Err(TestCaseError::fail(format!("not of {state}"))),
            AskDecision::Settle(settled) => Ok(Step::Settled(settled)),
            AskDecision::Ask => {
                let (standing, terms) = (&self.standing, self.terms());
                let settled = settle_asked(standing, word, GIVE_UP_AFTER, terms, 0.0, self.now);
                Ok(Step::Settled(settled))
            }
        }
    }

    /// What the table says after a settlement; false where it has ended.
    fn goes_on(&mut self, settled: &Settled) -> bool {
        let (Settlement::Retry { due_at } | Settlement::Unknown { due_at }) = settled.settlement
        else {
            return false;
        };
        self.standing.state = settled.settlement.state();
        self.standing.claim = None;
        self.standing.due_at = Some(due_at);
        self.standing.first_uncertain_at = settled.first_uncertain_at;
        if let Some(fence) = settled.cleared_fence {
            self.standing.cleared_fence = fence;
        }
        true
    }

    /// After this nothing may be open: the last attempt begins when `retry_for` ends, or where a claim
    /// or a due time that were there before end later; and then it may be asked about.
    fn by(&self) -> Timestamp {
        let Standing {
            claim,
            due_at,
            fence,
            ..
        } = self.standing;
        let claimed = claim.map_or(self.now, |(_, until)| until.plus(TIMING.clock_skew));
        let due = due_at.filter(|_| fence > 0).unwrap_or(self.now);
        let last = ACCEPTED.plus(self.policy.retry_for).max(self.now);
        let last = last.max(claimed).max(due).plus(self.policy.timeout);
        let last = last.plus(TIMING.lease).plus(TIMING.clock_skew);
        last.plus(self.policy.backoff.max).plus(GIVE_UP_AFTER)
    }
}

/// Takes an entry up the moment that it may be, until it ends.
fn ends_by_its_policy(mut way: Way<'_>, courses: &[Course]) -> Result<(), TestCaseError> {
    let by = way.by();
    let mut attempts = 0;
    loop {
        prop_assert!(way.now <= by, "still open at {}, after {}", way.now, by);
        let course = &courses[attempts % courses.len()];
        let fence = way.standing.fence;
        match way.step(course)? {
            Step::Waited => {}
            Step::Settled(settled) => {
                is_lawful(&way.standing, &settled, way.policy, way.now)?;
                if !way.goes_on(&settled) {
                    return Ok(());
                }
            }
        }
        attempts += usize::from(way.standing.fence > fence);
    }
}

/// Looks at an entry whenever it is due, without a destination, until it is held.
fn is_held_within_its_hour(
    start: Standing,
    began: Timestamp,
    policy: &DeliveryPolicy,
) -> Result<(), TestCaseError> {
    let (mut standing, mut now) = (start, began);
    let mut noticed = None;
    let held_until = standing
        .claim
        .map_or(now, |(_, until)| until.plus(TIMING.clock_skew));
    let by = now.max(held_until).plus(TIMING.no_destination_hold);
    // Asked about, it is not the dispatcher's any more.
    if standing.state == EntryState::Unknown {
        standing.state = EntryState::Pending;
    }
    loop {
        let Some(settled) = settle_no_destination(&standing, noticed, &TIMING, now) else {
            // Claimed by somebody: its lease ends.
            now = held_until.max(now);
            prop_assert!(standing.state == EntryState::Claimed);
            standing.claim = standing.claim.map(|(at, _)| (at, at));
            continue;
        };
        is_lawful(&standing, &settled, policy, now)?;
        standing.first_uncertain_at = settled.first_uncertain_at;
        match settled.settlement {
            Settlement::NoDestination { due_at } => {
                noticed.get_or_insert(now);
                standing.state = EntryState::Pending;
                standing.due_at = Some(due_at);
                now = due_at;
            }
            Settlement::Held(_) => break,
            other => prop_assert!(false, "{other:?}"),
        }
        prop_assert!(now <= by, "waits for longer than its hour");
    }
    prop_assert!(now <= by, "held later than its hour");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Ends: closed or held. Nobody sleeps through it: the entry is taken up, or asked about, the moment
    /// that it may be.
    #[test]
    fn every_entry_ends_by_its_policy_whatever_comes_back(
        (start, began) in any_standing(),
        policy in any_policy(),
        courses in prop::collection::vec(any_course(), 1..8),
    ) {
        let way = Way { standing: start, now: began, policy: &policy };
        ends_by_its_policy(way, &courses)?;
    }

    /// Without a destination an entry waits, and is held when its hour has passed; it is never dead.
    #[test]
    fn an_entry_without_a_destination_is_held_within_its_hour(
        (start, began) in any_standing(),
        policy in any_policy(),
    ) {
        is_held_within_its_hour(start, began, &policy)?;
    }
}
