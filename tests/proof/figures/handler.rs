//! The receiver's handler, warm, beside a bare `TransactWriteItems` of the same items over the same
//! kind of client: what verifying, reading, rendering and answering cost on top of the one call.

use std::time::{Duration, Instant};

use ackbox_receiver::Receiver;
use ackbox_tests::bare::{any_pk, transaction};
use ackbox_tests::engine::{self, Engine};
use ackbox_tests::faults::Call;
use ackbox_tests::requests::Host;
use ackbox_tests::world::{World, order, orders_source};
use aws_sdk_dynamodb::Client;
use serde_json::Value;

use super::RUNS;
use super::figure::Figure;

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
        .map(|_| transaction(template, &any_pk()))
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
pub(crate) async fn template(world: &World) -> Result<Value, String> {
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
