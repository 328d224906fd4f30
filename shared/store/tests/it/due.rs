//! Finding what is due: everything once, nothing of others, and two sweeps rarely at one place.

use std::collections::{HashMap, HashSet};

use ackbox_domain::{ActionKey, Settlement, Timestamp};
use ackbox_store::schema::{self, attribute, kind};
use ackbox_store::{Class, Store};
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};

use crate::action::{NOW, TIMING, accepted, action, change, name, secs, settled};
use crate::engine::{Engine, soon};

/// As many entries as accepting would make, written in batches.
pub(crate) async fn accept_many(engine: &Engine, ids: std::ops::Range<u64>) {
    let entry = accepted(&engine.store, &action("template", b"{}")).await;
    let template = engine.item(&entry.key, kind::OUTBOX).await.unwrap();
    engine.delete(&entry.key, kind::OUTBOX).await;
    let s = |text: String| AttributeValue::S(text);
    let n = |at: Timestamp| AttributeValue::N(at.unix_ms().to_string());
    let writes: Vec<_> = ids
        .map(|id| {
            let key = action(&format!("msg_{id}"), b"").key;
            let at = NOW.plus(secs(id));
            let mut item = template.clone();
            let shard = schema::work_shard(Class::Open, &name("mailer"), &key);
            for (name, value) in [
                (attribute::PK, s(schema::action_pk(&key))),
                (attribute::WORK_SHARD, s(shard)),
                (attribute::ACCEPTED_AT, n(at)),
                (attribute::DUE_AT, n(at.plus(TIMING.first_due))),
            ] {
                item.insert(name.to_owned(), value);
            }
            let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
            WriteRequest::builder().put_request(put).build()
        })
        .collect();
    for batch in writes.chunks(25) {
        let write = engine.client.batch_write_item();
        let write = write.request_items(engine.store.table(), batch.to_vec());
        let left = write.send().await.unwrap().unprocessed_items;
        assert!(left.unwrap_or_default().is_empty());
    }
}

async fn pages(store: &Store, class: Class, destination: &str, after: u64) -> Vec<Vec<ActionKey>> {
    let mut due = store.due(class, &name(destination), NOW.plus(secs(after)));
    let mut pages = Vec::new();
    while let Some(page) = due.next().await.unwrap() {
        pages.push(page);
    }
    assert!(due.next().await.unwrap().is_none(), "the end stays the end");
    pages
}

#[tokio::test]
async fn a_thousand_entries_are_each_found_once_in_pages_of_25_and_in_another_order_each_time() {
    let engine = Engine::start().await;
    accept_many(&engine, 0..1000).await;
    let late = TIMING.first_due.as_secs() + 1000;
    let once = pages(&engine.store, Class::Open, "mailer", late).await;
    assert!(once.iter().all(|page| (1..=25).contains(&page.len())));
    let keys: Vec<_> = once.concat();
    let distinct: HashSet<_> = keys.iter().collect();
    assert_eq!((keys.len(), distinct.len()), (1000, 1000));
    // A page is not in the order of time, or two sweeps at one page would meet at its first entry.
    let number: HashMap<_, _> = (0..1000)
        .map(|id| (action(&format!("msg_{id}"), b"").key, id))
        .collect();
    let in_order = |page: &&Vec<ActionKey>| page.is_sorted_by_key(|key| number[key]);
    assert!(once.iter().filter(in_order).count() < once.len() / 2);
    // Two sweeps that start at once are at different pages almost all of the time.
    let again = pages(&engine.store, Class::Open, "mailer", late).await;
    let set = |page: &Vec<ActionKey>| page.iter().cloned().collect::<HashSet<_>>();
    let together = once.iter().zip(&again);
    let met = together.filter(|(a, b)| set(a) == set(b)).count();
    assert!(met < once.len() / 2, "{met} of {}", once.len());
    // Half of them are due half way.
    let half = TIMING.first_due.as_secs() + 499;
    let half = pages(&engine.store, Class::Open, "mailer", half)
        .await
        .concat();
    assert_eq!(half.len(), 500);
    let listed = engine
        .store
        .list(Class::Open, &name("mailer"), 300)
        .await
        .unwrap();
    let expected: Vec<_> = (0..300).map(|n| NOW.plus(secs(n))).collect();
    let accepted: Vec<_> = listed.iter().map(|l| l.accepted_at).collect();
    assert_eq!(accepted, expected, "what is due first, over all shards");
    assert_eq!(listed[7].due_at, NOW.plus(secs(7)).plus(TIMING.first_due));
    let shards: HashSet<u8> = shards_of(&engine).await;
    assert_eq!(shards.len(), 8);
}

async fn shards_of(engine: &Engine) -> HashSet<u8> {
    let items = engine.items().await;
    items
        .iter()
        .filter_map(|item| {
            item.get("work_shard")?
                .as_s()
                .ok()?
                .rsplit('#')
                .next()?
                .parse()
                .ok()
        })
        .collect()
}

#[tokio::test]
async fn classes_and_destinations_do_not_stand_in_each_others_way() {
    let engine = Engine::start().await;
    let store = &engine.store;
    let mut other = action("other", b"{}");
    other.destination = name("archive");
    let other = accepted(store, &other).await;
    let asked = accepted(store, &action("asked", b"{}")).await;
    let unknown = settled(Settlement::Unknown {
        due_at: NOW.plus(secs(5)),
    });
    store
        .settle(&asked, change(&unknown, None), soon())
        .await
        .unwrap();
    let open = accepted(store, &action("open", b"{}")).await;
    for (class, destination, expected) in [
        (Class::Open, "mailer", vec![open.key]),
        (Class::Open, "archive", vec![other.key]),
        (Class::Unknown, "mailer", vec![asked.key]),
        (Class::Held, "mailer", vec![]),
        (Class::Open, "nowhere", vec![]),
    ] {
        let found = pages(store, class, destination, 3600).await.concat();
        assert_eq!(found, expected, "{class:?} {destination}");
    }
    assert!(
        pages(store, Class::Unknown, "mailer", 4).await.is_empty(),
        "not due yet"
    );
}

#[tokio::test]
async fn nothing_is_listed_where_nothing_is_asked_for() {
    let engine = Engine::start().await;
    accept_many(&engine, 0..3).await;
    let listed = engine
        .store
        .list(Class::Open, &name("mailer"), 0)
        .await
        .unwrap();
    assert_eq!(listed, []);
}
