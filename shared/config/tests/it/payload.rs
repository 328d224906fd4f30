//! `payload` of a rule as a shape with holes.

use ackbox_config::Config;
use ackbox_domain::Payload;
use ackbox_domain::template::{Node, Shape, Template};

use crate::{Case, case, check, edited, mistakes, warnings};

/// The template of the valid file with this payload in it.
fn template(payload: &str) -> Template {
    let text = edited("payload = \"body\"", payload);
    let config = Config::parse("f", &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(config.warnings, [], "{payload}");
    match &config.sources["reports"].source.rules[0].payload {
        Payload::Template(template) => template.clone(),
        other => panic!("{other:?}"),
    }
}

fn holes(template: &Template) -> Vec<String> {
    let holes = template.holes().into_iter();
    holes.map(ToString::to_string).collect()
}

#[test]
fn a_shape_is_written_inline_over_several_lines_or_under_headers() {
    let expected = template(
        "payload = { json = { to = \"{/data/email}\", order = { id = \"{/data/id}\", paid = true } } }",
    );
    assert_eq!(expected.content_type, "application/json");
    assert_eq!(holes(&expected), ["{/data/email}", "{/data/id}"]);
    let Shape::Json(Node::Object(members)) = &expected.shape else {
        panic!("{expected:?}");
    };
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["to", "order"]);
    for payload in [
        "[source.reports.rule.payload.json]\nto = \"{/data/email}\"\norder = { id = \"{/data/id}\", paid = true }",
        "[source.reports.rule.payload.json]\nto = \"{/data/email}\"\n[source.reports.rule.payload.json.order]\nid = '{/data/id}'\npaid = true",
        "payload.json = {\n  to = \"{/data/email}\",\n  order = { id = \"{/data/id}\", paid = true },\n}",
    ] {
        assert_eq!(template(payload), expected, "{payload}");
    }
}

#[test]
fn numbers_keep_their_digits_and_lists_their_order() {
    let template = template(
        "payload = { json = [12345678901234567890123, 0x1F, 1_000, +1.50, 1e400, \"{key}\", [false], {}] }",
    );
    let shown = format!("{:?}", template.shape);
    for token in [
        "\"12345678901234567890123\"",
        "\"31\"",
        "\"1000\"",
        "\"1.50\"",
        "\"1e400\"",
    ] {
        assert!(shown.contains(token), "{token}: {shown}");
    }
}

#[test]
fn the_example_of_the_reference_can_be_read() {
    let reference = include_str!("../../../../docs/configuration.md");
    let (_, section) = reference.split_once("### Payloads of your own").unwrap();
    let (_, example) = section.split_once("payload.json").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let template = template(&format!("payload.json{example}"));
    assert_eq!(holes(&template).len(), 7);
}

#[test]
fn every_shape_has_its_content_type() {
    for (payload, content_type) in [
        ("{ json = \"{data}\" }", "application/json"),
        (
            "{ json = {}, content_type = \"application/cloudevents+json; charset=utf-8\" }",
            "application/cloudevents+json; charset=utf-8",
        ),
        (
            "{ form = { To = \"{/data/phone}\" } }",
            "application/x-www-form-urlencoded",
        ),
        (
            "{ text = \"Paid: {/data/id}\" }",
            "text/plain; charset=utf-8",
        ),
    ] {
        let template = template(&format!("payload = {payload}"));
        assert_eq!(template.content_type, content_type, "{payload}");
    }
}

#[test]
fn every_mistake_of_a_payload_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const OLD: &str = "payload = \"body\"";
macro_rules! const_help {
    ($before:literal) => {
        concat!(
            $before,
            "a hole reads {/pointer}, {body:/pointer}, {data}, {key}, {accepted_at}, {source}, {message:id}, {message:event}, {message:subject} or {message:account}; a brace itself is written twice"
        )
    };
}

