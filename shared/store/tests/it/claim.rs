//! Claiming: the right to one attempt goes to one.

use ackbox_domain::{EntryState, OutcomeKind};
use ackbox_store::{Claimed, Class, schema};
use futures_util::future::join_all;

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, claim_of, claimed, dead, delivered,
    held, retry, secs,
};
use crate::engine::{Engine, soon};

#[tokio::test]
async fn a_claim_marks_the_entry_and_leaves_the_index_alone() {
    let engine = Engine::start().await;
    let before = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let started = claimed(&engine.store, &before, "claim-1").await;
    assert_eq!(started.state, EntryState::Claimed);
    assert_eq!(started.fence, 1);
    assert_eq!(started.claim, Some(claim_of("claim-1", NOW)));
    assert_eq!(started.origin, Some(ORIGIN));
    assert_eq!(started.due_at, before.due_at);
    assert_eq!(started.body, before.body);
    let stored = engine.store.entry(&before.key).await.unwrap().unwrap();
    assert_eq!(stored, started);
    assert_eq!(engine.listed(Class::Open, "mailer").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_32_claims_one_starts_and_the_others_learn_until_when() {
    let engine = Engine::start().await;
    let entry = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let claims = (0..32).map(|n| {
        let (store, entry) = (engine.store.clone(), entry.clone());
        tokio::spawn(async move {
            let claim = claim_of(&format!("claim-{n}"), NOW);
            store.claim(&entry, claim, ORIGIN, soon()).await.unwrap()
        })
    });
    let answers: Vec<_> = join_all(claims)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let started = answers.iter().filter(|a| matches!(a, Claimed::Started(_)));
    assert_eq!(started.count(), 1);
    let until = NOW.plus(TIMING.lease);
    let refused = answers
        .iter()
        .filter(|a| **a == Claimed::InProgress { until });
    assert_eq!(refused.count(), 31);
}

#[tokio::test]
async fn a_claim_on_a_standing_that_has_passed_is_refused() {
    let engine = Engine::start().await;
    let store = &engine.store;
    for (id, settlement, expected) in [
        (
            "a",
            delivered(),
            Claimed::AlreadyClosed(EntryState::Delivered),
        ),
        ("b", dead(), Claimed::AlreadyClosed(EntryState::Dead)),
        ("c", held(), Claimed::Moved),
        // Pending as before, but an attempt lies in between: the decision to attempt is outdated.
        ("d", retry(NOW), Claimed::Moved),
    ] {
        let read = accepted(store, &action(id, b"{}")).await;
        let mine = claimed(store, &read, "first").await;
        let record = attempt(1, OutcomeKind::Busy, Some(503));
        let settle = store.settle(&mine, change(&settlement, Some((&record, ""))), soon());
        settle.await.unwrap();
        let before = engine.items().await;
        let claim = claim_of("second", NOW.plus(secs(9)));
        let answer = store.claim(&read, claim, ORIGIN, soon()).await.unwrap();
        assert_eq!(answer, expected, "{id}");
        assert_eq!(engine.items().await, before, "{id}");
    }
}

#[tokio::test]
async fn a_claim_that_ran_out_cannot_be_claimed_over() {
    let engine = Engine::start().await;
    let entry = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let running = claimed(&engine.store, &entry, "first").await;
    let until = NOW.plus(TIMING.lease);
    let late = claim_of("second", NOW.plus(secs(1000)));
    let answer = engine
        .store
        .claim(&running, late, ORIGIN, soon())
        .await
        .unwrap();
    assert_eq!(answer, Claimed::InProgress { until });
}

#[tokio::test]
async fn an_entry_that_is_gone_is_never_written_anew() {
    let engine = Engine::start().await;
    let entry = accepted(&engine.store, &action("msg_1", b"{}")).await;
    engine.delete(&entry.key, schema::kind::OUTBOX).await;
    let claim = claim_of("claim", NOW);
    let answer = engine
        .store
        .claim(&entry, claim, ORIGIN, soon())
        .await
        .unwrap();
    assert_eq!(answer, Claimed::Moved);
    assert_eq!(engine.kinds().await, ["ACCEPTED"]);
}
