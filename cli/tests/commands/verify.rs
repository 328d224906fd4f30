//! `ackbox verify`.

use ackbox_signature::{Scheme, SignRequest};
use data_encoding::BASE64;

use crate::support::{CONFIG, Place, SHOP, repository};

const BODY: &str = r#"{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}"#;
const AT: u64 = 1_767_225_600;

/// A captured request of `shop`, signed by its second secret at [`AT`].
fn captured(body: &str) -> Place {
    let scheme = Scheme::builtin("stripe").unwrap();
    let secret = scheme.secret("test", SHOP).unwrap();
    let request = SignRequest {
        method: "POST",
        url: "/",
        body: body.as_bytes(),
        now_ms: AT * 1000,
        id: "",
        event: None,
    };
    let signed = scheme.sign(&request, &secret);
    let lines: Vec<String> = signed
        .unwrap()
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let place = Place::configured();
    place.file("headers.txt", format!("Host: x\r\n{}\r\n", lines.concat()));
    place.file("body.json", body);
    place
}

const THEN: [&str; 8] = [
    "verify",
    "shop",
    "--headers",
    "headers.txt",
    "--body",
    "body.json",
    "--now",
    "1767225660",
];

fn then_and(more: &[&'static str]) -> Vec<&'static str> {
    THEN.iter().chain(more).copied().collect()
}

#[test]
fn a_proven_message_is_accepted_and_the_secret_named_by_its_reference() {
    let place = captured(BODY);
    let ended = place.run(&THEN);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let first = ended.out.lines().next().unwrap();
    assert_eq!(
        first,
        "accepted: signed with env:SHOP, at 2026-01-01T00:00:00.000Z"
    );
    assert!(ended.out.contains("rule paid makes act_"), "{}", ended.out);
    assert!(!ended.out.contains(SHOP));
}

#[test]
fn the_verdict_as_json_says_what_would_follow() {
    let object = captured(BODY).run(&then_and(&["--json"])).json();
    assert_eq!(object["verdict"], "accepted");
    assert_eq!(object["source"], "shop");
    assert_eq!(object["scheme"], "stripe");
    assert_eq!(object["secret"], "env:SHOP");
    assert_eq!(object["signed_at"], "2026-01-01T00:00:00.000Z");
    let action = &object["consequences"][0];
    assert_eq!(action["becomes"], "action");
    assert_eq!(action["rule"], "paid");
    assert_eq!(action["destination"], "mailer");
    assert_eq!(action["parts"][0]["value"], "evt_1");
    assert!(action["key"].as_str().unwrap().starts_with("act_"));
}

#[test]
fn what_a_template_renders_is_shown_and_what_it_misses_is_named() {
    let place = captured(BODY);
    let rule = "name = \"paid\"\npayload.json.text = \"Invoice {/data/object/id}\"";
    let with = |rule| place.file("ackbox.toml", CONFIG.replace("name = \"paid\"", rule));
    with(rule);
    let ended = place.run(&THEN);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sends = "\n    sends {\"text\":\"Invoice in_1\"}\n";
    assert!(ended.out.contains(sends), "{}", ended.out);
    let object = place.run(&then_and(&["--json"])).json();
    let renders = &object["consequences"][0]["renders"];
    assert_eq!(renders, "{\"text\":\"Invoice in_1\"}");
    with(&rule.replace("/id}", "/number}"));
    let ended = place.run(&THEN);
    assert!(
        ended.out.contains("could not be used: rule paid: {/data/object/number} in payload.json.text (/data/object/number) is missing"),
        "{}",
        ended.out
    );
}

#[test]
fn a_changed_body_is_refused_with_its_reason() {
    let place = captured(BODY);
    place.file("body.json", format!("{BODY}\n"));
    let ended = place.run(&THEN);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with("refused (no-secret-matched): "),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("line end"), "{}", ended.out);
    let object = place.run(&then_and(&["--json"])).json();
    assert_eq!(object["verdict"], "refused");
    assert_eq!(object["reason"], "no-secret-matched");
    assert!(object["message"].as_str().unwrap().contains("env:SHOP"));
}

#[test]
fn an_old_capture_is_told_how_to_be_judged() {
    let ended = captured(BODY).run(&THEN[..6]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with("refused (too-old): "),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("--now 1767225600"), "{}", ended.out);
}

#[test]
fn a_secret_that_is_missing_is_told_beside_the_verdict() {
    let place = captured(BODY).without("SHOP");
    let ended = place.run(&THEN);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.err.contains("env:SHOP") && ended.err.contains("not set"),
        "{}",
        ended.err
    );
    assert!(ended.out.contains("may be among them"), "{}", ended.out);
    let ended = place.without("SHOP_NEXT").run(&THEN);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn a_wrong_line_of_headers_is_told_by_its_number() {
    let place = captured(BODY);
    for (text, line) in [
        ("Host: x\nnot a header\n", 2),
        ("POST /hooks/shop HTTP/1.1\nHost: x\n", 1),
        ("Host: x\n\n{\"a\":1}\n", 2),
    ] {
        place.file("headers.txt", text);
        let ended = place.run(&THEN);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let there = format!("headers.txt: line {line} ");
        assert!(ended.err.contains(&there), "{}", ended.err);
    }
}

#[test]
fn what_the_rules_make_of_it_is_told() {
    let ended = captured(r#"{"id":"evt_1","type":"customer.created"}"#).run(&THEN);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("no rule wants it"), "{}", ended.out);
    let ended = captured(r#"{"id":"","type":"invoice.paid"}"#).run(&THEN);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("is empty"), "{}", ended.out);
    let ended = captured("{\"id\":\"evt_1\",\"type\":\"a\\u001b[2Jb\"}").run(&THEN);
    assert!(ended.out.contains("a\\u{1b}[2Jb"), "{}", ended.out);
}

#[test]
fn a_body_may_come_from_standard_input() {
    let place = captured(BODY);
    let mut arguments = THEN;
    arguments[5] = "-";
    assert_eq!(
        place.run_with_input(&arguments, BODY.as_bytes()).code,
        Some(0)
    );
    assert_eq!(place.run_with_input(&arguments, b"{}").code, Some(1));
}

/// The vectors of a sender come from its documentation or code, not from this project's signing.
#[test]
fn a_built_in_scheme_needs_no_configuration() {
    let text = std::fs::read(repository("shared/signature/tests/vectors/tornado.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_slice(&text).unwrap();
    for vector in vectors["vectors"].as_array().unwrap() {
        let place = Place::empty().with("SECRET", vector["secret"].as_str().unwrap());
        let headers = vector["headers"].as_object().unwrap();
        let lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap()))
            .collect();
        place.file("h", lines.join("\n"));
        let body = BASE64.decode(vector["body_base64"].as_str().unwrap().as_bytes());
        place.file("b", body.unwrap());
        let now = vector["now"].to_string();
        let ended = place.run(&[
            "verify",
            "tornado",
            "--secret",
            "env:SECRET",
            "--headers",
            "h",
            "--body",
            "b",
            "--now",
            &now,
        ]);
        // Some are of a right signature and too old.
        let is_fresh = vector["fresh"].as_bool().unwrap_or(true);
        let is_valid = vector["valid"].as_bool().unwrap() && is_fresh;
        assert_eq!(
            ended.code,
            Some(i32::from(!is_valid)),
            "{vector}: {ended:?}"
        );
    }
}

#[test]
fn a_source_that_is_unknown_is_told_with_those_that_are_known() {
    let place = captured(BODY);
    let ended = place.run(&[
        "verify",
        "shpo",
        "--headers",
        "headers.txt",
        "--body",
        "body.json",
    ]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("reports, shop"), "{}", ended.err);
    let ended = place.run(&[
        "verify",
        "github",
        "--headers",
        "headers.txt",
        "--body",
        "body.json",
    ]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--secret"), "{}", ended.err);
}

#[test]
fn the_end_of_a_job_is_told_and_so_is_a_status_that_no_one_explained() {
    let said = |body: &str| {
        let place = captured(body);
        let jobs = "\n[source.shop.job]\nstatus = \"/status\"\noutcomes = { done = \"completed\" }\nprogress = [\"open\"]\n";
        place.file("ackbox.toml", format!("{CONFIG}{jobs}"));
        let ended = place.run(&then_and(&["--json"])).json();
        ended["consequences"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    let body = |status: &str| {
        format!(
            r#"{{"id":"evt_1","type":"job","status":"{status}","data":{{"object":{{"id":"in_1"}}}}}}"#
        )
    };
    let end = said(&body("Done"));
    assert_eq!(end["becomes"], "end", "{end}");
    assert_eq!(end["job"], "shop/in_1");
    assert_eq!(end["outcome"], "completed");
    assert_eq!(said(&body("open"))["becomes"], "progress");
    let odd = said(&body("odd"));
    assert_eq!(odd["becomes"], "malformed");
    assert!(
        odd["problem"]
            .as_str()
            .unwrap()
            .contains("neither an outcome"),
        "{odd}"
    );
}

#[test]
fn a_fact_that_is_too_old_is_told() {
    let place = captured(r#"{"id":"evt_1","type":"invoice.paid","created":1764000000}"#);
    let limited = CONFIG.replace(
        "scheme = \"stripe\"\n",
        "scheme = \"stripe\"\ntime = \"/created\"\nmax_age = \"30d\"\n",
    );
    place.file("ackbox.toml", limited);
    let ended = place.run(&THEN);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = "it would be refused (too-old): the fact's time (/created) is 2025-11-24T16:00:00.000Z, longer ago than the source's `max_age` of 30days";
    assert!(ended.out.contains(said), "{}", ended.out);
    let ended = place.run(&then_and(&["--json"]));
    assert_eq!(ended.json()["consequences"][0]["becomes"], "too-old");
}
