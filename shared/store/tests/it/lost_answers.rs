//! A write that was carried out, and whose answer never came: a double commits on a real engine and then
//! fails. The next try must know its own work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ackbox_domain::{Acceptance, EntryState, Notify, OutcomeKind, Trouble};
use ackbox_store::{Claimed, SettleResult, Store};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, claim_of, claimed, delivered, retry,
    secs,
};
use crate::engine::{Engine, soon};

/// Turns answers of the engine into a server's failure: every answer while some are left to lose.
#[derive(Clone, Debug)]
struct Losing(Arc<AtomicUsize>);

impl Intercept for Losing {
    fn name(&self) -> &'static str {
        "Losing"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let lose = |left: usize| left.checked_sub(1);
        let lost = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose);
        if lost.is_ok() {
            let response = context.response_mut();
            *response.status_mut() = 500.try_into()?;
            // Some engines name the error here too.
            response.headers_mut().remove("x-amzn-errortype");
            let body = crate::faults::error_body("InternalServerError");
            *response.body_mut() = body.into();
        }
        Ok(())
    }
}

/// A store on the engine's table that loses the next `answers`.
pub(crate) fn losing(engine: &Engine, answers: usize) -> Store {
    let losing = Losing(Arc::new(AtomicUsize::new(answers)));
    let config = engine
        .client
        .config()
        .to_builder()
        .interceptor(losing)
        .build();
    Store::new(Client::from_conf(config), engine.store.table())
}

#[tokio::test]
async fn an_acceptance_whose_answer_was_lost_is_there_once_and_a_duplicate_on_repetition() {
    let engine = Engine::start().await;
    let action = action("msg_1", b"{}");
    // META: read, written; then the transaction, twice.
    let answer = losing(&engine, 4)
        .accept(&action, &TIMING, soon())
        .await
        .unwrap();
    // An engine that keeps request tokens says that the commit was this call's own.
    let duplicate = Acceptance::Duplicate {
        accepted_at: NOW,
        uncompared: false,
    };
    assert!(
        [Acceptance::Accepted, duplicate].contains(&answer),
        "{answer:?}"
    );
    assert_eq!(engine.kinds().await, ["ACCEPTED", "OUTBOX"]);
    let again = engine.store.accept(&action, &TIMING, soon()).await.unwrap();
    assert_eq!(again, duplicate);
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_ours() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let claim = claim_of("mine", NOW);
    let answer = losing(&engine, 2)
        .claim(&read, claim.clone(), ORIGIN, soon())
        .await;
    let Claimed::Started(entry) = answer.unwrap() else {
        panic!("not recognised")
    };
    assert_eq!((entry.fence, entry.claim), (1, Some(claim)));
    // Another claim by the same words of the entry is another's.
    let other = claim_of("other", NOW);
    let answer = engine
        .store
        .claim(&read, other, ORIGIN, soon())
        .await
        .unwrap();
    let until = NOW.plus(TIMING.lease);
    assert_eq!(answer, Claimed::InProgress { until });
}

#[tokio::test]
async fn a_settlement_whose_answer_was_lost_is_settled_once() {
    for settlement in [delivered(), retry(NOW.plus(secs(30)))] {
        let engine = Engine::start().await;
        let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
        let mine = claimed(&engine.store, &read, "claim").await;
        let record = attempt(1, OutcomeKind::Busy, Some(503));
        let answer = losing(&engine, 2)
            .settle(&mine, change(&settlement, Some((&record, "busy"))), soon())
            .await
            .unwrap();
        assert_eq!(answer, SettleResult::Settled);
        let after = engine.store.entry(&mine.key).await.unwrap().unwrap();
        assert_eq!(after.attempts, [record]);
        assert_eq!(after.state, settlement.settlement.state());
    }
}

#[tokio::test]
async fn a_settlement_without_an_attempt_whose_answer_was_lost_is_settled() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let expired = claimed(&engine.store, &read, "crashed").await;
    let again = retry(NOW.plus(secs(30)));
    let answer = losing(&engine, 1)
        .settle(&expired, change(&again, None), soon())
        .await;
    assert_eq!(answer.unwrap(), SettleResult::Settled);
}

#[tokio::test]
async fn evidence_whose_answer_was_lost_is_not_taken_for_a_settlement() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let first = claimed(store, &read, "first").await;
    store
        .settle(&first, change(&retry(NOW), None), soon())
        .await
        .unwrap();
    let standing = store.entry(&read.key).await.unwrap().unwrap();
    claimed(store, &standing, "second").await;
    let record = attempt(1, OutcomeKind::Unknown, None);
    // The refusal comes; the evidence is written, and its answers are lost.
    let losing = losing_after(&engine, 1, 2);
    let answer = losing
        .settle(&first, change(&retry(NOW), Some((&record, ""))), soon())
        .await
        .unwrap();
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Claimed));
    let after = store.entry(&read.key).await.unwrap().unwrap();
    assert_eq!(after.attempts, [record]);
}

/// As [`losing`], but the first answers come through.
pub(crate) fn losing_after(engine: &Engine, through: usize, answers: usize) -> Store {
    #[derive(Debug)]
    struct After(AtomicUsize, Losing);
    impl Intercept for After {
        fn name(&self) -> &'static str {
            "After"
        }
        fn modify_before_deserialization(
            &self,
            context: &mut BeforeDeserializationInterceptorContextMut<'_>,
            components: &RuntimeComponents,
            bag: &mut ConfigBag,
        ) -> Result<(), BoxError> {
            let pass = |left: usize| left.checked_sub(1);
            match self
                .0
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, pass)
            {
                Ok(_) => Ok(()),
                Err(_) => self
                    .1
                    .modify_before_deserialization(context, components, bag),
            }
        }
    }
    let losing = Losing(Arc::new(AtomicUsize::new(answers)));
    let after = After(AtomicUsize::new(through), losing);
    let config = engine
        .client
        .config()
        .to_builder()
        .interceptor(after)
        .build();
    Store::new(Client::from_conf(config), engine.store.table())
}

#[tokio::test]
async fn trouble_whose_answer_was_lost_is_told_once() {
    let engine = Engine::start().await;
    let notify = Notify {
        destination: crate::action::name("ops"),
        on: BTreeSet::from(Trouble::ALL),
    };
    let entry = accepted(&engine.store, &action("msg_1", b"{}")).await;
    let mine = claimed(&engine.store, &entry, "claim").await;
    let record = attempt(1, OutcomeKind::Rejected, Some(422));
    let dead = crate::action::dead();
    // META: read, written; then the transaction, twice.
    let store = losing(&engine, 4).telling(Some(notify), TIMING);
    let change = change(&dead, Some((&record, "no")));
    let answer = store.settle(&mine, change, soon()).await.unwrap();
    assert_eq!(answer, SettleResult::Settled);
    let outbox = engine.kinds().await;
    let entries = outbox.iter().filter(|kind| *kind == "OUTBOX").count();
    assert_eq!(entries, 2, "the entry and its notice: {outbox:?}");
}
