//! Operators' words: each is written with its record or not at all, for exactly what was shown.

use ackbox_domain::operator::{Resolution, Risk, Way, redrive, replace, resolve};
use ackbox_domain::settlement::{
    Backoff, DeliveryPolicy, Idempotency, OnUnknown, Reason, Standing, Terms,
};
use ackbox_domain::{
    EntryState, OutboxEntry, OutcomeKind, Retention, Settled, StoredBody, Timestamp,
};
use ackbox_store::schema::{attribute, kind};
use ackbox_store::{
    Claimed, Class, Decided, Heard, OperatorRecord, Replacement, SettleResult, Store,
};
use futures_util::future::join_all;

use crate::action::{
    NOW, ORIGIN, TIMING, accepted, action, attempt, change, change_at, claim_of, claimed, dead,
    delivered, held, name, noise, secs,
};
use crate::engine::{Engine, soon, text};
use crate::lost_answers::losing;

const LATER: Timestamp = Timestamp::from_unix_ms(NOW.unix_ms() + 600_000);

pub(crate) fn word(did: &str, entry: &OutboxEntry) -> OperatorRecord {
    OperatorRecord {
        at: LATER,
        by: "ada".to_owned(),
        did: did.to_owned(),
        detail: Some(format!("was {}", entry.state)),
        number: Some(entry.fence + 1),
        reason: Some("it is mended".to_owned()),
    }
}

fn policy() -> DeliveryPolicy {
    DeliveryPolicy {
        idempotency: Idempotency::Window(secs(86_400)),
        on_unknown: OnUnknown::Hold,
        timeout: secs(10),
        retry_for: secs(86_400),
        backoff: Backoff {
            first: secs(30),
            max: secs(600),
        },
    }
}

pub(crate) fn again(entry: &OutboxEntry) -> Settled {
    let way = Way {
        terms: Terms {
            policy: &policy(),
            timing: &TIMING,
        },
        origin: ORIGIN,
        is_other: false,
    };
    redrive(&Standing::from(entry), &way, Risk::default(), LATER).unwrap()
}

pub(crate) async fn decide(store: &Store, entry: &OutboxEntry, settled: &Settled) -> Heard {
    let record = word("redrive", entry);
    let decided = Decided {
        settled,
        to: None,
        record: &record,
    };
    store.decide(entry, decided, soon()).await.unwrap()
}

/// An entry of this body that an attempt has closed or held.
pub(crate) async fn ended(engine: &Engine, body: &[u8], settled: &Settled) -> OutboxEntry {
    let read = accepted(&engine.store, &action("msg_1", body)).await;
    let mine = claimed(&engine.store, &read, "claim").await;
    let record = attempt(1, OutcomeKind::Rejected, Some(422));
    let change = change(settled, Some((&record, "422: no")));
    engine.store.settle(&mine, change, soon()).await.unwrap();
    engine.store.entry(&mine.key).await.unwrap().unwrap()
}

fn expiry(item: &crate::engine::Item) -> Option<u64> {
    let at = item.get(attribute::EXPIRES_AT)?;
    Some(at.as_n().unwrap().parse().unwrap())
}

#[tokio::test]
async fn what_was_given_up_is_open_again_with_the_word_on_the_record() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{}", &dead()).await;
    assert_eq!(
        decide(&engine.store, &entry, &again(&entry)).await,
        Heard::Written
    );
    let after = engine.store.entry(&entry.key).await.unwrap().unwrap();
    assert_eq!((after.state, after.fence), (EntryState::Pending, 2));
    assert_eq!(
        (after.due_at, after.redriven_at),
        (Some(LATER), Some(LATER))
    );
    assert_eq!((after.reason, after.settled_at), (None, None));
    let item = engine.item(&entry.key, kind::OUTBOX).await.unwrap();
    assert_eq!(expiry(&item), None, "an open entry never expires");
    assert!(engine.listed(Class::Dead, "mailer").await.is_empty());
    assert_eq!(engine.listed(Class::Open, "mailer").await.len(), 1);
    let story = engine.store.story(&entry.key).await.unwrap();
    assert_eq!(story.operators, [word("redrive", &entry)]);
    // And it can be claimed.
    let pending = story.outbox.unwrap();
    let claim = engine
        .store
        .claim(&pending, claim_of("next", LATER), ORIGIN, soon());
    assert!(matches!(claim.await.unwrap(), Claimed::Started(entry) if entry.fence == 3));
}

