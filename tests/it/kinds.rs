//! Destinations that AWS answers, by the whole way: refused where they cannot carry a message, repeated
//! inside their service's window, and never after it.

use std::time::Duration;

use ackbox_dispatcher::Dispatcher;
use ackbox_domain::EntryState;
use ackbox_outbound::Outbound;
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::world::{World, order, orders_source, secrets};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use serde_json::Value;

/// A service that takes the first request and hangs up, and answers the others as each kind would.
async fn hangs_up_once() -> Destination {
    let script = |request: &ackbox_tests::destination::Received| match request.seen {
        1 => Behaviour::DropAfterRequest,
        _ => Behaviour::Answer {
            status: 200,
            headers: vec![],
            body:
                r#"{"MessageId":"m-1","executionArn":"arn:x:execution:fulfil:y","startDate":1.0}"#
                    .to_owned(),
        },
    };
    Destination::start(script).await.unwrap()
}

fn to(destination: &str) -> String {
    format!(
        "{}\n[destination.warehouse]\ntimeout = \"5s\"\n{destination}",
        orders_source()
    )
}

fn to_queue(name: &str, keys: &str) -> String {
    to(&format!(
        "kind = \"sqs\"\nqueue = \"http://127.0.0.1/123456789012/{name}\"\n{keys}"
    ))
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Every kind that keeps keys, or whose user says so, and for how long.
const KEEPS_KEYS: [(&str, Duration); 4] = [
    (
        "kind = \"sqs\"\nqueue = \"http://127.0.0.1/123456789012/jobs.fifo\"\n",
        MINUTE.saturating_mul(5),
    ),
    (
        "kind = \"step-functions\"\nstate_machine = \"arn:aws:states:us-east-1:123456789012:stateMachine:fulfil\"\n",
        DAY.saturating_mul(90),
    ),
    (
        "kind = \"lambda\"\nfunction = \"ship\"\nidempotency = { window = \"1d\" }\n",
        DAY,
    ),
    (
        "kind = \"lambda\"\nfunction = \"ship\"\ninvocation = \"event\"\nidempotency = { window = \"1d\" }\n",
        DAY,
    ),
];

const KEEPS_NONE: [&str; 4] = [
    "kind = \"sqs\"\nqueue = \"http://127.0.0.1/123456789012/jobs\"\n",
    "kind = \"step-functions\"\ntype = \"express\"\nstate_machine = \"arn:aws:states:us-east-1:123456789012:stateMachine:fast\"\n",
    "kind = \"lambda\"\nfunction = \"ship\"\n",
    "kind = \"lambda\"\nfunction = \"ship\"\ninvocation = \"event\"\n",
];

/// A dispatcher whose AWS is this destination.
async fn dispatcher(world: &World, aws: &Destination) -> Dispatcher {
    let credentials = Credentials::new("local", "local", None, None, "test");
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(aws.url(""))
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build();
    let outbound = Outbound::with_aws(secrets(), sdk);
    let store = world.store().await;
    Dispatcher::new(world.config.clone(), store, outbound, world.clock.reader())
}

/// Accepts one order, and wakes a dispatcher once for it.
async fn one_order(config: &str, aws: &Destination) -> (World, Dispatcher) {
    let world = World::new(config).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let dispatcher = dispatcher(&world, aws).await;
    world.wake(&dispatcher, world.stream().await).await;
    (world, dispatcher)
}

#[tokio::test]
async fn a_lost_answer_of_a_fifo_queue_is_repeated_under_the_same_id() {
    let aws = hangs_up_once().await;
    let (world, dispatcher) = one_order(&to_queue("jobs.fifo", ""), &aws).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Pending);
    assert!(entry.first_uncertain_at.is_some());
    world.clock.advance(Duration::from_secs(120));
    world.sweep(&dispatcher).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    assert_eq!(entry.last_detail.as_deref(), Some("200: message m-1"));
    let received = aws.received();
    assert_eq!(received.len(), 2);
    let messages = [0, 1].map(|n| serde_json::from_slice::<Value>(&received[n].body).unwrap());
    assert_eq!(messages[0], messages[1]);
    let message = &messages[0];
    assert_eq!(message["MessageDeduplicationId"], entry.key.as_str());
    assert_eq!(
        message["MessageBody"].as_str().unwrap().as_bytes(),
        order(1)
    );
}

#[tokio::test]
async fn a_lost_answer_is_repeated_inside_the_window_of_its_kind() {
    for (destination, window) in KEEPS_KEYS {
        let aws = hangs_up_once().await;
        let (world, dispatcher) = one_order(&to(destination), &aws).await;
        world.clock.advance(window - MINUTE);
        world.sweep(&dispatcher).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Delivered, "{destination}");
        let received = aws.received();
        assert_eq!(received.len(), 2, "{destination}");
        // A map of attributes has no order.
        let sent = [0, 1].map(|n| serde_json::from_slice::<Value>(&received[n].body).unwrap());
        assert_eq!(sent[0], sent[1], "{destination}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_held_once_the_window_of_its_kind_has_ended() {
    for (destination, window) in KEEPS_KEYS {
        let aws = hangs_up_once().await;
        let (world, dispatcher) = one_order(&to(destination), &aws).await;
        world.clock.advance(window);
        world.sweep(&dispatcher).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Held, "{destination}");
        assert_eq!(entry.reason.as_deref(), Some("window-ended"));
        assert_eq!(aws.received().len(), 1, "{destination}");
    }
}

#[tokio::test]
async fn a_lost_answer_of_a_kind_that_keeps_no_keys_is_held_at_once() {
    for destination in KEEPS_NONE {
        let aws = hangs_up_once().await;
        let (world, dispatcher) = one_order(&to(destination), &aws).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Held, "{destination}");
        assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"));
        world.clock.advance(MINUTE);
        world.sweep(&dispatcher).await;
        assert_eq!(aws.received().len(), 1, "{destination}");
    }
}

#[tokio::test]
async fn a_message_that_its_queue_could_not_carry_is_refused_before_anything_is_written() {
    let world = World::new(&to_queue("jobs.fifo", "group = \"/data/tenant\"\n")).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said().0, 400, "{answer:?}");
    assert!(world.table.items().await.is_empty());
    let body = br#"{"type":"order.paid","data":{"tenant":"a-7"}}"#;
    let answer = world.webhook("orders", "m1", body).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
}

/// What was answered has left: one claim, one request, also where the answer says that nothing was done.
#[tokio::test]
async fn a_request_that_was_turned_away_is_not_sent_again_under_the_same_claim() {
    let denied = Destination::start(|_| Behaviour::Answer {
        status: 403,
        headers: vec![(
            "x-amzn-errortype".to_owned(),
            "AccessDeniedException".to_owned(),
        )],
        body: "{}".to_owned(),
    });
    let aws = denied.await.unwrap();
    let (world, _) = one_order(&to(KEEPS_NONE[2]), &aws).await;
    let entry = world.entry().await;
    assert_eq!((entry.state, entry.fence), (EntryState::Pending, 1));
    assert_eq!(entry.first_uncertain_at, None);
    assert_eq!(aws.received().len(), 1);
}
