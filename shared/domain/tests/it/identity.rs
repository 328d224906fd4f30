//! One fact has one key, however it is written; two facts have two, however alike they look.

use ackbox_domain::source::{EventPattern, FingerprintPart, Payload, Rule, Source};
use ackbox_domain::{Action, ActionKey, Carriage, Document, Scalar, Timestamp, act, observe};
use ackbox_signature::{Headers, Message, Scheme, SignRequest};
use proptest::prelude::*;
use serde_json::Value;

const NOW: Timestamp = Timestamp::from_unix_ms(1_764_000_000_000);

/// A source whose one rule has these pointers as its key.
fn source(parts: usize) -> Source {
    let rule = Rule {
        name: "rule".parse().unwrap(),
        previously: Vec::new(),
        on: vec![EventPattern::Any],
        key: (0..parts)
            .map(|n| format!("/p{n}").parse().unwrap())
            .collect(),
        namespace: "reports/rule".to_owned(),
        fingerprint: vec![FingerprintPart::Body],
        destination: "mailer".parse().unwrap(),
        payload: Payload::Body,
        carriage: Carriage::ANYTHING,
    };
    Source {
        name: "reports".parse().unwrap(),
        previously: Vec::new(),
        id: Vec::new(),
        event: Vec::new(),
        subject: Vec::new(),
        account: Vec::new(),
        each: None,
        test_events: Vec::new(),
        progress_events: Vec::new(),
        form_field: None,
        rules: vec![rule],
        jobs: None,
        max_age: None,
        max_body: 100_000,
    }
}

/// The one action of a body whose sender is proven.
fn action(parts: usize, body: &str) -> Action {
    let scheme = Scheme::builtin("github").unwrap();
    let secrets = [scheme
        .secret("env:S", "an example secret, not a real one")
        .unwrap()];
    let request = SignRequest {
        method: "POST",
        url: "/",
        body: body.as_bytes(),
        now_ms: NOW.unix_ms(),
        id: "",
        event: None,
    };
    let headers: Headers = scheme
        .sign(&request, &secrets[0])
        .unwrap()
        .into_iter()
        .collect();
    let message = Message {
        method: "POST",
        url: "/",
        headers: &headers,
        body: body.as_bytes(),
    };
    let verified = scheme
        .verify(&message, &secrets, NOW.unix_ms(), None)
        .unwrap();
    let source = source(parts);
    let document = Document::read(&source, &verified);
    let mut observed = observe(&source, &document).unwrap();
    act(&source, &observed.remove(0).unwrap(), NOW)
        .remove(0)
        .unwrap()
}

/// How a body is written: the order of its names, white space, escapes, and what stands beside.
#[derive(Clone, Debug)]
struct Spelling {
    reversed: bool,
    space: &'static str,
    escaped: bool,
    noise: u32,
}

fn any_spelling() -> impl Strategy<Value = Spelling> {
    let space = prop::sample::select(vec!["", " ", "\n\t", "\r\n  "]);
    (any::<bool>(), space, any::<bool>(), any::<u32>()).prop_map(
        |(reversed, space, escaped, noise)| Spelling {
            reversed,
            space,
            escaped,
            noise,
        },
    )
}

fn write(parts: &[Value], how: &Spelling) -> String {
    let Spelling { space, noise, .. } = how;
    let mut pairs: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(n, part)| format!("\"p{n}\"{space}:{space}{}", value(part, how.escaped)))
        .collect();
    pairs.push(format!("\"noise\":[{noise},{{\"p0\":{noise}}}]"));
    if how.reversed {
        pairs.reverse();
    }
    format!(
        "{space}{{{space}{}{space}}}{space}",
        pairs.join(&format!("{space},{space}"))
    )
}

/// A text with every character escaped, or as it is usually written. Numbers have one spelling each.
fn value(part: &Value, escaped: bool) -> String {
    match part.as_str() {
        Some(text) if escaped => {
            let units: String = text
                .encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            format!("\"{units}\"")
        }
        _ => part.to_string(),
    }
}

fn any_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[!-~äß€😀]{1,20}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_fact_has_one_key_however_it_is_written(
        parts in prop::collection::vec(any_part(), 1..5),
        one in any_spelling(),
        other in any_spelling(),
    ) {
        let first = action(parts.len(), &write(&parts, &one));
        let second = action(parts.len(), &write(&parts, &other));
        prop_assert_eq!(&first.parts, &second.parts);
        prop_assert_eq!(first.key, second.key);
    }

    #[test]
    fn two_facts_have_one_key_only_where_every_part_is_the_same(
        one in prop::collection::vec(any_part(), 1..4),
        other in prop::collection::vec(any_part(), 1..4),
        how in any_spelling(),
    ) {
        let first = action(one.len(), &write(&one, &how));
        let second = action(other.len(), &write(&other, &how));
        prop_assert_eq!(first.key == second.key, one == other);
    }

    /// One run of characters, cut at other places: other parts, so another key.
    #[test]
    fn parts_that_are_cut_elsewhere_make_another_key(
        text in "[a-b:/|,0-1\u{0}]{0,12}",
        one in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        other in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        namespaces in ("[a-b/]{0,3}", "[a-b/]{0,3}"),
    ) {
        let (one, other) = (cut(&text, &one), cut(&text, &other));
        let same = ActionKey::new(&namespaces.0, &one) == ActionKey::new(&namespaces.1, &other);
        prop_assert_eq!(same, one == other && namespaces.0 == namespaces.1);
    }

    /// Characters that move over a boundary, between parts and between the namespace and a part.
    #[test]
    fn characters_that_move_over_a_boundary_make_another_key(
        before in "[a-b/]{0,4}", moved in "[a-b/]{1,4}", behind in "[a-b/]{0,4}",
    ) {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let left = format!("{before}{moved}");
        let right = format!("{moved}{behind}");
        let apart = ActionKey::new("n", &[text(&left), text(&behind)]);
        prop_assert_ne!(apart, ActionKey::new("n", &[text(&before), text(&right)]));
        let apart = ActionKey::new(&left, &[text(&behind)]);
        prop_assert_ne!(apart, ActionKey::new(&before, &[text(&right)]));
        let alone = ActionKey::new("n", &[text(&format!("{left}{behind}"))]);
        prop_assert_ne!(alone, ActionKey::new("n", &[text(&left), text(&behind)]));
    }
}

fn cut(text: &str, at: &[prop::sample::Index]) -> Vec<Scalar> {
    let mut places: Vec<usize> = at.iter().map(|at| at.index(text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| Scalar::Text(text[pair[0]..pair[1]].to_owned()))
        .collect()
}
