//! A pause and the table: what it costs, what it leaves in the log, and what happens where the table cannot
//! be read or written.

use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Rule};
use ackbox_tests::log::Log;
use ackbox_tests::world::{World, orders};

use super::{AFTER, BREAKER, PAUSE, PROBE, WORKS, accept, count, delivered, moody, pause, paused};

#[tokio::test]
async fn a_breaker_that_is_off_never_writes_or_pauses_anything() {
    let (destination, _mood) = moody().await;
    let config = orders(&destination) + "breaker = \"off\"\n";
    let world = World::new(&config).await;
    accept(&world, "orders", 0..20).await;
    world.faults.forget();
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received().len(), 20);
    assert_eq!(
        world.faults.count("GetItem"),
        1,
        "an operator may have paused it"
    );
    assert!(world.table.of_kind(kind::PAUSE).await.is_empty());
}

#[tokio::test]
async fn a_pause_that_cannot_be_read_or_written_is_our_failure_and_loses_nothing() {
    let (destination, mood) = moody().await;
    let config = orders(&destination) + BREAKER + "\n[delivery]\nsettle_margin = \"200ms\"\n";
    let world = World::new(&config).await;
    accept(&world, "orders", 0..5).await;
    // It cannot be begun: failures go on being counted, and the next one tries again.
    let rule = Rule::operation("UpdateItem")
        .containing("DESTINATION#")
        .once();
    let lost = world.faults.inject(rule, Fault::Stall);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(lost.met(), 1);
    assert_eq!(destination.received().len(), AFTER + 1);
    assert!(pause(&world).await.is_some());
    world.faults.clear();
    lost.release();
    mood.turns(WORKS);
    world.clock.advance(PAUSE);
    // A probe of which nobody knows whether it was taken.
    let rule = Rule::operation("UpdateItem").containing("DESTINATION#");
    let lost = world.faults.inject(rule, Fault::DropAnswer);
    let swept = world.sweep(&world.dispatcher().await).await;
    assert!(lost.met() > 0);
    assert_eq!(count(&swept, "failed"), 1, "{swept}");
    assert_eq!(destination.received().len(), AFTER + 1);
    world.faults.clear();
    world.clock.advance(PROBE);
    world.sweep(&world.dispatcher().await).await;
    assert_eq!(delivered(&world).await, 5);
}

#[tokio::test]
async fn where_the_table_gives_no_answer_one_waits_for_it_and_not_each_after_the_other() {
    let (destination, _mood) = moody().await;
    let breaker = BREAKER.replace("concurrency = 1\n", "");
    let config = orders(&destination)
        + &breaker
        + "\n[delivery]\nsettle_margin = \"300ms\"\nstream_budget = \"50s\"\n";
    let world = World::new(&config).await;
    accept(&world, "orders", 0..20).await;
    // All fail at once; each is a reason to pause, and none can.
    let rule = Rule::operation("UpdateItem").containing("DESTINATION#");
    let stalled = world.faults.inject(rule, Fault::Stall);
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    assert_eq!(destination.received().len(), 20);
    assert!((1..=4).contains(&stalled.met()), "{}", stalled.met());
    world.faults.clear();
    stalled.release();
    let rule = Rule::operation("GetItem").containing("DESTINATION#");
    let stalled = world.faults.inject(rule, Fault::Stall);
    let fresh = world.dispatcher().await;
    let answer = world.wake(&fresh, world.stream().await).await;
    assert_eq!(answer["batchItemFailures"].as_array().unwrap().len(), 1);
    // One look tries again and again for five seconds; twenty would try twenty times as often.
    assert!((1..=20).contains(&stalled.met()), "{}", stalled.met());
}

#[tokio::test]
async fn a_pause_a_probe_and_an_end_cost_one_write_unit_each_and_half_a_read_a_second() {
    let (world, _destination, mood) = paused(1 + AFTER as u64).await;
    let of_pause = |world: &World| {
        let calls = world.faults.calls();
        let is =
            |call: &&ackbox_tests::faults::Call| call.body.to_string().contains("DESTINATION#");
        calls
            .iter()
            .filter(is)
            .map(|call| call.operation.clone())
            .collect::<Vec<_>>()
    };
    let dispatcher = world.dispatcher().await;
    mood.turns(WORKS);
    world.clock.advance(PAUSE);
    world.faults.forget();
    world.sweep(&dispatcher).await;
    let calls = of_pause(&world);
    let writes = calls.iter().filter(|call| *call == "UpdateItem").count();
    assert_eq!(writes, 2, "the probe and the end: {calls:?}");
    accept(&world, "orders", 20..21).await;
    world.faults.forget();
    world.faults.measure();
    let fresh = world.dispatcher().await;
    world.wake(&fresh, world.stream().await).await;
    assert_eq!(
        of_pause(&world),
        ["GetItem"],
        "one look, of which all records know"
    );
    assert_eq!(world.faults.consumed().reads, 0.5);
}

#[tokio::test]
async fn pauses_probes_and_ends_are_logged() {
    let log = Log::collect();
    let (world, _destination, mood) = paused(3).await;
    mood.turns(WORKS);
    world.clock.advance(PAUSE);
    world.sweep(&world.dispatcher().await).await;
    for (message, field) in [
        ("breaker.paused", "until"),
        ("breaker.probing", "until"),
        ("breaker.ended", "since"),
    ] {
        let lines = log.lines(message);
        assert_eq!(lines.len(), 1, "{message}");
        assert_eq!(lines[0]["destination"], "warehouse");
        assert!(lines[0][field].is_string(), "{message}");
    }
}
