//! What no request is made for: a body that is gone, an address that is not allowed, an event that is
//! none of ours.

use std::time::Duration;

use ackbox_domain::{EntryState, OutcomeKind};
use ackbox_store::schema::kind;
use ackbox_tests::destination::Behaviour;
use ackbox_tests::events;
use ackbox_tests::world::{World, orders};

use super::{dispatch, one_order, scripted};

#[tokio::test]
async fn a_payload_that_is_gone_is_held_and_nothing_else_is_sent_in_its_place() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = World::new(&orders(&destination)).await;
    let receiver = world.receiver().await;
    let noise: String = (0..5000).map(|_| fastrand::alphanumeric()).collect();
    let body = format!(r#"{{"type":"order.paid","noise":"{noise}"}}"#);
    world.webhook("orders", "m1", body).to(&receiver).await;
    let key = world.entry().await.key;
    world.table.remove(&key, kind::PAYLOAD).await;
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("payload-missing"));
    assert!(destination.received().is_empty());
}

/// The configuration cannot know where a name leads; the address that is connected to is looked at.
#[tokio::test]
async fn a_name_that_leads_to_a_private_address_gets_no_request() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = one_order(&orders(&destination)).await;
    let mut config = world.config.clone();
    let warehouse = config.destinations.values_mut().next().unwrap();
    let http = warehouse.to.http_mut().unwrap();
    http.url.set_host(Some("localhost")).unwrap();
    http.allow_private = false;
    let dispatcher = world.dispatcher_with(config).await;
    world.wake(&dispatcher, world.stream().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Pending);
    assert_eq!(entry.attempts[0].kind, OutcomeKind::NotSent);
    assert!(destination.received().is_empty());
}

#[tokio::test]
async fn an_event_of_another_kind_wakes_nobody() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let world = one_order(&orders(&destination)).await;
    let dispatcher = world.dispatcher().await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let strange = serde_json::json!({"source": "aws.s3"});
    assert!(dispatcher.handle(strange, deadline).await.is_err());
    let nothing = world.wake(&dispatcher, events::batch(Vec::new())).await;
    assert_eq!(nothing["batchItemFailures"], serde_json::json!([]));
    assert!(destination.received().is_empty());
}
