//! Settling: what an attempt's end leaves in the table, and who may not write it any more.

use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{AttemptRecord, EntryState, OutboxEntry, OutcomeKind, Retention, Settled};
use ackbox_store::schema::attribute;
use ackbox_store::{Class, ItemError, SettleResult, Store, StoreError, schema};

use crate::action::{
    NOW, accepted, action, attempt, change, change_at, claimed, dead, delivered, held, retry, secs,
    settled,
};
use crate::engine::{Engine, soon};

const CLASSES: [Class; 4] = [Class::Open, Class::Unknown, Class::Held, Class::Dead];

async fn settle(
    store: &Store,
    entry: &OutboxEntry,
    settled: &Settled,
    record: Option<&AttemptRecord>,
) -> SettleResult {
    let attempt = record.map(|record| (record, "what happened"));
    store
        .settle(entry, change(settled, attempt), soon())
        .await
        .unwrap()
}

async fn entry(engine: &Engine, entry: &OutboxEntry) -> OutboxEntry {
    engine.store.entry(&entry.key).await.unwrap().unwrap()
}

/// The classes in whose index the destination has something.
async fn listed(engine: &Engine) -> Vec<Class> {
    let mut found = Vec::new();
    for class in CLASSES {
        let listed = engine.listed(class, "mailer").await;
        found.extend(listed.iter().map(|_| class));
    }
    found
}

#[tokio::test]
async fn each_settlement_moves_the_entry_to_its_place() {
    let at = NOW.plus(secs(30));
    let no_destination = settled(Settlement::NoDestination { due_at: at });
    let unknown = settled(Settlement::Unknown { due_at: at });
    let closed_until = NOW.plus(Retention::default().entry).unix_s();
    for (settlement, class, due_at, settled_at, reason) in [
        (delivered(), None, None, Some(NOW), None),
        (retry(at), Some(Class::Open), Some(at), None, None),
        (unknown, Some(Class::Unknown), Some(at), None, None),
        (
            held(),
            Some(Class::Held),
            Some(NOW),
            Some(NOW),
            Some("outcome-unknown"),
        ),
        (
            dead(),
            Some(Class::Dead),
            Some(NOW),
            Some(NOW),
            Some("rejected"),
        ),
        (
            no_destination,
            Some(Class::Open),
            Some(at),
            Some(NOW),
            Some("no-such-destination"),
        ),
    ] {
        let engine = Engine::start().await;
        let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
        let mine = claimed(&engine.store, &read, "claim").await;
        let record = attempt(1, OutcomeKind::Busy, Some(503));
        let answer = settle(&engine.store, &mine, &settlement, Some(&record)).await;
        assert_eq!(answer, SettleResult::Settled);
        let after = entry(&engine, &mine).await;
        let state = settlement.settlement.state();
        assert_eq!((after.state, after.fence, &after.claim), (state, 1, &None));
        assert_eq!(
            (after.due_at, after.settled_at),
            (due_at, settled_at),
            "{state}"
        );
        assert_eq!(after.reason.as_deref(), reason);
        assert_eq!(after.attempts, [record]);
        assert_eq!(after.last_detail.as_deref(), Some("what happened"));
        assert_eq!(after.body, read.body);
        assert_eq!(listed(&engine).await, Vec::from_iter(class), "{state}");
        let item = engine.item(&mine.key, schema::kind::OUTBOX).await.unwrap();
        let expires = item
            .get(attribute::EXPIRES_AT)
            .map(|n| n.as_n().unwrap().clone());
        let expected = state.is_closed().then(|| closed_until.to_string());
        assert_eq!(expires, expected, "{state}: open entries never expire");
    }
}

