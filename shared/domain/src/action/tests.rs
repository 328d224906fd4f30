use ackbox_signature::{Headers, Message, Scheme, SignRequest};
use proptest::prelude::*;

use super::*;
use crate::carriage::{Carriage, Form, Unfit};
use crate::follow::follow;
use crate::source::{Each, EventPattern};

pub(crate) const NOW: Timestamp = Timestamp::from_unix_ms(1_764_000_000_000);

pub(crate) fn source() -> Source {
    Source {
        name: "reports".parse().unwrap(),
        previously: Vec::new(),
        id: vec![Locator::Header {
            name: "webhook-id".into(),
            covered: true,
        }],
        event: vec![Locator::Body("/type".parse().unwrap())],
        subject: vec![Locator::Body("/data/id".parse().unwrap())],
        account: Vec::new(),
        each: None,
        test_events: vec!["webhook.test".into()],
        progress_events: vec!["export.progress".into()],
        form_field: Some("payload".into()),
        rules: vec![rule("ready", &["message:id"])],
        jobs: None,
        max_age: None,
        max_body: 10_000,
    }
}

pub(crate) fn rule(name: &str, key: &[&str]) -> Rule {
    Rule {
        name: name.parse().unwrap(),
        previously: Vec::new(),
        on: vec![EventPattern::from("export.*")],
        key: key.iter().map(|part| part.parse().unwrap()).collect(),
        namespace: format!("reports/{name}"),
        fingerprint: vec![FingerprintPart::Body],
        destination: "mailer".parse().unwrap(),
        payload: Payload::Body,
        carriage: Carriage::ANYTHING,
    }
}

