//! Requests as each host hands them over, and the table of answers: status, headers, no body.

use std::time::Duration;

use ackbox_store::schema::kind;
use ackbox_tests::destination::Destination;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::requests::{Host, Wire};
use ackbox_tests::sender::{Answer, send};
use ackbox_tests::world::{World, answering, order, orders, warehouse};

/// A source whose id and event stand in headers, so that nothing reads the body; and `orders`.
fn hub(destination: &Destination) -> String {
    let hub = r#"
[source.hub]
scheme = "github"
secrets = ["env:HUB"]
trust_unsigned_id = true

[[source.hub.rule]]
name = "build"
key = ["message:id"]
destination = "warehouse"
"#;
    format!("{}{hub}", orders(destination))
}

fn is_bare(answer: &Answer) {
    assert!(answer.body.is_empty(), "{answer:?}");
    assert!(!answer.outcome.is_empty(), "{answer:?}");
}

#[tokio::test]
async fn every_host_hands_over_the_same_message() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let mut expected = "accepted";
    for host in Host::ALL {
        for base64 in [false, true] {
            let mut wire = world.webhook("orders", "m1", order(1)).wire();
            wire.base64 = base64;
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.said(), (200, expected), "{host:?}, base64: {base64}");
            is_bare(&answer);
            expected = "duplicate";
        }
    }
    assert_eq!(world.table.items().await.len(), 2);
}

#[tokio::test]
async fn a_path_is_hooks_and_a_name_with_an_optional_slash_and_any_query() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    for host in Host::ALL {
        for (path, query, status) in [
            ("/hooks/orders", "", 200),
            ("/hooks/orders/", "", 200),
            ("/hooks/orders", "a=b", 200),
            ("/hooks/orders/", "a=b&next=%2Fhooks%2Fx", 200),
            ("/hooks/nobody", "", 404),
            ("/hooks/ORDERS", "", 404),
            ("/hooks/orders/x", "", 404),
            ("/hooks/orders//", "", 404),
            ("/hooks//orders", "", 404),
            ("/hooks/", "", 404),
            ("/hooks", "", 404),
            ("/", "", 404),
            ("/Hooks/orders", "", 404),
            ("/x/hooks/orders", "", 404),
            ("/hooks/orders%2F", "", 404),
        ] {
            let mut wire = world.webhook("orders", "m1", order(1)).wire();
            (wire.path, wire.query) = (path.to_owned(), query.to_owned());
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.status, status, "{host:?} {path}?{query}");
            is_bare(&answer);
            if status == 404 {
                assert_eq!(answer.outcome, "unknown-source");
            }
        }
    }
}

#[tokio::test]
async fn another_method_is_405_and_names_the_one_that_is_allowed() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    for host in Host::ALL {
        for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
            let mut wire = world.webhook("orders", "m1", order(1)).wire();
            wire.method = method.to_owned();
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.said(), (405, "method"), "{host:?} {method}");
            assert_eq!(answer.header("allow"), Some("POST"));
            is_bare(&answer);
            wire.path = "/hooks/nobody".to_owned();
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.said(), (404, "unknown-source"));
        }
    }
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_before_anything_else_and_one_at_the_limit_is_not() {
    let small = orders(&answering(200).await).replace(
        "secrets = [\"env:ORDERS\"]",
        "secrets = [\"env:ORDERS\"]\nmax_body = \"1 KiB\"",
    );
    let world = World::new(&small).await;
    let receiver = world.receiver().await;
    let of = |bytes: usize| {
        let frame = r#"{"type":"order.paid","pad":""}"#.len();
        format!(
            r#"{{"type":"order.paid","pad":"{}"}}"#,
            "x".repeat(bytes - frame)
        )
    };
    for host in Host::ALL {
        for base64 in [false, true] {
            let mut wire = world.webhook("orders", "m1", of(1024)).wire();
            wire.base64 = base64;
            assert_eq!(send(&receiver, &wire, host).await.status, 200);
            let mut wire = world.webhook("orders", "m2", of(1025)).wire();
            wire.base64 = base64;
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.said(), (413, "too-large"), "{host:?} {base64}");
            is_bare(&answer);
            // The size comes before the signature.
            wire.headers.clear();
            assert_eq!(send(&receiver, &wire, host).await.status, 413);
        }
    }
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 1);
}

