//! Trouble and its notice: both on the table or neither, and one notice however often it is written.

use std::collections::BTreeSet;

use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{
    Acceptance, Action, EntryState, Notify, OutboxEntry, OutcomeKind, Settled, StoredBody, Trouble,
};
use ackbox_store::{Class, SettleResult, Store, schema};
use futures_util::future::join_all;

use crate::action::{
    NOW, TIMING, accepted, action, attempt, change, claimed, dead, delivered, held, name, secs,
    settled,
};
use crate::engine::{Engine, Item, soon};

/// The same store, telling a destination of every trouble.
pub(crate) fn telling(store: &Store) -> Store {
    let notify = Notify {
        destination: name("ops"),
        on: BTreeSet::from(Trouble::ALL),
    };
    store.clone().telling(Some(notify), TIMING)
}

/// A claimed entry, on a table that tells.
async fn in_trouble(engine: &Engine) -> (Store, OutboxEntry) {
    let store = telling(&engine.store);
    let read = accepted(&store, &action("msg_1", b"{}")).await;
    let mine = claimed(&store, &read, "claim").await;
    (store, mine)
}

async fn settle(store: &Store, entry: &OutboxEntry, settled: &Settled) -> SettleResult {
    let record = attempt(1, OutcomeKind::Rejected, Some(422));
    let attempt = Some((&record, "no such mailbox"));
    let answer = store.settle(entry, change(settled, attempt), soon()).await;
    answer.unwrap()
}

/// The entries that go to the destination for trouble.
async fn notices(engine: &Engine) -> Vec<OutboxEntry> {
    let items: Vec<Item> = engine.items().await;
    let entries = items
        .into_iter()
        .filter_map(|item| ackbox_store::outbox_from_item(item.into()).ok());
    entries
        .filter(|entry| entry.destination == name("ops"))
        .collect()
}

fn told(entry: &OutboxEntry) -> serde_json::Value {
    let StoredBody::Inline(body) = &entry.body else {
        panic!("a notice of a small entry is small: {entry:?}");
    };
    serde_json::from_slice(&body.bytes).unwrap()
}

#[tokio::test]
async fn what_becomes_dead_held_or_unknown_is_told_and_the_rest_is_not() {
    let at = NOW.plus(secs(30));
    for (settlement, what) in [
        (dead(), Some("dead")),
        (held(), Some("held")),
        (settled(Settlement::Unknown { due_at: at }), Some("unknown")),
        (settled(Settlement::Retry { due_at: at }), None),
        (delivered(), None),
    ] {
        let engine = Engine::start().await;
        let (store, mine) = in_trouble(&engine).await;
        assert_eq!(
            settle(&store, &mine, &settlement).await,
            SettleResult::Settled
        );
        let entry = store.entry(&mine.key).await.unwrap().unwrap();
        assert_eq!(entry.state, settlement.settlement.state());
        let notices = notices(&engine).await;
        let became: Vec<_> = notices
            .iter()
            .map(|notice| told(notice)["data"]["became"].clone())
            .collect();
        assert_eq!(became, what.into_iter().collect::<Vec<_>>());
        for notice in notices {
            assert_eq!((notice.state, notice.fence), (EntryState::Pending, 0));
            assert_eq!(told(&notice)["data"]["detail"], "no such mailbox");
            let due = engine.listed(Class::Open, "ops").await;
            assert_eq!(due.len(), 1, "the sweep finds it");
            let meta = engine.store.meta().await.unwrap();
            assert!(meta.destinations.contains(&name("ops")));
            let story = engine.store.story(&notice.key).await.unwrap();
            assert_eq!(story.accepted.unwrap().source.as_str(), "ackbox");
        }
    }
}

#[tokio::test]
async fn whatever_the_notice_costs_a_small_action_without_trouble_still_takes_eight() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let store = telling(&store);
    accepted(&store, &action("warm", b"{}")).await;
    recorder.count_units();
    let read = accepted(&store, &action("msg_1", b"{}")).await;
    let mine = claimed(&store, &read, "claim").await;
    settle(&store, &mine, &delivered()).await;
    assert_eq!(recorder.units().0, 8.0);
}

#[tokio::test]
async fn racing_settlements_make_one_notice() {
    let engine = Engine::start().await;
    let (store, mine) = in_trouble(&engine).await;
    let stores: Vec<Store> = (0..8).map(|_| telling(&engine.store)).collect();
    let (dead, held) = (dead(), held());
    let all = stores.iter().enumerate().map(|(n, store)| {
        let settled = if n % 2 == 0 { &dead } else { &held };
        settle(store, &mine, settled)
    });
    join_all(all).await;
    let entry = store.entry(&mine.key).await.unwrap().unwrap();
    let notices = notices(&engine).await;
    let [notice] = notices.as_slice() else {
        panic!("one settlement, one notice: {notices:#?}");
    };
    assert_eq!(told(notice)["data"]["became"], entry.state.as_str());
}

