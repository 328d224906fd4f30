//! What answers mean, whole and cut off, and that a body that cannot be judged is no word.

use proptest::prelude::*;

use super::super::answer::{Answer, AnswerRule, Flaw, meaning};
use super::Word;

const UNKNOWN: Result<Word, Flaw> = Ok(Word::StillUnknown);

fn rule(status: u16, conditions: &[(&str, &str)], means: Word) -> AnswerRule {
    let conditions = conditions.iter();
    AnswerRule {
        status,
        conditions: conditions
            .map(|(pointer, value)| (pointer.parse().unwrap(), (*value).to_owned()))
            .collect(),
        means,
    }
}

fn whole(rules: &[AnswerRule], status: u16, body: &[u8]) -> Result<Word, Flaw> {
    let answer = Answer {
        status,
        body,
        is_whole: true,
    };
    meaning(rules, &answer)
}

fn cut_off(rules: &[AnswerRule], status: u16, body: &[u8]) -> Result<Word, Flaw> {
    let answer = Answer {
        status,
        body,
        is_whole: false,
    };
    meaning(rules, &answer)
}

/// By the body, and where it says nothing of it, by the status.
fn falling(first: Word, behind: Word) -> Vec<AnswerRule> {
    vec![
        rule(200, &[("/state", "done"), ("/n", "2")], first),
        rule(200, &[], behind),
    ]
}

#[test]
fn the_first_answer_that_fits_counts_and_none_is_unknown() {
    let rules = [
        rule(200, &[("/state", "done"), ("/n", "2")], Word::Applied),
        rule(200, &[("/state", "failed")], Word::NotApplied),
        rule(404, &[], Word::NotApplied),
    ];
    let says = |status, body: &str| whole(&rules, status, body.as_bytes());
    assert_eq!(says(200, r#"{"state":"done","n":2}"#), Ok(Word::Applied));
    assert_eq!(says(200, r#"{"state":"done","n":2.0}"#), UNKNOWN);
    assert_eq!(says(200, r#"{"state":"done"}"#), UNKNOWN);
    assert_eq!(says(200, r#"{"state":"failed"}"#), Ok(Word::NotApplied));
    assert_eq!(says(404, "whatever"), Ok(Word::NotApplied));
    assert_eq!(says(500, ""), UNKNOWN);
}

#[test]
fn a_body_that_cannot_be_judged_falls_through_to_no_other_rule() {
    for (first, behind) in [
        (Word::NotApplied, Word::Applied),
        (Word::Applied, Word::NotApplied),
    ] {
        let rules = falling(first, behind);
        for body in [
            "",
            "not json",
            "<html>",
            "\u{1f}\u{8b}",
            r#"{"state":"done","n":"#,
            r#"{"state":"done","n":2} {}"#,
            r#"{"state":"failed","state":"done","n":2}"#,
            r#"{"state":"failed","n":2,"n":3}"#,
            r#"{"n":1,"state":"\ud800"}"#,
        ] {
            assert_eq!(
                whole(&rules, 200, body.as_bytes()),
                Err(Flaw::Unreadable),
                "{body}"
            );
        }
        assert_eq!(
            whole(&rules, 200, b"{\"state\":\"\xff\",\"n\":2}"),
            Err(Flaw::Unreadable)
        );
        // JSON that says something else is no flaw.
        for body in [
            "{}",
            "[]",
            "1",
            r#"{"state":null,"n":2}"#,
            r#"{"state":{}}"#,
        ] {
            assert_eq!(whole(&rules, 200, body.as_bytes()), Ok(behind), "{body}");
        }
    }
}

#[test]
fn an_answer_that_was_cut_off_is_a_word_only_where_its_body_could_not_have_mattered() {
    let body = br#"{"state":"done","n":2}"#;
    let rules = falling(Word::Applied, Word::NotApplied);
    assert_eq!(whole(&rules, 200, body), Ok(Word::Applied));
    assert_eq!(cut_off(&rules, 200, body), Err(Flaw::CutOff));
    assert_eq!(cut_off(&rules, 200, b""), Err(Flaw::CutOff));
    assert_eq!(cut_off(&rules, 404, body), UNKNOWN);
    let mut by_status_first = rules;
    by_status_first.rotate_right(1);
    assert_eq!(
        cut_off(&by_status_first, 200, body),
        Ok(Word::NotApplied),
        "no rule before it goes by the body"
    );
}

#[test]
fn a_rule_covers_what_asks_for_the_same_and_more() {
    let some = rule(200, &[("/a", "1")], Word::Applied);
    let more = rule(200, &[("/b", "2"), ("/a", "1")], Word::NotApplied);
    assert!(some.covers(&some) && some.covers(&more) && !more.covers(&some));
    assert!(rule(200, &[], Word::Applied).covers(&more));
    assert!(!rule(200, &[("/a", "2")], Word::Applied).covers(&more));
    assert!(!rule(201, &[], Word::Applied).covers(&more));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever an answer is cut, it never says another word than it would have said whole.
    #[test]
    fn a_part_of_an_answer_never_contradicts_the_whole(
        state in "done|failed|working",
        n in 0..4_u8,
        status in prop_oneof![Just(200_u16), Just(404)],
        by_body in proptest::collection::vec(any::<(bool, bool)>(), 0..4),
        at in any::<proptest::sample::Index>(),
    ) {
        let rules: Vec<AnswerRule> = by_body
            .into_iter()
            .map(|(by_body, applied)| {
                let conditions: &[_] = if by_body { &[("/state", "done"), ("/n", "2")] } else { &[] };
                rule(200, conditions, if applied { Word::Applied } else { Word::NotApplied })
            })
            .collect();
        let body = format!(r#"{{"state":"{state}","n":{n}}}"#).into_bytes();
        let part = &body[..at.index(body.len())];
        let said = whole(&rules, status, &body).unwrap();
        if let Ok(word) = cut_off(&rules, status, part) {
            prop_assert_eq!(word, said);
        }
        // Nor where the cut went unnoticed.
        if let Ok(word) = whole(&rules, status, part) {
            prop_assert_eq!(word, said);
        }
    }
}
