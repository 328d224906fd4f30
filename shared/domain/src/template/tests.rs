use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::action::tests::{NOW, made, one, source};
use crate::action::{Action, RenderedBody};
use crate::json::{NotAPointer, NotAScalar};
use crate::observation::{Malformed, Problem};
use crate::source::{Each, Payload, Source};

const PAID: &str = r#"{"type":"export.ready","data":{"id":9007199254740993,"to":"a\"b","total":1.50,"gone":null,"lines":[1, {"a":2}],"ok":true,"empty":""}}"#;

fn text(written: &str) -> Text {
    written.parse().unwrap()
}

fn object(members: &[(&str, &str)]) -> Node {
    let members = members.iter();
    Node::Object(
        members
            .map(|(name, written)| ((*name).to_owned(), Node::Text(text(written))))
            .collect(),
    )
}

/// A source whose one rule sends this shape.
fn sending(shape: Shape) -> Source {
    let mut source = source();
    source.rules[0].payload = Payload::Template(Template {
        shape,
        content_type: "application/json".to_owned(),
    });
    source
}

fn rendered(node: Node) -> String {
    sent(&one(&sending(Shape::Json(node)), PAID).unwrap().body)
}

fn sent(body: &RenderedBody) -> String {
    String::from_utf8(body.bytes.clone()).unwrap()
}

fn refused(shape: Shape) -> Malformed {
    one(&sending(shape), PAID).unwrap_err()
}

#[test]
fn values_keep_the_text_and_the_type_that_their_sender_gave_them() {
    let node = object(&[
        ("id", "{/data/id}"),
        ("total", "{/data/total}"),
        ("to", "{/data/to}"),
        ("gone", "{/data/gone}"),
        ("lines", "{/data/lines}"),
        ("ok", "{/data/ok}"),
    ]);
    assert_eq!(
        rendered(node),
        r#"{"id":9007199254740993,"total":1.50,"to":"a\"b","gone":null,"lines":[1, {"a":2}],"ok":true}"#
    );
}

#[test]
fn values_in_a_text_are_its_characters_and_nothing_else() {
    let node = object(&[(
        "text",
        "{{Order}} \"{/data/id}\" of {/data/to}: {/data/ok}{/data/empty}\n",
    )]);
    assert_eq!(
        rendered(node),
        r#"{"text":"{Order} \"9007199254740993\" of a\"b: true\n"}"#
    );
}

#[test]
fn literals_lists_and_nested_objects_are_sent_in_their_order() {
    let number = |token| Node::Number(Number::new(token).unwrap());
    let node = Node::Object(vec![
        ("z\"".into(), number("1.50")),
        ("a".into(), Node::Bool(false)),
        (
            "list".into(),
            Node::List(vec![
                Node::Bool(true),
                Node::Text(text("")),
                object(&[]),
                object(&[("b", "{/data/ok}")]),
            ]),
        ),
    ]);
    assert_eq!(
        rendered(node),
        r#"{"z\"":1.50,"a":false,"list":[true,"",{},{"b":true}]}"#
    );
}

#[test]
fn what_the_action_and_the_message_are_can_be_told() {
    let node = object(&[
        ("key", "{key}"),
        ("at", "{accepted_at}"),
        ("from", "{source} {message:id} {message:event}"),
        ("subject", "{message:subject}"),
    ]);
    let action = one(&sending(Shape::Json(node)), PAID).unwrap();
    let body: Value = serde_json::from_slice(&action.body.bytes).unwrap();
    assert_eq!(body["key"], action.key.as_str());
    assert_eq!(body["at"], NOW.to_string());
    assert_eq!(body["from"], "reports msg_1 export.ready");
    assert!(sent(&action.body).contains("\"subject\":9007199254740993"));
    assert_eq!(
        action.body.content_type.as_deref(),
        Some("application/json")
    );
    assert_eq!(action.body.content_encoding, None);
}

#[test]
fn a_value_that_is_not_there_makes_the_message_unusable() {
    for (written, problem) in [
        ("{/data/name}", Problem::Missing),
        ("Dear {/data/name}", Problem::Missing),
        ("{message:account}", Problem::Missing),
        ("Dear {/data/gone}", NotAScalar::Null.into()),
        ("{text:/data/gone}", NotAScalar::Null.into()),
        ("Lines {/data/lines}", NotAScalar::Container.into()),
        ("{?/data/lines} lines", NotAScalar::Container.into()),
    ] {
        let malformed = refused(Shape::Json(object(&[("a", "{data}"), ("b", written)])));
        assert_eq!(malformed.problem, problem, "{written}");
        assert_eq!(malformed.rule.unwrap().as_str(), "ready");
    }
    let malformed = refused(Shape::Json(Node::Object(vec![(
        "to".into(),
        Node::List(vec![object(&[("name", "Dear {/data/name}")])]),
    )])));
    assert_eq!(
        malformed.to_string(),
        "rule ready: {/data/name} in payload.json.to.0.name (/data/name) is missing"
    );
}

