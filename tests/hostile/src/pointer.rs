//! A JSON pointer and a text to look it up in. Whatever is found is what any other reader of JSON
//! finds there, and only that: no rounding, no second reading.
//!
//! ```text
//! /data/id
//! {"data":{"id":7}}
//! ```

use ackbox_domain::json::{self, Pointer, Scalar};
use serde_json::Value;

use crate::says_something;
use crate::text;

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let mut body = input;
    let Ok(line) = std::str::from_utf8(text::line(&mut body)) else {
        return;
    };
    let pointer: Pointer = match line.parse() {
        Ok(pointer) => pointer,
        Err(error) => return says_something(&error.to_string()),
    };
    assert_eq!(pointer.as_str(), line);
    assert_eq!(pointer.to_string().parse(), Ok(pointer.clone()));
    let found = json::find(body, &pointer);
    assert_eq!(
        found,
        json::find(body, &pointer),
        "two answers to one question"
    );
    let other: Option<Value> = serde_json::from_slice(body).ok();
    match found {
        Err(error) => assert!(
            !error.to_string().trim().is_empty(),
            "an error without words"
        ),
        Ok(None) => {
            let there = other.as_ref().and_then(|value| value.pointer(line));
            assert_eq!(there, None, "overlooked what stands at {line}");
        }
        Ok(Some(raw)) => {
            if let Some(value) = &other {
                let there = value.pointer(line);
                let read: Option<Value> = serde_json::from_str(raw).ok();
                assert_eq!(
                    there,
                    read.as_ref(),
                    "found something else than stands at {line}"
                );
            }
            is_read_for_what_it_is(raw);
        }
    }
}

/// A scalar keeps its value, and containers and null are none; elements are all there.
fn is_read_for_what_it_is(raw: &str) {
    let value: Option<Value> = serde_json::from_str(raw).ok();
    match (Scalar::from_raw(raw), &value) {
        (Ok(Scalar::Text(text)), _) => assert_eq!(value, Some(Value::String(text))),
        (Ok(Scalar::Number(token)), _) => assert_eq!(token, raw, "a number was written anew"),
        (Ok(Scalar::Bool(truth)), _) => assert_eq!(value, Some(Value::Bool(truth))),
        (Err(error), _) => {
            says_something(&error.to_string());
            let is_scalar = value
                .is_some_and(|value| value.is_string() || value.is_number() || value.is_boolean());
            assert!(!is_scalar, "{raw} is a scalar");
            return;
        }
    }
    for max in [0, 3, usize::MAX - 1] {
        match (json::elements(raw, max), &value) {
            (Ok(None), other) => {
                assert!(
                    !other.as_ref().is_some_and(Value::is_array),
                    "an array was overlooked"
                );
            }
            (Ok(Some(elements)), Some(Value::Array(values))) => {
                let wanted = values.len().min(max + 1);
                assert_eq!(elements.len(), wanted, "elements were lost");
            }
            (Ok(Some(_)), other) => assert!(other.is_none(), "elements of what is no array"),
            (Err(error), _) => assert!(!error.to_string().is_empty()),
        }
    }
}
