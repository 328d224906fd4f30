//! The receiver's handler, warm, beside a bare `TransactWriteItems` of the same items over the same
//! kind of client: what verifying, reading, rendering and answering cost on top of the one call.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ackbox_receiver::Receiver;
use ackbox_tests::engine::{self, Engine};
use ackbox_tests::faults::Call;
use ackbox_tests::requests::Host;
use ackbox_tests::world::{World, order, orders_source};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::RUNS;
use crate::figure::Figure;

/// How many are timed together: one alone is close to the clock's and the scheduler's own noise.
const PER_RUN: usize = 20;
const GOAL: f64 = 1.25;

/// A configuration whose destination nothing is ever sent to.
pub(crate) fn config() -> String {
    let destination = r#"
[destination.warehouse]
url = "https://warehouse.example.com/orders"
idempotency = { window = "24h" }
on_unknown = "retry"
"#;
    format!("{}{destination}", orders_source())
}

/// The handler's time over the bare call's.
pub(crate) async fn ratio(endpoint: &str) -> Result<Figure, String> {
    let world = World::on(Engine::at(endpoint), &engine::table_name(), &config()).await;
    let template = template(&world).await?;
    // Past the proxy: it is no part of either.
    let receiver = world.receiver_on(world.store_at(endpoint).await);
    let client = engine::client(endpoint).await;
    let (mut handler, mut bare) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 5 {
        let ours = received(&world, &receiver, run).await?;
        let theirs = transacted(&client, &template, run).await?;
        // The first runs warm connections and caches on both sides.
        if run >= 5 {
            handler.push(ours);
            bare.push(theirs);
        }
    }
    let name = "receiver handler, warm, to a bare TransactWriteItems";
    Ok(Figure::ratio(name, &mut handler, &mut bare, GOAL))
}

async fn received(world: &World, receiver: &Receiver, run: usize) -> Result<Duration, String> {
    let requests: Vec<_> = (0..PER_RUN)
        .map(|number| {
            let id = format!("msg_{run:06}_{number:06}");
            let webhook = world.webhook("orders", &id, order(1));
            webhook.wire().request(Host::FunctionUrl)
        })
        .collect();
    let began = Instant::now();
    for request in requests {
        let answer = receiver.receive(request, None).await;
        if answer.status() != 200 {
            return Err(format!("the receiver answered {}", answer.status()));
        }
    }
    Ok(began.elapsed())
}

async fn transacted(client: &Client, template: &Value, run: usize) -> Result<Duration, String> {
    let transactions: Vec<_> = (0..PER_RUN)
        .map(|_| transaction(template, &format!("ACTION#act_{:032x}", fastrand::u128(..))))
        .collect::<Result<_, _>>()?;
    let began = Instant::now();
    for (number, items) in transactions.into_iter().enumerate() {
        client
            .transact_write_items()
            .set_transact_items(Some(items))
            .client_request_token(format!("bare-{run:06}-{number:06}"))
            .send()
            .await
            .map_err(|error| format!("the bare transaction: {error:?}"))?;
    }
    Ok(began.elapsed())
}

/// The transaction that the receiver really sends.
async fn template(world: &World) -> Result<Value, String> {
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "msg_template_000", order(1));
    let answer = answer.to(&receiver).await;
    if answer.outcome != "accepted" {
        return Err(format!("the receiver answered {answer:?}"));
    }
    let is = |call: &Call| call.operation == "TransactWriteItems";
    let call = world.faults.calls().into_iter().find(is);
    Ok(call.ok_or("no transaction was sent")?.body)
}

fn transaction(template: &Value, pk: &str) -> Result<Vec<TransactWriteItem>, String> {
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
        AttributeValue::B(Blob::new(STANDARD.decode(encoded).unwrap_or_default()))
    }
}
