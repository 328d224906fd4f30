//! As much of JSON Schema (draft 2020-12) as `job-binding.schema.json` uses.

use regex_lite::Regex;
use serde_json::Value;

/// The root of a schema.
pub(super) struct Schema(pub(super) Value);

impl Schema {
    /// Whether a document is valid.
    pub(super) fn takes(&self, document: &Value) -> bool {
        self.is_valid(&self.0, document)
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        if let Some(all) = schema.as_bool() {
            return all;
        }
        let keywords = schema.as_object().unwrap();
        keywords
            .iter()
            .all(|(keyword, rule)| match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "examples" => {
                    true
                }
                "$ref" => {
                    let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.is_valid(self.0.pointer(pointer).unwrap(), value)
                }
                "anyOf" => {
                    let mut any = rule.as_array().unwrap().iter();
                    any.any(|schema| self.is_valid(schema, value))
                }
                "not" => !self.is_valid(rule, value),
                "const" => rule == value,
                "type" => match rule {
                    Value::Array(any) => any.iter().any(|one| is_of(one, value)),
                    one => is_of(one, value),
                },
                "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
                "pattern" => value
                    .as_str()
                    .is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
                "minLength" => value
                    .as_str()
                    .is_none_or(|text| text.chars().count() >= size(rule)),
                "maxLength" => value
                    .as_str()
                    .is_none_or(|text| text.chars().count() <= size(rule)),
                "minItems" => value
                    .as_array()
                    .is_none_or(|items| items.len() >= size(rule)),
                "maxItems" => value
                    .as_array()
                    .is_none_or(|items| items.len() <= size(rule)),
                "maxProperties" => value.as_object().is_none_or(|all| all.len() <= size(rule)),
                "items" => {
                    let mut items = value.as_array().into_iter().flatten();
                    items.all(|item| self.is_valid(rule, item))
                }
                "required" => {
                    let mut names = rule.as_array().unwrap().iter();
                    let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                    !value.is_object() || names.all(has)
                }
                "properties" => {
                    let mut known = rule.as_object().unwrap().iter();
                    known.all(|(name, schema)| {
                        value
                            .get(name)
                            .is_none_or(|value| self.is_valid(schema, value))
                    })
                }
                "additionalProperties" => {
                    let known = keywords.get("properties");
                    let is_known =
                        |name: &str| known.is_some_and(|known| known.get(name).is_some());
                    let mut all = value.as_object().into_iter().flatten();
                    all.all(|(name, value)| is_known(name) || self.is_valid(rule, value))
                }
                "propertyNames" => {
                    let mut all = value.as_object().into_iter().flatten();
                    all.all(|(name, _)| self.is_valid(rule, &Value::from(name.as_str())))
                }
                other => panic!("a keyword that is not judged here: {other}"),
            })
    }
}

fn size(rule: &Value) -> usize {
    usize::try_from(rule.as_u64().unwrap()).unwrap()
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type: {other}"),
    }
}
