//! Whatever comes: an answer in JSON, never a panic, and never a 5xx for what the caller sent.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

/// Where something is put, and what: of the record and of both forms of an observation.
fn changed_json() -> impl Strategy<Value = (bool, Vec<u8>)> {
    let pointers = vec![
        "",
        "/space",
        "/job_id",
        "/account",
        "/tenant",
        "/attempt",
        "/steps",
        "/steps/0",
        "/steps/0/step",
        "/steps/0/on",
        "/steps/0/on/0",
        "/steps/0/destination",
        "/steps/0/input",
        "/steps/0/values",
        "/expected",
        "/expected/key",
        "/poll_after",
        "/give_up_after",
        "/outcome",
        "/values",
        "/values/key",
        "/source",
        "/observation",
        "/observation/status",
    ];
    let text = prop_oneof![
        "\\PC{0,40}",
        Just("x".repeat(300)),
        Just("\u{0}\u{202e}\u{feff}".to_owned()),
        Just("tornado".to_owned()),
        Just("completed".to_owned()),
        Just("99999999999999999999999999y".to_owned()),
        Just("1ns".to_owned()),
    ];
    let value = prop_oneof![
        text.prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[[[[1]]]]]])),
        Just(json!(vec!["a"; 100])),
        Just(json!({"a": {"a": {"a": null}}, "~": 1, "/": 2, "/~": 3})),
    ];
    let whole = prop::sample::select(vec![
        {
            let mut whole = record("j");
            whole["account"] = json!("default");
            whole["steps"][0]["values"] = json!(["key"]);
            whole["expected"] = json!({"key": "x"});
            whole["poll_after"] = json!("1m");
            whole["give_up_after"] = json!("2m");
            whole
        },
        json!({"space": "tornado", "job_id": "j", "account": "default", "outcome": "completed", "values": {"key": 1}}),
        json!({"source": "tornado", "job_id": "j", "account": "default", "observation": {"status": "completed"}}),
    ]);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    (
        any::<bool>(),
        whole,
        prop::sample::select(pointers),
        value,
        cut,
    )
        .prop_map(|(is_record, mut whole, pointer, value, cut)| {
            if let Some(place) = whole.pointer_mut(pointer) {
                *place = value;
            }
            let mut bytes = whole.to_string().into_bytes();
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            (is_record, bytes)
        })
}

#[test]
fn no_body_ends_in_a_panic_or_in_our_own_fault() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(world());
    let registrar = runtime.block_on(world.registrar());
    let any_bytes = prop::collection::vec(any::<u8>(), 0..200);
    let bodies = prop_oneof![
        4 => changed_json(),
        1 => (any::<bool>(), any_bytes),
    ];
    let mut runner = TestRunner::new(Config::with_cases(256));
    let judged = runner.run(&bodies, |(is_record, body)| {
        let path = if is_record { "/jobs" } else { "/observations" };
        let answer = runtime.block_on(ask(&registrar, "POST", path, body.clone()));
        let body = String::from_utf8_lossy(&body);
        prop_assert!(answer.status < 500, "{} {}: {:?}", path, body, answer);
        Ok(())
    });
    judged.unwrap();
}

#[tokio::test]
async fn deep_and_long_bodies_are_answered() {
    let world = world().await;
    let registrar = world.registrar().await;
    let deep = "[".repeat(200_000);
    let nested = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let names: String = (0..20_000).map(|n| format!("\"/{n}\":1,")).collect();
    let many =
        record("j")
            .to_string()
            .replacen('{', &format!("{{\"expected\":{{{names}\"/x\":1}},"), 1);
    for path in ["/jobs", "/observations"] {
        for body in [deep.clone(), nested.clone(), many.clone()] {
            let answer = ask(&registrar, "POST", path, body).await;
            assert_eq!(answer.said(), (400, "malformed"), "{path}");
        }
    }
    // Inside what is kept as it came, depth is nobody's business.
    let body = format!(
        "{{\"source\":\"tornado\",\"job_id\":\"j\",\"observation\":{{\"status\":\"completed\",\"x\":{}1{}}}}}",
        "[".repeat(100),
        "]".repeat(100)
    );
    let answer = ask(&registrar, "POST", "/observations", body).await;
    assert_eq!(answer.said(), (200, "parked"));
}

#[tokio::test]
async fn a_defect_of_our_own_is_500_and_says_nothing_of_it() {
    let world = world().await;
    let clock =
        std::sync::Arc::new(|| -> ackbox_domain::Timestamp { panic!("the clock stands still") });
    let registrar = Registrar::new(world.config.clone(), world.store().await, clock);
    let answer = bind(&registrar, &record("j-1")).await;
    assert_eq!(answer.said(), (500, "error"));
    assert_eq!(answer.body, b"{\"outcome\":\"error\"}");
}