#[tokio::test]
async fn a_body_that_no_item_can_hold_is_413_and_leaves_nothing() {
    let large = orders(&answering(200).await).replace(
        "secrets = [\"env:ORDERS\"]",
        "secrets = [\"env:ORDERS\"]\nmax_body = \"2 MiB\"",
    );
    let world = World::new(&large).await;
    let receiver = world.receiver().await;
    let noise: String = (0..800_000).map(|_| fastrand::alphanumeric()).collect();
    let body = format!(r#"{{"type":"order.paid","noise":"{noise}"}}"#);
    let answer = world.webhook("orders", "m1", body).to(&receiver).await;
    assert_eq!(answer.said(), (413, "too-large"));
    assert!(world.table.items().await.is_empty());
    // As many bytes that compress well have room.
    let body = format!(
        r#"{{"type":"order.paid","noise":"{}"}}"#,
        "x".repeat(800_000)
    );
    let answer = world.webhook("orders", "m1", body).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
}

#[tokio::test]
async fn a_missing_wrong_stale_or_future_signature_is_401_and_leaves_nothing() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let now = world.clock.now();
    let signed = || world.webhook("orders", "m1", order(1));
    let without = |name: &str| {
        let mut wire = signed().wire();
        wire.headers
            .retain(|(have, _)| !have.eq_ignore_ascii_case(name));
        wire
    };
    let changed = |change: fn(&mut Wire)| {
        let mut wire = signed().wire();
        change(&mut wire);
        wire
    };
    let hour = Duration::from_secs(3600);
    let refused = [
        without("webhook-signature"),
        without("webhook-timestamp"),
        without("webhook-id"),
        signed().signed_with("OTHER").wire(),
        signed().at(now.minus(hour)).wire(),
        signed().at(now.plus(hour)).wire(),
        changed(|wire| wire.body[30] ^= 1),
        changed(|wire| wire.body.clear()),
        changed(|wire| wire.headers.clear()),
        changed(|wire| wire.headers[0].1.push('x')),
    ];
    for wire in refused {
        for host in [Host::FunctionUrl, Host::RestApi] {
            let answer = send(&receiver, &wire, host).await;
            assert_eq!(answer.said(), (401, "refused"), "{wire:?}");
            is_bare(&answer);
        }
    }
    assert!(world.table.items().await.is_empty());
    assert!(world.faults.calls().is_empty());
    assert_eq!(signed().to(&receiver).await.said(), (200, "accepted"));
}

#[tokio::test]
async fn any_of_a_sources_secrets_may_have_signed() {
    let config =
        orders(&answering(200).await).replace("[\"env:ORDERS\"]", "[\"env:NEXT\", \"env:ORDERS\"]");
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    for (id, secret) in [("m1", "NEXT"), ("m2", "ORDERS")] {
        let webhook = world.webhook("orders", id, order(1)).signed_with(secret);
        assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    }
}

