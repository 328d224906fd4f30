use ackbox_signature::Headers;

use super::*;
use crate::document::Document;
use crate::source::Locator;

const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn at(pointer: &str) -> Pointer {
    pointer.parse().unwrap()
}

fn jobs() -> Jobs {
    let outcomes = [
        ("completed", "completed"),
        ("failed", "failed"),
        ("job_completed", "completed"),
        ("job_failed", "failed"),
    ];
    let words = outcomes.map(|(word, outcome)| (word.to_owned(), name(outcome)));
    Jobs {
        space: name("renders"),
        ids: Ids::Shared,
        on: vec![EventPattern::Any],
        account: None,
        accounts: BTreeMap::from([("env:ACME".to_owned(), "acme".to_owned())]),
        status: vec![at("/status"), at("/data/status")],
        outcomes: BTreeMap::from(words),
        progress: BTreeSet::from(["pending".to_owned()]),
        values: BTreeMap::from([(name("url"), vec![at("/url"), at("/data/url")])]),
        unbound: Unbound::Park,
        parked_for: Duration::from_secs(60),
    }
}

fn source() -> Source {
    let mut source = crate::action::tests::source();
    source.event = vec![Locator::Body(at("/type"))];
    source.subject = vec![
        Locator::Body(at("/job_id")),
        Locator::Body(at("/data/job_id")),
    ];
    source.account = vec![Locator::Body(at("/account"))];
    source.progress_events = vec!["progress".to_owned()];
    source.test_events = vec!["ping".to_owned()];
    source.each = None;
    source
}

fn said(jobs: &Jobs, body: &str, known: Known<'_>) -> Result<JobWord, Malformed> {
    let source = source();
    let headers = Headers::default();
    let document = Document::vouched(&source, &headers, body.as_bytes());
    let observation = Observation::whole(&source, &document).unwrap();
    word(jobs, &source, &observation, known, NOW)
}

fn webhook(body: &str) -> Result<JobWord, Malformed> {
    said(&jobs(), body, Known::default())
}