#[tokio::test]
async fn of_eight_operators_at_once_one_is_heard_and_the_others_are_told_how_it_stands() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{}", &held()).await;
    let timing = &TIMING;
    let standing = Standing::from(&entry);
    let given_up = resolve(&standing, Resolution::Dead, timing, LATER).unwrap();
    let sent = again(&entry);
    let all = (0..8).map(|n| {
        let settled = if n % 2 == 0 { &given_up } else { &sent };
        decide(&engine.store, &entry, settled)
    });
    let heard = join_all(all).await;
    let written = heard
        .iter()
        .filter(|heard| **heard == Heard::Written)
        .count();
    assert_eq!(written, 1, "{heard:?}");
    let moved = |heard: &&Heard| matches!(heard, Heard::Moved(Some(entry)) if entry.fence == 2);
    assert_eq!(heard.iter().filter(moved).count(), 7, "{heard:?}");
    assert_eq!(
        engine
            .store
            .story(&entry.key)
            .await
            .unwrap()
            .operators
            .len(),
        1
    );
}

#[tokio::test]
async fn what_was_decided_before_a_word_is_not_written_after_it() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{}", &held()).await;
    decide(&engine.store, &entry, &again(&entry)).await;
    let pending = engine.store.entry(&entry.key).await.unwrap().unwrap();
    // A second one hurries it: both are pending, and only the number tells them apart.
    let second = decide(&engine.store, &pending, &again(&entry)).await;
    assert_eq!(second, Heard::Written);
    let hold = held();
    let late = engine
        .store
        .settle(&pending, change(&hold, None), soon())
        .await
        .unwrap();
    assert_eq!(late, SettleResult::Overtaken(EntryState::Pending));
    // A late success still is one.
    let record = attempt(1, OutcomeKind::Succeeded, Some(200));
    let success = delivered();
    let late = change(&success, Some((&record, "")));
    let late = engine.store.settle(&entry, late, soon()).await.unwrap();
    assert_eq!(late, SettleResult::Settled);
}

#[tokio::test]
async fn a_body_of_its_own_expires_with_its_entry_and_is_kept_again_when_that_is_opened() {
    let body = noise(20_000);
    let kept = Retention::default();
    for (settled, lasts) in [(delivered(), kept.payload), (dead(), kept.entry)] {
        let engine = Engine::start().await;
        let entry = ended(&engine, &body, &settled).await;
        assert_eq!(entry.body, StoredBody::Payload);
        let payload = engine.item(&entry.key, kind::PAYLOAD).await.unwrap();
        assert_eq!(expiry(&payload), Some(NOW.plus(lasts).unix_s()));
    }
    let engine = Engine::start().await;
    let entry = ended(&engine, &body, &held()).await;
    let payload = engine.item(&entry.key, kind::PAYLOAD).await.unwrap();
    assert_eq!(expiry(&payload), None, "what is open never expires");
    let given_up = resolve(&Standing::from(&entry), Resolution::Dead, &TIMING, LATER).unwrap();
    decide(&engine.store, &entry, &given_up).await;
    let payload = engine.item(&entry.key, kind::PAYLOAD).await.unwrap();
    assert_eq!(expiry(&payload), Some(LATER.plus(kept.entry).unix_s()));
    let entry = engine.store.entry(&entry.key).await.unwrap().unwrap();
    decide(&engine.store, &entry, &again(&entry)).await;
    let payload = engine.item(&entry.key, kind::PAYLOAD).await.unwrap();
    assert_eq!(expiry(&payload), None);
    assert_eq!(
        engine
            .store
            .payload(&entry.key)
            .await
            .unwrap()
            .unwrap()
            .bytes,
        body
    );
}

