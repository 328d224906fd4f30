//! An operator's pause of a destination: it holds whatever the breaker says or has, until its end; no request
//! goes out, nothing is written to the entries, and everything is delivered afterwards.

use std::time::Duration;

use ackbox_domain::{EntryState, OperatorPause, PauseRecord};
use ackbox_store::schema::{attribute, kind};
use ackbox_store::{OperatorRecord, PauseChange};
use ackbox_tests::world::{World, answering, name, order, orders, orders_without_keys};

use super::{
    AFTER, BREAKER, BUSY, DUE, PAUSE, STALLS, STALLS_AND_IS_BUSY, WORKS, accept, count, delivered,
    moody, paused, record, touched,
};

/// Longer than a process goes without a look.
const LOOK: Duration = Duration::from_millis(1_100);

async fn change(world: &World, next: Option<OperatorPause>) -> PauseRecord {
    let store = world.store().await;
    let warehouse = name("warehouse");
    let seen = store.pause_now(&warehouse).await.unwrap();
    let record = OperatorRecord {
        at: world.clock.now(),
        by: "ada".to_owned(),
        did: "pause".to_owned(),
        detail: None,
        number: None,
        reason: None,
    };
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let changed = store.operate_pause(&warehouse, &seen, next.as_ref(), &record, deadline);
    match changed.await.unwrap() {
        PauseChange::Written(record) => record,
        PauseChange::Moved(record) => panic!("{record:?}"),
    }
}

async fn pauses(world: &World, lasting: Option<Duration>) -> PauseRecord {
    let now = world.clock.now();
    let pause = OperatorPause {
        since: now,
        until: lasting.map(|lasting| now.plus(lasting)),
        by: "ada".to_owned(),
        why: Some("their maintenance".to_owned()),
    };
    change(world, Some(pause)).await
}

#[tokio::test]
async fn a_destination_that_works_is_left_alone_also_where_its_breaker_is_off() {
    for breaker in ["breaker = \"off\"\n", BREAKER] {
        let destination = answering(200).await;
        let world = World::new(&(orders(&destination) + breaker)).await;
        accept(&world, "orders", 0..4).await;
        pauses(&world, None).await;
        let before = world.table.items().await;
        for _ in 0..2 {
            world.faults.forget();
            let dispatcher = world.dispatcher().await;
            let answer = world.wake(&dispatcher, world.stream().await).await;
            assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
            world.clock.advance(DUE + PAUSE * 100);
            let swept = world.sweep(&dispatcher).await;
            assert_eq!((count(&swept, "paused"), count(&swept, "found")), (1, 0));
            assert_eq!(touched(&world), Vec::<String>::new());
        }
        assert_eq!(destination.received().len(), 0);
        assert_eq!(world.table.items().await, before);
        change(&world, None).await;
        let swept = world.sweep(&world.dispatcher().await).await;
        assert_eq!(count(&swept, "attempted"), 4);
        assert_eq!(
            (delivered(&world).await, destination.received().len()),
            (4, 4)
        );
    }
}

#[tokio::test]
async fn it_costs_half_a_read_a_second_whatever_the_breaker_is() {
    let destination = answering(200).await;
    let world = World::new(&(orders(&destination) + "breaker = \"off\"\n")).await;
    accept(&world, "orders", 0..20).await;
    let dispatcher = world.dispatcher().await;
    world.faults.forget();
    world.faults.measure();
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received().len(), 20);
    assert_eq!(world.faults.consumed().reads, 0.5);
}

#[tokio::test]
async fn at_its_end_everything_follows_at_once_without_a_probe() {
    let destination = answering(200).await;
    let world = World::new(&(orders(&destination) + BREAKER)).await;
    accept(&world, "orders", 0..5).await;
    let stands = pauses(&world, Some(DUE * 2)).await;
    world.clock.advance(DUE * 2 - Duration::from_millis(1));
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!((count(&swept, "paused"), count(&swept, "found")), (1, 0));
    world.clock.advance(Duration::from_millis(1));
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        (count(&swept, "attempted"), count(&swept, "paused")),
        (5, 0)
    );
    assert_eq!(record(&world).await, stands, "nothing is written for it");
}

