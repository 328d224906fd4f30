//! `docs/schema/job-binding.schema.json` describes to programs what [`binding`] reads. Here both judge the same
//! documents, by a reader of the few keywords that the schema uses; one that it does not know ends the test.

use std::path::Path;

use ackbox_domain::Name;
use ackbox_domain::job::{Binding, JobRef, SILENT, binding};
use serde_json::{Value, json};

mod judge;

use judge::Schema;

fn repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    std::fs::read_to_string(path).unwrap()
}

fn schema() -> Schema {
    let text = repository("docs/schema/job-binding.schema.json");
    Schema(serde_json::from_str(&text).unwrap())
}

fn whole() -> Value {
    json!({
        "space": "tornado", "job_id": "550e8400", "account": "acme", "tenant": "t-1", "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "analyzer", "input": {"n": [1]}, "values": ["key"]},
            {"step": "refund-v2", "on": ["failed", "expired"], "destination": "refunds"}
        ],
        "expected": {"source-url": "https://a.example/v.mp4", "/size": 12, "/a~0b/~1": true},
        "poll_after": "10m", "give_up_after": "6h"
    })
}

/// With another value at a place; `None`: without it.
fn changed(pointer: &str, value: Option<Value>) -> Value {
    let mut written = whole();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = written.pointer_mut(parent).unwrap();
    match (value, name.parse::<usize>()) {
        (Some(value), Ok(at)) => parent[at] = value,
        (Some(value), Err(_)) => parent[name] = value,
        (None, _) => drop(parent.as_object_mut().unwrap().remove(name)),
    }
    written
}

fn is_read(document: &Value) -> bool {
    binding(document.to_string().as_bytes()).is_ok()
}

#[track_caller]
fn both_take(document: &Value, what: &str) {
    assert!(schema().takes(document), "the schema refuses {what}");
    let read = binding(document.to_string().as_bytes());
    assert!(read.is_ok(), "{what}: {read:?}");
}

#[track_caller]
fn both_refuse(document: &Value, what: &str) {
    assert!(!schema().takes(document), "the schema takes {what}");
    assert!(!is_read(document), "{what} is read");
}

#[test]
fn both_take_what_is_good() {
    both_take(&whole(), "the whole");
    for optional in [
        "/account",
        "/expected",
        "/poll_after",
        "/give_up_after",
        "/steps/0/input",
        "/steps/0/values",
    ] {
        both_take(&changed(optional, None), &format!("one without {optional}"));
    }
    let step = |n: usize| json!({"step": format!("s-{n}"), "on": ["x"], "destination": "d"});
    let many: serde_json::Map<_, _> = (0..32).map(|n| (format!("/{n}"), json!(n))).collect();
    for (pointer, value) in [
        ("/space", json!("0")),
        ("/space", json!("a".repeat(64))),
        ("/job_id", json!("x".repeat(256))),
        ("/job_id", json!("a/b #\u{e4}")),
        ("/account", Value::Null),
        ("/attempt", json!("second try")),
        ("/attempt", json!(0)),
        ("/attempt", json!(u64::MAX)),
        ("/steps", (0..16).map(step).collect()),
        ("/steps/0/on", json!([SILENT])),
        ("/steps/0/on", json!(["a", "b", "a"])),
        ("/steps/0/input", Value::Null),
        ("/steps/0/input", json!("text")),
        ("/steps/0/values", json!([])),
        ("/expected", json!({})),
        ("/expected", Value::Object(many)),
        ("/expected", json!({"/": "", "//": 1.5, "a-1": false})),
        ("/expected", json!({"/a".repeat(32): 1})),
        ("/poll_after", Value::Null),
        ("/poll_after", json!("1ms")),
        ("/poll_after", json!("1h 30m")),
        ("/poll_after", json!("1h30m")),
        ("/give_up_after", json!("52w")),
    ] {
        both_take(
            &changed(pointer, Some(value.clone())),
            &format!("{pointer} = {value}"),
        );
    }
}

