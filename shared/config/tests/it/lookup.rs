//! `[source.NAME.job.lookup]`: what it means, and every mistake in it with its place.

use std::time::Duration;

use ackbox_config::{Config, Lookup, SecretRef};
use ackbox_domain::job::LookupMeaning;

use crate::{mistakes, warnings};

/// A source of a scheme that knows how it is asked.
fn known(lookup: &str) -> String {
    source("tornado", "", lookup)
}

/// One of a scheme that does not.
fn unknown(lookup: &str) -> String {
    let job =
        "subject = \"/job\"\njob.status = \"/state\"\njob.outcomes = { done = \"completed\" }\n";
    source("standard-webhooks", job, lookup)
}

fn source(scheme: &str, more: &str, lookup: &str) -> String {
    format!(
        "[source.s]\nscheme = \"{scheme}\"\nsecrets = [\"env:A\"]\n{more}[source.s.job.lookup]\n{lookup}\n"
    )
}

fn read(text: &str) -> Lookup {
    let config = Config::parse("f", text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"));
    config.sources["s"].lookup.clone().unwrap()
}

const KEY: &str = "headers = { X-Api-Key = \"env:K\" }";
const URL: &str = "url = \"https://api.example.com/v1/{job_id}?full=1\"";
const ANSWERS: &str = "answers = [{ status = 200, means = \"status\" }]";

#[test]
fn a_lookup_that_the_scheme_knows_needs_its_secret_alone() {
    let lookup = read(&known(KEY));
    let url = lookup.url.url("550e", b"").unwrap();
    assert_eq!(url.as_str(), "https://api.tornadoapi.io/jobs/550e");
    let key = ("x-api-key".to_owned(), SecretRef::Env("K".to_owned()));
    assert_eq!(lookup.headers, [key]);
    assert_eq!(lookup.timeout, Duration::from_secs(10));
    assert_eq!(lookup.concurrency, 4);
    assert_eq!(lookup.backoff.first, Duration::from_secs(60));
    assert_eq!(lookup.backoff.max, Duration::from_secs(3600));
    assert!(!lookup.allow_private);
    let means: Vec<(u16, &LookupMeaning)> = lookup
        .answers
        .iter()
        .map(|answer| (answer.status, &answer.means))
        .collect();
    assert_eq!(
        means,
        [(200, &LookupMeaning::Status), (404, &LookupMeaning::NotYet)]
    );
    assert_eq!(warnings(&known(KEY)), "");
}

#[test]
fn what_is_written_of_a_lookup_is_meant() {
    let lookup = read(&unknown(&format!(
        "{URL}\ntimeout = \"3s\"\nconcurrency = 64\nbackoff = {{ first = \"5s\" }}\nallow_private = true\nanswers = [{{ status = 200, where = {{ \"/gone\" = true }}, outcome = \"expired\" }}, {{ status = 200, means = \"status\" }}, {{ status = 404, means = \"not_yet\" }}]"
    )));
    let url = lookup.url.url("a/b", b"").unwrap();
    assert_eq!(url.as_str(), "https://api.example.com/v1/a%2Fb?full=1");
    assert!(lookup.headers.is_empty() && lookup.allow_private);
    assert_eq!((lookup.timeout.as_secs(), lookup.concurrency), (3, 64));
    assert_eq!(lookup.backoff.first, Duration::from_secs(5));
    let outcome = LookupMeaning::Outcome("expired".parse().unwrap());
    assert_eq!(lookup.answers[0].means, outcome);
}

#[test]
fn a_url_of_ones_own_needs_what_is_wanted_there() {
    let own = read(&known(&format!(
        "{URL}\nheaders = {{ Authorization = \"env:K\" }}"
    )));
    assert_eq!(own.headers[0].0, "authorization");
    assert_eq!(own.answers.len(), 2, "the scheme's answers stand");
    let here = known("url = \"http://localhost:9/{job_id}\"\nallow_private = true");
    assert!(read(&here).allow_private);
}

#[test]
fn every_mistake_of_a_lookup_is_named_with_its_place() {
    let all = |more: &str| unknown(&format!("{URL}\n{more}"));
    for (text, said) in [
        (
            known(""),
            "4:1: [source.s.job.lookup] does not give the header x-api-key, in which the scheme \"tornado\" wants a secret; write headers = { x-api-key = \"env:NAME\" }, the reference to the whole value; or your own `url`",
        ),
        (
            known("headers = { Authorization = \"env:K\" }"),
            "5:11: [source.s.job.lookup] does not give the header x-api-key, in which the scheme \"tornado\" wants a secret; write headers = { x-api-key = \"env:NAME\" }, the reference to the whole value; or your own `url`",
        ),
        (
            known(&format!("{KEY}\ntimout = \"1s\"")),
            "6:1: [source.s.job.lookup] has no key \"timout\"; did you mean `timeout`?",
        ),
        (
            known(&format!("{KEY}\ntimeout = \"2m\"")),
            "6:11: `timeout` is 2m; write between \"1ms\" and \"1m\"",
        ),
        (
            known(&format!("{KEY}\nconcurrency = 65")),
            "6:15: `concurrency` is 65; write a number from 1 to 64",
        ),
        (
            known(&format!("{KEY}\nbackoff = {{ first = \"2h\" }}")),
            "6:21: `backoff`: first (2h) is longer than max (1h); write backoff = { first = \"1h\", max = \"2h\" }",
        ),
        (
            known("headers = { X-Api-Key = \"dontsay\" }"),
            "5:25: the value of the header \"X-Api-Key\" is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
        ),
        (
            unknown(ANSWERS),
            "7:1: [source.s.job.lookup] has no `url`; write url = \"https://api.example.com/jobs/{job_id}\"",
        ),
        (
            all(""),
            "7:1: [source.s.job.lookup] has no `answers`; write answers = [{ status = 200, means = \"status\" }, { status = 404, means = \"not_yet\" }]",
        ),
        (
            unknown(&format!(
                "url = \"https://api.example.com/{{key}}\"\n{ANSWERS}"
            )),
            "8:7: `url` has {key}; only {job_id} is known; write url = \"https://api.example.com/jobs/{job_id}\"",
        ),
        (
            unknown(&format!(
                "url = \"https://api.example.com/{{/id}}/{{job_id}}\"\n{ANSWERS}"
            )),
            "8:7: `url` has {/id}; only {job_id} is known; write url = \"https://api.example.com/jobs/{job_id}\"",
        ),
        (
            unknown(&format!(
                "url = \"https://api.example.com/jobs\"\n{ANSWERS}"
            )),
            "8:7: `url` names no job: it has no {job_id}; write url = \"https://api.example.com/jobs/{job_id}\"",
        ),
        (
            all("answers = [{ status = 404, means = \"not_yet\" }]"),
            "9:11: no answer of `answers` tells of an end: nothing could ever be learned of a job; write answers = [{ status = 200, means = \"status\" }, { status = 404, means = \"not_yet\" }]",
        ),
        (
            all("answers = [{ status = 200 }]"),
            "9:12: an answer in [source.s.job.lookup] has neither `means` nor `outcome`; write means = \"status\", means = \"not_yet\", or outcome = \"..\"",
        ),
        (
            all("answers = [{ status = 200, means = \"status\", outcome = \"done\" }]"),
            "9:56: an answer in [source.s.job.lookup] has `means` and `outcome`; remove one of the two",
        ),
        (
            all("answers = [{ status = 200, means = \"applied\" }]"),
            "9:36: `means` cannot be \"applied\"; write \"status\" or \"not_yet\", or outcome = \"..\" instead",
        ),
        (
            all("answers = [{ status = 200, outcome = \"silent\" }]"),
            "9:38: \"silent\" is the outcome of a job that was given up; no message tells it; write another name",
        ),
    ] {
        assert_eq!(mistakes(&text), said, "{text}");
    }
    let private = unknown(&format!("url = \"http://10.0.0.1/{{job_id}}\"\n{ANSWERS}"));
    assert!(
        mistakes(&private).starts_with("8:7: `url` is http"),
        "{}",
        mistakes(&private)
    );
}

#[test]
fn an_answer_that_is_no_word_of_a_job_is_warned_of() {
    let said = |answers: &str| warnings(&unknown(&format!("{URL}\nanswers = [{answers}]")));
    let good = "{ status = 200, means = \"status\" }";
    for status in [302, 401, 403, 404, 429, 500, 503] {
        for means in ["means = \"status\"", "outcome = \"failed\""] {
            assert_eq!(
                said(&format!("{good}, {{ status = {status}, {means} }}")),
                format!(
                    "9:48: an answer with the status {status} does not speak of the job's end, and could be taken for one; remove it, so that the job is asked about again, or add a `where` that only an answer about the job fits"
                )
            );
        }
        let not_yet = format!("{good}, {{ status = {status}, means = \"not_yet\" }}");
        assert_eq!(said(&not_yet), "");
    }
    let by_body = "{ status = 404, where = { \"/deleted\" = true }, outcome = \"expired\" }";
    assert_eq!(said(&format!("{good}, {by_body}")), "");
    assert_eq!(said("{ status = 410, outcome = \"expired\" }"), "");
    let twice = said(&format!("{good}, {good}"));
    assert!(twice.contains("this answer is never reached"), "{twice}");
}

#[test]
fn a_lookup_that_would_outlast_its_function_is_a_mistake() {
    let with = |timeout: &str| known(&format!("{KEY}\ntimeout = \"{timeout}\""));
    assert_eq!(mistakes(&with("54s")), "no mistake");
    let said = mistakes(&with("55s"));
    assert!(
        said.contains("`function_timeout` (1m) must be longer than the timeout of [source.s.job.lookup] (55s) + settle_margin (5s), which is 1m: the source would never be asked; write function_timeout = \"1m 5s\" in [delivery] (and as the function's own timeout), or a shorter timeout in lookup"),
        "{said}"
    );
}

#[test]
fn a_mistake_in_the_scheme_hides_none_in_the_lookup_and_makes_none() {
    let said = mistakes(&source("tornadoo", "", "timeout = 5"));
    assert_eq!(
        said,
        "2:10: there is no scheme \"tornadoo\"; did you mean \"tornado\"?\n\
         5:11: `timeout` is a number, not a text; write timeout = \"10s\""
    );
}