#[tokio::test]
async fn an_unwanted_event_and_the_senders_own_test_are_acknowledged_and_leave_nothing() {
    let world = World::new(&hub(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let unwanted = world.webhook("orders", "m1", r#"{"type":"order.seen"}"#);
    assert_eq!(unwanted.to(&receiver).await.said(), (200, "ignored"));
    assert_eq!(unwanted.to(&receiver).await.said(), (200, "ignored"));
    let ping = world.webhook("hub", "d1", r#"{"zen":"..."}"#).event("ping");
    assert_eq!(ping.to(&receiver).await.said(), (200, "ignored"));
    assert!(world.table.items().await.is_empty());
    let counted = receiver.ignored();
    let of = |event: &str| {
        counted
            .iter()
            .find(|(_, e, _)| e == event)
            .map(|found| found.2)
    };
    assert_eq!((of("order.seen"), of("ping")), (Some(2), Some(1)));
}

#[tokio::test]
async fn a_table_that_is_not_there_now_is_503_with_a_time_to_come_again() {
    let budget = "\n[delivery]\naccept_budget = \"1s\"\n";
    let world = World::new(&format!("{}{budget}", orders(&answering(200).await))).await;
    let receiver = world.receiver().await;
    let rule = Rule::operation("TransactWriteItems");
    world.faults.inject(rule, Fault::Refuse(Refusal::Throttled));
    let wire = world.webhook("orders", "m1", order(1)).wire();
    let answer = send(&receiver, &wire, Host::HttpApi).await;
    assert_eq!(answer.said(), (503, "unavailable"));
    assert!(answer.header("retry-after").is_some());
    is_bare(&answer);
}

#[tokio::test]
async fn a_secret_that_cannot_be_had_is_our_fault_and_never_the_senders() {
    let world = World::new(&orders(&answering(200).await)).await;
    let none = ackbox_secrets::Secrets::new(|_| None);
    let config = world.config.clone();
    let store = world.store().await;
    let receiver = ackbox_receiver::Receiver::new(config, store, none, world.clock.reader());
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (503, "unavailable"));
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive_as_they_were_sent() {
    let destination = answering(200).await;
    let world = World::new(&hub(&destination)).await;
    let receiver = world.receiver().await;
    let bodies: [&[u8]; 4] = [
        b"\xff\xfe\x00\x01 not text",
        b"{\"note\":\"\xe9\"}",
        // Decoded twice, this would be another text.
        b"eyJ0eXBlIjoib3JkZXIucGFpZCJ9",
        b"",
    ];
    for (number, body) in bodies.iter().enumerate() {
        let webhook = world
            .webhook("hub", &format!("d{number}"), *body)
            .event("push");
        let wire = webhook
            .header("content-type", "application/octet-stream")
            .wire();
        let answer = send(
            &receiver,
            &Wire {
                base64: true,
                ..wire
            },
            Host::FunctionUrl,
        )
        .await;
        assert_eq!(answer.said(), (200, "accepted"), "{body:?}");
    }
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let mut received: Vec<Vec<u8>> = destination.received().into_iter().map(|r| r.body).collect();
    let mut sent: Vec<Vec<u8>> = bodies.iter().map(|body| body.to_vec()).collect();
    received.sort();
    sent.sort();
    assert_eq!(received, sent);
}

#[tokio::test]
async fn bytes_that_are_no_text_beside_what_a_rule_reads_do_no_harm() {
    let destination = answering(200).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    let body = b"\xef\xbb\xbf{\"type\":\"order.paid\",\"note\":\"\xff\xfe\"}".to_vec();
    let answer = world
        .webhook("orders", "m1", body.clone())
        .to(&receiver)
        .await;
    assert_eq!(answer.said(), (200, "accepted"));
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received()[0].body, body);
}

#[tokio::test]
async fn an_invocation_that_is_about_to_end_is_answered_by_us_and_not_by_its_host() {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    let rule = Rule::operation("TransactWriteItems");
    world.faults.inject(rule, Fault::Stall);
    let wire = world.webhook("orders", "m1", order(1)).wire();
    let remaining = Some(Duration::from_millis(900));
    let response = receiver.receive(wire.request(Host::FunctionUrl), remaining);
    // The host's patience: an answer that comes later is none.
    let response = tokio::time::timeout(Duration::from_millis(900), response).await;
    assert_eq!(response.expect("an answer in time").status(), 503);
}

#[tokio::test]
async fn a_destination_needs_nothing_from_the_receivers_configuration_but_its_name() {
    // A destination that is down is no reason to refuse what comes in.
    let closed = answering(200).await;
    let config = format!(
        "{}{}",
        ackbox_tests::world::orders_source(),
        warehouse(&closed, "{ window = \"1h\" }", "hold")
    );
    drop(closed);
    let world = World::new(&config).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
}