#[tokio::test]
async fn a_settlement_that_does_not_hold_is_not_told() {
    let engine = Engine::start().await;
    let (store, mine) = in_trouble(&engine).await;
    settle(&store, &mine, &delivered()).await;
    let late = settle(&store, &mine, &held()).await;
    assert_eq!(late, SettleResult::Overtaken(EntryState::Delivered));
    assert!(notices(&engine).await.is_empty());
}

#[tokio::test]
async fn a_state_that_was_told_before_is_settled_without_another_notice() {
    let engine = Engine::start().await;
    let (store, mine) = in_trouble(&engine).await;
    let unknown = settled(Settlement::Unknown { due_at: NOW });
    settle(&store, &mine, &unknown).await;
    let asked = store.entry(&mine.key).await.unwrap().unwrap();
    let again = settled(Settlement::Retry { due_at: NOW });
    let told_nothing = store.settle(&asked, change(&again, None), soon()).await;
    assert_eq!(told_nothing.unwrap(), SettleResult::Settled);
    let read = store.entry(&mine.key).await.unwrap().unwrap();
    let second = claimed(&store, &read, "second").await;
    let record = attempt(2, OutcomeKind::Unknown, None);
    let answer = change(&unknown, Some((&record, "lost")));
    let answer = store.settle(&second, answer, soon()).await;
    assert_eq!(answer.unwrap(), SettleResult::Settled);
    let entry = store.entry(&mine.key).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.fence), (EntryState::Unknown, 2));
    assert_eq!(notices(&engine).await.len(), 1);
}

#[tokio::test]
async fn trouble_with_a_notice_is_not_told() {
    let engine = Engine::start().await;
    let (store, mine) = in_trouble(&engine).await;
    settle(&store, &mine, &dead()).await;
    let notice = notices(&engine).await.remove(0);
    let claimed = claimed(&store, &notice, "told").await;
    settle(&store, &claimed, &dead()).await;
    let notices = notices(&engine).await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].state, EntryState::Dead);
}

#[tokio::test]
async fn an_entry_without_its_place_in_the_table_is_not_told() {
    let engine = Engine::start().await;
    let (store, mine) = in_trouble(&engine).await;
    engine.delete(&mine.key, schema::kind::OUTBOX).await;
    let record = attempt(1, OutcomeKind::Unknown, None);
    let held = settled(Settlement::Held(Reason::OutcomeUnknown));
    let attempt = change(&held, Some((&record, "")));
    let answer = store.settle(&mine, attempt, soon()).await;
    assert!(answer.is_err(), "{answer:?}");
    assert!(notices(&engine).await.is_empty());
}

#[tokio::test]
async fn other_content_under_a_known_key_is_told_once_for_each_content() {
    let engine = Engine::start().await;
    let store = telling(&engine.store);
    accepted(&store, &action("msg_1", b"1")).await;
    let other = |body: &[u8], seconds| Action {
        accepted_at: NOW.plus(secs(seconds)),
        ..action("msg_1", body)
    };
    let conflict = Acceptance::Conflict { accepted_at: NOW };
    for (body, seconds, expected) in [(b"2", 1, 1), (b"2", 2, 1), (b"3", 3, 2), (b"2", 4, 2)] {
        let action = other(body, seconds);
        let answer = store.accept(&action, &TIMING, soon()).await.unwrap();
        assert_eq!(answer, conflict);
        assert_eq!(notices(&engine).await.len(), expected);
    }
    let key = action("msg_1", b"1").key;
    let mut conflicts = store.story(&key).await.unwrap().conflicts;
    conflicts.sort_by_key(|record| record.first_seen);
    let counts: Vec<_> = conflicts.iter().map(|record| record.count).collect();
    assert_eq!(counts, [3, 1]);
    let told = told(&notices(&engine).await[0]);
    assert_eq!(told["event"], "action.conflict");
    assert_eq!(told["subject"], key.as_str());
}

#[tokio::test]
async fn a_conflict_that_was_collected_and_comes_again_is_on_the_record_again() {
    let engine = Engine::start().await;
    let store = telling(&engine.store);
    accepted(&store, &action("msg_1", b"1")).await;
    let other = action("msg_1", b"2");
    store.accept(&other, &TIMING, soon()).await.unwrap();
    let kind = format!("{}{}", schema::kind::CONFLICT, other.fingerprint.short());
    engine.delete(&other.key, &kind).await;
    let answer = store.accept(&other, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, Acceptance::Conflict { accepted_at: NOW });
    assert_eq!(store.story(&other.key).await.unwrap().conflicts.len(), 1);
    assert_eq!(notices(&engine).await.len(), 1);
}
