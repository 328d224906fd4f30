//! How much waits: exact up to a bound, by index alone; what was accepted between two times; and the delivered
//! entries, by a scan that is asked for.

use std::collections::BTreeMap;

use ackbox_domain::{OperatorPause, PauseRecord, Settlement};
use ackbox_store::{Between, Class, Counted, Delivered, Figure, Gauged, OperatorRecord, Store};
use futures_util::TryStreamExt as _;

use crate::action::{NOW, TIMING, accepted, action, change, dead, delivered, name, secs, settled};
use crate::due::accept_many;
use crate::engine::{Engine, soon};

async fn count(store: &Store, class: Class, due_after: Option<u64>, limit: usize) -> Counted {
    let due_by = due_after.map(|after| NOW.plus(secs(after)));
    let mailer = name("mailer");
    store.count(class, &mailer, due_by, limit).await.unwrap()
}

#[tokio::test]
async fn a_count_is_exact_up_to_its_limit_and_says_where_there_is_more() {
    let engine = Engine::start().await;
    accept_many(&engine, 5..125).await;
    let store = &engine.store;
    let all = Counted {
        count: 120,
        more: false,
        oldest: Some(NOW.plus(secs(5))),
    };
    for limit in [120, 121, 10_000] {
        assert_eq!(count(store, Class::Open, None, limit).await, all);
    }
    for limit in [0, 1, 7, 8, 9, 100, 119] {
        let counted = count(store, Class::Open, None, limit).await;
        assert_eq!((counted.count, counted.more), (limit, true), "{limit}");
    }
    let first = TIMING.first_due.as_secs();
    for (due_after, expected) in [(0, 0), (first + 4, 0), (first + 5, 1), (first + 64, 60)] {
        let counted = count(store, Class::Open, Some(due_after), 1000).await;
        assert_eq!(counted.count, expected, "due after {due_after}");
    }
    assert_eq!(
        count(store, Class::Held, None, 10).await,
        Counted::default()
    );
}

#[tokio::test]
async fn a_count_reads_no_more_than_the_limit_of_each_part_and_never_the_table() {
    let engine = Engine::start().await;
    accept_many(&engine, 0..400).await;
    let (store, recorder) = engine.recorded();
    count(&store, Class::Open, None, 10).await;
    let sent = recorder.requests();
    assert!(sent.len() <= 16, "{}", sent.len());
    for (operation, body) in sent {
        assert_eq!(operation, "Query");
        assert_eq!(body["IndexName"], "work");
        assert!(body["Limit"].as_u64().unwrap() <= 11, "{body}");
    }
}

#[tokio::test]
async fn what_was_accepted_between_two_times_is_listed_and_the_ends_belong_to_it() {
    let engine = Engine::start().await;
    accept_many(&engine, 0..200).await;
    let at = |secs_after| Some(NOW.plus(secs(secs_after)));
    for (since, until, limit, expected) in [
        (at(50), at(59), 100, 50..60),
        (at(190), None, 100, 190..200),
        (None, at(2), 100, 0..3),
        (at(10), at(150), 5, 10..15),
        (at(500), None, 100, 0..0),
    ] {
        let between = Between { since, until };
        let mailer = name("mailer");
        let listed = engine
            .store
            .list_between(Class::Open, &mailer, &between, limit);
        let found: Vec<_> = listed
            .await
            .unwrap()
            .into_iter()
            .map(|l| l.accepted_at)
            .collect();
        let expected: Vec<_> = expected.map(|n| NOW.plus(secs(n))).collect();
        assert_eq!(found, expected, "{between:?}");
    }
}

