//! The figures that the reconciler tells at the end of a run: what waits, by class and name; bounded by the run's
//! time, and no failure of them is the run's.

use std::time::Duration;

use ackbox_domain::{OperatorPause, PauseRecord};
use ackbox_store::OperatorRecord;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::log::Log;
use ackbox_tests::world::{World, answering, name, order, orders};
use tokio::time::Instant;

/// Three orders that nobody delivers, an hour old.
async fn waiting() -> World {
    let world = World::new(&orders(&answering(200).await)).await;
    let receiver = world.receiver().await;
    for id in 0..3 {
        let webhook = world.webhook("orders", &format!("m{id}"), order(id));
        assert_eq!(webhook.to(&receiver).await.said(), (200, "accepted"));
    }
    world.clock.advance(Duration::from_secs(3600));
    world
}

#[tokio::test]
async fn what_waits_is_told_a_line_for_each_class_and_name_and_one_for_all() {
    let world = waiting().await;
    let pause = OperatorPause {
        since: world.clock.now(),
        until: None,
        by: "ada".to_owned(),
        why: None,
    };
    let record = OperatorRecord {
        at: world.clock.now(),
        by: "ada".to_owned(),
        did: "pause".to_owned(),
        detail: None,
        number: None,
        reason: None,
    };
    let (store, warehouse) = (world.store().await, name("warehouse"));
    let seen = PauseRecord::default();
    let soon = Instant::now() + Duration::from_secs(60);
    let paused = store.operate_pause(&warehouse, &seen, Some(&pause), &record, soon);
    paused.await.unwrap();
    let log = Log::collect();
    world.reconcile(&world.reconciler().await).await;
    let told: Vec<_> = log
        .lines("gauge")
        .into_iter()
        .map(|line| {
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            let number = |field: &str| line[field].as_u64().unwrap();
            assert_eq!(line["more"], false);
            let figures = (number("count"), number("oldest_age_seconds"));
            (text("class"), text("name"), figures)
        })
        .collect();
    let line = |class: &str, figures| (class.to_owned(), "warehouse".to_owned(), figures);
    let mut told = told;
    told.sort();
    assert_eq!(
        told,
        [
            line("open", (3, 3600)),
            line("overdue", (3, 3600)),
            line("paused", (1, 0)),
        ]
    );
    let totals = log.lines("gauge.totals");
    assert_eq!(totals.len(), 1);
    for (class, count) in [
        ("open", 3),
        ("overdue", 3),
        ("paused", 1),
        ("dead", 0),
        ("silent", 0),
    ] {
        assert_eq!(totals[0][class], count, "{class}");
    }
}

#[tokio::test]
async fn a_figure_that_cannot_be_had_is_told_and_fails_nothing() {
    let world = waiting().await;
    let log = Log::collect();
    let reconciler = world.reconciler().await;
    let rule = Rule::operation("Query").containing("ProjectionExpression");
    world
        .faults
        .inject(rule, Fault::Refuse(Refusal::AccessDenied));
    let reconciled = world.reconcile(&reconciler).await;
    assert_eq!(reconciled["failed"], 0, "{reconciled}");
    assert_eq!(log.lines("gauge.failed").len(), 1);
    assert_eq!(log.lines("gauge.totals").len(), 0);
}

#[tokio::test]
async fn a_run_without_time_for_figures_ends_in_its_time() {
    let world = waiting().await;
    let log = Log::collect();
    let reconciler = world.reconciler().await;
    let rule = Rule::operation("Query").containing("ProjectionExpression");
    let stalled = world.faults.inject(rule, Fault::Stall);
    let began = Instant::now();
    reconciler.run(began + Duration::from_millis(2_300)).await;
    assert!(began.elapsed() < Duration::from_millis(2_300));
    assert_eq!(log.lines("gauge.no_time").len(), 1);
    assert_eq!(log.lines("reconcile.ended").len(), 1);
    stalled.release();
}