#[tokio::test]
async fn only_the_claim_that_holds_the_entry_settles_it() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let first = claimed(store, &read, "first").await;
    // The first claim ran out; somebody settled that and has a claim of their own.
    assert_eq!(
        settle(store, &first, &retry(NOW), None).await,
        SettleResult::Settled
    );
    let second = claimed(store, &entry(&engine, &first).await, "second").await;
    for settlement in [retry(NOW.plus(secs(9))), held(), dead()] {
        let record = attempt(1, OutcomeKind::Unknown, None);
        let answer = settle(store, &first, &settlement, Some(&record)).await;
        assert_eq!(answer, SettleResult::Overtaken(EntryState::Claimed));
    }
    let after = entry(&engine, &first).await;
    assert_eq!(after.claim, second.claim, "the second claim stands");
    assert_eq!((after.fence, after.due_at), (2, second.due_at));
    assert_eq!(
        after.attempts,
        [attempt(1, OutcomeKind::Unknown, None)],
        "as evidence, once"
    );
    // The evidence does not keep the holder of the claim from settling.
    let record = attempt(2, OutcomeKind::Busy, Some(503));
    assert_eq!(
        settle(store, &second, &retry(NOW), Some(&record)).await,
        SettleResult::Settled
    );
    let after = entry(&engine, &first).await;
    assert_eq!(
        after.attempts,
        [attempt(1, OutcomeKind::Unknown, None), record]
    );
}

#[tokio::test]
async fn a_late_success_settles_delivered_in_every_open_state_and_after_dead() {
    let at = NOW.plus(secs(30));
    let unknown = settled(Settlement::Unknown { due_at: at });
    for meanwhile in [
        Some(retry(at)),
        Some(unknown),
        Some(held()),
        Some(dead()),
        None,
    ] {
        let engine = Engine::start().await;
        let store = &engine.store;
        let read = accepted(store, &action("msg_1", b"{}")).await;
        let first = claimed(store, &read, "first").await;
        settle(store, &first, &retry(NOW), None).await;
        let second = claimed(store, &entry(&engine, &first).await, "second").await;
        if let Some(meanwhile) = meanwhile {
            let record = attempt(2, OutcomeKind::Busy, None);
            settle(store, &second, &meanwhile, Some(&record)).await;
        }
        let record = attempt(1, OutcomeKind::Succeeded, Some(200));
        let answer = settle(store, &first, &delivered(), Some(&record)).await;
        assert_eq!(answer, SettleResult::Settled, "{meanwhile:?}");
        let after = entry(&engine, &first).await;
        assert_eq!((after.state, after.fence), (EntryState::Delivered, 2));
        assert_eq!((&after.claim, &after.reason), (&None, &None));
        assert_eq!(after.attempts[0], record);
        assert_eq!(listed(&engine).await, []);
    }
}

#[tokio::test]
async fn a_closed_entry_is_never_reopened() {
    for closing in [delivered(), dead()] {
        let engine = Engine::start().await;
        let store = &engine.store;
        let read = accepted(store, &action("msg_1", b"{}")).await;
        let mine = claimed(store, &read, "claim").await;
        let record = attempt(1, OutcomeKind::Rejected, Some(400));
        settle(store, &mine, &closing, Some(&record)).await;
        let closed = entry(&engine, &mine).await;
        let before = engine.items().await;
        for standing in [&read, &mine, &closed] {
            for settlement in [retry(NOW.plus(secs(9))), held()] {
                let answer = settle(store, standing, &settlement, None).await;
                assert_eq!(answer, SettleResult::Overtaken(closed.state));
            }
        }
        assert_eq!(engine.items().await, before);
    }
}

