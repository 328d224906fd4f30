//! A destination that does not work is paused: no request, no write to its entries and no query of them
//! until the pause is over; then exactly one request, by one of all who could make it; and everything is
//! delivered in the end. Destinations beside it notice nothing.

mod concurrency;
mod operator;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use ackbox_domain::{EntryState, Pause, PauseRecord};
use ackbox_store::schema::{attribute, kind};
use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::engine::Item;
use ackbox_tests::world::{World, answering, name, order, orders, orders_source, warehouse};
use serde_json::Value;

/// Longer than a fresh entry waits for the stream, and shorter than a pause.
const DUE: Duration = Duration::from_secs(61);
const PAUSE: Duration = Duration::from_secs(600);
/// How long a probe has: lease, settle margin, clock skew.
const PROBE: Duration = Duration::from_secs(55);
const AFTER: usize = 3;

/// One attempt at a time, so that what fails is counted one by one.
const BREAKER: &str = r#"
concurrency = 1
breaker = { after = 3, pause = "10m", max_pause = "1h" }
backoff = { first = "1s", max = "1s" }
"#;

/// What a destination does now.
#[derive(Clone)]
struct Mood(Arc<AtomicU8>);

const BUSY: u8 = 0;
const WORKS: u8 = 1;
const STALLS: u8 = 2;
const DROPS: u8 = 3;
const FAILS: u8 = 4;
const REFUSES: u8 = 5;
const STALLS_AND_IS_BUSY: u8 = 6;

impl Mood {
    fn turns(&self, mood: u8) {
        self.0.store(mood, Ordering::SeqCst);
    }
}

async fn moody() -> (Destination, Mood) {
    let mood = Mood(Arc::new(AtomicU8::new(BUSY)));
    let now = mood.clone();
    let destination = Destination::start(move |_| match now.0.load(Ordering::SeqCst) {
        WORKS => Behaviour::status(200),
        STALLS => Behaviour::Stall,
        DROPS => Behaviour::DropAfterRequest,
        FAILS => Behaviour::status(500),
        REFUSES => Behaviour::status(422),
        STALLS_AND_IS_BUSY => Behaviour::StallThen(503),
        _ => Behaviour::status(503),
    });
    (destination.await.unwrap(), mood)
}

async fn accept(world: &World, source: &str, ids: std::ops::Range<u64>) {
    let receiver = world.receiver().await;
    for id in ids {
        let webhook = world.webhook(source, &format!("{source}-{id}"), order(id));
        assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    }
}

/// A world with so many orders, whose destination has just been paused by a dispatcher on the stream.
async fn paused(many: u64) -> (World, Destination, Mood) {
    let (destination, mood) = moody().await;
    let world = World::new(&(orders(&destination) + BREAKER)).await;
    accept(&world, "orders", 0..many).await;
    let dispatcher = world.dispatcher().await;
    let answer = world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
    assert_eq!(destination.received().len(), AFTER);
    (world, destination, mood)
}

async fn pause(world: &World) -> Option<Pause> {
    record(world).await.pause
}

async fn record(world: &World) -> PauseRecord {
    let store = world.store().await;
    store.pause(&name("warehouse")).await.unwrap()
}

fn count(swept: &Value, what: &str) -> u64 {
    swept[what]
        .as_u64()
        .unwrap_or_else(|| panic!("{what} in {swept}"))
}

async fn delivered(world: &World) -> usize {
    let is = |item: &&Item| item.text(attribute::STATE) == Some(EntryState::Delivered.as_str());
    let entries = world.table.of_kind(kind::OUTBOX).await;
    entries.iter().filter(is).count()
}

/// The calls that have to do with a destination's entries: queries of its part of the index, reads and
/// writes of outbox items.
fn touched(world: &World) -> Vec<String> {
    let about = |call: &ackbox_tests::faults::Call| {
        let body = call.body.to_string();
        body.contains("#warehouse#") || body.contains(kind::OUTBOX)
    };
    let calls = world.faults.calls();
    let touched = calls.iter().filter(|call| about(call));
    touched
        .map(|call| format!("{} {}", call.operation, call.body))
        .collect()
}

