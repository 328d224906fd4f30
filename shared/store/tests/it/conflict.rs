//! Other content under a known key: recorded, counted, never overwritten, never dropped.

use ackbox_domain::{Acceptance, Action};
use ackbox_store::{Class, ConflictKind, schema};
use futures_util::future::join_all;

use crate::action::{NOW, TIMING, action, secs};
use crate::engine::{Engine, soon};

const CONFLICT: Acceptance = Acceptance::Conflict { accepted_at: NOW };

fn later(id: &str, body: &[u8], seconds: u64) -> Action {
    let mut action = action(id, body);
    action.accepted_at = NOW.plus(secs(seconds));
    action
}

#[tokio::test]
async fn a_conflict_leaves_the_original_byte_for_byte_and_is_on_the_record_whole() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"{\"amount\":1}");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    let before = engine.items().await;
    let other = later("msg_1", b"{\"amount\":2}", 10);
    let answer = engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    assert_eq!(answer, CONFLICT);
    let items = engine.items().await;
    let originals: Vec<_> = items.iter().filter(|i| before.contains(i)).collect();
    assert_eq!((originals.len(), items.len()), (2, 3));
    let story = engine.store.story(&original.key).await.unwrap();
    let [record] = story.conflicts.as_slice() else {
        panic!("{story:?}")
    };
    assert_eq!(record.kind, ConflictKind::Conflict);
    assert_eq!(record.fingerprint, other.fingerprint);
    assert_eq!(record.body, Some(other.body));
    assert_eq!(record.message_id, other.message_id);
    assert_eq!((record.first_seen, record.count), (other.accepted_at, 1));
}

#[tokio::test]
async fn each_conflict_of_a_key_is_found_by_where_the_index_says_that_it_stands() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let original = action("msg_1", b"1");
    store.accept(&original, &TIMING, soon()).await.unwrap();
    let others = [later("msg_1", b"2", 10), later("msg_1", b"3", 20)];
    for other in &others {
        store.accept(other, &TIMING, soon()).await.unwrap();
    }
    let listed = engine.listed(Class::Conflict, "reports").await;
    assert_eq!(listed.len(), 2);
    for (listed, other) in listed.iter().zip(&others) {
        let conflict = store.conflict(&listed.key, &listed.sk).await.unwrap();
        assert_eq!(conflict.unwrap().fingerprint, other.fingerprint);
    }
    for none in ["OUTBOX", "CONFLICT#0000000000000000"] {
        let conflict = store.conflict(&original.key, none).await.unwrap();
        assert_eq!(conflict, None, "{none}");
    }
}

#[tokio::test]
async fn a_repeated_conflict_is_one_record_that_counts() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"{\"amount\":1}");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    for (seconds, body) in [(10, b"2"), (20, b"2"), (30, b"3"), (40, b"2")] {
        let other = later("msg_1", body, seconds);
        let answer = engine.store.accept(&other, &TIMING, soon()).await.unwrap();
        assert_eq!(answer, CONFLICT);
    }
    let mut conflicts = engine.store.story(&original.key).await.unwrap().conflicts;
    conflicts.sort_by_key(|record| record.first_seen);
    let seen: Vec<_> = conflicts
        .iter()
        .map(|r| (r.first_seen, r.last_seen, r.count))
        .collect();
    let at = |seconds| NOW.plus(secs(seconds));
    assert_eq!(seen, [(at(10), at(40), 3), (at(30), at(30), 1)]);
    // And the original is still a duplicate.
    let again = engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    assert!(matches!(again, Acceptance::Duplicate { .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_conflicts_are_one_record() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"1");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    let offers = (0..16).map(|n| {
        let store = engine.store.clone();
        let other = later("msg_1", b"2", n);
        tokio::spawn(async move { store.accept(&other, &TIMING, soon()).await.unwrap() })
    });
    for answer in join_all(offers).await {
        assert_eq!(answer.unwrap(), CONFLICT);
    }
    let story = engine.store.story(&original.key).await.unwrap();
    assert_eq!(story.conflicts.len(), 1);
    assert_eq!(story.conflicts[0].count, 16);
}

#[tokio::test]
async fn a_conflict_waits_in_the_index_of_its_source() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"1");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    let other = later("msg_1", b"2", 10);
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    let listed = engine.listed(Class::Conflict, "reports").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].key, original.key);
    assert_eq!(
        (listed[0].accepted_at, listed[0].due_at),
        (NOW, other.accepted_at)
    );
}

#[tokio::test]
async fn a_conflict_seen_again_after_it_was_closed_stays_closed() {
    let engine = Engine::start().await;
    engine
        .store
        .accept(&action("msg_1", b"1"), &TIMING, soon())
        .await
        .unwrap();
    let other = later("msg_1", b"2", 10);
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    let kind = format!("{}{}", schema::kind::CONFLICT, other.fingerprint.short());
    let mut item = engine.item(&other.key, &kind).await.unwrap();
    item.remove(schema::attribute::WORK_SHARD);
    item.remove(schema::attribute::DUE_AT);
    engine.put(item).await;
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    let listed = engine.listed(Class::Conflict, "reports").await;
    assert_eq!(listed, []);
    let story = engine.store.story(&other.key).await.unwrap();
    assert_eq!(story.conflicts[0].count, 2);
}

#[tokio::test]
async fn an_edited_recipe_makes_a_duplicate_that_says_what_it_did_not_compare() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"1");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    let mut same_bytes = later("msg_1", b"1", 10);
    same_bytes.fingerprint.recipe = *b"recipe-2";
    same_bytes.fingerprint.hash = [9; 32];
    let answer = engine
        .store
        .accept(&same_bytes, &TIMING, soon())
        .await
        .unwrap();
    let duplicate = |uncompared| Acceptance::Duplicate {
        accepted_at: NOW,
        uncompared,
    };
    assert_eq!(answer, duplicate(false));
    assert_eq!(engine.kinds().await.len(), 2);
    let mut other_bytes = later("msg_1", b"2", 20);
    other_bytes.fingerprint.recipe = *b"recipe-2";
    let answer = engine
        .store
        .accept(&other_bytes, &TIMING, soon())
        .await
        .unwrap();
    assert_eq!(answer, duplicate(true));
    let story = engine.store.story(&original.key).await.unwrap();
    assert_eq!(story.conflicts[0].kind, ConflictKind::Uncompared);
    assert_eq!(story.conflicts[0].body, Some(other_bytes.body));
    let listed = engine.listed(Class::Conflict, "reports").await;
    assert_eq!(listed, [], "no operator is asked");
}

#[tokio::test]
async fn values_that_agree_are_a_duplicate_whatever_the_bytes() {
    let engine = Engine::start().await;
    let original = action("msg_1", b"{\"a\":1}");
    engine
        .store
        .accept(&original, &TIMING, soon())
        .await
        .unwrap();
    let mut spaced = action("msg_1", b"{ \"a\": 1 }");
    spaced.fingerprint.hash = original.fingerprint.hash;
    let answer = engine.store.accept(&spaced, &TIMING, soon()).await.unwrap();
    assert!(matches!(
        answer,
        Acceptance::Duplicate {
            uncompared: false,
            ..
        }
    ));
    assert_eq!(engine.kinds().await.len(), 2);
}