#[tokio::test]
async fn an_overtaken_attempt_does_not_take_back_what_has_been_cleared_since() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let cleared = |settlement: &Settled, fence| Settled {
        cleared_fence: Some(fence),
        ..*settlement
    };
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let first = claimed(store, &read, "first").await;
    // The first claim ran out; the second attempt surely did not arrive, and carries the word on.
    settle(store, &first, &retry(NOW), None).await;
    let second = claimed(store, &entry(&engine, &first).await, "second").await;
    let record = attempt(2, OutcomeKind::Busy, Some(503));
    let carried = cleared(&retry(NOW), 2);
    let answer = settle(store, &second, &carried, Some(&record)).await;
    assert_eq!(answer, SettleResult::Settled);
    assert_eq!(entry(&engine, &first).await.cleared_fence, 2);
    // Only now comes what the first one knows: that it was not sent.
    let record = attempt(1, OutcomeKind::NotSent, None);
    let late = cleared(&retry(NOW), 1);
    let answer = settle(store, &first, &late, Some(&record)).await;
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Pending));
    let after = entry(&engine, &first).await;
    assert_eq!(after.attempts.len(), 2, "it is on the record");
    assert_eq!(after.cleared_fence, 2);
}

#[tokio::test]
async fn a_second_success_is_evidence_on_a_delivered_entry() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let first = claimed(store, &read, "first").await;
    settle(store, &first, &retry(NOW), None).await;
    let second = claimed(store, &entry(&engine, &first).await, "second").await;
    let records = [1, 2].map(|n| attempt(n, OutcomeKind::Succeeded, Some(200)));
    settle(store, &second, &delivered(), Some(&records[1])).await;
    let delivered_at = entry(&engine, &first).await.settled_at;
    let answer = settle(store, &first, &delivered(), Some(&records[0])).await;
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Delivered));
    let after = entry(&engine, &first).await;
    assert_eq!(after.attempts, records);
    assert_eq!(after.settled_at, delivered_at);
}

#[tokio::test]
async fn the_mark_of_the_first_uncertain_attempt_is_set_once_and_never_moved() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let mut standing = accepted(store, &action("msg_1", b"{}")).await;
    let first = NOW.plus(secs(1));
    for (number, mark) in [
        (1, None),
        (2, Some(first)),
        (3, Some(NOW.plus(secs(9)))),
        (4, None),
    ] {
        let mine = claimed(store, &standing, "claim").await;
        let settled = Settled {
            first_uncertain_at: mark,
            ..retry(NOW)
        };
        let record = attempt(number, OutcomeKind::Unknown, None);
        settle(store, &mine, &settled, Some(&record)).await;
        standing = entry(&engine, &mine).await;
        let expected = (number > 1).then_some(first);
        assert_eq!(
            standing.first_uncertain_at, expected,
            "after attempt {number}"
        );
    }
}

#[tokio::test]
async fn an_expired_claim_is_settled_by_one_and_keeps_the_rest_of_the_record() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let expired = claimed(store, &read, "crashed").await;
    let settled = Settled {
        first_uncertain_at: Some(NOW),
        ..retry(NOW.plus(secs(7)))
    };
    assert_eq!(
        settle(store, &expired, &settled, None).await,
        SettleResult::Settled
    );
    let other = retry(NOW.plus(secs(8)));
    let answer = settle(store, &expired, &other, None).await;
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Pending));
    let after = entry(&engine, &read).await;
    assert_eq!(after.due_at, Some(NOW.plus(secs(7))));
    assert_eq!((after.first_uncertain_at, after.fence), (Some(NOW), 1));
}

#[tokio::test]
async fn an_unknown_destination_is_remembered_since_it_was_noticed() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let unknown = |seconds| {
        settled(Settlement::NoDestination {
            due_at: NOW.plus(secs(seconds)),
        })
    };
    let later = NOW.plus(secs(300));
    store
        .settle(&read, change(&unknown(300), None), soon())
        .await
        .unwrap();
    let noticed = entry(&engine, &read).await;
    store
        .settle(&noticed, change_at(later, &unknown(600), None), soon())
        .await
        .unwrap();
    let again = entry(&engine, &read).await;
    assert_eq!(
        (again.settled_at, again.due_at),
        (Some(NOW), Some(NOW.plus(secs(600))))
    );
    // It is known again: the claim ends what was noticed.
    let mine = claimed(store, &again, "claim").await;
    assert_eq!((mine.reason, mine.settled_at), (None, None));
    let mine = entry(&engine, &read).await;
    store
        .settle(&mine, change_at(later, &unknown(900), None), soon())
        .await
        .unwrap();
    assert_eq!(entry(&engine, &read).await.settled_at, Some(later));
    let hold = settled(Settlement::Held(Reason::NoSuchDestination));
    let last = entry(&engine, &read).await;
    store
        .settle(&last, change_at(later, &hold, None), soon())
        .await
        .unwrap();
    assert_eq!(entry(&engine, &read).await.state, EntryState::Held);
}

