//! Facts of every age against `max_age`: which are too old, by which of their times, and which cannot be read.

use ackbox_signature::Headers;

use super::*;
use crate::action::tests::source;
use crate::document::Document;
use crate::follow::follow;
use crate::json::Pointer;
use crate::source::Each;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// 2026-11-29T13:40:00Z.
const NOW: Timestamp = Timestamp::from_unix_ms(1_795_959_600_000);

fn pointer(text: &str) -> Pointer {
    text.parse().unwrap()
}

fn limited() -> Source {
    let mut source = source();
    source.id = vec![Locator::Body(pointer("/id"))];
    source.rules[0].on = vec!["*".into()];
    source.max_age = Some(MaxAge {
        most: 30 * DAY,
        ahead: Duration::from_secs(300),
        time: vec![Locator::Body(pointer("/created"))],
    });
    source
}

/// What is wrong with each fact of a body; an empty text where nothing is.
fn said(source: &Source, body: &str) -> Vec<String> {
    let headers = Headers::default();
    let document = Document::vouched(source, &headers, body.as_bytes());
    let facts = follow(source, &document, NOW);
    let problem = |fact: Result<_, Malformed>| fact.err().map_or(String::new(), |e| e.to_string());
    facts.into_iter().map(problem).collect()
}

fn read(text: &str) -> Option<u64> {
    time(&Scalar::Text(text.to_owned())).map(Timestamp::unix_ms)
}

#[test]
fn times_are_read_in_every_form_that_senders_use() {
    for text in [
        "1795959600",
        "1795959600.25",
        "1795959600000",
        "1795959600000000",
        "2026-11-29T13:40:00Z",
        "2026-11-29T13:40:00.000Z",
        "2026-11-29T15:40:00+02:00",
        "2026-11-29t05:10:00-08:30",
        " 2026-11-29T13:40:00Z ",
    ] {
        assert_eq!(read(text), Some(NOW.unix_ms()), "{text}");
    }
    assert_eq!(read("1969-07-20T20:17:40Z"), Some(0));
    assert_eq!(read("0"), Some(0));
}

#[test]
fn what_is_no_time_is_not_guessed_at() {
    for text in [
        "",
        "yesterday",
        "-1",
        "1.7e9",
        "1795959600000000000",
        "99999999999999999999",
        "2026-11-29",
        "2026-11-29T13:40:00",
        "1795959600.",
        ".5",
        "0x6b0c",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_fact_is_refused_once_it_is_older_than_its_source_allows() {
    let source = limited();
    let at = |time: Timestamp| format!(r#"{{"id":"a","created":{}}}"#, time.unix_s());
    let limit = NOW.minus(30 * DAY);
    assert_eq!(said(&source, &at(limit)), [""]);
    let second = Duration::from_secs(1);
    let old = said(&source, &at(limit.minus(second)));
    assert_eq!(
        old,
        [
            "the fact's time (/created) is 2026-10-30T13:39:59.000Z, longer ago than the source's `max_age` of 30days"
        ]
    );
}

#[test]
fn a_fact_that_is_dated_ahead_is_refused_beyond_the_tolerance() {
    let mut source = limited();
    let at = |time: Timestamp| format!(r#"{{"id":"a","created":{}}}"#, time.unix_ms());
    let limit = NOW.plus(Duration::from_secs(300));
    assert_eq!(said(&source, &at(limit)), [""]);
    let millisecond = Duration::from_millis(1);
    let ahead = said(&source, &at(limit.plus(millisecond)));
    assert_eq!(
        ahead,
        [
            "the fact's time (/created) is 2026-11-29T13:45:00.001Z, more than 5m ahead of now, which the source's `tolerance` does not allow"
        ]
    );
    if let Some(max_age) = &mut source.max_age {
        max_age.ahead = DAY;
    }
    assert_eq!(said(&source, &at(limit.plus(millisecond))), [""]);
    assert_ne!(said(&source, &at(NOW.plus(400 * DAY))), [""]);
}

#[test]
fn a_fact_that_does_not_say_how_old_it_is_cannot_be_used() {
    let source = limited();
    for (body, problem) in [
        (r#"{"id":"a"}"#, "is missing"),
        (r#"{"id":"a","created":null}"#, "is missing"),
        (r#"{"id":"a","created":"soon"}"#, "is no time"),
        (r#"{"id":"a","created":{}}"#, "is an object or array"),
    ] {
        let said = said(&source, body);
        assert!(said[0].contains(problem), "{body}: {said:?}");
    }
}

#[test]
fn a_fact_that_makes_nothing_is_not_asked_for_its_time() {
    let mut source = limited();
    source.event = vec![Locator::Body(pointer("/type"))];
    source.test_events = vec!["ping".to_owned()];
    assert_eq!(said(&source, r#"{"id":"a","type":"ping"}"#), [""]);
    source.rules[0].on = vec!["order.*".into()];
    assert_eq!(said(&source, r#"{"id":"a","type":"other"}"#), [""]);
    assert_ne!(said(&source, r#"{"id":"a","type":"order.paid"}"#), [""]);
}

#[test]
fn each_element_of_a_batch_has_its_own_age() {
    let mut source = limited();
    source.each = Some(Each {
        pointer: pointer("/all"),
        max: 10,
    });
    let body = format!(
        r#"{{"created":0,"all":[{{"id":"a","created":1}},{{"id":"b","created":{}}}]}}"#,
        NOW.unix_ms()
    );
    let said = said(&source, &body);
    assert!(said[0].contains("longer ago"), "{said:?}");
    assert_eq!(said[1], "");
}
