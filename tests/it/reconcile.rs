//! A destination that is asked: an attempt of which nobody knows whether it arrived, the destination's
//! own word, and what comes of it. The destination here is one that keeps no keys: nothing but its word
//! allows a second request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_tests::destination::{Behaviour, Destination, Received};
use ackbox_tests::evidence::explained;
use ackbox_tests::log::Log;
use ackbox_tests::world::{World, order, orders_source, parsed};
use tokio::time::Instant;

/// Longer than any wait between questions, and than a lease.
const LATER: Duration = Duration::from_secs(3700);

/// A destination whose first delivery is dropped after it was read, and that answers questions so.
async fn asked(answers: impl Fn(usize) -> Behaviour + Send + Sync + 'static) -> Destination {
    let questions = AtomicUsize::new(0);
    let deliveries = AtomicUsize::new(0);
    let script = move |received: &Received| {
        if received.path.starts_with("/ask/") {
            return answers(questions.fetch_add(1, Ordering::SeqCst));
        }
        match deliveries.fetch_add(1, Ordering::SeqCst) {
            0 => Behaviour::DropAfterRequest,
            _ => Behaviour::status(200),
        }
    };
    Destination::start(script).await.unwrap()
}

fn says(status: u16, body: &str) -> Behaviour {
    Behaviour::Answer {
        status,
        headers: Vec::new(),
        body: body.to_owned(),
    }
}

fn config(destination: &Destination) -> String {
    format!(
        r#"{}
[destination.warehouse]
url = "{}"
idempotency = "none"
on_unknown = "reconcile"
timeout = "5s"
allow_private = true

[destination.warehouse.reconcile]
url = "{}/{{key}}?order={{/data/order}}"
headers = {{ Authorization = "env:ASK" }}
give_up_after = "2d"
answers = [
  {{ status = 200, where = {{ "/state" = "done" }}, means = "applied" }},
  {{ status = 404, means = "not_applied" }},
]
"#,
        orders_source(),
        destination.url("/orders"),
        destination.url("/ask")
    )
}

/// One order whose attempt may have arrived.
async fn in_doubt(destination: &Destination) -> World {
    let world = World::new(&config(destination)).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(17)).to(&receiver).await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Unknown);
    assert!(entry.first_uncertain_at.is_some());
    world
}

fn deliveries(destination: &Destination) -> Vec<Received> {
    let mut received = destination.received();
    received.retain(|request| !request.path.starts_with("/ask/"));
    received
}

fn questions(destination: &Destination) -> Vec<Received> {
    let mut received = destination.received();
    received.retain(|request| request.path.starts_with("/ask/"));
    received
}

