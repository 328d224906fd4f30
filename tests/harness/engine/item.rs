//! One item of the table, as it stands there: comparable as a whole, and readable by attribute.

use std::collections::{BTreeMap, HashMap};

use ackbox_domain::{ActionKey, OutboxEntry};
use ackbox_store::schema::{self, attribute};
use aws_sdk_dynamodb::types::AttributeValue;
use data_encoding::BASE64;
use serde_json::{Value, json};

/// One item. Two are equal where every attribute is.
#[derive(Clone, Debug, PartialEq)]
pub struct Item(BTreeMap<String, AttributeValue>);

impl From<HashMap<String, AttributeValue>> for Item {
    fn from(map: HashMap<String, AttributeValue>) -> Self {
        Self(map.into_iter().collect())
    }
}

impl From<Item> for HashMap<String, AttributeValue> {
    fn from(item: Item) -> Self {
        item.0.into_iter().collect()
    }
}

impl Item {
    /// The partition key.
    pub fn pk(&self) -> &str {
        self.text(attribute::PK).unwrap_or_default()
    }

    /// The sort key.
    pub fn sk(&self) -> &str {
        self.text(attribute::SK).unwrap_or_default()
    }

    /// The action whose item it is.
    pub fn key(&self) -> Option<ActionKey> {
        schema::action_of(self.pk())
    }

    /// A text attribute.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_s().ok().map(String::as_str)
    }

    /// A number attribute that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_n().ok()?.parse().ok()
    }

    /// A binary attribute.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name)?.as_b().ok().map(AsRef::as_ref)
    }

    /// Whether it has this attribute.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The same item with one text attribute set.
    #[must_use]
    pub fn with_text(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0
            .insert(name.to_owned(), AttributeValue::S(value.into()));
        self
    }

    /// The same item with one number attribute set.
    #[must_use]
    pub fn with_number(mut self, name: &str, value: u64) -> Self {
        let value = AttributeValue::N(value.to_string());
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The entry in it, as the store reads it. Panics where there is none: a test wants to see that.
    pub fn entry(&self) -> OutboxEntry {
        let map: HashMap<String, AttributeValue> = self.clone().into();
        ackbox_store::outbox_from_item(map.into()).expect("an outbox item that can be read")
    }

    /// The item as DynamoDB's JSON, as streams carry it.
    pub fn to_json(&self) -> Value {
        let fields = self
            .0
            .iter()
            .map(|(name, value)| (name.clone(), in_json(value)));
        Value::Object(fields.collect())
    }
}

fn in_json(value: &AttributeValue) -> Value {
    let bytes = |blob: &aws_sdk_dynamodb::primitives::Blob| BASE64.encode(blob.as_ref());
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::B(blob) => json!({ "B": bytes(blob) }),
        AttributeValue::Bool(value) => json!({ "BOOL": value }),
        AttributeValue::Null(value) => json!({ "NULL": value }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        AttributeValue::Ns(numbers) => json!({ "NS": numbers }),
        AttributeValue::Bs(blobs) => json!({ "BS": blobs.iter().map(bytes).collect::<Vec<_>>() }),
        AttributeValue::L(values) => json!({ "L": values.iter().map(in_json).collect::<Vec<_>>() }),
        AttributeValue::M(map) => {
            let fields = map
                .iter()
                .map(|(name, value)| (name.clone(), in_json(value)));
            json!({ "M": Value::Object(fields.collect()) })
        }
        other => panic!("the table holds a kind of value that no schema has: {other:?}"),
    }
}