/// What the source makes of a message signed for it, and read only after that.
pub(crate) fn made(
    source: &Source,
    extra: &[(&str, &str)],
    body: &[u8],
) -> Vec<Result<Action, Malformed>> {
    let scheme = Scheme::builtin("standard-webhooks").unwrap();
    let secret = scheme
        .secret("env:S", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap();
    let request = SignRequest {
        method: "POST",
        url: "/hooks/reports",
        body,
        now_ms: NOW.unix_ms(),
        id: "msg_1",
        event: None,
    };
    let mut headers: Headers = scheme
        .sign(&request, &secret)
        .unwrap()
        .into_iter()
        .collect();
    for (name, value) in extra {
        headers.push(name, value);
    }
    let message = Message {
        method: "POST",
        url: "/hooks/reports",
        headers: &headers,
        body,
    };
    let secrets = [secret];
    let verified = scheme
        .verify(&message, &secrets, NOW.unix_ms(), None)
        .unwrap();
    let document = Document::read(source, &verified);
    follow(source, &document, NOW)
        .into_iter()
        .flat_map(|fact| match fact {
            Ok(fact) => fact.actions,
            Err(malformed) => vec![Err(malformed)],
        })
        .collect()
}

pub(crate) fn one(source: &Source, body: &str) -> Result<Action, Malformed> {
    let mut made = made(source, &[], body.as_bytes());
    assert_eq!(made.len(), 1, "{made:?}");
    made.remove(0)
}

const READY: &str = r#"{"type":"export.ready","data":{"id":"exp_1"}}"#;

#[test]
fn an_action_carries_its_identity_and_the_bytes_that_came() {
    let action = one(&source(), READY).unwrap();
    assert_eq!(action.key.as_str().len(), 36);
    assert_eq!(action.key, action.key.as_str().parse().unwrap());
    assert_eq!(action.body.bytes, READY.as_bytes());
    assert_eq!(action.subject.as_deref(), Some("exp_1"));
    assert_eq!(action.message_id.as_deref(), Some("msg_1"));
}

#[test]
fn an_event_that_no_rule_wants_and_a_test_event_make_no_action() {
    assert!(made(&source(), &[], br#"{"type":"other"}"#).is_empty());
    let mut greedy = source();
    greedy.rules[0].on = vec![EventPattern::Any];
    assert!(made(&greedy, &[], br#"{"type":"webhook.test"}"#).is_empty());
}

#[test]
fn two_rules_on_one_observation_make_two_actions_unless_they_share_a_namespace() {
    let mut source = source();
    source.rules.push(rule("other", &["message:id"]));
    let keys = |source: &Source| -> Vec<ActionKey> {
        let made = made(source, &[], READY.as_bytes());
        made.into_iter().map(|a| a.unwrap().key).collect()
    };
    let apart = keys(&source);
    assert_ne!(apart[0], apart[1]);
    for rule in &mut source.rules {
        rule.namespace = "reports".into();
    }
    let shared = keys(&source);
    assert_eq!(shared[0], shared[1]);
}

#[test]
fn a_part_that_is_missing_null_empty_blank_or_too_long_is_an_error_that_names_it() {
    let mut source = source();
    source.rules = vec![rule("ready", &["/data/id"])];
    let long = format!("\"{}\"", "x".repeat(257));
    for (id, problem) in [
        ("null", "is null"),
        ("\"\"", "is empty"),
        ("\" \\t\\u00a0\"", "is blank"),
        ("\"\\u200b\\ufeff\"", "is blank"),
        ("{}", "is an object or array"),
        ("[1]", "is an object or array"),
        ("\"\\udc00\"", "is a string that is not valid Unicode"),
        (long.as_str(), "is 257 bytes long"),
    ] {
        let body = format!(r#"{{"type":"export.ready","data":{{"id":{id}}}}}"#);
        let message = one(&source, &body).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
        assert!(
            message.contains("rule ready: key part \"/data/id\""),
            "{message}"
        );
    }
    let missing = one(&source, r#"{"type":"export.ready"}"#).unwrap_err();
    assert_eq!(missing.problem, Problem::Missing);
}

#[test]
fn a_name_that_stands_twice_on_the_way_to_a_part_is_malformed() {
    let mut source = source();
    source.rules = vec![rule("ready", &["/data/id"])];
    let body = r#"{"type":"export.ready","data":{"id":"a","id":"b"}}"#;
    assert!(matches!(
        one(&source, body).unwrap_err().problem,
        Problem::Unread(_)
    ));
}

#[test]
fn what_no_rule_reads_cannot_make_a_message_malformed() {
    let bytes = b"{\"type\":\"export.ready\",\"junk\":\"\xff\xfe\",\"id\":1,\"id\":2}";
    let made = made(&source(), &[], bytes);
    assert_eq!(made[0].as_ref().unwrap().body.bytes, bytes);
}

#[test]
fn a_large_number_is_never_rounded_into_another() {
    let mut source = source();
    source.rules = vec![rule("ready", &["/data/id"])];
    let key = |id: &str| {
        let body = format!(r#"{{"type":"export.ready","data":{{"id":{id}}}}}"#);
        one(&source, &body).unwrap().key
    };
    assert_ne!(key("9007199254740993"), key("9007199254740992"));
    assert_ne!(key("1"), key("\"1\""));
    assert_eq!(key("\"a\""), key("\"\\u0061\""));
}

#[test]
fn a_fingerprint_of_values_ignores_the_rest_of_the_body() {
    let mut source = source();
    let body = |id: &str, junk: u8| {
        format!(r#"{{"type":"export.ready","data":{{"id":"{id}"}},"junk":{junk}}}"#)
    };
    let print = |source: &Source, body: &str| one(source, body).unwrap().fingerprint;
    assert_ne!(
        print(&source, &body("a", 1)).hash,
        print(&source, &body("a", 2)).hash
    );
    source.rules[0].fingerprint = vec!["/data/id".parse().unwrap()];
    assert_eq!(
        print(&source, &body("a", 1)).hash,
        print(&source, &body("a", 2)).hash
    );
    assert_ne!(
        print(&source, &body("a", 1)).hash,
        print(&source, &body("b", 1)).hash
    );
}

#[test]
fn a_value_of_another_shape_counts_as_absent_on_both_sides() {
    let mut source = source();
    let pointers = ["/job_id", "/data/id"].map(|p| p.parse().unwrap());
    source.rules[0].fingerprint = pointers.map(FingerprintPart::ValueIfThere).to_vec();
    let hash = |body: &str| one(&source, body).unwrap().fingerprint.hash;
    let old = r#"{"type":"export.ready","data":{"id":"a"}}"#;
    assert_eq!(hash(old), hash(&old.replace("}}", "},\"junk\":1}")));
    assert_ne!(hash(old), hash(r#"{"type":"export.ready","job_id":"a"}"#));
    assert_ne!(
        hash(r#"{"type":"export.x"}"#),
        hash(r#"{"type":"export.y"}"#)
    );
}

#[test]
fn an_envelope_holds_the_key_and_the_fact_as_it_was_written() {
    let mut source = source();
    source.rules[0].payload = Payload::Envelope;
    let action = one(&source, READY).unwrap();
    let envelope: serde_json::Value = serde_json::from_slice(&action.body.bytes).unwrap();
    assert_eq!(envelope["key"], action.key.as_str());
    assert_eq!(envelope["source"], "reports");
    assert_eq!(envelope["event"], "export.ready");
    assert_eq!(envelope["subject"], "exp_1");
    assert_eq!(envelope["accepted_at"], NOW.to_string());
    let text = String::from_utf8(action.body.bytes).unwrap();
    assert!(text.contains(&format!("\"data\":{READY}")), "{text}");
}

#[test]
fn a_batch_makes_an_action_of_each_element_and_one_bad_element_keeps_none_back() {
    let mut source = source();
    source.each = Some(Each {
        pointer: "/events".parse().unwrap(),
        max: 3,
    });
    source.rules = vec![rule("ready", &["/data/id", "body:/account"])];
    let body = r#"{"account":"acc","events":[
        {"type":"export.ready","data":{"id":"a"}},
        {"type":"export.ready","data":{}},
        {"type":"export.ready","data":{"id":"b"}}]}"#;
    let made = made(&source, &[], body.as_bytes());
    assert_eq!(
        made.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, true]
    );
    let first = made[0].as_ref().unwrap();
    assert_eq!(
        first.body.bytes,
        br#"{"type":"export.ready","data":{"id":"a"}}"#
    );
    let four = r#"{"account":"acc","events":[1,2,3,4]}"#;
    let too_many = one(&source, four).unwrap_err();
    assert_eq!(too_many.problem, Problem::TooMany { max: 3 });
    assert_eq!(
        one(&source, r#"{"events":{}}"#).unwrap_err().problem,
        Problem::NotAnArray
    );
}

#[test]
fn a_compressed_body_is_read_decoded_and_sent_as_it_came() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, READY.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let action = made(&source(), &[("content-encoding", "gzip")], &gzip)
        .remove(0)
        .unwrap();
    assert_eq!(action.body.bytes, gzip);
    assert_eq!(action.body.content_encoding.as_deref(), Some("gzip"));
    assert_eq!(action.subject.as_deref(), Some("exp_1"));
    let other = made(&source(), &[("content-encoding", "br")], &gzip)
        .remove(0)
        .unwrap_err();
    assert!(
        other.to_string().contains("\"br\": only gzip is read"),
        "{other}"
    );
}

#[test]
fn a_compressed_body_cannot_expand_over_the_limit() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &vec![b' '; 5_000_000]).unwrap();
    let bomb = encoder.finish().unwrap();
    let refused = made(&source(), &[("content-encoding", "gzip")], &bomb)
        .remove(0)
        .unwrap_err();
    assert!(
        refused.to_string().contains("more than 10000 bytes"),
        "{refused}"
    );
}

#[test]
fn a_form_is_read_by_its_json_field_only() {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body =
        b"payload=%7B%22type%22%3A%22export.ready%22%2C%22data%22%3A%7B%22id%22%3A%22a+b%22%7D%7D";
    let action = made(&source(), &form, body).remove(0).unwrap();
    assert_eq!(action.subject.as_deref(), Some("a b"));
    assert_eq!(action.body.bytes, body);
    for bad in [
        &b"payload=%7"[..],
        b"payload=%zz",
        b"other=1",
        b"payload={}&payload={}",
    ] {
        let refused = made(&source(), &form, bad).remove(0).unwrap_err();
        assert!(matches!(refused.problem, Problem::Unread(_)), "{refused}");
    }
    let mut plain = source();
    plain.form_field = None;
    let refused = made(&plain, &form, body).remove(0).unwrap_err();
    assert!(
        refused.to_string().contains("application/json"),
        "{refused}"
    );
}

#[test]
fn signed_json_cannot_be_replayed_as_a_form_that_says_something_else() {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body =
        br#"{"type":"export.ready","t":"x&payload=%7B%22type%22%3A%22export.ready%22%7D&y="}"#;
    let refused = made(&source(), &form, body).remove(0).unwrap_err();
    assert!(refused.to_string().contains("is none"), "{refused}");
}

#[test]
fn a_value_of_the_whole_body_is_looked_up_once_for_all_elements() {
    let mut source = source();
    source.each = Some(Each {
        pointer: "/events".parse().unwrap(),
        max: 100,
    });
    source.rules = vec![rule("ready", &["/data/id", "body:/account"])];
    let element = |n: usize| format!(r#"{{"type":"export.ready","data":{{"id":{n}}}}}"#);
    let events: Vec<String> = (0..50).map(element).collect();
    let body = format!(r#"{{"events":[{}],"account":"a"}}"#, events.join(","));
    let actions = made(&source, &[], body.as_bytes());
    assert_eq!(actions.len(), 50);
    assert!(
        actions
            .iter()
            .all(|a| a.as_ref().unwrap().parts[1].1.as_str() == "a")
    );
}

fn scalars() -> impl Strategy<Value = Vec<Scalar>> {
    let scalar = prop_oneof![
        "[a-c:/|]{0,4}".prop_map(Scalar::Text),
        "[0-9]{1,3}".prop_map(Scalar::Number),
        any::<bool>().prop_map(Scalar::Bool),
    ];
    prop::collection::vec(scalar, 0..4)
}

proptest! {
    #[test]
    fn part_boundaries_never_collide(
        a in ("[a-c/]{0,3}", scalars()),
        b in ("[a-c/]{0,3}", scalars()),
    ) {
        let same = ActionKey::new(&a.0, &a.1) == ActionKey::new(&b.0, &b.1);
        prop_assert_eq!(same, a == b);
    }

    #[test]
    fn equal_observations_give_equal_keys(id in "[ -~]{1,40}", noise in any::<u32>()) {
        prop_assume!(!id.trim().is_empty());
        let mut source = source();
        source.rules = vec![rule("ready", &["/data/id"])];
        let id = serde_json::Value::String(id);
        let body = |noise: u32| format!(
            r#"{{"noise":{noise},"type":"export.ready","data":{{"id":{id}}}}}"#
        );
        let first = one(&source, &body(noise)).unwrap();
        let second = one(&source, &body(noise.wrapping_add(1))).unwrap();
        prop_assert_eq!(first.key, second.key);
    }

    #[test]
    fn no_body_makes_the_rules_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = made(&source(), &[], &body);
    }
}

#[test]
fn a_body_that_the_way_cannot_carry_is_refused_and_says_so() {
    let mut source = source();
    source.rules[0].carriage = Carriage {
        form: Form::Json,
        max: Some(1000),
        group: Some("/data/tenant".parse().unwrap()),
    };
    let body = br#"{"type":"export.ready","data":{"id":"1","tenant":"a-7"}}"#;
    assert!(made(&source, &[], body)[0].is_ok());
    let body = br#"{"type":"export.ready","data":{"id":"1"}}"#;
    let refused = made(&source, &[], body).remove(0).unwrap_err();
    assert!(
        matches!(&refused.problem, Problem::Unfit(unfit) if matches!(**unfit, Unfit::NoGroup(_)))
    );
    assert_eq!(
        refused.to_string(),
        "rule ready: the body (for the destination mailer) has no value at /data/tenant, by which the destination groups its messages"
    );
}
