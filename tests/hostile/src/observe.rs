//! A body of a proven sender, with whatever headers came beside it. Out come actions that are whole,
//! or reasons; equal observations give equal keys, and other parts give other keys.
//!
//! ```text
//! batch                           the source
//! msg_1                           the message's id, where it is signed
//! a                               the event's type, where it is in a header
//! content-type:application/json
//!
//! {"account":"a","events":[{"kind":"a","id":1}]}
//! ```

use std::collections::BTreeMap;

use ackbox_domain::{
    Action, ActionKey, Document, Malformed, Payload, Scalar, Source, Timestamp, act, observe,
};
use ackbox_signature::Message;

use crate::says_something;
use crate::setting::{CONFIG, NOW_MS, secret_of, signed};
use crate::text::{self, Text};

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Text {
        first,
        headers: beside,
        body,
    } = text::read::<3>(input);
    let [name, id, event] = first.map(|line| String::from_utf8_lossy(line).into_owned());
    let Some(config) = CONFIG.sources.get(name.as_str()) else {
        return;
    };
    let secrets = [secret_of(config)];
    let event = Some(event.as_str()).filter(|event| !event.is_empty());
    let Some(mut headers) = signed(config, &secrets[0], &id, event, body) else {
        return;
    };
    for (name, value) in beside.iter() {
        // What was signed stays; anything may stand beside it.
        if headers.first(name).is_none() {
            headers.push(name, value);
        }
    }
    let message = Message {
        method: "POST",
        url: "/hooks/hostile",
        headers: &headers,
        body,
    };
    let verified = config.scheme.verify(&message, &secrets, NOW_MS, None);
    let verified = verified.expect("what is signed here is accepted here");
    let source = &config.source;
    let document = Document::read(source, &verified);
    let made = actions(source, &document);
    let again = Document::read(source, &verified);
    assert_eq!(made, actions(source, &again), "two readings of one message");
    are_whole(source, &document, &made);
    differ_where_their_parts_do(&made);
}

type Made = Vec<Result<Action, Malformed>>;

fn actions(source: &Source, document: &Document<'_>) -> Made {
    let observations = match observe(source, document) {
        Ok(observations) => observations,
        Err(malformed) => return vec![Err(malformed)],
    };
    let most = source.each.as_ref().map_or(1, |each| each.max);
    assert!(
        observations.len() <= most,
        "more observations than `max_each`"
    );
    let now = Timestamp::from_unix_ms(NOW_MS);
    let made: Made = observations
        .into_iter()
        .flat_map(|observation| match observation {
            Ok(observation) => act(source, &observation, now),
            Err(malformed) => vec![Err(malformed)],
        })
        .collect();
    assert!(
        made.len() <= most * source.rules.len().max(1),
        "more actions than rules"
    );
    made
}

/// Every action has all of its parts, the key that they make, and the bytes that came.
fn are_whole(source: &Source, document: &Document<'_>, made: &Made) {
    for action in made {
        let action = match action {
            Ok(action) => action,
            Err(malformed) => {
                says_something(&malformed.to_string());
                continue;
            }
        };
        for (name, value) in &action.parts {
            let text = value.as_str();
            assert!(!text.trim().is_empty(), "the part {name} is blank");
            assert!(
                text.len() <= ActionKey::PART_MAX,
                "the part {name} is too long"
            );
        }
        let parts = action.parts.iter().map(|(_, value)| value);
        assert_eq!(action.key, ActionKey::new(&action.namespace, parts));
        assert_eq!(action.key.as_str().parse(), Ok(action.key.clone()));
        assert_eq!(action.key.as_str().len(), 36);
        let rule = source.rules.iter().find(|rule| rule.name == action.rule);
        match rule.map(|rule| &rule.payload) {
            None => panic!("an action of no rule"),
            Some(Payload::Envelope) => is_an_envelope(action),
            // What a rule's own shape renders to has tests of its own; here it only must not panic.
            Some(Payload::Template(_)) => {}
            Some(Payload::Body) if source.each.is_none() => {
                assert_eq!(
                    action.body.bytes,
                    document.raw(),
                    "the body was written anew"
                );
            }
            Some(Payload::Body) => {
                let came = document.text().unwrap_or_default();
                let sent = &action.body.bytes;
                assert!(came.windows(sent.len()).any(|part| part == &sent[..]));
            }
        }
    }
}

fn is_an_envelope(action: &Action) {
    let envelope: Result<BTreeMap<String, &serde_json::value::RawValue>, _> =
        serde_json::from_slice(&action.body.bytes);
    let envelope = envelope.expect("an envelope is a JSON object");
    assert_eq!(envelope["key"].get(), format!("\"{}\"", action.key));
    let facts = ["data", "data_base64"].map(|name| envelope.contains_key(name));
    assert!(facts[0] != facts[1], "the fact stands in an envelope once");
}

/// Two actions have one key exactly where they have one namespace and the same parts.
fn differ_where_their_parts_do(made: &Made) {
    let mut keys: BTreeMap<&ActionKey, (&str, Vec<&Scalar>)> = BTreeMap::new();
    for action in made.iter().flatten() {
        let parts: Vec<&Scalar> = action.parts.iter().map(|(_, value)| value).collect();
        let identity = (action.namespace.as_str(), parts);
        let known = keys.entry(&action.key).or_insert_with(|| identity.clone());
        assert_eq!(known, &identity, "two identities under one key");
    }
}