#[tokio::test]
async fn figures_are_of_each_class_and_name_and_a_pause_is_one() {
    let engine = Engine::start().await;
    let store = &engine.store;
    accept_many(&engine, 0..3).await;
    let lost = accepted(store, &action("lost", b"{}")).await;
    store
        .settle(&lost, change(&dead(), None), soon())
        .await
        .unwrap();
    let asked = accepted(store, &action("asked", b"{}")).await;
    let unknown = settled(Settlement::Unknown { due_at: NOW });
    store
        .settle(&asked, change(&unknown, None), soon())
        .await
        .unwrap();
    let pause = OperatorPause {
        since: NOW,
        until: None,
        by: "ada".to_owned(),
        why: None,
    };
    let record = OperatorRecord {
        at: NOW,
        by: "ada".to_owned(),
        did: "pause".to_owned(),
        detail: None,
        number: None,
        reason: None,
    };
    let seen = PauseRecord::default();
    let mailer = name("mailer");
    let paused = store.operate_pause(&mailer, &seen, Some(&pause), &record, soon());
    paused.await.unwrap();
    let gauged = Gauged::from(store.meta().await.unwrap());
    // Two minutes after the second of the three was due.
    let now = NOW.plus(TIMING.first_due).plus(secs(1 + 120));
    let gauges: Vec<_> = store.gauges(&gauged, now).try_collect().await.unwrap();
    let counts: BTreeMap<(&str, String), usize> = gauges
        .iter()
        .map(|gauge| {
            let key = (gauge.figure.as_str(), gauge.name.to_string());
            (key, gauge.counted.count)
        })
        .collect();
    let of = |class: &'static str, name: &str| counts.get(&(class, name.to_owned())).copied();
    assert_eq!(of("open", "mailer"), Some(3));
    assert_eq!(of("dead", "mailer"), Some(1));
    assert_eq!(of("unknown", "mailer"), Some(1));
    assert_eq!(
        of("overdue", "mailer"),
        Some(3),
        "two open ones, and the one to be asked about"
    );
    assert_eq!(of("paused", "mailer"), Some(1));
    assert_eq!(of("conflict", "reports"), Some(0));
    assert_eq!(of("conflict", "mailer"), None);
    let paused = gauges.iter().find(|gauge| gauge.figure == Figure::Paused);
    assert_eq!(paused.unwrap().counted.oldest, Some(NOW));
}

#[tokio::test]
async fn a_scan_finds_the_delivered_entries_that_are_wanted_and_says_before_what_it_reads() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let done = delivered();
    for (id, destination) in [("a", "mailer"), ("b", "mailer"), ("c", "archive")] {
        let mut action = action(id, b"{}");
        action.destination = name(destination);
        action.accepted_at = NOW.plus(secs(u64::from(id.as_bytes()[0])));
        let entry = accepted(store, &action).await;
        store
            .settle(&entry, change(&done, None), soon())
            .await
            .unwrap();
    }
    accepted(store, &action("open", b"{}")).await;
    let found = async |wanted: Delivered| {
        let mut pages = store.scan_delivered(wanted);
        let (mut found, mut looked_at) = (Vec::new(), 0);
        while let Some(page) = pages.next().await.unwrap() {
            looked_at += page.looked_at;
            found.extend(page.entries.into_iter().map(|entry| entry.key));
        }
        found.sort();
        (found, looked_at)
    };
    let keys = |ids: &[&str]| {
        let mut keys: Vec<_> = ids.iter().map(|id| action(id, b"").key).collect();
        keys.sort();
        keys
    };
    let everything = engine.items().await.len() as u64 + 1;
    let all = found(Delivered::default()).await;
    assert_eq!(all, (keys(&["a", "b", "c"]), everything));
    let wanted = Delivered {
        destination: Some(name("mailer")),
        source: Some(name("reports")),
        between: Between {
            since: Some(NOW.plus(secs(u64::from(b'b')))),
            until: Some(NOW.plus(secs(1000))),
        },
    };
    assert_eq!(found(wanted).await.0, keys(&["b"]));
    let other = Delivered {
        source: Some(name("other")),
        ..Delivered::default()
    };
    assert_eq!(found(other).await.0, keys(&[]));
    let size = store.table_size().await.unwrap();
    // Engines measure at once, or not at all; AWS every six hours.
    assert!([0, everything].contains(&size.items), "{size:?}");
}

#[tokio::test]
async fn pauses_are_not_read_for_whoever_has_read_them() {
    let engine = Engine::start().await;
    accept_many(&engine, 0..3).await;
    let (store, recorder) = engine.recorded();
    let gauged = Gauged::from(store.meta().await.unwrap());
    let gauges = async |all: bool| {
        recorder.requests();
        let found: Vec<_> = match all {
            true => store.gauges(&gauged, NOW).try_collect().await.unwrap(),
            false => store
                .gauges_but_pauses(&gauged, NOW)
                .try_collect()
                .await
                .unwrap(),
        };
        let sent = recorder.calls();
        let gets = sent.iter().filter(|operation| *operation == "GetItem");
        (found.len(), gets.count())
    };
    let (all, but_pauses) = (gauges(true).await, gauges(false).await);
    assert_eq!((all.1, but_pauses), (1, (all.0 - 1, 0)));
}