#[tokio::test]
async fn an_action_that_is_found_applied_is_delivered_with_the_evidence() {
    let destination = asked(|_| says(200, r#"{"state":"done"}"#)).await;
    let world = in_doubt(&destination).await;
    let reconciler = world.reconciler().await;
    let early = world.reconcile(&reconciler).await;
    assert_eq!(early["applied"], 0, "its time has not come: {early}");
    world.clock.advance(LATER);
    let reconciled = world.reconcile(&reconciler).await;
    assert_eq!(reconciled["applied"], 1, "{reconciled}");
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let detail = entry.last_detail.unwrap();
    assert!(
        detail.contains(r#"asked, it said 200: {"state":"done"}"#),
        "{detail}"
    );
    assert_eq!(deliveries(&destination).len(), 1);
    let question = questions(&destination).remove(0);
    assert_eq!(question.path, format!("/ask/{}?order=17", entry.key));
    let secret = ackbox_tests::sender::secret("ASK");
    assert!(
        question
            .headers
            .contains(&("authorization".to_owned(), secret))
    );
    assert!(question.body.is_empty());
}

#[tokio::test]
async fn an_action_that_is_found_not_applied_is_sent_once_more_under_the_same_key() {
    let destination = asked(|_| says(404, "")).await;
    let world = in_doubt(&destination).await;
    world.clock.advance(LATER);
    let reconciled = world.reconcile(&world.reconciler().await).await;
    assert_eq!(reconciled["not_applied"], 1, "{reconciled}");
    let entry = world.entry().await;
    assert_eq!((entry.state, entry.cleared_fence), (EntryState::Pending, 1));
    assert!(entry.first_uncertain_at.is_some(), "the record stays");
    world.sweep(&world.dispatcher().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    let deliveries = deliveries(&destination);
    assert_eq!(deliveries.len(), 2);
    explained(&entry, &deliveries);
}

#[tokio::test]
async fn the_word_holds_for_one_attempt_and_a_new_doubt_is_asked_about_again() {
    let always_dropped = |received: &Received| match received.path.starts_with("/ask/") {
        true => says(404, ""),
        false => Behaviour::DropAfterRequest,
    };
    let destination = Destination::start(always_dropped).await.unwrap();
    let world = in_doubt(&destination).await;
    let (reconciler, dispatcher) = (world.reconciler().await, world.dispatcher().await);
    for round in 1..=3 {
        world.clock.advance(LATER);
        world.reconcile(&reconciler).await;
        assert_eq!(world.entry().await.cleared_fence, round);
        // However often it is swept: one attempt for one word.
        for _ in 0..3 {
            world.sweep(&dispatcher).await;
        }
        assert_eq!(world.entry().await.state, EntryState::Unknown);
        assert_eq!(deliveries(&destination).len() as u64, round + 1);
    }
}

#[tokio::test]
async fn silence_and_answers_that_no_rule_knows_stay_unknown_and_end_held() {
    let answer = |number| match number % 5 {
        0 => says(500, "oops"),
        1 => says(200, r#"{"state":"working"}"#),
        2 => says(200, "not json"),
        3 => says(403, ""),
        _ => Behaviour::DropAfterRequest,
    };
    let destination = asked(answer).await;
    let world = in_doubt(&destination).await;
    let reconciler = world.reconciler().await;
    let mut questions_seen = 0;
    while world.entry().await.state == EntryState::Unknown {
        world.clock.advance(LATER);
        world.reconcile(&reconciler).await;
        questions_seen += 1;
        assert!(questions_seen < 100, "it ends");
    }
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"));
    assert_eq!(questions(&destination).len(), questions_seen);
    assert!(questions_seen > 10, "{questions_seen}");
    assert_eq!(deliveries(&destination).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_reconcilers_and_a_late_one_allow_no_more_than_one_attempt() {
    let destination = Arc::new(asked(|_| says(404, "")).await);
    let world = in_doubt(&destination).await;
    world.clock.advance(LATER);
    let (one, other) = (world.reconciler().await, world.reconciler().await);
    tokio::join!(world.reconcile(&one), world.reconcile(&other));
    let dispatcher = world.dispatcher().await;
    world.sweep(&dispatcher).await;
    world.reconcile(&one).await;
    world.sweep(&dispatcher).await;
    assert_eq!(world.entry().await.state, EntryState::Delivered);
    assert_eq!(deliveries(&destination).len(), 2);
}

#[tokio::test]
async fn a_destination_that_is_asked_no_more_or_is_gone_leaves_nothing_unknown() {
    let destination = asked(|_| says(404, "")).await;
    for change in ["hold", "gone", "moved"] {
        let world = in_doubt(&asked(|_| says(404, "")).await).await;
        world.clock.advance(LATER);
        let other = config(&destination);
        let (other, reason) = match change {
            "hold" => {
                let plain = ackbox_tests::world::warehouse(&destination, "\"none\"", "hold");
                let same = world.config.destinations["warehouse"]
                    .to
                    .http()
                    .unwrap()
                    .url
                    .to_string();
                let plain = plain.replace(&destination.url("/orders"), &same);
                (format!("{}{plain}", orders_source()), "outcome-unknown")
            }
            "gone" => (other.replace("warehouse", "depot"), "no-such-destination"),
            _ => (other, "origin-changed"),
        };
        let reconciler = world.reconciler_with(parsed(&other)).await;
        world.reconcile(&reconciler).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Held, "{change}");
        assert_eq!(entry.reason.as_deref(), Some(reason), "{change}");
    }
    assert!(destination.received().is_empty());
}

#[tokio::test]
async fn what_no_run_has_time_to_ask_about_is_warned_of_and_held_in_the_end() {
    let log = Log::collect();
    let destination = asked(|_| says(404, "")).await;
    let world = in_doubt(&destination).await;
    let reconciler = world.reconciler().await;
    // A question takes up to 10 s, and writing its word up to 5 s.
    let short = Duration::from_secs(14);
    world.clock.advance(LATER);
    let reconciled = reconciler.run(Instant::now() + short).await;
    assert_eq!(reconciled["left"], 1, "{reconciled}");
    let warned = log.lines("reconcile.left");
    assert_eq!(warned.len(), 1);
    assert_eq!(warned[0]["level"], "WARN");
    assert_eq!(world.entry().await.state, EntryState::Unknown);
    // `give_up_after` has passed.
    world.clock.advance(Duration::from_secs(2 * 86_400));
    let reconciled = reconciler.run(Instant::now() + short).await;
    assert_eq!(reconciled["held"], 1, "{reconciled}");
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"));
    let detail = entry.last_detail.unwrap();
    assert!(
        detail.contains("could not be asked: no run has the 15s"),
        "{detail}"
    );
    assert!(questions(&destination).is_empty());
}

#[tokio::test]
async fn what_an_earlier_run_had_no_time_for_is_asked_about_however_late() {
    let destination = asked(|_| says(200, r#"{"state":"done"}"#)).await;
    let world = in_doubt(&destination).await;
    world.clock.advance(Duration::from_secs(30 * 86_400));
    let reconciled = world.reconcile(&world.reconciler().await).await;
    assert_eq!(reconciled["applied"], 1, "{reconciled}");
}
