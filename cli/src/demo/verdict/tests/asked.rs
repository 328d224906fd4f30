//! Doctored logs of destinations that keep no keys and can be asked.

use super::*;

const REPEATED: &str = "every repetition has a reason";
const REPLIES: &str = "every reply has a request behind it";
const ENDS: &str = "whatever is not delivered has a reason";
const LOST: &str = "no accepted fact is lost";
const TROUBLE: &str = "the trouble took place as planned";

/// Three facts, each cut at first: one found applied, one found not applied and repeated, one never clear.
fn run() -> (Evidence, Expected) {
    let facts = ["aired", "shipped", "asked"];
    let unsafe_attempt = |fact: &'static str, answered| Attempt {
        keeps_keys: false,
        ..attempt(&format!("key-{fact}"), fact, answered)
    };
    let evidence = Evidence {
        sent: facts
            .map(|fact| sent(Kind::New, fact, 200, "accepted"))
            .to_vec(),
        attempts: vec![
            unsafe_attempt("aired", Answered::Dropped),
            unsafe_attempt("shipped", Answered::Dropped),
            unsafe_attempt("shipped", Answered::Status(200)),
            unsafe_attempt("asked", Answered::Dropped),
        ],
        questions: vec![
            question("aired", 1, Word::Applied),
            question("shipped", 1, Word::NotApplied),
            question("asked", 1, Word::StillUnknown),
            question("asked", 1, Word::StillUnknown),
        ],
        standing: vec![
            standing("key-aired", "aired", EntryState::Delivered),
            standing("key-shipped", "shipped", EntryState::Delivered),
            standing("key-asked", "asked", EntryState::Held),
        ],
        ..Evidence::default()
    };
    let expected = Expected {
        counts: Counts {
            requests: 3,
            accepted: 3,
            delivered: 2,
            held: 1,
            asked: 3,
            ..Counts::default()
        },
        trouble: vec![Trouble {
            fact: "aired",
            attempts: vec![Answered::Dropped],
            words: vec![Word::Applied],
        }],
    };
    (evidence, expected)
}

fn question(fact: &str, after: usize, means: Word) -> Question {
    Question {
        destination: "till".into(),
        key: format!("key-{fact}"),
        after,
        reply: Reply::says(means, 200, ""),
    }
}

/// Where the second of the two deliveries of `shipped` stands.
const REPETITION: usize = 2;
/// Where the word about `shipped` stands.
const WORD: usize = 1;

#[test]
fn a_run_in_which_a_destination_is_asked_and_obeyed_is_good() {
    let (evidence, expected) = run();
    let verdict = judge(&evidence, &expected);
    assert!(verdict.is_good(), "{:#?}", verdict.claims);
    assert_eq!(verdict.counts.questions, 4);
}

#[test]
fn a_repetition_without_the_word_for_it_is_seen() {
    let failing = failing_of(run(), |evidence| {
        evidence.questions.remove(WORD);
    });
    assert_eq!(failing, [REPEATED]);
}

#[test]
fn a_repetition_by_a_word_that_was_not_clear_is_seen() {
    let failing = failing_of(run(), |evidence| {
        evidence.questions[WORD] = question("shipped", 1, Word::StillUnknown);
    });
    assert_eq!(failing, [REPEATED]);
}

#[test]
fn a_repetition_before_the_word_for_it_is_seen() {
    let failing = failing_of(run(), |evidence| {
        evidence.questions[WORD] = question("shipped", 2, Word::NotApplied);
    });
    assert_eq!(failing, [REPEATED]);
}

#[test]
fn a_second_repetition_by_one_word_is_seen() {
    let failing = failing_of(run(), |evidence| {
        evidence.attempts[REPETITION].answered = Answered::Dropped;
        let mut again = evidence.attempts[REPETITION].clone();
        again.answered = Answered::Status(200);
        evidence.attempts.insert(REPETITION + 1, again);
    });
    assert_eq!(failing, [REPEATED]);
}

#[test]
fn a_repetition_of_what_was_found_applied_is_seen() {
    let failing = failing_of(run(), |evidence| {
        let mut again = evidence.attempts[0].clone();
        again.answered = Answered::Status(200);
        evidence.attempts.insert(1, again);
    });
    assert_eq!(failing, [REPEATED]);
}

#[test]
fn an_applied_that_no_request_explains_is_seen_and_delivers_nothing() {
    let failing = failing_of(run(), |evidence| {
        evidence.questions[0] = question("aired", 0, Word::Applied);
    });
    assert_eq!(failing, [LOST, REPLIES]);
}

#[test]
fn an_applied_after_a_not_applied_with_no_request_between_is_seen() {
    let failing = failing_of(run(), |evidence| {
        let denied = question("aired", 1, Word::NotApplied);
        evidence.questions.insert(0, denied);
    });
    assert_eq!(failing, [LOST, REPLIES, TROUBLE]);
}

#[test]
fn a_question_about_what_nobody_has_is_seen() {
    let failing = failing_of(run(), |evidence| {
        let stranger = question("forged", 0, Word::StillUnknown);
        evidence.questions.push(stranger);
    });
    assert_eq!(failing, [REPLIES]);
}

#[test]
fn a_delivered_by_a_word_that_was_never_said_is_lost() {
    let failing = failing_of(run(), |evidence| {
        evidence.questions[0] = question("aired", 1, Word::StillUnknown);
    });
    assert_eq!(failing, [LOST, TROUBLE]);
}

#[test]
fn an_action_that_is_held_after_the_destination_ended_the_doubt_is_seen() {
    let failing = failing_of(run(), |evidence| {
        evidence
            .questions
            .push(question("asked", 1, Word::NotApplied));
    });
    assert_eq!(failing, [ENDS]);
}
