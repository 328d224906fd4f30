//! Whatever stands in the table, and whatever comes back from a destination: an entry that is taken up
//! whenever it may be ends, closed or in somebody's hands, and never later than its policy says.

use std::time::Duration;

use ackbox_domain::outbox::Origin;
use ackbox_domain::settlement::{
    EndedAttempt, Standing, may_claim, settle, settle_expired, settle_no_destination,
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

/// What becomes of one attempt: an answer, or the process dies over it.
#[derive(Clone, Debug)]
enum Course {
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
        |(kind, status, asked, after, jitter)| Course::Ends {
            outcome: AttemptOutcome::new(kind, status, "").with_retry_after(asked.map(secs)),
            after: secs(after),
            jitter,
        },
    );
    prop_oneof![4 => ends, 1 => Just(Course::Dies)]
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

/// An entry that is open to attempts, as any course before this one may have left it.
fn any_standing() -> impl Strategy<Value = (Standing, Timestamp)> {
    let age = prop_oneof![0..100_u64, 0..400_000_u64];
    let state = prop::sample::select(vec![EntryState::Pending, EntryState::Claimed]);
    let due = prop::option::of(0..400_000_u64);
    let uncertain = prop::option::of(0..400_000_u64);
    (age, state, 0..50_u64, due, uncertain, any::<bool>()).prop_map(
        |(age, state, fence, due, uncertain, moved)| {
            let now = ACCEPTED.plus(secs(age));
            let claimed_at = now.minus(secs(20.min(age)));
            let is_claimed = state == EntryState::Claimed;
            let standing = Standing {
                state,
                fence: fence.max(u64::from(is_claimed)),
                accepted_at: ACCEPTED,
                due_at: due.map(|due| ACCEPTED.plus(secs(due))),
                claim: is_claimed.then(|| (claimed_at, claimed_at.plus(TIMING.lease))),
                first_uncertain_at: uncertain.map(|at| ACCEPTED.plus(secs(at.min(age)))),
                origin: Some(if moved { [2; 8] } else { ORIGIN }),
            };
            (standing, now)
        },
    )
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
            if settled.first_uncertain_at.is_some() {
                let safe = matches!(policy.idempotency, Idempotency::Window(_));
                prop_assert!(
                    safe && policy.on_unknown == OnUnknown::Retry,
                    "an unsafe repetition"
                );
            }
        }
        Settlement::Unknown { due_at } => prop_assert!(due_at >= now),
        Settlement::NoDestination { due_at } => prop_assert!(due_at > now),
        Settlement::Dead(_) => {
            prop_assert!(before.first_uncertain_at.is_none(), "doubt became dead")
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
    Ended,
}

impl Way<'_> {
    /// Takes the entry up, or waits until it may be taken up.
    fn step(&mut self, course: &Course) -> Result<Step, TestCaseError> {
        let Self {
            standing,
            now,
            policy,
        } = self;
        match may_claim(standing, policy, &TIMING, ORIGIN, *now) {
            ClaimDecision::NotDue { due_at } => {
                prop_assert!(due_at > *now, "told to wait for a time that has come");
                *now = due_at;
                Ok(Step::Waited)
            }
            ClaimDecision::InProgress { until } => {
                *now = (*now).max(until.plus(TIMING.clock_skew));
                Ok(Step::Waited)
            }
            ClaimDecision::Settle(_) => Ok(Step::Ended),
            ClaimDecision::NotOpen(state) => {
                Err(TestCaseError::fail(format!("{state} is left alone")))
            }
            ClaimDecision::Expired { claimed_at } => {
                let settled = settle_expired(standing, claimed_at, policy, &TIMING, *now);
                Ok(Step::Settled(settled))
            }
            ClaimDecision::Attempt => Ok(self.attempt(course)),
        }
    }

    fn attempt(&mut self, course: &Course) -> Step {
        let claimed_at = self.now;
        self.standing.state = EntryState::Claimed;
        self.standing.fence += 1;
        self.standing.claim = Some((claimed_at, claimed_at.plus(TIMING.lease)));
        self.standing.origin = Some(ORIGIN);
        let Course::Ends {
            outcome,
            after,
            jitter,
        } = course
        else {
            return Step::Waited;
        };
        self.now = self.now.plus((*after).min(self.policy.timeout));
        let ended = EndedAttempt {
            claimed_at,
            outcome,
            jitter: *jitter,
        };
        Step::Settled(settle(
            &self.standing,
            &ended,
            self.policy,
            &TIMING,
            self.now,
        ))
    }

    /// After this nothing may be open: the last attempt begins when `retry_for` ends, or where a claim
    /// or a due time that were there before end later.
    fn by(&self) -> Timestamp {
        let Standing {
            claim,
            due_at,
            fence,
            ..
        } = self.standing;
        let claimed = claim.map_or(self.now, |(_, until)| until.plus(TIMING.clock_skew));
        let due = due_at.filter(|_| fence > 0).unwrap_or(self.now);
        let last = ACCEPTED
            .plus(self.policy.retry_for)
            .max(self.now)
            .max(claimed)
            .max(due);
        last.plus(self.policy.timeout)
            .plus(TIMING.lease)
            .plus(TIMING.lease)
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
        let settled = match way.step(course)? {
            Step::Ended => return Ok(()),
            Step::Waited => None,
            Step::Settled(settled) => Some(settled),
        };
        attempts += usize::from(way.standing.fence > fence);
        let Some(settled) = settled else {
            continue;
        };
        is_lawful(&way.standing, &settled, way.policy, way.now)?;
        way.standing.first_uncertain_at = settled.first_uncertain_at;
        let Settlement::Retry { due_at } = settled.settlement else {
            return Ok(());
        };
        way.standing.state = EntryState::Pending;
        way.standing.claim = None;
        way.standing.due_at = Some(due_at);
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

    /// Ends: closed, held, or handed to whoever asks the destination. Nobody sleeps through it: the
    /// entry is taken up the moment it may be.
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
