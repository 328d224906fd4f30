use serde_json::{Value, json};

use super::*;
use crate::action::{Action, RenderedBody};
use crate::time::Timestamp;

const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);

fn whole() -> Value {
    json!({
        "space": "tornado",
        "job_id": "550e8400",
        "account": "acme",
        "tenant": "t-1",
        "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "analyzer", "input": {"language": "de"}, "values": ["key"]},
            {"step": "refund-v2", "on": ["failed", "expired"], "destination": "refunds"},
            {"step": "report-v1", "on": ["completed", "failed"], "destination": "mailer"}
        ],
        "expected": {"source-url": "https://a.example/v.mp4", "/size": 12},
        "poll_after": "10m",
        "give_up_after": "6h"
    })
}

fn read(json: &Value) -> Result<Binding, NotABinding> {
    binding(json.to_string().as_bytes())
}

fn bound() -> Binding {
    read(&whole()).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn completed() -> JobObservation {
    JobObservation {
        job: bound().job,
        source: name("tornado"),
        account: "acme".to_owned(),
        outcome: name("completed"),
        event: Some("job_completed".to_owned()),
        message_id: None,
        values: BTreeMap::from([(name("key"), "\"out/1.mp4\"".to_owned())]),
        body: body("{}"),
        digest: [0; 32],
        seen_at: NOW,
    }
}

fn body(text: &str) -> RenderedBody {
    RenderedBody {
        bytes: text.as_bytes().to_vec(),
        content_type: None,
        content_encoding: None,
    }
}

fn judged(binding: &Binding, observation: &JobObservation) -> Result<Vec<Action>, Mismatch> {
    qualify(binding, observation, NOW)
}

#[test]
fn a_binding_is_read_as_it_was_written() {
    let binding = bound();
    assert_eq!(binding.job.to_string(), "tornado/550e8400");
    assert_eq!(binding.attempt, Scalar::Number("1".to_owned()));
    assert_eq!(
        binding.steps[0].input.as_deref(),
        Some("{\"language\":\"de\"}")
    );
    assert_eq!(binding.poll_after, Some(Duration::from_secs(600)));
    assert_eq!(binding.expected.len(), 2);
    let mut small = whole();
    for field in ["account", "expected", "poll_after", "give_up_after"] {
        small.as_object_mut().unwrap().remove(field);
    }
    assert_eq!(read(&small).unwrap().account, DEFAULT_ACCOUNT);
}

#[test]
fn what_is_wrong_with_a_binding_is_said_with_its_place() {
    for (pointer, value, said) in [
        ("/space", json!("Tornado"), "/space is no name"),
        ("/job_id", json!(" "), "/job_id is empty or blank"),
        ("/job_id", json!("x".repeat(257)), "/job_id has 257 bytes"),
        ("/tenant", json!(""), "/tenant is empty or blank"),
        ("/attempt", json!(1.5), "/attempt is neither"),
        ("/attempt", json!(null), "/attempt is neither"),
        ("/attempt", json!(-1), "/attempt is neither"),
        ("/steps", json!([]), "/steps has 0 entries"),
        ("/steps/0/on", json!([]), "/steps/0/on is empty"),
        ("/steps/0/on/0", json!("Done!"), "/steps/0/on/0 is no name"),
        (
            "/steps/1/step",
            json!("analyze-v1"),
            "/steps/1/step is the name of an earlier step",
        ),
        (
            "/steps/1/destination",
            json!("a b"),
            "/steps/1/destination is no name",
        ),
        (
            "/steps/0/input",
            json!("x".repeat(70_000)),
            "/steps/0/input has 70002 bytes",
        ),
        ("/expected", json!({"/a~9": 1}), "/expected/~1a~09 is"),
        ("/expected", json!({"a": {}}), "/expected/a is an object"),
        (
            "/expected",
            json!({"a": "x".repeat(1023)}),
            "/expected/a has 1025 bytes",
        ),
        (
            "/steps/0/values",
            json!(["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
            "/steps/0/values has 9 entries",
        ),
        ("/poll_after", json!("soon"), "/poll_after is no time"),
        ("/poll_after", json!("7h"), "/give_up_after is not later"),
        (
            "/give_up_after",
            json!("0s"),
            "/give_up_after is not between",
        ),
        ("/tenant", json!(7), "this cannot be read: invalid type"),
        // An array of the fields in their order is no object.
        (
            "/steps/0",
            json!(["a-v1", ["completed"], "mailer", null, []]),
            "this cannot be read: invalid type: sequence, expected an object",
        ),
    ] {
        let mut written = whole();
        *written.pointer_mut(pointer).unwrap() = value;
        let found = read(&written).unwrap_err().to_string();
        assert!(found.starts_with(said), "{pointer}: {found}");
    }
    let mut unknown = whole();
    unknown["tenat"] = json!("x");
    let found = read(&unknown).unwrap_err().to_string();
    assert!(found.contains("unknown field `tenat`"), "{found}");
    let fields = "[\"a\",\"b\",null,\"c\",1,[{\"step\":\"s\",\"on\":[\"x\"],\"destination\":\"d\"}],{},null,null]";
    for odd in ["", "[]", "null", "{", "\u{feff}{}", fields] {
        assert!(binding(odd.as_bytes()).is_err(), "{odd}");
    }
}

#[test]
fn two_records_are_the_same_where_everything_in_them_is() {
    let print = bound().print();
    assert_eq!(bound().print(), print);
    for (pointer, value) in [
        ("/space", json!("sume")),
        ("/job_id", json!("550e8401")),
        ("/account", json!("other")),
        ("/tenant", json!("t-2")),
        ("/attempt", json!(2)),
        ("/attempt", json!("1")),
        ("/steps/0/step", json!("analyze-v2")),
        ("/steps/0/on", json!(["failed"])),
        ("/steps/0/destination", json!("other")),
        ("/steps/0/input", json!({"language": "en"})),
        ("/steps/0/values", json!([])),
        ("/expected", json!({})),
        ("/poll_after", json!("11m")),
        ("/give_up_after", json!("7h")),
    ] {
        let mut other = whole();
        *other.pointer_mut(pointer).unwrap() = value;
        assert_ne!(read(&other).unwrap().print(), print, "{pointer}");
    }
}

#[test]
fn an_end_makes_the_actions_of_the_steps_that_want_it() {
    let steps = |outcome: &str| -> Vec<String> {
        let observed = JobObservation {
            outcome: name(outcome),
            ..completed()
        };
        let actions = judged(&bound(), &observed).unwrap();
        actions
            .iter()
            .map(|action| action.rule.to_string())
            .collect()
    };
    assert_eq!(steps("completed"), ["analyze-v1", "report-v1"]);
    assert_eq!(steps("failed"), ["refund-v2", "report-v1"]);
    assert_eq!(steps("expired"), ["refund-v2"]);
    assert!(steps("cancelled").is_empty());
}

#[test]
fn whoever_observes_first_makes_the_same_action() {
    let by_webhook = judged(&bound(), &completed()).unwrap();
    let polled = JobObservation {
        source: name("tornado-organization"),
        ..completed()
    };
    let by_poll = judged(&bound(), &polled).unwrap();
    for (one, other) in by_webhook.iter().zip(&by_poll) {
        assert_eq!(one.key, other.key);
        assert_eq!(one.fingerprint, other.fingerprint);
        assert_eq!(one.body, other.body);
    }
    let body: Value = serde_json::from_slice(&by_webhook[0].body.bytes).unwrap();
    let wanted = json!({
        "key": by_webhook[0].key.as_str(),
        "tenant": "t-1",
        "attempt": 1,
        "step": "analyze-v1",
        "job": {"space": "tornado", "id": "550e8400", "account": "acme"},
        "outcome": "completed",
        "input": {"language": "de"},
        "values": {"key": "out/1.mp4"}
    });
    assert_eq!(body, wanted);
}

#[test]
fn a_key_is_made_of_tenant_attempt_and_step_alone() {
    let key = |pointer: &str, value: Value| {
        let mut written = whole();
        *written.pointer_mut(pointer).unwrap() = value;
        let actions = judged(&read(&written).unwrap(), &completed()).unwrap();
        (actions[0].key.clone(), actions[0].fingerprint)
    };
    let (first, print) = key("/tenant", json!("t-1"));
    for (pointer, value) in [
        ("/tenant", json!("t-2")),
        ("/attempt", json!(2)),
        ("/steps/0/step", json!("analyze-v2")),
    ] {
        assert_ne!(key(pointer, value).0, first, "{pointer}");
    }
    // Another job under the same three is the same key with other content: a conflict.
    let (key, other_print) = key("/job_id", json!("another"));
    assert_eq!(key, first);
    assert_ne!(other_print, print);
}

#[test]
fn another_accounts_observation_is_none_of_the_jobs() {
    let other = JobObservation {
        account: "default".to_owned(),
        ..completed()
    };
    let mismatch = judged(&bound(), &other).unwrap_err();
    assert!(matches!(mismatch, Mismatch::Account { .. }), "{mismatch}");
}

#[test]
fn what_was_expected_is_compared_where_the_observation_says_anything_of_it() {
    let observed = |source_url: Option<&str>, size: Option<&str>| {
        let mut observed = completed();
        let value = source_url.map(|url| format!("\"{url}\""));
        observed
            .values
            .extend(value.map(|value| (name("source-url"), value)));
        if let Some(size) = size {
            observed.body = body(&format!("{{\"size\":{size}}}"));
        }
        judged(&bound(), &observed)
    };
    assert!(observed(None, None).is_ok());
    assert!(observed(Some("https://a.example/v.mp4"), Some("12")).is_ok());
    for (url, size) in [
        (Some("https://a.example/w.mp4"), None),
        (None, Some("13")),
        (None, Some("\"12\"")),
        (None, Some("null")),
        (None, Some("{}")),
        (None, Some("12,\"size\":12")),
    ] {
        let mismatch = observed(url, size).unwrap_err();
        assert!(matches!(mismatch, Mismatch::Expected { .. }), "{mismatch}");
    }
}

#[test]
fn an_end_that_lacks_what_a_step_delivers_makes_no_action() {
    let lacking = JobObservation {
        values: BTreeMap::new(),
        ..completed()
    };
    let mismatch = judged(&bound(), &lacking).unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        "the step analyze-v1 delivers \"key\", and this does not tell it"
    );
    assert_eq!(agree(&bound(), &lacking), Ok(()));
    // A step that delivers nothing of it wants nothing of it.
    let failed = JobObservation {
        outcome: name("failed"),
        ..lacking
    };
    assert_eq!(judged(&bound(), &failed).unwrap().len(), 2);
}

#[test]
fn a_job_that_is_given_up_makes_the_actions_of_its_silence_alone() {
    let mut written = whole();
    written["steps"][1]["on"] = json!(["silent"]);
    let actions = give_up(&read(&written).unwrap(), &name("tornado"), NOW);
    let [action] = actions.as_slice() else {
        panic!("{actions:?}");
    };
    assert_eq!(action.rule.as_str(), "refund-v2");
    let body: Value = serde_json::from_slice(&action.body.bytes).unwrap();
    assert_eq!(body["outcome"], "silent");
    assert!(give_up(&bound(), &name("tornado"), NOW).is_empty());
    written["steps"][1]["on"] = json!(["silent", "failed"]);
    let mixed = read(&written).unwrap_err().to_string();
    assert!(
        mixed.starts_with("/steps/1/on has \"silent\" beside"),
        "{mixed}"
    );
}