#[test]
fn both_refuse_what_is_bad() {
    for other in [json!([]), json!(null), json!("x"), json!({})] {
        both_refuse(&other, &other.to_string());
    }
    for needed in [
        "/space",
        "/job_id",
        "/tenant",
        "/attempt",
        "/steps",
        "/steps/0/step",
        "/steps/0/on",
        "/steps/0/destination",
    ] {
        both_refuse(&changed(needed, None), &format!("one without {needed}"));
        both_refuse(
            &changed(needed, Some(Value::Null)),
            &format!("{needed} = null"),
        );
    }
    let step = |n: usize| json!({"step": format!("s-{n}"), "on": ["x"], "destination": "d"});
    let many: serde_json::Map<_, _> = (0..33).map(|n| (format!("/{n}"), json!(n))).collect();
    for (pointer, value) in [
        ("/spce", json!("a")),
        ("/space", json!("")),
        ("/space", json!("-a")),
        ("/space", json!("A")),
        ("/space", json!("a".repeat(65))),
        ("/job_id", json!("")),
        ("/job_id", json!(" \t")),
        ("/job_id", json!(7)),
        ("/job_id", json!("x".repeat(257))),
        ("/account", json!("")),
        ("/tenant", json!("x".repeat(257))),
        ("/attempt", json!("")),
        ("/attempt", json!(-1)),
        ("/attempt", json!(1.5)),
        ("/attempt", json!(true)),
        ("/steps", json!([])),
        ("/steps", (0..17).map(step).collect()),
        ("/steps", json!({})),
        ("/steps/0", json!(["a", ["b"], "c"])),
        ("/steps/0/stp", json!("a")),
        ("/steps/0/step", json!("a b")),
        ("/steps/0/on", json!([])),
        ("/steps/0/on", json!("completed")),
        ("/steps/0/on", json!(["Done"])),
        ("/steps/0/on", json!([SILENT, "failed"])),
        ("/steps/0/destination", json!("a_b")),
        ("/steps/0/values", json!(["a b"])),
        ("/steps/0/values", Value::Null),
        ("/expected", Value::Object(many)),
        ("/expected", Value::Null),
        ("/expected", json!({"": 1})),
        ("/expected", json!({"a b": 1})),
        ("/expected", json!({"/a~2": 1})),
        ("/expected", json!({"/a".repeat(33): 1})),
        ("/expected", json!({"a": null})),
        ("/expected", json!({"a": {}})),
        ("/poll_after", json!("soon")),
        ("/poll_after", json!(10)),
        ("/poll_after", json!("-1m")),
        ("/give_up_after", json!("")),
    ] {
        both_refuse(
            &changed(pointer, Some(value.clone())),
            &format!("{pointer} = {value}"),
        );
    }
}

/// What the schema says in words only: it takes what is not read.
#[test]
fn what_a_schema_cannot_say_is_checked_beside_it() {
    for (pointer, value) in [
        ("/job_id", json!("\u{e4}".repeat(200))),
        ("/tenant", json!("\u{200b}")),
        ("/steps/1/step", json!("analyze-v1")),
        ("/steps/0/input", json!("x".repeat(Binding::INPUT_MAX))),
        ("/poll_after", json!("0s")),
        ("/poll_after", json!("6h")),
        ("/give_up_after", json!("366d")),
    ] {
        let document = changed(pointer, Some(value));
        assert!(schema().takes(&document), "{pointer}");
        assert!(!is_read(&document), "{pointer}");
    }
}

#[test]
fn the_schemas_limits_are_the_codes() {
    let Schema(schema) = schema();
    let at = |pointer: &str| schema.pointer(pointer).unwrap().as_u64().unwrap() as usize;
    assert_eq!(at("/$defs/text/maxLength"), JobRef::ID_MAX);
    assert_eq!(at("/$defs/text/maxLength"), Binding::TEXT_MAX);
    assert_eq!(at("/properties/steps/maxItems"), Binding::STEPS_MAX);
    assert_eq!(
        at("/properties/expected/maxProperties"),
        Binding::EXPECTED_MAX
    );
    assert_eq!(
        at("/$defs/step/properties/values/maxItems"),
        Binding::VALUES_MAX
    );
    let quoted = at("/properties/expected/additionalProperties/maxLength") + 2;
    assert_eq!(quoted, Binding::EXPECTED_VALUE_MAX);
    let name = format!("^[a-z0-9][a-z0-9-]{{0,{}}}$", Name::MAX - 1);
    assert_eq!(schema["$defs"]["name"]["pattern"], name);
    let words = schema["description"].as_str().unwrap();
    assert!(words.contains(&Binding::INPUT_MAX.to_string()), "{words}");
}

#[test]
fn every_example_is_a_binding() {
    for example in schema().0["examples"].as_array().unwrap() {
        both_take(example, "an example");
    }
    // Of the documentation too: every JSON block with steps.
    let text = repository("docs/jobs.md");
    let blocks = text
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let bindings: Vec<&str> = blocks.filter(|block| block.contains("\"steps\"")).collect();
    assert!(!bindings.is_empty());
    for block in bindings {
        both_take(&serde_json::from_str(block).unwrap(), "the documentation's");
    }
}
