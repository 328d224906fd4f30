//! A sample is made to fit a source: where its rules look for a value, one is put, in the body or in a
//! header. What is there already stays.

use ackbox_domain::template::Reading;
use ackbox_domain::{KeyPart, Locator, Payload, Rule, Source};
use serde_json::{Map, Value};

/// Puts values where the source looks for them and the sample has none; and the whole into a batch of one,
/// where the source says `each`.
pub(super) fn fit(mut body: Value, source: &Source, id: &str, event: &str) -> Value {
    let values = [
        (&source.event, event),
        (&source.id, id),
        (&source.subject, id),
        (&source.account, "acct_sample"),
    ];
    for (locators, value) in values {
        // The scheme's own sample has it in one of its places; a source's own places are filled.
        let pointers = || {
            locators.iter().filter_map(|locator| match locator {
                Locator::Body(pointer) => Some(pointer.as_str()),
                Locator::Header { .. } => None,
            })
        };
        if !pointers().any(|pointer| body.pointer(pointer).is_some())
            && let Some(pointer) = pointers().next()
        {
            put(&mut body, pointer, value);
        }
    }
    let mut outer = Vec::new();
    for rule in source.rules.iter().filter(|rule| rule.wants(Some(event))) {
        for part in &rule.key {
            match part {
                KeyPart::Value(pointer) => put(&mut body, pointer.as_str(), id),
                KeyPart::BodyValue(pointer) => outer.push(pointer.as_str()),
                _ => {}
            }
        }
        for reading in wanted(rule) {
            match reading {
                Reading::Value(pointer) => put(&mut body, pointer.as_str(), id),
                Reading::BodyValue(pointer) => outer.push(pointer.as_str()),
                _ => {}
            }
        }
    }
    if let Some(each) = &source.each {
        let mut batch = Value::Object(Map::new());
        if each.pointer.as_str().is_empty() {
            batch = Value::Array(vec![body]);
        } else {
            place(&mut batch, each.pointer.as_str(), Value::Array(vec![body]));
        }
        body = batch;
    }
    for pointer in outer {
        put(&mut body, pointer, id);
    }
    body
}

/// What the holes of a rule's payload cannot do without.
fn wanted(rule: &Rule) -> impl Iterator<Item = &Reading> {
    let holes = match &rule.payload {
        Payload::Template(template) => template.holes(),
        Payload::Body | Payload::Envelope => Vec::new(),
    };
    let wanted = holes.into_iter().filter(|hole| !hole.if_there);
    wanted.map(|hole| &hole.reading)
}

/// Puts a text at a pointer, where nothing stands there.
fn put(body: &mut Value, pointer: &str, value: &str) {
    if body.pointer(pointer).is_none_or(Value::is_null) {
        place(body, pointer, Value::from(value));
    }
}

/// Puts a value at a pointer, making objects on the way; where something else stands in the way, it gives up.
fn place(body: &mut Value, pointer: &str, value: Value) {
    let mut at = body;
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(name).or_insert(Value::Null),
            Value::Array(items) => {
                let Some(item) = name.parse().ok().and_then(|n: usize| items.get_mut(n)) else {
                    return;
                };
                item
            }
            _ => return,
        };
    }
    *at = value;
}

/// The lines of headers that the source reads and the scheme does not send.
pub(super) fn further_headers(
    source: Option<&Source>,
    signed: &[(String, String)],
    id: &str,
    event: &str,
) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let Some(source) = source else {
        return headers;
    };
    let located = [
        (&source.id, id),
        (&source.event, event),
        (&source.subject, id),
        (&source.account, "acct_sample"),
    ];
    let located = located.into_iter().flat_map(|(locators, value)| {
        locators
            .iter()
            .take(1)
            .filter_map(move |locator| match locator {
                Locator::Header { name, .. } => Some((name.as_str(), value)),
                Locator::Body(_) => None,
            })
    });
    let rules = source.rules.iter().filter(|rule| rule.wants(Some(event)));
    let parts = rules
        .flat_map(|rule| &rule.key)
        .filter_map(|part| match part {
            KeyPart::Header(name) => Some((name.as_str(), id)),
            _ => None,
        });
    for (name, value) in located.chain(parts) {
        let is_there = |list: &[(String, String)]| {
            list.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
        };
        if !is_there(signed) && !is_there(&headers) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_reads_is_put_where_it_looks() {
        let mut body = serde_json::json!({"data": {"id": "kept"}, "list": [1]});
        put(&mut body, "/data/id", "x");
        put(&mut body, "/data/export/a~1b", "x");
        put(&mut body, "/list/7/id", "x");
        assert_eq!(
            body,
            serde_json::json!({"data": {"id": "kept", "export": {"a/b": "x"}}, "list": [1]})
        );
    }
}
