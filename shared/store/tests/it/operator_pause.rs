//! An operator's pause: it takes the place of a breaker's and nothing takes its own; one of several operators
//! who saw the same has it; and who did what stands beside it.

use ackbox_domain::{Gate, OperatorPause, Pause, PauseRecord};
use ackbox_store::schema::{attribute, destination_pk, kind};
use ackbox_store::{OperatorRecord, PauseChange, Store, StoreError};
use futures_util::future::join_all;

use crate::action::{NOW, name, secs};
use crate::engine::{Engine, soon, text};
use crate::lost_answers::losing_after;

fn pause_by(by: &str) -> OperatorPause {
    OperatorPause {
        since: NOW,
        until: None,
        by: by.to_owned(),
        why: Some("their maintenance".to_owned()),
    }
}

fn record(did: &str, by: &str) -> OperatorRecord {
    OperatorRecord {
        at: NOW,
        by: by.to_owned(),
        did: did.to_owned(),
        detail: Some("paused until it is resumed".to_owned()),
        number: None,
        reason: Some("their maintenance".to_owned()),
    }
}

fn breakers() -> Pause {
    Pause {
        since: NOW,
        until: NOW.plus(secs(30)),
        number: 1,
        is_probing: false,
        why: "busy (503)".to_owned(),
    }
}

async fn pauses(
    store: &Store,
    seen: &PauseRecord,
    next: Option<&OperatorPause>,
    by: &str,
) -> PauseChange {
    let did = if next.is_some() { "pause" } else { "resume" };
    let record = record(did, by);
    let mailer = name("mailer");
    let changed = store.operate_pause(&mailer, seen, next, &record, soon());
    changed.await.unwrap()
}

fn written(change: PauseChange) -> PauseRecord {
    match change {
        PauseChange::Written(record) => record,
        PauseChange::Moved(record) => panic!("{record:?} stands in the way"),
    }
}

#[tokio::test]
async fn a_pause_and_its_end_are_read_as_written_with_a_record_of_each_and_a_name_in_the_memory() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let until = OperatorPause {
        until: Some(NOW.plus(secs(60))),
        why: None,
        ..pause_by("ada")
    };
    let mut seen = PauseRecord::default();
    for (many, next) in [Some(&pause_by("ada")), Some(&until), None]
        .into_iter()
        .enumerate()
    {
        seen = written(pauses(store, &seen, next, "ada").await);
        assert_eq!(
            (seen.fence, seen.operator.as_ref()),
            (many as u64 + 1, next)
        );
        assert_eq!(store.pause(&name("mailer")).await.unwrap(), seen);
        assert_eq!(store.pause_now(&name("mailer")).await.unwrap(), seen);
        let records = records(&engine).await;
        assert_eq!(records.len(), many + 1);
    }
    let records = records(&engine).await;
    let of_pauses = |record: &&crate::engine::Item| text(record, "did") == "pause";
    let record = records.iter().find(of_pauses).unwrap();
    assert_eq!(text(record, attribute::PK), destination_pk(&name("mailer")));
    for (attribute, value) in [
        ("by", "ada"),
        ("did", "pause"),
        ("reason", "their maintenance"),
    ] {
        assert_eq!(text(record, attribute), value);
    }
    let memory = store.meta().await.unwrap();
    assert_eq!(memory.destinations, [name("mailer")].into());
}

async fn records(engine: &Engine) -> Vec<crate::engine::Item> {
    let mut items = engine.items().await;
    items.retain(|item| text(item, attribute::SK).starts_with(kind::OPERATOR));
    items
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_16_operators_who_saw_the_same_one_has_it_and_the_others_see_whose_it_is() {
    let engine = Engine::start().await;
    let seen = PauseRecord::default();
    let all = (0..16).map(|n| {
        let (store, seen) = (engine.store.clone(), seen.clone());
        tokio::spawn(async move {
            let by = format!("operator {n}");
            pauses(&store, &seen, Some(&pause_by(&by)), &by).await
        })
    });
    let all: Vec<PauseChange> = join_all(all)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let stands = engine.store.pause_now(&name("mailer")).await.unwrap();
    let won = all
        .iter()
        .filter(|one| matches!(one, PauseChange::Written(_)));
    assert_eq!(won.count(), 1);
    for one in &all {
        let (PauseChange::Written(record) | PauseChange::Moved(record)) = one;
        assert_eq!(*record, stands);
    }
    // Nobody is on record for what they did not do.
    let records = records(&engine).await;
    assert_eq!(records.len(), 1);
    assert_eq!(text(&records[0], "by"), stands.operator.unwrap().by);
}

#[tokio::test]
async fn a_breaker_that_saw_what_was_before_neither_replaces_nor_ends_nor_shortens_it() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let mailer = name("mailer");
    let none = PauseRecord::default();
    let change = async |seen: &PauseRecord, next: Option<&Pause>, id: &str| {
        let changed = store.change_pause(&mailer, seen, next, id, soon());
        changed.await.unwrap()
    };
    let begun = written(change(&none, Some(&breakers()), "a").await);
    let probe = breakers().probed(NOW.plus(secs(85)));
    let probing = written(change(&begun, Some(&probe), "b").await);
    // It stands in the way of no operator.
    let stands = written(pauses(store, &probing, Some(&pause_by("ada")), "ada").await);
    assert_eq!(
        stands.gate(NOW.plus(secs(1_000_000))),
        Gate::Paused { until: None }
    );
    let before = engine.items().await;
    for seen in [&none, &begun, &probing] {
        for next in [None, Some(&breakers()), Some(&probe)] {
            assert_eq!(
                change(seen, next, "late").await,
                PauseChange::Moved(stands.clone())
            );
        }
    }
    assert_eq!(engine.items().await, before);
    let open = written(pauses(store, &stands, None, "bob").await);
    assert_eq!((open.fence, open.gate(NOW)), (4, Gate::Open));
    assert_eq!(
        change(&probing, None, "late").await,
        PauseChange::Moved(open)
    );
}

#[tokio::test]
async fn an_operators_change_whose_answer_was_lost_is_known_as_ones_own() {
    let engine = Engine::start().await;
    // The destination's name is in the table's memory by this: what follows reads it by one call, and writes.
    written(
        pauses(
            &engine.store,
            &PauseRecord::default(),
            Some(&pause_by("ada")),
            "ada",
        )
        .await,
    );
    for next in [None, Some(&pause_by("bob"))] {
        let seen = engine.store.pause_now(&name("mailer")).await.unwrap();
        let store = losing_after(&engine, 1, 2);
        let taken = written(pauses(&store, &seen, next, "bob").await);
        assert_eq!(
            taken,
            engine.store.pause_now(&name("mailer")).await.unwrap()
        );
    }
    assert_eq!(records(&engine).await.len(), 3);
}

#[tokio::test]
async fn an_operators_pause_without_an_operator_is_left_alone() {
    let engine = Engine::start().await;
    let seen = PauseRecord::default();
    written(pauses(&engine.store, &seen, Some(&pause_by("ada")), "ada").await);
    let items = engine.items().await;
    let item = items
        .iter()
        .find(|item| text(item, attribute::SK) == kind::PAUSE);
    let mut broken = item.unwrap().clone();
    broken.remove(attribute::BY);
    engine.put(broken).await;
    let read = engine.store.pause(&name("mailer")).await;
    assert!(matches!(read, Err(StoreError::Item(_))), "{read:?}");
}