#[tokio::test]
async fn a_probe_that_is_under_way_neither_ends_nor_lengthens_it() {
    for (ends, delivered_by_probe) in [(STALLS, 1), (STALLS_AND_IS_BUSY, 0)] {
        let (world, destination, mood) = paused(3).await;
        mood.turns(ends);
        world.clock.advance(PAUSE + DUE);
        let dispatcher = world.dispatcher().await;
        let probe = async {
            destination.until(|received| received.len() > AFTER).await;
            let stands = pauses(&world, None).await;
            destination.release();
            stands
        };
        let (swept, stands) = tokio::join!(world.sweep(&dispatcher), probe);
        assert_eq!(
            count(&swept, "attempted"),
            1,
            "the probe is settled: {swept}"
        );
        assert_eq!(record(&world).await, stands);
        assert!(stands.pause.is_none());
        world.clock.advance(PAUSE * 10);
        let swept = world.sweep(&world.dispatcher().await).await;
        assert_eq!((count(&swept, "paused"), count(&swept, "found")), (1, 0));
        assert_eq!(destination.received().len(), AFTER + 1);
        assert_eq!(delivered(&world).await, delivered_by_probe);
    }
}

#[tokio::test]
async fn failures_of_attempts_that_began_before_it_do_not_replace_it() {
    let (destination, mood) = moody().await;
    mood.turns(STALLS_AND_IS_BUSY);
    let breaker = BREAKER.replace("concurrency = 1\n", "");
    let world = World::new(&(orders(&destination) + &breaker)).await;
    accept(&world, "orders", 0..AFTER as u64 + 2).await;
    let dispatcher = world.dispatcher().await;
    let stream = world.stream().await;
    let under_way = async {
        destination
            .until(|received| received.len() == AFTER + 2)
            .await;
        let stands = pauses(&world, None).await;
        destination.release();
        stands
    };
    let (_, stands) = tokio::join!(world.wake(&dispatcher, stream), under_way);
    assert_eq!(record(&world).await, stands);
    for item in world.table.of_kind(kind::OUTBOX).await {
        let state = item.text(attribute::STATE);
        assert_ne!(state, Some(EntryState::Claimed.as_str()), "each is settled");
    }
    // What that process counted before is no reason to pause after it.
    change(&world, None).await;
    mood.turns(WORKS);
    tokio::time::sleep(LOOK).await;
    world.clock.advance(DUE);
    let swept = world.sweep(&dispatcher).await;
    assert_eq!(
        (count(&swept, "paused"), count(&swept, "found")),
        (0, 5),
        "{swept}"
    );
    assert_eq!(delivered(&world).await, 5);
}

#[tokio::test]
async fn a_breaker_pauses_again_when_an_operators_pause_is_over() {
    let (destination, mood) = moody().await;
    mood.turns(BUSY);
    let world = World::new(&(orders(&destination) + BREAKER)).await;
    accept(&world, "orders", 0..5).await;
    pauses(&world, Some(DUE)).await;
    world.clock.advance(DUE + Duration::from_secs(60));
    let swept = world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        (count(&swept, "attempted"), count(&swept, "paused")),
        (3, 1)
    );
    let stands = record(&world).await;
    assert!(stands.operator.is_none());
    assert_eq!(stands.pause.map(|pause| pause.number), Some(1));
}

#[tokio::test]
async fn an_entry_that_is_in_doubt_or_claimed_stays_so_while_it_holds() {
    let (destination, mood) = moody().await;
    mood.turns(STALLS);
    let world = World::new(&(orders_without_keys(&destination) + "breaker = \"off\"\n")).await;
    let receiver = world.receiver().await;
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let dying = world.dispatcher().await;
    tokio::select! {
        _ = world.wake(&dying, world.stream().await) => panic!("it stalls"),
        () = destination.until(|received| !received.is_empty()) => {}
    }
    assert_eq!(world.entry().await.state, EntryState::Claimed);
    pauses(&world, None).await;
    world.clock.advance(DUE * 60);
    let before = world.table.items().await;
    world.sweep(&world.dispatcher().await).await;
    assert_eq!(
        world.table.items().await,
        before,
        "past its lease, and as it was"
    );
    change(&world, None).await;
    mood.turns(WORKS);
    world.sweep(&world.dispatcher().await).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held, "it may have arrived");
    assert_eq!(destination.received().len(), 1);
}