fn ended(word: Result<JobWord, Malformed>) -> JobObservation {
    match word {
        Ok(JobWord::Ended(end)) => *end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_status_says_more_than_the_events_type_and_its_case_says_nothing() {
    for (body, outcome) in [
        (
            r#"{"type":"job_completed","job_id":"1","status":"completed"}"#,
            "completed",
        ),
        (
            r#"{"type":"job_completed","job_id":"1","status":"Failed"}"#,
            "failed",
        ),
        (r#"{"type":"JOB_FAILED","job_id":"1"}"#, "failed"),
        (
            r#"{"type":"job_completed","data":{"job_id":"1","status":" COMPLETED "}}"#,
            "completed",
        ),
        // An object of that name is another field.
        (
            r#"{"type":"job_failed","job_id":"1","status":{"x":1}}"#,
            "failed",
        ),
    ] {
        let end = ended(webhook(body));
        assert_eq!(
            (end.outcome.as_str(), end.job.id.as_str()),
            (outcome, "1"),
            "{body}"
        );
    }
}

#[test]
fn what_is_no_end_is_none() {
    for (body, expected) in [
        (
            r#"{"type":"progress","job_id":"1","status":"completed"}"#,
            JobWord::Progress,
        ),
        (
            r#"{"type":"job_completed","job_id":"1","status":"Pending"}"#,
            JobWord::Progress,
        ),
        (r#"{"type":"ping","status":"completed"}"#, JobWord::Nothing),
        (r#"{"type":"invoice.paid","job_id":"1"}"#, JobWord::Nothing),
        (r#"{"job_id":"1"}"#, JobWord::Nothing),
    ] {
        assert_eq!(webhook(body).unwrap(), expected, "{body}");
    }
    let some = Jobs {
        on: vec![EventPattern::from("job_*")],
        ..jobs()
    };
    let other = said(
        &some,
        r#"{"type":"invoice","job_id":"1","status":"open"}"#,
        Known::default(),
    );
    assert_eq!(other.unwrap(), JobWord::Nothing);
}

#[test]
fn a_status_that_no_one_explained_is_told_and_is_no_end() {
    let odd = webhook(r#"{"type":"job_completed","job_id":"1","status":"Archived"}"#).unwrap_err();
    assert_eq!(
        odd.to_string(),
        "the job's status (/status) is \"Archived\", which is neither an outcome nor progress; add it to the source's `job`"
    );
}

#[test]
fn an_end_without_a_usable_id_is_told() {
    for (id, said) in [
        ("", "the job's id (/job_id, /data/job_id) is missing"),
        (
            r#""job_id":" ","#,
            "the job's id (/job_id, /data/job_id) is blank",
        ),
        (r#""job_id":{},"#, "the job's id (/job_id) is an object"),
    ] {
        let body = format!(r#"{{"type":"job_failed",{id}"x":1}}"#);
        let flaw = webhook(&body).unwrap_err().to_string();
        assert!(flaw.starts_with(said), "{flaw}");
    }
    let long = format!(r#"{{"type":"job_failed","job_id":"{}"}}"#, "x".repeat(257));
    assert!(webhook(&long).is_err());
}

#[test]
fn the_account_is_what_the_fact_says_else_whose_secret_it_was_else_the_sources() {
    let own = Jobs {
        account: Some("own".to_owned()),
        ..jobs()
    };
    let (acme, other) = (Some("env:ACME"), Some("env:OTHER"));
    let plain = r#"{"type":"job_failed","job_id":"1"}"#;
    let telling = r#"{"type":"job_failed","job_id":"1","account":"told"}"#;
    for (jobs, body, secret, account) in [
        (&own, telling, None, "told"),
        (&own, plain, acme, "acme"),
        (&own, plain, other, "own"),
        (&jobs(), plain, other, "default"),
        (&jobs(), plain, None, "default"),
    ] {
        let known = Known {
            secret,
            asked: None,
        };
        assert_eq!(ended(said(jobs, body, known)).account, account);
    }
    // Whoever has one account's secret speaks for no other.
    let known = Known {
        secret: acme,
        asked: None,
    };
    let stolen = said(&own, telling, known).unwrap_err().to_string();
    assert_eq!(
        stolen,
        "the account (/account) is another one than this can speak of"
    );
    let per_account = Jobs {
        ids: Ids::PerAccount,
        ..own
    };
    let known = Known {
        secret: acme,
        asked: None,
    };
    assert_eq!(
        ended(said(&per_account, plain, known))
            .job
            .account
            .as_deref(),
        Some("acme")
    );
}

#[test]
fn an_answer_is_about_the_job_that_was_asked_for_or_about_none() {
    let known = Known {
        secret: None,
        asked: Some(("7", "acme")),
    };
    let end = ended(said(
        &jobs(),
        r#"{"type":"other","status":"Completed"}"#,
        known,
    ));
    assert_eq!((end.job.id.as_str(), end.account.as_str()), ("7", "acme"));
    let test = said(&jobs(), r#"{"type":"ping","status":"Completed"}"#, known);
    assert_eq!(test.unwrap(), JobWord::Nothing);
    for other in [
        r#"{"status":"Completed","account":"evil"}"#,
        r#"{"status":"Completed","job_id":"8"}"#,
        r#"{"status":"Completed","data":{"job_id":"8"}}"#,
    ] {
        assert!(said(&jobs(), other, known).is_err(), "{other}");
    }
    assert_eq!(said(&jobs(), "null", known).unwrap(), JobWord::Nothing);
}

#[test]
fn values_are_found_in_every_shape_and_none_is_too_large() {
    let value = |body: &str| ended(webhook(body)).values.remove(&name("url"));
    let flat = value(r#"{"type":"job_failed","job_id":"1","url":"u"}"#);
    let inner = value(r#"{"type":"job_failed","data":{"job_id":"1","url":"u"}}"#);
    assert_eq!(flat.as_deref(), Some("\"u\""));
    assert_eq!(flat, inner);
    let null = value(r#"{"type":"job_failed","job_id":"1","url":null,"data":{"url":"u"}}"#);
    assert_eq!(null, flat);
    let large = "x".repeat(Jobs::VALUE_MAX);
    let untold = value(&format!(
        r#"{{"type":"job_failed","job_id":"1","url":"{large}"}}"#
    ));
    assert_eq!(untold.as_deref(), Some("null"));
}

#[test]
fn the_normal_form_is_read_with_the_place_of_every_mistake() {
    let form = br#"{"space":"renders","job_id":"1","account":"acme","outcome":"failed","values":{"url":"\u0075","none":null}}"#;
    let form = super::super::normal_form(form).unwrap();
    let end = form.observation(Ids::Shared, name("renders"), NOW);
    assert_eq!(
        (end.outcome.as_str(), end.account.as_str()),
        ("failed", "acme")
    );
    // As every other shape tells it.
    assert_eq!(end.values[&name("url")], "\"u\"");
    assert_eq!(end.values.len(), 1);
    for (text, said) in [
        ("{}", "this cannot be read: missing field `space`"),
        (
            r#"{"space":"renders","job_id":"","outcome":"failed"}"#,
            "/job_id is empty or blank",
        ),
        (
            r#"{"space":"renders","job_id":"1","outcome":"silent"}"#,
            "/outcome is the word for",
        ),
        (
            r#"{"space":"renders","job_id":"1","outcome":"a b"}"#,
            "/outcome is no name",
        ),
        (
            r#"{"space":"renders","job_id":"1","outcome":"a","values":{"A":1}}"#,
            "/values/A is no name",
        ),
    ] {
        let flaw = super::super::normal_form(text.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(flaw.starts_with(said), "{flaw}");
    }
}

#[test]
fn one_value_is_one_text_however_it_is_written_and_one_that_does_not_read_is_none_that_was_expected()
 {
    let value = |url: &str| {
        let body = format!(r#"{{"type":"job_failed","job_id":"1",{url}}}"#);
        ended(webhook(&body)).values.remove(&name("url")).unwrap()
    };
    assert_eq!(value("\"url\":\"\\u00e4\""), value("\"url\":\"\u{e4}\""));
    assert_eq!(value(r#""url":"a\/b""#), value(r#""url":"a/b""#));
    assert_eq!(value(r#""url":1.50"#), "1.50");
    assert_eq!(value(r#""url":"good","url":"evil""#), "null");
}