#[tokio::test]
async fn without_its_body_nothing_is_opened() {
    let engine = Engine::start().await;
    let entry = ended(&engine, &noise(20_000), &dead()).await;
    engine.delete(&entry.key, kind::PAYLOAD).await;
    assert_eq!(
        decide(&engine.store, &entry, &again(&entry)).await,
        Heard::NoBody
    );
    let after = engine.store.story(&entry.key).await.unwrap();
    assert_eq!(after.outbox.unwrap(), entry);
    assert!(after.operators.is_empty());
}

#[tokio::test]
async fn an_entry_that_goes_to_another_destination_is_found_there() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{}", &dead()).await;
    let (settled, record, to) = (again(&entry), word("redrive", &entry), name("mailer-eu"));
    let decided = Decided {
        settled: &settled,
        to: Some(&to),
        record: &record,
    };
    engine.store.decide(&entry, decided, soon()).await.unwrap();
    assert_eq!(
        engine
            .store
            .entry(&entry.key)
            .await
            .unwrap()
            .unwrap()
            .destination,
        to
    );
    assert_eq!(engine.listed(Class::Open, "mailer-eu").await.len(), 1);
    assert!(engine.listed(Class::Open, "mailer").await.is_empty());
    assert!(
        engine
            .store
            .meta()
            .await
            .unwrap()
            .destinations
            .contains(&to)
    );
}

#[tokio::test]
async fn a_new_action_and_the_end_of_the_old_one_are_one_write() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{\"n\":1}", &dead()).await;
    let story = engine.store.story(&entry.key).await.unwrap();
    let new = story.content().unwrap().as_new("nonce", LATER);
    let closed = replace(&Standing::from(&entry), &TIMING, Risk::default(), LATER).unwrap();
    let record = word("redrive-as-new", &entry);
    let replaced = || {
        let store = &engine.store;
        let replacement = Replacement {
            settled: closed.as_ref(),
            new: &new,
            timing: &TIMING,
            record: &record,
        };
        store.replace(&entry, replacement, soon())
    };
    assert_eq!(replaced().await.unwrap(), Heard::Written);
    let old = engine.store.entry(&entry.key).await.unwrap().unwrap();
    assert_eq!(old.reason.as_deref(), Some(Reason::Replaced.as_str()));
    assert!(
        engine.listed(Class::Dead, "mailer").await.is_empty(),
        "nobody is to do it again"
    );
    let made = engine.store.story(&new.key).await.unwrap();
    let fresh = made.outbox.as_ref().unwrap();
    assert_eq!((fresh.state, fresh.fence), (EntryState::Pending, 0));
    assert_eq!(made.body().unwrap().bytes, b"{\"n\":1}");
    assert_eq!(
        made.accepted.unwrap().parts[0].1.as_str(),
        entry.key.as_str()
    );
    // Again, on the same reading.
    assert!(matches!(replaced().await.unwrap(), Heard::Moved(Some(_))));
    // Of a delivered one, which stays as it is.
    let of_nothing = Replacement {
        settled: None,
        new: &new,
        timing: &TIMING,
        record: &record,
    };
    let one_more = engine.store.replace(&old, of_nothing, soon());
    assert_eq!(one_more.await.unwrap(), Heard::MadeBefore);
}

/// Other content under the key of `msg_1`.
async fn conflicting(engine: &Engine) -> OutboxEntry {
    let entry = accepted(&engine.store, &action("msg_1", b"{\"n\":1}")).await;
    let other = action("msg_1", b"{\"n\":2}");
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    entry
}

