//! An outbox item stays within one write unit, whatever its attempts bring.

use std::time::Duration;

use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{AttemptRecord, Claim, OutboxEntry, OutcomeKind, Settled, StoredBody};
use ackbox_store::Store;
use ackbox_store::schema::{WRITE_UNIT, kind};
use aws_sdk_dynamodb::types::AttributeValue;

use crate::action::{NOW, ORIGIN, accepted, action, change, name, noise, retry, secs};
use crate::engine::{Engine, Item, soon};

/// The rules of AWS's page on item sizes, for the types that an outbox item has.
fn weight(item: &Item) -> usize {
    item.iter()
        .map(|(name, value)| {
            name.len()
                + match value {
                    AttributeValue::S(text) => text.len(),
                    AttributeValue::N(number) => number.len().div_ceil(2) + 1,
                    AttributeValue::B(bytes) => bytes.as_ref().len(),
                    AttributeValue::Bool(_) => 1,
                    other => panic!("{other:?}"),
                }
        })
        .sum()
}

/// An entry whose body is the longest that still goes inline, and that length.
async fn fullest(engine: &Engine, source: &str, destination: &str) -> (usize, OutboxEntry) {
    let (mut inline, mut too_long) = (None, WRITE_UNIT);
    let mut length = 0;
    while inline.is_none() || length + 1 < too_long {
        length = (length + too_long) / 2;
        let mut action = action(&format!("{source}-{length}"), &noise(length));
        action.source = name(source);
        action.destination = name(destination);
        action.body.content_type = Some("application/cloudevents+json; charset=utf-8".to_owned());
        let entry = accepted(&engine.store, &action).await;
        if let StoredBody::Inline(_) = entry.body {
            inline = Some((length, entry));
        } else {
            too_long = length;
            length = inline.as_ref().map_or(0, |(length, _)| *length);
        }
    }
    inline.unwrap()
}

/// Twelve attempts, each as long as attempts get, and one of each way to end.
async fn live_through(engine: &Engine, entry: OutboxEntry) -> usize {
    let store = &engine.store;
    let mut heaviest = weigh(engine, &entry).await;
    let mut standing = entry;
    let ends = [
        Settlement::NoDestination { due_at: NOW },
        Settlement::Unknown { due_at: NOW },
        Settlement::Dead(Reason::RetriesExhausted),
        Settlement::Held(Reason::RejectedAfterUncertain),
        Settlement::Delivered,
    ];
    for number in 1..=12 {
        let mine = claim(store, &standing, number).await;
        heaviest = heaviest.max(weigh(engine, &mine).await);
        let record = AttemptRecord {
            number: mine.fence,
            kind: OutcomeKind::Unknown,
            status: Some(599),
            began_after: Duration::from_secs(2_592_000 + number),
        };
        let detail = "ü".repeat(500);
        let uncertain = Settled {
            first_uncertain_at: Some(NOW),
            ..retry(NOW.plus(secs(number)))
        };
        let attempt = Some((&record, detail.as_str()));
        store
            .settle(&mine, change(&uncertain, attempt), soon())
            .await
            .unwrap();
        standing = store.entry(&mine.key).await.unwrap().unwrap();
        heaviest = heaviest.max(weigh(engine, &standing).await);
    }
    assert_eq!(standing.attempts.last().unwrap().number, 12);
    assert!(standing.attempts.len() >= 8, "{}", standing.attempts.len());
    assert_eq!(
        standing.last_detail.as_deref(),
        Some("ü".repeat(60).as_str())
    );
    for settlement in ends {
        let end = Settled {
            cleared_fence: Some(99_999_999),
            is_vouched: true,
            ..Settled::new(settlement, Some(NOW))
        };
        store
            .settle(&standing, change(&end, None), soon())
            .await
            .unwrap();
        let after = store.entry(&standing.key).await.unwrap().unwrap();
        heaviest = heaviest.max(weigh(engine, &after).await);
        // The item as this end leaves it, and on from there as if by an operator.
        standing = after;
        if standing.state.is_closed() {
            let mut item = engine.item(&standing.key, kind::OUTBOX).await.unwrap();
            item.insert("state".to_owned(), AttributeValue::S("pending".to_owned()));
            engine.put(item).await;
            standing.state = ackbox_domain::EntryState::Pending;
        }
    }
    heaviest
}

async fn claim(store: &Store, entry: &OutboxEntry, number: u64) -> OutboxEntry {
    let claim = Claim {
        id: format!("{number:032}"),
        claimed_at: NOW.plus(secs(number)),
        lease_until: NOW.plus(secs(number + 45)),
    };
    match store.claim(entry, claim, ORIGIN, soon()).await.unwrap() {
        ackbox_store::Claimed::Started(entry) => entry,
        other => panic!("{other:?}"),
    }
}

async fn weigh(engine: &Engine, entry: &OutboxEntry) -> usize {
    weight(&engine.item(&entry.key, kind::OUTBOX).await.unwrap())
}

#[tokio::test]
async fn an_entry_full_to_the_brim_stays_in_one_write_unit_through_twelve_ugly_attempts() {
    let engine = Engine::start().await;
    let longest = "d".repeat(64);
    for (source, destination) in [("reports", "mailer"), (longest.as_str(), longest.as_str())] {
        let (length, entry) = fullest(&engine, source, destination).await;
        assert!(length > 100, "{length}");
        let heaviest = live_through(&engine, entry).await;
        assert!(heaviest <= WRITE_UNIT, "{heaviest} bytes for {source}");
        assert!(
            heaviest > WRITE_UNIT - 100,
            "{heaviest}: room is given away"
        );
    }
}