#[tokio::test]
async fn a_destination_that_fails_is_left_alone_and_its_entries_untouched_until_the_pause_is_over()
{
    let (world, destination, mood) = paused(5).await;
    let began = pause(&world).await.expect("a pause");
    assert_eq!((began.number, began.is_probing), (1, false));
    assert_eq!(began.until, world.clock.now().plus(PAUSE));
    assert_eq!(began.why, "busy (503)");
    mood.turns(WORKS);
    let before = world.table.items().await;
    for _ in 0..3 {
        world.clock.advance(DUE);
        world.faults.forget();
        // As other processes, which have seen no failure themselves.
        let (one, other) = (world.dispatcher().await, world.dispatcher().await);
        let swept = world.sweep(&one).await;
        assert_eq!((count(&swept, "paused"), count(&swept, "found")), (1, 0));
        let answer = world.wake(&other, world.stream().await).await;
        assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
        assert_eq!(touched(&world), Vec::<String>::new());
        assert_eq!(world.faults.count("UpdateItem"), 0);
    }
    assert_eq!(destination.received().len(), AFTER);
    assert_eq!(world.table.items().await, before);
    world.clock.advance(PAUSE);
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        (count(&swept, "attempted"), count(&swept, "paused")),
        (5, 0)
    );
    assert_eq!(delivered(&world).await, 5);
    assert_eq!(pause(&world).await, None);
    assert_eq!(destination.received().len(), AFTER + 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_dispatchers_that_come_at_once_one_makes_the_probe_and_goes_on_with_the_rest() {
    let (world, destination, mood) = paused(8).await;
    mood.turns(STALLS);
    world.clock.advance(PAUSE + DUE);
    let dispatchers = [
        world.dispatcher().await,
        world.dispatcher().await,
        world.dispatcher().await,
    ];
    let by_stream = world.dispatcher().await;
    let stream = world.stream().await;
    let [one, two, three] = &dispatchers;
    let all = async {
        tokio::join!(
            world.sweep(one),
            world.sweep(two),
            world.sweep(three),
            world.wake(&by_stream, stream),
        )
    };
    let probe = async {
        destination.until(|received| received.len() > AFTER).await;
        let probing = pause(&world).await.expect("a probe's record");
        assert!(probing.is_probing);
        // One more process comes while the probe is under way.
        world.faults.forget();
        let swept = world.sweep(&world.dispatcher().await).await;
        assert_eq!((count(&swept, "paused"), count(&swept, "found")), (1, 0));
        assert_eq!(destination.received().len(), AFTER + 1, "exactly one probe");
        mood.turns(WORKS);
        destination.release();
    };
    let (ended, ()) = tokio::join!(all, probe);
    let paused: u64 = [&ended.0, &ended.1, &ended.2]
        .map(|swept| count(swept, "paused"))
        .iter()
        .sum();
    assert!(paused >= 2, "the others left it alone: {ended:?}");
    // What the probing sweep did not come to, where the probe was the stream's, the next one does.
    world.sweep(&world.dispatcher().await).await;
    assert_eq!(delivered(&world).await, 8);
    assert_eq!(
        destination.received().len(),
        AFTER + 8,
        "each was sent once more"
    );
    assert_eq!(pause(&world).await, None);
}

#[tokio::test]
async fn a_probe_that_fails_begins_a_longer_pause_and_so_does_one_without_an_answer() {
    let (world, destination, mood) = paused(4).await;
    let since = pause(&world).await.unwrap().since;
    for (number, bad, minutes) in [(2, BUSY, 20), (3, DROPS, 40), (4, FAILS, 60), (5, BUSY, 60)] {
        mood.turns(bad);
        let until = pause(&world).await.unwrap().until;
        world.clock.advance(until.since(world.clock.now()));
        let requests = destination.received().len();
        let swept = world.sweep(&world.dispatcher().await).await;
        assert_eq!(destination.received().len(), requests + 1);
        assert_eq!(
            (count(&swept, "attempted"), count(&swept, "paused")),
            (1, 1)
        );
        let next = pause(&world).await.expect("a longer pause");
        let length = next.until.since(world.clock.now());
        assert_eq!((next.number, length.as_secs()), (number, minutes * 60));
        assert_eq!(next.since, since);
    }
    mood.turns(REFUSES);
    world.clock.advance(Duration::from_secs(3600));
    let swept = world.sweep(&world.dispatcher().await).await;
    assert!(count(&swept, "attempted") > 1, "a no is an answer: {swept}");
    assert_eq!(pause(&world).await, None);
}

#[tokio::test]
async fn a_probe_that_is_never_heard_of_is_made_again_when_its_time_has_run_out() {
    let (world, destination, mood) = paused(3).await;
    mood.turns(STALLS);
    world.clock.advance(PAUSE + DUE);
    let dying = world.dispatcher().await;
    tokio::select! {
        _ = world.sweep(&dying) => panic!("it stalls"),
        // Dropped in the middle, as a sandbox that is gone.
        () = destination.until(|received| received.len() > AFTER) => {}
    }
    mood.turns(WORKS);
    let until = pause(&world).await.unwrap().until;
    assert_eq!(until, world.clock.now().plus(PROBE));
    let other = world.dispatcher().await;
    world.clock.advance(PROBE - Duration::from_millis(1));
    assert_eq!(count(&world.sweep(&other).await, "paused"), 1);
    assert_eq!(destination.received().len(), AFTER + 1);
    world.clock.advance(Duration::from_millis(1));
    world.sweep(&other).await;
    assert_eq!(pause(&world).await, None);
    assert_eq!(delivered(&world).await, 3);
}

#[tokio::test]
async fn without_a_due_entry_the_end_of_a_pause_is_left_to_the_first_new_one() {
    let (destination, mood) = moody().await;
    let world = World::new(&(orders(&destination) + BREAKER)).await;
    accept(&world, "orders", 0..AFTER as u64).await;
    mood.turns(FAILS);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let began = record(&world).await;
    assert!(began.pause.is_some());
    // Nothing is left of it: an operator has resolved what there was.
    for item in world.table.of_kind(kind::OUTBOX).await {
        world.table.remove(&item.key().unwrap(), kind::OUTBOX).await;
    }
    world.clock.advance(PAUSE * 10);
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!((count(&swept, "paused"), count(&swept, "found")), (0, 0));
    assert_eq!(record(&world).await, began, "nobody knows more than before");
    mood.turns(WORKS);
    accept(&world, "orders", 10..12).await;
    let by_stream = world.dispatcher().await;
    world.wake(&by_stream, world.stream().await).await;
    assert_eq!(pause(&world).await, None);
    assert_eq!(
        destination.received().len(),
        AFTER + 2,
        "the second one came after the probe"
    );
}

#[tokio::test]
async fn timeouts_and_lost_connections_neither_begin_a_pause_nor_count_as_answers() {
    let (destination, mood) = moody().await;
    let world = World::new(&(orders(&destination) + BREAKER)).await;
    let dispatcher = world.dispatcher().await;
    let mut seen = 0;
    for (mood_now, paused) in [
        (BUSY, false),
        (BUSY, false),
        (DROPS, false),
        (WORKS, false),
        (BUSY, false),
        (BUSY, false),
        (REFUSES, false),
        (FAILS, false),
        (DROPS, false),
        (DROPS, false),
        (BUSY, false),
        (FAILS, true),
    ] {
        mood.turns(mood_now);
        accept(&world, "orders", seen..seen + 1).await;
        let items = world.table.of_kind(kind::OUTBOX).await;
        let fresh = items
            .iter()
            .find(|item| item.number(attribute::FENCE) == Some(0));
        let insert = ackbox_tests::events::insert(fresh.unwrap(), seen);
        world
            .wake(&dispatcher, ackbox_tests::events::batch(vec![insert]))
            .await;
        seen += 1;
        assert_eq!(destination.received().len() as u64, seen);
        assert_eq!(pause(&world).await.is_some(), paused, "after {seen}");
    }
}

#[tokio::test]
async fn what_is_decided_of_entries_is_decided_when_the_pause_is_over() {
    let (destination, mood) = moody().await;
    let config = orders(&destination) + BREAKER + "retry_for = \"5m\"\n";
    let world = World::new(&config).await;
    accept(&world, "orders", 0..AFTER as u64 + 1).await;
    let dispatcher = world.dispatcher().await;
    mood.turns(STALLS);
    // One is claimed, and its dispatcher gone.
    tokio::select! {
        _ = world.wake(&dispatcher, world.stream().await) => panic!("it stalls"),
        () = destination.until(|received| !received.is_empty()) => {}
    }
    mood.turns(BUSY);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert!(pause(&world).await.is_some());
    let before = world.table.items().await;
    world.clock.advance(PAUSE - Duration::from_secs(1));
    world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        world.table.items().await,
        before,
        "past lease and retry_for, and untouched"
    );
    world.clock.advance(Duration::from_secs(1));
    mood.turns(WORKS);
    world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        delivered(&world).await,
        AFTER,
        "the last attempt is made, late"
    );
    let entries = world.table.of_kind(kind::OUTBOX).await;
    let mut reasons = entries
        .iter()
        .filter_map(|item| item.text(attribute::REASON));
    assert_eq!(reasons.next(), Some("retries-exhausted"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_destination_is_no_business_of_the_others() {
    let (broken, _mood) = moody().await;
    let healthy = answering(200).await;
    let other_source = orders_source()
        .replace("orders", "olds")
        .replace("warehouse", "shop");
    let shop = warehouse(&healthy, "{ window = \"24h\" }", "retry");
    let shop = shop.replace("destination.warehouse", "destination.shop");
    let config = format!("{}{BREAKER}{other_source}{shop}", orders(&broken));
    let world = World::new(&config).await;
    accept(&world, "orders", 0..40).await;
    accept(&world, "olds", 0..10).await;
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(
        (broken.received().len(), healthy.received().len()),
        (AFTER, 10)
    );
    accept(&world, "olds", 10..20).await;
    world.clock.advance(DUE);
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        (count(&swept, "paused"), count(&swept, "attempted")),
        (1, 10)
    );
    assert_eq!(
        (broken.received().len(), healthy.received().len()),
        (AFTER, 20)
    );
}
