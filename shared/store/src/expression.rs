//! One update of one item: what is set and removed, under which conditions. Every attribute goes by
//! a placeholder of its own name, so that DynamoDB's reserved words (`state`, `source`, `count`)
//! cannot get in the way.

use std::collections::HashMap;

use ackbox_domain::Timestamp;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update as TransactUpdate,
};

use crate::schema::attribute;
use crate::size::Attributes;

/// A string value.
pub(crate) fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// A number value.
pub(crate) fn n(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A time: milliseconds since the epoch.
pub(crate) fn time(at: Timestamp) -> AttributeValue {
    n(at.unix_ms())
}

/// A binary value.
pub(crate) fn b(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

/// The key of an item.
pub(crate) fn item_key(pk: impl Into<String>, sk: impl Into<String>) -> Attributes {
    Attributes::from([
        (attribute::PK.to_owned(), s(pk)),
        (attribute::SK.to_owned(), s(sk)),
    ])
}

/// An update expression with its condition, names and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    sets: Vec<String>,
    removes: Vec<String>,
    adds: Vec<String>,
    conditions: Vec<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Update {
    /// Sets an attribute.
    pub(crate) fn set(&mut self, name: &str, value: AttributeValue) {
        let (name, value) = (self.name(name), self.value(name, value));
        self.sets.push(format!("{name} = {value}"));
    }

    /// Sets an attribute that is not there yet, and leaves one that is.
    pub(crate) fn set_once(&mut self, name: &str, value: AttributeValue) {
        let (name, value) = (self.name(name), self.value(name, value));
        self.sets
            .push(format!("{name} = if_not_exists({name}, {value})"));
    }

    /// Sets an attribute, or removes it.
    pub(crate) fn set_or_remove(&mut self, name: &str, value: Option<AttributeValue>) {
        match value {
            Some(value) => self.set(name, value),
            None => self.remove(name),
        }
    }

    /// Removes an attribute.
    pub(crate) fn remove(&mut self, name: &str) {
        let name = self.name(name);
        self.removes.push(name);
    }

    /// Adds to a number or to a set.
    pub(crate) fn add(&mut self, name: &str, value: AttributeValue) {
        let (name, value) = (self.name(name), self.value(name, value));
        self.adds.push(format!("{name} {value}"));
    }

    /// Only if the attribute has this value.
    pub(crate) fn require(&mut self, name: &str, value: AttributeValue) {
        let (seen, name) = (format!("seen_{name}"), self.name(name));
        let value = self.value(&seen, value);
        self.conditions.push(format!("{name} = {value}"));
    }

    /// Only if the attribute is there, or is not.
    pub(crate) fn require_presence(&mut self, name: &str, present: bool) {
        let function = if present {
            "attribute_exists"
        } else {
            "attribute_not_exists"
        };
        let name = self.name(name);
        self.conditions.push(format!("{function}({name})"));
    }

    /// Puts the expressions on a request.
    pub(crate) fn on(self, request: UpdateItemFluentBuilder) -> UpdateItemFluentBuilder {
        request
            .update_expression(self.expression())
            .set_condition_expression(self.condition())
            .set_expression_attribute_names(Some(self.names))
            .set_expression_attribute_values((!self.values.is_empty()).then_some(self.values))
    }

    /// The update as one of a transaction's writes, which returns what stands there when it is refused.
    pub(crate) fn in_transaction(self, table: &str, key: Attributes) -> TransactWriteItem {
        let update = TransactUpdate::builder()
            .table_name(table)
            .set_key(Some(key))
            .update_expression(self.expression())
            .set_condition_expression(self.condition())
            .set_expression_attribute_names(Some(self.names))
            .set_expression_attribute_values((!self.values.is_empty()).then_some(self.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .expect("an update has a table, a key and an expression");
        TransactWriteItem::builder().update(update).build()
    }

    fn expression(&self) -> String {
        let clauses = [
            ("SET", &self.sets),
            ("REMOVE", &self.removes),
            ("ADD", &self.adds),
        ];
        let written: Vec<String> = clauses
            .iter()
            .filter(|(_, clauses)| !clauses.is_empty())
            .map(|(verb, clauses)| format!("{verb} {}", clauses.join(", ")))
            .collect();
        written.join(" ")
    }

    fn condition(&self) -> Option<String> {
        (!self.conditions.is_empty()).then(|| self.conditions.join(" AND "))
    }

    fn name(&mut self, name: &str) -> String {
        let placeholder = format!("#{name}");
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    fn value(&mut self, name: &str, value: AttributeValue) -> String {
        let placeholder = format!(":{name}");
        self.values.insert(placeholder.clone(), value);
        placeholder
    }
}