#[tokio::test]
async fn a_conflict_is_dismissed_once_and_stays_on_the_record_for_its_time() {
    let engine = Engine::start().await;
    let entry = conflicting(&engine).await;
    assert_eq!(engine.listed(Class::Conflict, "reports").await.len(), 1);
    let story = engine.store.story(&entry.key).await.unwrap();
    let conflict = &story.conflicts[0];
    let record = word("dismiss", &entry);
    let close = || {
        let store = &engine.store;
        store.close_conflict(&entry.key, conflict, None, &record, soon())
    };
    assert_eq!(close().await.unwrap(), Heard::Written);
    assert_eq!(close().await.unwrap(), Heard::Moved(None));
    assert!(engine.listed(Class::Conflict, "reports").await.is_empty());
    let items = engine.items().await;
    let item = items
        .iter()
        .find(|item| text(item, attribute::SK).starts_with(kind::CONFLICT))
        .unwrap();
    let until = LATER.plus(Retention::default().conflict);
    assert_eq!(expiry(item), Some(until.unix_s()));
    // It comes again: counted, and closed all the same.
    let other = action("msg_1", b"{\"n\":2}");
    engine.store.accept(&other, &TIMING, soon()).await.unwrap();
    let story = engine.store.story(&entry.key).await.unwrap();
    assert_eq!(story.conflicts[0].count, 2);
    let resolved = story.conflicts[0].resolved.clone();
    assert_eq!(resolved, Some(("dismissed".to_owned(), LATER)));
    assert!(engine.listed(Class::Conflict, "reports").await.is_empty());
    assert_eq!(story.operators.len(), 1);
}

#[tokio::test]
async fn a_conflict_is_superseded_by_one_action_however_many_ask_for_it() {
    let engine = Engine::start().await;
    let entry = conflicting(&engine).await;
    let story = engine.store.story(&entry.key).await.unwrap();
    let conflict = &story.conflicts[0];
    let held = conflict.content(&entry.key).unwrap();
    let new = held.superseding(&conflict.fingerprint, LATER);
    let record = word("supersede", &entry);
    let close = || {
        let new = Some((&new, &TIMING));
        engine
            .store
            .close_conflict(&entry.key, conflict, new, &record, soon())
    };
    let heard = join_all([close(), close(), close(), close()]).await;
    let written = heard
        .iter()
        .filter(|heard| matches!(heard, Ok(Heard::Written)));
    assert_eq!(written.count(), 1, "{heard:?}");
    let made = engine.store.story(&new.key).await.unwrap();
    assert_eq!(made.body().unwrap().bytes, b"{\"n\":2}");
    let original = engine.store.story(&entry.key).await.unwrap();
    assert_eq!(original.body().unwrap().bytes, b"{\"n\":1}");
}

#[tokio::test]
async fn retention_is_the_sources_own() {
    let engine = Engine::start().await;
    let retention = Retention {
        accepted: secs(1_000_000),
        payload: secs(1_000),
        entry: secs(2_000),
        conflict: secs(3_000),
    };
    let retentions = [(name("reports"), retention)].into_iter().collect();
    let store = engine.store.clone().keeping(retentions);
    let read = accepted(&store, &action("msg_1", &noise(20_000))).await;
    let item = engine.item(&read.key, kind::ACCEPTED).await.unwrap();
    assert_eq!(expiry(&item), Some(NOW.plus(retention.accepted).unix_s()));
    let mine = claimed(&store, &read, "claim").await;
    let success = delivered();
    let settled = change_at(LATER, &success, None);
    store.settle(&mine, settled, soon()).await.unwrap();
    let outbox = engine.item(&read.key, kind::OUTBOX).await.unwrap();
    let payload = engine.item(&read.key, kind::PAYLOAD).await.unwrap();
    assert_eq!(expiry(&outbox), Some(LATER.plus(retention.entry).unix_s()));
    assert_eq!(
        expiry(&payload),
        Some(LATER.plus(retention.payload).unix_s())
    );
}

#[tokio::test]
async fn a_word_whose_answer_is_lost_is_written_once() {
    let engine = Engine::start().await;
    let entry = ended(&engine, b"{}", &dead()).await;
    let lossy = losing(&engine, 1);
    assert_eq!(decide(&lossy, &entry, &again(&entry)).await, Heard::Written);
    let story = engine.store.story(&entry.key).await.unwrap();
    assert_eq!((story.operators.len(), story.outbox.unwrap().fence), (1, 2));
}
