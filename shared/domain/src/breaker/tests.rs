use proptest::prelude::*;

use super::*;

const BREAKER: Breaker = Breaker {
    after: 3,
    pause: Duration::from_secs(30),
    max_pause: Duration::from_secs(600),
};

const NOW: Timestamp = Timestamp::from_unix_ms(1_795_953_600_000);

fn outcome(kind: OutcomeKind, status: Option<u16>) -> AttemptOutcome {
    AttemptOutcome::new(kind, status, "no route to host")
}

fn busy() -> AttemptOutcome {
    outcome(OutcomeKind::Busy, Some(503))
}

#[test]
fn failures_answers_and_what_is_neither() {
    use OutcomeKind::{Busy, NotSent, Rejected, Succeeded, Unknown};
    for (kind, status, sign) in [
        (Succeeded, Some(200), Sign::Answer),
        (Rejected, Some(422), Sign::Answer),
        (Rejected, Some(409), Sign::Answer),
        (Rejected, None, Sign::Answer),
        (NotSent, None, Sign::Failure),
        (NotSent, Some(403), Sign::Failure),
        (Busy, Some(429), Sign::Failure),
        (Busy, Some(503), Sign::Failure),
        (Unknown, Some(500), Sign::Failure),
        (Unknown, Some(599), Sign::Failure),
        (Unknown, None, Sign::Neither),
        // A function that ran and failed; a request that was not understood as one.
        (Unknown, Some(200), Sign::Neither),
        (Unknown, Some(408), Sign::Neither),
    ] {
        assert_eq!(Sign::of(&outcome(kind, status)), sign, "{kind} {status:?}");
    }
}

#[test]
fn each_pause_is_twice_as_long_up_to_the_longest() {
    let waits: Vec<u64> = [1, 2, 3, 4, 5, 6, 7, 40, u32::MAX]
        .map(|number| BREAKER.wait(number, None).as_secs())
        .to_vec();
    assert_eq!(waits, [30, 60, 120, 240, 480, 600, 600, 600, 600]);
    let asked = |secs| BREAKER.wait(1, Some(Duration::from_secs(secs))).as_secs();
    assert_eq!([asked(5), asked(90), asked(3600)], [30, 90, 600]);
}

#[test]
fn a_pause_is_over_at_its_end_and_so_is_a_probe_that_was_never_heard_of() {
    let record = |pause| PauseRecord {
        fence: 1,
        pause,
        operator: None,
    };
    assert_eq!(PauseRecord::default().gate(NOW), Gate::Open);
    let pause = Pause::begin(&BREAKER, &busy(), NOW);
    let end = NOW.plus(BREAKER.pause);
    let just_before = end.minus(Duration::from_millis(1));
    assert_eq!(
        record(Some(pause.clone())).gate(just_before),
        Gate::Paused { until: Some(end) }
    );
    assert_eq!(record(Some(pause.clone())).gate(end), Gate::Over);
    let until = end.plus(Duration::from_secs(55));
    let probed = record(Some(pause.probed(until)));
    assert_eq!(probed.gate(end), Gate::Paused { until: Some(until) });
    assert_eq!(probed.gate(until), Gate::Over);
}

#[test]
fn only_an_answer_ends_a_pause() {
    let pause = Pause::begin(&BREAKER, &busy(), NOW).probed(NOW.plus(BREAKER.pause));
    for answer in [
        outcome(OutcomeKind::Succeeded, Some(204)),
        outcome(OutcomeKind::Rejected, Some(404)),
    ] {
        assert_eq!(pause.after_probe(&BREAKER, &answer, NOW), None);
    }
    for other in [
        busy(),
        outcome(OutcomeKind::NotSent, None),
        outcome(OutcomeKind::Unknown, Some(502)),
        outcome(OutcomeKind::Unknown, None),
    ] {
        let next = pause.after_probe(&BREAKER, &other, NOW).unwrap();
        assert_eq!((next.number, next.is_probing), (2, false));
        assert_eq!(next.since, pause.since);
        assert_eq!(next.until, NOW.plus(2 * BREAKER.pause));
    }
}

#[test]
fn the_words_of_a_destination_are_not_kept() {
    let told = AttemptOutcome::new(OutcomeKind::Busy, Some(503), "503: their words");
    assert_eq!(Pause::begin(&BREAKER, &told, NOW).why, "busy (503)");
    let ours = outcome(OutcomeKind::NotSent, None);
    let why = Pause::begin(&BREAKER, &ours, NOW).why;
    assert_eq!(why, "not_sent: no route to host");
}

fn any_sign() -> impl Strategy<Value = Sign> {
    prop_oneof![
        3 => Just(Sign::Failure),
        1 => Just(Sign::Answer),
        1 => Just(Sign::Neither),
    ]
}

proptest! {
    /// Enough failures, and no answer among them.
    #[test]
    fn a_run_of_failures_is_enough_and_nothing_else(
        signs in prop::collection::vec(any_sign(), 0..40),
        after in 1_u32..8,
    ) {
        let breaker = Breaker { after, ..BREAKER };
        let counted = signs.iter().fold(Failures::default(), |failures, sign| failures.and(*sign));
        let since_the_last_answer = signs.iter().rev().take_while(|sign| **sign != Sign::Answer);
        let failed = since_the_last_answer.filter(|sign| **sign == Sign::Failure).count();
        prop_assert_eq!(counted.are_enough(&breaker), failed >= after as usize);
    }

    /// However many probes fail, by whatever clock, and whatever the destination asks for.
    #[test]
    fn a_pause_always_ends_within_the_longest_one(
        pause in 1_u64..100_000,
        more in 0_u64..1_000_000,
        asked in prop::option::of(0_u64..u64::MAX / 2),
        probes in prop::collection::vec((any::<bool>(), 0_u64..1_000_000), 0..30),
    ) {
        let breaker = Breaker {
            after: 1,
            pause: Duration::from_millis(pause),
            max_pause: Duration::from_millis(pause + more),
        };
        let failed = busy().with_retry_after(asked.map(Duration::from_millis));
        let silent = outcome(OutcomeKind::Unknown, None);
        let mut standing = Pause::begin(&breaker, &failed, NOW);
        let mut now = NOW;
        for (answers_busy, later) in probes {
            prop_assert!(standing.until <= now.plus(breaker.max_pause));
            prop_assert!(standing.until >= now.plus(breaker.pause));
            let record = PauseRecord { fence: 1, pause: Some(standing.clone()), operator: None };
            prop_assert_eq!(record.gate(standing.until), Gate::Over);
            now = standing.until.plus(Duration::from_millis(later));
            let probe = if answers_busy { &failed } else { &silent };
            let before = standing.number;
            standing = standing.after_probe(&breaker, probe, now).unwrap();
            prop_assert_eq!(standing.number, before + 1);
        }
    }
}