const MISTAKES: &[Case] = &[
    case(
        "a list",
        OLD,
        "payload = []",
        "15:11: `payload` is a list, not a text or a table; write \"body\", \"envelope\", or a shape with values in it, as in { json = { order = \"{/data/order}\" } }",
    ),
    case(
        "no shape",
        OLD,
        "payload = {}",
        "15:11: `payload` of [[source.reports.rule]] has no shape; write \"body\", \"envelope\", or a shape with values in it, as in { json = { order = \"{/data/order}\" } }",
    ),
    case(
        "an unknown shape",
        OLD,
        "payload = { jsn = {}, json = {} }",
        "15:13: `payload` of [[source.reports.rule]] has no key \"jsn\"; did you mean `json`?",
    ),
    case(
        "two shapes",
        OLD,
        "payload = { json = {}, text = \"a\" }",
        "15:31: `payload` has both `json` and `text`; a body has one shape: remove one of the two",
    ),
    case(
        "a misspelt hole on a line of its own",
        OLD,
        "payload.json = {\n  a = \"{/ok}\",\n  b = [\"Order {order.id} of {key}\"],\n}",
        "17:15: `json.b.0` has {order.id}, which reads nothing; write a JSON pointer: {/order/id}",
    ),
    case(
        "a hole of another word",
        OLD,
        "payload = { text = \"{ordr}\" }",
        const_help!("15:21: `text` has {ordr}, which reads nothing; "),
    ),
    case(
        "a hole in a text of several lines",
        OLD,
        "payload.text = \"\"\"\nDear {/data/name},\nyour order {/data~2} is paid.\n\"\"\"",
        const_help!(
            "17:12: `text` has {/data~2}: in a JSON pointer '~' is written \"~0\" and '/' inside a name \"~1\"; "
        ),
    ),
    case(
        "a header",
        OLD,
        "payload = { form = { a = \"{header:x-id}\" } }",
        "15:27: `form.a` has {header:x-id}: headers are not read by templates; name the header as `id`, `event`, `subject` or `account` of the source, and write {message:event} and the like",
    ),
    case(
        "a brace that closes nothing",
        OLD,
        "payload = { text = \"a } b\" }",
        "15:23: `text` has a single `}`; write }} for the character itself, or {/data/id} for a value",
    ),
    case(
        "a hole that is not closed",
        OLD,
        "payload = { text = \"a {/b\" }",
        "15:23: `text` has a single `{`; write {{ for the character itself, or {/data/id} for a value",
    ),
    case(
        "several at once",
        OLD,
        "payload = { json = { a = nan, b = 1979-05-27, c = \"{x.y}\" } }",
        "15:26: `json.a` is a number that JSON does not have; write it as a text, in quotes\n\
         15:35: `json.b` is a date, which JSON does not have; write it in quotes, as a text\n\
         15:52: `json.c` has {x.y}, which reads nothing; write a JSON pointer: {/x/y}",
    ),
    case(
        "a place that the source does not know",
        OLD,
        "payload = { text = \"For {message:account}\" }",
        "15:25: `text` has {message:account}: the scheme \"standard-webhooks\" does not know where that stands; write account = \"/pointer\" (or \"header:NAME\") in [source.reports], or use a pointer",
    ),
    case(
        "past a batch that is none",
        OLD,
        "payload = { json = { a = \"{?body:/id}\" } }",
        "15:27: `json.a` has {?body:/id}, which reads past a batch, and this source has none; write the pointer without \"body:\", or `each` in the source",
    ),
    case(
        "a form that is no table",
        OLD,
        "payload = { form = \"a={/b}\" }",
        "15:20: `form` is a text, not a table; write form = { Body = \"Order {/data/order} is paid\" }",
    ),
    case(
        "a form with something in it",
        OLD,
        "payload = { form = { a = 1 } }",
        "15:26: `form.a` is a number, not a text; write it in quotes",
    ),
    case(
        "a text that is none",
        OLD,
        "payload = { text = 1 }",
        "15:20: `text` is a number, not a text; write it in quotes",
    ),
    case(
        "a content type that is no JSON",
        OLD,
        "payload = { json = {}, content_type = \"text/xml\" }",
        "15:39: `content_type`: \"text/xml\" does not say JSON; write \"application/json\", or a type that ends in +json, as in \"application/cloudevents+json\"",
    ),
    case(
        "a content type with a line end",
        OLD,
        "payload = { json = {}, content_type = \"application/json\\r\\nx: y\" }",
        "15:39: `content_type`: \"application/json\\r\\nx: y\" does not say JSON; write \"application/json\", or a type that ends in +json, as in \"application/cloudevents+json\"",
    ),
    case(
        "a content type beside a form",
        OLD,
        "payload = { form = {}, content_type = \"application/json\" }",
        "15:39: `content_type` stands beside `form`, whose type is application/x-www-form-urlencoded; remove it",
    ),
];

#[test]
fn a_payload_of_too_many_holes_or_levels_is_refused() {
    let many = "{key}".repeat(Template::HOLES_MAX + 1);
    assert_eq!(
        mistakes(&edited(OLD, &format!("payload = {{ text = \"{many}\" }}"))),
        "15:11: `payload` has 65 holes; write at most 64; a list or object of the message fills one hole whole"
    );
    let deep = format!(
        "payload = {{ json = {}{} }}",
        "[".repeat(Template::DEPTH_MAX + 2),
        "]".repeat(Template::DEPTH_MAX + 2)
    );
    let said = mistakes(&edited(OLD, &deep));
    assert_eq!(said, "15:53: `payload` is more than 32 levels deep");
}

#[test]
fn a_text_that_was_probably_meant_as_a_hole_is_warned_of() {
    check(WARNINGS, warnings);
    // Neither of these is.
    template(
        "payload = { json = { a = \"/\", b = \"see /data/id {key}\", c = \"data\", d = \"{{\" } }",
    );
}

const WARNINGS: &[Case] = &[
    case(
        "a pointer without braces",
        OLD,
        "payload = { json = { a = \"/data/id\" } }",
        "15:26: `json.a` is sent as the text \"/data/id\"; write {/data/id} in single braces for the value itself",
    ),
    case(
        "a fact without braces",
        OLD,
        "payload = { form = { a = \"message:id\" } }",
        "15:26: `form.a` is sent as the text \"message:id\"; write {message:id} in single braces for the value itself",
    ),
    case(
        "two braces",
        OLD,
        "payload = { text = \"Order {{ /data/id }} is paid\" }",
        "15:20: `text` has {{ and }}, which are sent as braces; write {/data/id} in single braces for the value itself",
    ),
    case(
        "two braces around another language",
        OLD,
        "payload = { text = \"Order {{ order.id }} is paid\" }",
        "15:20: `text` has {{ and }}, which are sent as braces; write {/data/id} in single braces for the value itself",
    ),
];