#[tokio::test]
async fn settling_what_is_gone_says_so_and_writes_nothing() {
    let engine = Engine::start().await;
    let read = accepted(&engine.store, &action("msg_1", b"{}")).await;
    engine.delete(&read.key, schema::kind::OUTBOX).await;
    let answer = engine
        .store
        .settle(&read, change(&delivered(), None), soon())
        .await;
    let error = answer.unwrap_err();
    assert!(
        matches!(error, StoreError::Item(ItemError::Gone)),
        "{error:?}"
    );
    assert_eq!(engine.kinds().await, ["ACCEPTED"]);
}

#[tokio::test]
async fn a_newer_schema_version_is_left_alone() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let mut item = engine.item(&read.key, schema::kind::OUTBOX).await.unwrap();
    let newer = (schema::SCHEMA_VERSION + 1).to_string();
    let newer = aws_sdk_dynamodb::types::AttributeValue::N(newer);
    item.insert(attribute::VERSION.to_owned(), newer);
    item.insert(
        attribute::FENCE.to_owned(),
        aws_sdk_dynamodb::types::AttributeValue::N("5".to_owned()),
    );
    engine.put(item.clone()).await;
    let refused = |error: StoreError| {
        assert!(
            matches!(error, StoreError::Item(ItemError::NewerSchema { .. })),
            "{error:?}"
        );
        assert!(!error.is_retryable());
    };
    refused(store.entry(&read.key).await.unwrap_err());
    let claim = crate::action::claim_of("claim", NOW);
    refused(store.claim(&read, claim, [0; 8], soon()).await.unwrap_err());
    let record = attempt(1, OutcomeKind::Busy, None);
    let again = retry(NOW);
    let late = store.settle(&read, change(&again, Some((&record, ""))), soon());
    refused(late.await.unwrap_err());
    assert_eq!(
        engine.item(&read.key, schema::kind::OUTBOX).await.unwrap(),
        item
    );
    let story = store.story(&read.key).await.unwrap();
    assert!(story.accepted.is_some());
    assert_eq!(story.unreadable[0].0, schema::kind::OUTBOX);
}

#[tokio::test]
async fn a_claim_taken_for_run_out_does_not_overwrite_what_its_holder_says() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let read = accepted(store, &action("msg_1", b"{}")).await;
    let mine = claimed(store, &read, "slow").await;
    let heard = attempt(1, OutcomeKind::Busy, Some(503));
    let unheard = attempt(1, OutcomeKind::Unknown, None);
    let (later, now) = (retry(NOW.plus(secs(9))), retry(NOW));
    // The holder writes first: the sweep's word on the same attempt is no news.
    settle(store, &mine, &later, Some(&heard)).await;
    let before = engine.items().await;
    let answer = settle(store, &mine, &now, Some(&unheard)).await;
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Pending));
    assert_eq!(engine.items().await, before);
    // The sweep writes first: the holder's word replaces it, and changes nothing else.
    let mine = claimed(store, &entry(&engine, &read).await, "slower").await;
    let heard = attempt(2, OutcomeKind::Busy, Some(503));
    let unheard = attempt(2, OutcomeKind::Unknown, None);
    settle(store, &mine, &now, Some(&unheard)).await;
    let answer = settle(store, &mine, &later, Some(&heard)).await;
    assert_eq!(answer, SettleResult::Overtaken(EntryState::Pending));
    let after = entry(&engine, &mine).await;
    assert_eq!((after.attempts[1], after.due_at), (heard, Some(NOW)));
}
