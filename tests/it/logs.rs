//! What the functions log: one line per request and one per attempt, and never a body, a secret or a
//! signature, whatever goes wrong.

use std::time::Duration;

use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::log::Log;
use ackbox_tests::sender::{Webhook, secret};
use ackbox_tests::world::{World, answering, orders};

/// In every body, and so in nothing that is logged.
const CANARY: &str = "canary-7f3a9c";

fn body(kind: &str) -> String {
    format!(r#"{{"type":"{kind}","card":"{CANARY}"}}"#)
}

fn config(destination: &Destination) -> String {
    let secrets = "allow_private = true\nsigning = [\"env:SIGNING\"]\nheaders = { Authorization = \"env:TOKEN\" }";
    let hurry = "\n[delivery]\naccept_budget = \"1s\"\nsettle_margin = \"1s\"\n";
    format!(
        "{}{hurry}",
        orders(destination).replace("allow_private = true", secrets)
    )
}

/// The values that the wire of this webhook holds and that prove it.
fn signature(webhook: &Webhook) -> Vec<String> {
    let wire = webhook.wire();
    let is = |name: &String| name.eq_ignore_ascii_case("webhook-signature");
    let values = wire.headers.into_iter().filter(|(name, _)| is(name));
    values
        .map(|(_, value)| value.trim_start_matches("v1,").to_owned())
        .collect()
}

#[tokio::test]
async fn no_log_line_holds_a_body_a_secret_or_a_signature() {
    let log = Log::collect();
    // A destination that says back all that it was told.
    let echo = Destination::start(|received| {
        let told: Vec<&str> = received
            .headers
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        let body = format!(
            "{} {}",
            String::from_utf8_lossy(&received.body),
            told.join(" ")
        );
        Behaviour::Answer {
            status: if received.seen == 1 { 500 } else { 422 },
            headers: Vec::new(),
            body: format!("{} {body}", "x".repeat(20)),
        }
    });
    let echo = echo.await.unwrap();
    let world = World::new(&config(&echo)).await;
    let receiver = world.receiver().await;
    let webhook = world.webhook("orders", "m1", body("order.paid"));
    let other = world.webhook("orders", "m1", body("order.paid").replace("card", "cord"));
    let forged = webhook.clone().signed_with("OTHER");
    let stale = webhook
        .clone()
        .at(world.clock.now().minus(Duration::from_secs(4000)));
    let ignored = world.webhook("orders", "m2", body("order.seen"));
    let broken = world.webhook("orders", "m3", format!("{{\"type\":[\"{CANARY}\"]"));
    let all = [
        &webhook, &webhook, &other, &forged, &stale, &ignored, &broken,
    ];
    for webhook in all {
        webhook.to(&receiver).await;
    }
    let rule = Rule::operation("TransactWriteItems");
    world
        .faults
        .inject(rule, Fault::Refuse(Refusal::AccessDenied));
    world
        .webhook("orders", "m4", body("order.paid"))
        .to(&receiver)
        .await;
    world.faults.clear();
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    world.clock.advance(Duration::from_secs(3700));
    world.sweep(&dispatcher).await;
    assert_eq!(echo.received().len(), 2);

    let text = log.text();
    let count = |message: &str| log.lines(message).len();
    assert_eq!(count("receive.answered"), 8, "{text}");
    assert_eq!(count("delivery.attempted"), 2, "{text}");
    let mut never = vec![CANARY.to_owned()];
    for name in ["ORDERS", "OTHER", "TOKEN", "SIGNING"] {
        let value = secret(name);
        never.push(value.trim_start_matches("whsec_").to_owned());
    }
    for webhook in all {
        never.extend(signature(webhook));
    }
    for received in echo.received() {
        let is = |(name, _): &&(String, String)| name == "webhook-signature";
        let (_, value) = received.headers.iter().find(is).unwrap();
        never.push(value.trim_start_matches("v1,").to_owned());
    }
    for value in never {
        assert!(
            value.len() > 8,
            "a value that could stand anywhere proves nothing"
        );
        let found = text.lines().find(|line| line.contains(&value));
        assert_eq!(found, None, "{value:?} is in the log");
    }
}

#[tokio::test]
async fn the_line_of_a_request_says_what_happened_and_why() {
    let log = Log::collect();
    let destination = answering(200).await;
    let world = World::new(&config(&destination)).await;
    let receiver = world.receiver().await;
    let webhook = world.webhook("orders", "m1", body("order.paid"));
    webhook.to(&receiver).await;
    webhook.clone().signed_with("OTHER").to(&receiver).await;
    world
        .webhook("orders", "m2", body("order.seen"))
        .to(&receiver)
        .await;
    let lines = log.lines("receive.answered");
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["outcome"], "accepted");
    assert_eq!(lines[0]["status"], 200);
    assert_eq!(lines[0]["source"], "orders");
    assert_eq!(lines[0]["message.id"], "m1");
    assert_eq!(lines[0]["event"], "order.paid");
    assert_eq!(lines[0]["secret"], "env:ORDERS");
    let key = world.entry().await.key;
    assert!(
        lines[0]["action.keys"]
            .as_str()
            .unwrap()
            .contains(key.as_str())
    );
    assert_eq!(lines[1]["outcome"], "refused");
    assert!(lines[1]["reason"].is_string());
    assert!(
        lines[1]["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty())
    );
    assert_eq!(lines[2]["outcome"], "ignored");
    assert_eq!(lines[2]["ignored.count"], 1);
}

#[tokio::test]
async fn the_line_of_an_attempt_says_who_where_and_what_came_of_it() {
    let log = Log::collect();
    let destination = Destination::start(|_| Behaviour::status(429))
        .await
        .unwrap();
    let world = World::new(&config(&destination)).await;
    let receiver = world.receiver().await;
    world
        .webhook("orders", "m1", body("order.paid"))
        .to(&receiver)
        .await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let lines = log.lines("delivery.attempted");
    assert_eq!(lines.len(), 1);
    let key = world.entry().await.key;
    assert_eq!(lines[0]["action.key"], key.as_str());
    assert_eq!(lines[0]["destination"], "warehouse");
    assert_eq!(lines[0]["attempt.number"], 1);
    assert_eq!(lines[0]["outcome"], "busy");
    assert_eq!(lines[0]["status"], 429);
    assert_eq!(lines[0]["state"], "pending");
    assert!(lines[0]["duration_ms"].is_number());
}