#[test]
fn a_hole_that_may_stay_empty_leaves_its_field_out() {
    let node = Node::Object(vec![
        ("a".into(), Node::Text(text("{?/data/name}"))),
        ("b".into(), Node::Text(text("{?/data/gone}"))),
        ("c".into(), Node::Text(text("Dear {?/data/name}!"))),
        ("d".into(), Node::Text(text("{?/data/ok}"))),
        (
            "e".into(),
            Node::List(vec![
                Node::Text(text("{?text:/data/name}")),
                Node::Text(text("{?text:/data/id}")),
            ]),
        ),
    ]);
    assert_eq!(
        rendered(node),
        r#"{"c":"Dear !","d":true,"e":["9007199254740993"]}"#
    );
    let whole = refused(Shape::Json(Node::Text(text("{?/data/name}"))));
    assert_eq!(whole.problem, Problem::Missing);
}

#[test]
fn a_value_becomes_a_text_where_the_hole_says_so() {
    let node = object(&[
        ("id", "{text:/data/id}"),
        ("lines", "{text:/data/lines}"),
        ("in", "<{text:/data/lines}>"),
    ]);
    assert_eq!(
        rendered(node),
        r#"{"id":"9007199254740993","lines":"[1, {\"a\":2}]","in":"<[1, {\"a\":2}]>"}"#
    );
}

#[test]
fn a_part_of_the_message_can_be_the_whole_body() {
    assert_eq!(
        rendered(Node::Text(text("{/data/lines}"))),
        r#"[1, {"a":2}]"#
    );
    assert_eq!(rendered(Node::Text(text("{data}"))), PAID);
}

#[test]
fn forms_are_encoded_and_cannot_be_added_to() {
    let fields = [
        ("To", "{/data/to}"),
        ("Bo dy", "a&b=ü {/data/id}"),
        ("left", "{?/data/name}"),
    ];
    let fields = fields.map(|(name, written)| (name.to_owned(), text(written)));
    let action = one(&sending(Shape::Form(fields.to_vec())), PAID).unwrap();
    assert_eq!(
        sent(&action.body),
        "To=a%22b&Bo+dy=a%26b%3D%C3%BC+9007199254740993"
    );
    let list = refused(Shape::Form(vec![("a".into(), text("{/data/lines}"))]));
    assert_eq!(list.problem, NotAScalar::Container.into());
}

#[test]
fn a_text_is_sent_as_it_is() {
    let shape = Shape::Text(text("Order {/data/id}: {/data/to}"));
    let action = one(&sending(shape), PAID).unwrap();
    assert_eq!(sent(&action.body), "Order 9007199254740993: a\"b");
}

