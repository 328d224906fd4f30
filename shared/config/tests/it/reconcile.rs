//! `reconcile`: what it means, and every mistake in it with its place.

use ackbox_config::{AskMethod, Config};
use ackbox_domain::settlement::{Answer, Word, meaning};

use super::{BASE, mistakes, warnings};

/// The base with a destination that is asked so.
fn asked(reconcile: &str) -> String {
    let asked = format!("on_unknown = \"reconcile\"\nreconcile = {{ {reconcile} }}");
    BASE.replace("on_unknown = \"retry\"", &asked)
}

const URL: &str = r#"url = "https://mail.example.com/actions/{key}?job={/data/id}""#;
const ANSWERS: &str = r#"answers = [{ status = 200, where = { "/state" = "done", "/n" = 2 }, means = "applied" }, { status = 404, means = "not_applied" }]"#;

#[test]
fn a_question_is_read_with_its_defaults() {
    let config = Config::parse("f", &asked(&format!("{URL}, {ANSWERS}"))).unwrap();
    let reconcile = config.destinations["mailer"].reconcile.clone().unwrap();
    assert_eq!(reconcile.method, AskMethod::Get);
    assert_eq!(reconcile.timeout.as_secs(), 10);
    assert_eq!(reconcile.give_up_after.as_secs(), 86_400);
    let url = reconcile.url.url("act_1", br#"{"data":{"id":7}}"#).unwrap();
    assert_eq!(url.as_str(), "https://mail.example.com/actions/act_1?job=7");
    let says = |status, body| {
        let answer = Answer {
            status,
            body,
            is_whole: true,
        };
        meaning(&reconcile.answers, &answer)
    };
    let done: &[u8] = br#"{"state":"done","n":2}"#;
    assert_eq!(says(200, done), Ok(Word::Applied));
    assert_eq!(says(404, b""), Ok(Word::NotApplied));
}

#[test]
fn every_mistake_of_a_question_is_named_with_its_place() {
    let answer = |answer: &str| format!("{URL}, answers = [{answer}]");
    let good = r#"{ status = 200, means = "applied" }"#;
    for (written, part) in [
        (
            ANSWERS.to_owned(),
            "`reconcile` of [destination.mailer] has no `url`",
        ),
        (
            URL.to_owned(),
            "`reconcile` of [destination.mailer] has no `answers`",
        ),
        (
            format!("{URL}, {ANSWERS}, methd = \"GET\""),
            "has no key \"methd\"",
        ),
        (
            format!("{URL}, {ANSWERS}, method = \"PUT\""),
            "`method` cannot be \"PUT\"",
        ),
        (format!("{URL}, {ANSWERS}, timeout = \"2m\""), "timeout"),
        (
            format!("{URL}, {ANSWERS}, headers = {{ A = \"v\" }}"),
            "header",
        ),
        (
            format!("url = \"https://mail.example.com/actions\", {ANSWERS}"),
            "names no action",
        ),
        (
            format!("url = \"https://{{key}}.example.com/\", {ANSWERS}"),
            "must not choose the host",
        ),
        (
            format!("url = \"https:///{{/host}}/jobs/{{key}}\", {ANSWERS}"),
            "`url` does not begin with https:// and a host",
        ),
        (
            format!("url = \"https://a.example/{{key}}/../x\", {ANSWERS}"),
            "its own path leaves again",
        ),
        (
            format!("url = \"http://mail.example.com/{{key}}\", {ANSWERS}"),
            "`url` is http",
        ),
        (
            format!("url = \"https://10.0.0.1/{{key}}\", {ANSWERS}"),
            "private address",
        ),
        (
            answer(r#"{ status = 404, means = "not_applied" }"#),
            "means \"applied\"",
        ),
        (
            answer(r#"{ status = 99, means = "applied" }"#),
            "no status of a final answer",
        ),
        (
            answer(r#"{ status = "200", means = "applied" }"#),
            "`status` is a text",
        ),
        (answer(r#"{ status = 200 }"#), "has no `means`"),
        (
            answer(r#"{ status = 200, means = "yes" }"#),
            "`means` cannot be \"yes\"",
        ),
        (
            answer(&format!(
                r#"{good}, {{ status = 200, where = {{ "state" = 1 }}, means = "applied" }}"#
            )),
            "\"state\" is no JSON pointer",
        ),
        (
            answer(&format!(
                r#"{good}, {{ status = 200, where = {{ "/a" = [1] }}, means = "applied" }}"#
            )),
            "a value of its own",
        ),
    ] {
        let said = mistakes(&asked(&written));
        assert!(said.contains(part), "{written}\n{said}");
        assert!(said.starts_with("22:") || said.starts_with("21:"), "{said}");
    }
}

#[test]
fn a_question_and_its_policy_belong_together() {
    let unasked = BASE.replace("on_unknown = \"retry\"", "on_unknown = \"reconcile\"");
    assert!(mistakes(&unasked).contains("does not say how the destination is asked"));
    let both = asked(&format!("{URL}, {ANSWERS}"));
    let unmeant = both.replace("on_unknown = \"reconcile\"", "on_unknown = \"hold\"");
    assert!(mistakes(&unmeant).contains("`reconcile` is never asked"));
}

#[test]
fn a_question_that_would_outlast_its_function_is_a_mistake() {
    let asked = |timeout: &str| asked(&format!("{URL}, {ANSWERS}, timeout = \"{timeout}\""));
    assert!(Config::parse("f", &asked("54s")).is_ok());
    let said = mistakes(&asked("55s"));
    assert!(
        said.contains("`function_timeout` (1m) must be longer than the timeout of `reconcile` of [destination.mailer] (55s) + settle_margin (5s), which is 1m: the destination would never be asked; write function_timeout = \"1m 5s\""),
        "{said}"
    );
}

#[test]
fn no_url_lets_a_value_choose_who_is_asked() {
    for url in [
        "https:///{/host}/jobs/{key}",
        "https:////{/a}/{key}",
        "https:/{/a}/{key}",
        "https:\\\\\\\\{/host}/{key}",
        "https://\\\\{/host}/{key}",
        "https:///\\\\{/host}/{key}",
        "https://\\t/{/host}/{key}",
        "https://\\n/{/host}/{key}",
        "https:///{/user}@a.example/{key}",
        "https://{/user}@a.example/{key}",
        "https:///a.example:{/port}/{key}",
        "https://a.example:{/port}/{key}",
        "https://a.example{/more}/{key}",
    ] {
        let said = mistakes(&asked(&format!("url = \"{url}\", {ANSWERS}")));
        assert_ne!(said, "no mistake", "{url}");
    }
}

/// What is warned of in these answers, which stand behind one that means "applied".
fn warned(answers: &str) -> String {
    let good = r#"{ status = 200, where = { "/a" = "1" }, means = "applied" }"#;
    warnings(&asked(&format!("{URL}, answers = [\n{good},\n{answers}]")))
}

#[test]
fn a_rule_that_is_never_reached_is_warned_of_with_its_place() {
    for unreached in [
        r#"{ status = 200, where = { "/a" = "1" }, means = "applied" }"#,
        r#"{ status = 200, where = { "/a" = "1" }, means = "not_applied" }"#,
        r#"{ status = 200, where = { "/b" = 2, "/a" = "1" }, means = "not_applied" }"#,
        "{ status = 404, means = \"not_applied\" },\n{ status = 404, means = \"still_unknown\" }",
    ] {
        let status = &unreached[11..14];
        let line = 24 + unreached.matches('\n').count();
        assert_eq!(
            warned(unreached),
            format!(
                "{line}:1: this answer is never reached: one before it fits every answer with the status {status} that it fits; write it before that one, or remove it"
            )
        );
    }
    for reached in [
        r#"{ status = 200, where = { "/a" = "2" }, means = "not_applied" }"#,
        r#"{ status = 200, means = "not_applied" }"#,
        r#"{ status = 201, where = { "/a" = "1" }, means = "applied" }"#,
    ] {
        assert_eq!(warned(reached), "", "{reached}");
    }
}

#[test]
fn a_word_by_a_status_that_does_not_speak_of_the_action_is_warned_of() {
    for status in [
        300, 302, 304, 399, 401, 403, 405, 407, 408, 421, 425, 429, 500, 502, 503, 504, 599,
    ] {
        let rule = format!("{{ status = {status}, means = \"not_applied\" }}");
        assert_eq!(
            warned(&rule),
            format!(
                "24:1: an answer with the status {status} does not speak of the action, which could be sent again though it has arrived; remove it, so that the destination is asked again, or add a `where` that only an answer about the action fits"
            )
        );
        let unknown = rule.replace("not_applied", "still_unknown");
        assert_eq!(warned(&unknown), "", "{unknown}");
        let by_body = rule.replace("means", "where = { \"/a\" = \"1\" }, means");
        assert_eq!(warned(&by_body), "", "{by_body}");
    }
    let applied = warned("{ status = 503, means = \"applied\" }");
    assert!(
        applied.contains("could be taken for delivered without having arrived"),
        "{applied}"
    );
    for spoken in [
        "{ status = 303, means = \"applied\" }",
        "{ status = 404, means = \"not_applied\" }",
        "{ status = 410, means = \"not_applied\" }",
        "{ status = 204, means = \"not_applied\" }",
        "{ status = 409, means = \"applied\" }",
    ] {
        assert_eq!(warned(spoken), "", "{spoken}");
    }
}
