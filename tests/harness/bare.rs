//! What the receiver is compared with: a bare `TransactWriteItems` of the very items that it writes.
//! In comes a transaction as it went over the wire, out come its items under another key.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use data_encoding::BASE64;
use serde_json::Value;

/// The environment variable in which the bare function finds its transaction, as JSON.
pub const TEMPLATE: &str = "TRANSACTION";

/// The transaction of the template, with this partition key.
///
/// # Errors
/// It is no transaction of puts.
pub fn transaction(template: &Value, pk: &str) -> Result<Vec<TransactWriteItem>, String> {
    let items = template["TransactItems"].as_array();
    let puts = items.into_iter().flatten().map(|item| {
        let put = &item["Put"];
        let mut attributes = attributes(&put["Item"]);
        attributes.insert("pk".to_owned(), AttributeValue::S(pk.to_owned()));
        let text = |name: &str| put[name].as_str().unwrap_or_default().to_owned();
        let names = put["ExpressionAttributeNames"].as_object().map(|names| {
            let pair = |(name, value): (&String, &Value)| {
                (name.clone(), value.as_str().unwrap_or_default().to_owned())
            };
            names.iter().map(pair).collect::<HashMap<_, _>>()
        });
        let put = Put::builder()
            .table_name(text("TableName"))
            .set_item(Some(attributes))
            .condition_expression(text("ConditionExpression"))
            .set_expression_attribute_names(names)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(TransactWriteItem::builder().put(put).build())
    });
    puts.collect()
}

/// A partition key that no action has.
pub fn any_pk() -> String {
    format!("ACTION#act_{:032x}", fastrand::u128(..))
}

fn attributes(item: &Value) -> HashMap<String, AttributeValue> {
    let fields = item.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| (name.clone(), attribute(value)))
        .collect()
}

fn attribute(value: &Value) -> AttributeValue {
    if let Some(text) = value["S"].as_str() {
        AttributeValue::S(text.to_owned())
    } else if let Some(number) = value["N"].as_str() {
        AttributeValue::N(number.to_owned())
    } else if let Some(list) = value["L"].as_array() {
        AttributeValue::L(list.iter().map(attribute).collect())
    } else {
        let encoded = value["B"].as_str().unwrap_or_default();
        AttributeValue::B(Blob::new(
            BASE64.decode(encoded.as_bytes()).unwrap_or_default(),
        ))
    }
}