#[test]
fn in_a_batch_the_fact_is_the_element() {
    let node = object(&[
        ("fact", "{data}"),
        ("id", "{/id}"),
        ("of", "{body:/account}"),
    ]);
    let mut source = sending(Shape::Json(node));
    source.each = Some(Each {
        pointer: "/events".parse().unwrap(),
        max: 10,
    });
    let body = br#"{"account":"acc","events":[{"type":"export.a","id":1},{"type":"export.b"},{"type":"export.c","id":3}]}"#;
    let made = made(&source, &[], body);
    let bodies: Vec<Option<String>> = made
        .iter()
        .map(|action| Some(sent(&action.as_ref().ok()?.body)))
        .collect();
    assert_eq!(
        bodies,
        [
            Some(r#"{"fact":{"type":"export.a","id":1},"id":1,"of":"acc"}"#.to_owned()),
            None,
            Some(r#"{"fact":{"type":"export.c","id":3},"id":3,"of":"acc"}"#.to_owned()),
        ]
    );
}

#[test]
fn what_is_rendered_is_bounded() {
    let long = "x".repeat(Template::RENDERED_MAX / 4);
    let body = format!(r#"{{"type":"export.ready","long":"{long}"}}"#);
    let of = |shape, max_body| {
        let mut source = sending(shape);
        source.max_body = max_body;
        one(&source, &body)
    };
    let json = |times: usize| {
        let members = (0..times).map(|n| (n.to_string(), Node::Text(text("{/long}"))));
        Shape::Json(Node::Object(members.collect()))
    };
    let small = Template::RENDERED_MAX / 2;
    assert!(of(json(3), small).is_ok());
    for shape in [
        json(4),
        Shape::Text(text(&"{/long}".repeat(5))),
        Shape::Json(object(&[("a", &"{/long}".repeat(5))])),
        Shape::Form(vec![("a".into(), text(&"{/long}".repeat(5)))]),
    ] {
        let malformed = of(shape.clone(), small).unwrap_err();
        assert_eq!(
            malformed.problem,
            Problem::Oversize(Template::RENDERED_MAX),
            "{malformed}"
        );
        assert!(of(shape, 2 * Template::RENDERED_MAX).is_ok());
    }
}

#[test]
fn a_time_in_the_body_makes_no_conflict() {
    let source = sending(Shape::Json(object(&[("at", "{accepted_at}")])));
    let plain = one(&self::source(), PAID).unwrap();
    let action: Action = one(&source, PAID).unwrap();
    assert_eq!(action.fingerprint, plain.fingerprint);
    assert_eq!(action.key, plain.key);
}

#[test]
fn a_fact_that_is_no_json_has_no_values() {
    let source = |written: &str| {
        let mut source = sending(Shape::Text(text(written)));
        source.event = vec![];
        source.rules[0].on = vec!["*".into()];
        source
    };
    for written in ["{data}", "{?data}", "{/a}"] {
        let malformed = one(&source(written), "a=b").unwrap_err();
        assert!(
            matches!(malformed.problem, Problem::Unread(_)),
            "{written}: {malformed}"
        );
    }
    assert!(one(&source("{key}"), "a=b").is_ok());
}

#[test]
fn texts_whose_holes_cannot_be_read_are_refused() {
    for (written, why) in [
        ("a { b", NotAText::Brace('{')),
        ("a } b", NotAText::Brace('}')),
        ("{{a}", NotAText::Brace('}')),
        ("{}", NotAText::Hole("".into())),
        ("{ /a }", NotAText::Hole(" /a ".into())),
        ("{order.id}", NotAText::Hole("order.id".into())),
        ("{??/a}", NotAText::Hole("??/a".into())),
        ("{header:x}", NotAText::Header("header:x".into())),
        (
            "{/a~2}",
            NotAText::Pointer("/a~2".into(), NotAPointer::Escape),
        ),
        (
            "{body:x}",
            NotAText::Pointer("body:x".into(), NotAPointer::NoSlash),
        ),
    ] {
        assert_eq!(written.parse::<Text>(), Err(why), "{written}");
    }
    for written in [
        "{?text:/a b}",
        "{text:data}",
        "{?key}",
        "{body:/a}",
        "{message:account}",
    ] {
        assert_eq!(text(written).holes().next().unwrap().to_string(), written);
    }
}

#[test]
fn numbers_are_written_as_json_writes_them() {
    for token in ["0", "-1", "1.50", "1e400", "12345678901234567890123"] {
        assert!(Number::new(token).is_some(), "{token}");
    }
    for token in [
        "", "+1", "01", "1.", ".5", "inf", "nan", "-inf", "1 ", " 1", "1,2", "\"1\"", "-", "1]",
    ] {
        assert!(Number::new(token).is_none(), "{token}");
    }
}

proptest! {
    /// Whatever stands in a value, the shape around it is the one that was configured.
    #[test]
    fn no_value_changes_the_shape(value in any::<String>(), name in any::<String>(), literal in "[^{}]*") {
        let hole = "{/v}";
        let node = Node::Object(vec![
            (name.clone(), Node::Text(text(hole))),
            (format!("{name}2"), Node::List(vec![Node::Text(text(&format!("{literal}{hole}")))])),
        ]);
        let body = serde_json::json!({"type": "export.ready", "v": value}).to_string();
        let action = one(&sending(Shape::Json(node)), &body).unwrap();
        let sent: Value = serde_json::from_slice(&action.body.bytes).unwrap();
        let expected = serde_json::json!({&name: value, format!("{name}2"): [format!("{literal}{value}")]});
        prop_assert_eq!(sent, expected);

        let fields = vec![(name.clone(), text(hole)), ("b".to_owned(), text(hole))];
        let action = one(&sending(Shape::Form(fields)), &body).unwrap();
        let sent: Vec<(String, String)> = form_urlencoded::parse(&action.body.bytes).into_owned().collect();
        prop_assert_eq!(sent, vec![(name, value.clone()), ("b".to_owned(), value)]);
    }

    /// Any text at all is read or refused, and never makes a panic.
    #[test]
    fn any_text_is_read_or_refused(written in "[{}?:/a~t ]{0,20}") {
        let _ = written.parse::<Text>();
    }
}

/// A batch may repeat the whole message in each of its elements: what comes of it is bounded all the same.
#[test]
fn what_is_rendered_of_a_message_is_bounded_in_all() {
    let mut source = sending(Shape::Json(object(&[("all", "{body:/big}")])));
    source.each = Some(Each {
        pointer: "/events".parse().unwrap(),
        max: 1000,
    });
    let big = "x".repeat(Template::RENDERED_MAX / 2);
    let events: Vec<String> = (0..200)
        .map(|id| format!(r#"{{"type":"export.ready","id":{id}}}"#))
        .collect();
    let body = format!(r#"{{"big":"{big}","events":[{}]}}"#, events.join(","));
    let made = made(&source, &[], body.as_bytes());
    let bodies = made.iter().filter_map(|action| action.as_ref().ok());
    let rendered: usize = bodies.map(|action| action.body.bytes.len()).sum();
    let max = Template::RENDERED_IN_ALL_MAX;
    assert!(rendered <= max && rendered > max - Template::RENDERED_MAX);
    let last = made.last().unwrap().as_ref().unwrap_err();
    assert_eq!(last.problem, Problem::Oversize(max), "{last}");
}
