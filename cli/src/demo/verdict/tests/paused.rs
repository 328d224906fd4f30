//! A paused destination in a run's evidence.

use ackbox_domain::Breaker;

use super::*;

const PAUSED: &str = "a paused destination saw nothing but its probe";

/// A destination that fails twice, and is probed after each of its pauses of one and two seconds.
fn paused(at_ms: [u64; 4]) -> Vec<Attempt> {
    let breaker = Breaker {
        after: 1,
        pause: Duration::from_secs(1),
        max_pause: Duration::from_secs(8),
    };
    let answers = [503, 503, 200, 200].map(Answered::Status);
    let keys = ["key-one", "key-one", "key-one", "key-two"];
    let attempts = keys.into_iter().zip(answers).zip(at_ms);
    attempts
        .map(|((key, answered), at)| Attempt {
            destination: "tracker".into(),
            breaker: Some(breaker),
            at: Duration::from_millis(at),
            ..attempt(key, key, answered)
        })
        .collect()
}

fn run(at_ms: [u64; 4]) -> (Evidence, Expected) {
    let (mut evidence, mut expected) = good();
    for fact in ["key-one", "key-two"] {
        evidence.sent.push(sent(Kind::New, fact, 200, "accepted"));
        let standing = standing(fact, fact, EntryState::Delivered);
        evidence.standing.push(standing);
    }
    evidence.attempts.extend(paused(at_ms));
    expected.counts.requests += 2;
    expected.counts.accepted += 2;
    expected.counts.delivered += 2;
    (evidence, expected)
}

#[test]
fn probes_that_come_when_their_pause_is_over_are_as_it_must_be() {
    let (evidence, expected) = run([100, 1100, 3100, 3101]);
    let verdict = judge(&evidence, &expected);
    assert!(verdict.is_good(), "{:#?}", verdict.claims);
    let claim = verdict.claims.iter().find(|claim| claim.holds == PAUSED);
    assert_eq!(claim.unwrap().over, "2 pauses");
}

#[test]
fn a_request_that_comes_while_its_destination_is_paused_is_seen() {
    for at_ms in [[100, 1000, 3100, 3101], [100, 1100, 3000, 3001]] {
        let failing = failing_of(run(at_ms), |_| {});
        assert_eq!(failing, [PAUSED], "{at_ms:?}");
    }
}

#[test]
fn a_probe_without_an_answer_is_no_end_of_a_pause() {
    let cut = |evidence: &mut Evidence| {
        let probe = evidence.attempts.len() - 3;
        evidence.attempts[probe].answered = Answered::Dropped;
    };
    let failing = failing_of(run([100, 1100, 3000, 3001]), cut);
    assert_eq!(failing, [PAUSED]);
}
