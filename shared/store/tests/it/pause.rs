//! The pause of a destination: one of all who read it changes it, and whoever was overtaken is told so.

use ackbox_domain::{Name, Pause, PauseRecord};
use ackbox_store::schema::{attribute, kind};
use ackbox_store::{PauseChange, Store, StoreError};
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;

use crate::action::{NOW, name, secs};
use crate::engine::{Engine, Item, soon};
use crate::lost_answers::losing;

fn mailer() -> Name {
    name("mailer")
}

fn pause() -> Pause {
    Pause {
        since: NOW,
        until: NOW.plus(secs(30)),
        number: 1,
        is_probing: false,
        why: "busy (503)".to_owned(),
    }
}

async fn change(
    store: &Store,
    seen: &PauseRecord,
    next: Option<&Pause>,
    id: &str,
) -> Result<PauseChange, StoreError> {
    store.change_pause(&mailer(), seen, next, id, soon()).await
}

async fn written(store: &Store, seen: &PauseRecord, next: Option<&Pause>, id: &str) -> PauseRecord {
    match change(store, seen, next, id).await.unwrap() {
        PauseChange::Written(record) => record,
        PauseChange::Moved(record) => panic!("{record:?} stands in the way"),
    }
}

#[tokio::test]
async fn a_pause_is_read_as_it_was_written_and_costs_one_write_unit_each_time() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let none = store.pause(&mailer()).await.unwrap();
    assert_eq!(none, PauseRecord::default());
    recorder.count_units();
    let why = "x".repeat(140);
    let paused = Pause { why, ..pause() };
    let probing = paused.probed(NOW.plus(secs(85)));
    let mut seen = none;
    for next in [
        Some(&paused),
        Some(&probing),
        Some(&paused),
        None,
        Some(&paused),
    ] {
        let fence = seen.fence;
        seen = written(&store, &seen, next, &format!("{fence:020}")).await;
        let (units, said) = recorder.units();
        assert_eq!(units, 1.0, "{said:?}");
        assert_eq!((seen.fence, seen.pause.as_ref()), (fence + 1, next));
        assert_eq!(store.pause(&mailer()).await.unwrap(), seen);
    }
    let other = store.pause(&name("other")).await.unwrap();
    assert_eq!(other, PauseRecord::default());
    assert_eq!(engine.kinds().await, [kind::PAUSE]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_32_that_take_a_probe_one_has_it_and_the_others_see_whose_it_is() {
    let engine = Engine::start().await;
    let seen = written(&engine.store, &PauseRecord::default(), Some(&pause()), "p").await;
    let takes = (0..32_u64).map(|n| {
        let (store, seen) = (engine.store.clone(), seen.clone());
        tokio::spawn(async move {
            let probe = pause().probed(NOW.plus(secs(100 + n)));
            let taken = change(&store, &seen, Some(&probe), &n.to_string()).await;
            (probe, taken.unwrap())
        })
    });
    let takes: Vec<_> = join_all(takes)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let won: Vec<_> = takes
        .iter()
        .filter(|(_, change)| matches!(change, PauseChange::Written(_)))
        .collect();
    assert_eq!(won.len(), 1);
    let stands = PauseRecord {
        fence: 2,
        pause: Some(won[0].0.clone()),
        operator: None,
    };
    for (_, change) in &takes {
        let (PauseChange::Written(record) | PauseChange::Moved(record)) = change;
        assert_eq!(*record, stands);
    }
}

#[tokio::test]
async fn whoever_was_overtaken_neither_ends_nor_lengthens_anything() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let paused = written(store, &PauseRecord::default(), Some(&pause()), "a").await;
    let dead = written(
        store,
        &paused,
        Some(&pause().probed(NOW.plus(secs(85)))),
        "b",
    )
    .await;
    let other = written(
        store,
        &dead,
        Some(&pause().probed(NOW.plus(secs(190)))),
        "c",
    )
    .await;
    let before = engine.items().await;
    for next in [None, Some(&pause())] {
        // The probe that was never heard of comes back late; so does one that never saw a pause.
        for seen in [&dead, &paused, &PauseRecord::default()] {
            let late = change(store, seen, next, "late").await.unwrap();
            assert_eq!(late, PauseChange::Moved(other.clone()));
        }
    }
    assert_eq!(engine.items().await, before);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_known_as_ones_own_and_by_nobody_else() {
    let engine = Engine::start().await;
    let paused = written(&engine.store, &PauseRecord::default(), Some(&pause()), "a").await;
    let probe = pause().probed(NOW.plus(secs(85)));
    for next in [Some(&probe), None] {
        let seen = engine.store.pause(&mailer()).await.unwrap();
        let taken = written(&losing(&engine, 2), &seen, next, "mine").await;
        assert_eq!(taken, engine.store.pause(&mailer()).await.unwrap());
        let other = change(&engine.store, &paused, next, "other").await;
        assert_eq!(other.unwrap(), PauseChange::Moved(taken));
    }
}

#[tokio::test]
async fn a_pause_of_a_newer_version_or_of_another_form_is_left_alone() {
    let engine = Engine::start().await;
    let paused = written(&engine.store, &PauseRecord::default(), Some(&pause()), "a").await;
    let item: Item = engine.items().await.remove(0);
    for (attribute, value) in [
        (attribute::VERSION, AttributeValue::N("9".to_owned())),
        (attribute::STATE, AttributeValue::S("stopped".to_owned())),
        (attribute::UNTIL, AttributeValue::S("soon".to_owned())),
    ] {
        let mut other = item.clone();
        other.insert(attribute.to_owned(), value);
        engine.put(other).await;
        let read = engine.store.pause(&mailer()).await;
        assert!(matches!(read, Err(StoreError::Item(_))), "{read:?}");
        let told = engine.store.pause_as_told(&mailer()).await.unwrap();
        assert_eq!(told, PauseRecord::default());
        let changed = change(&engine.store, &PauseRecord::default(), None, "x").await;
        assert!(matches!(changed, Err(StoreError::Item(_))), "{changed:?}");
    }
    engine.put(item).await;
    assert_eq!(engine.store.pause(&mailer()).await.unwrap(), paused);
    let told = engine.store.pause_as_told(&mailer()).await.unwrap();
    assert_eq!(told, paused);
}
