//! Finding what is due: everything once, nothing of others, and two sweeps rarely at one place.

use std::collections::HashSet;

use ackbox_domain::{ActionKey, Settlement};
use ackbox_store::{Class, Store};
use futures_util::{StreamExt, stream};

use crate::action::{NOW, TIMING, accepted, action, name, secs, settled};
use crate::engine::{Engine, soon};

async fn accept_many(store: &Store, ids: std::ops::Range<u64>) {
    stream::iter(ids)
        .for_each_concurrent(16, |n| async move {
            let mut action = action(&format!("msg_{n}"), b"{}");
            action.accepted_at = NOW.plus(secs(n));
            store.accept(&action, &TIMING, soon()).await.unwrap();
        })
        .await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_entries_are_each_found_once_in_pages_of_25_and_in_another_order_each_time() {
    let engine = Engine::start().await;
    accept_many(&engine.store, 0..1000).await;
    let late = TIMING.first_due.as_secs() + 1000;
    let once = pages(&engine.store, Class::Open, "mailer", late).await;
    assert!(once.iter().all(|page| (1..=25).contains(&page.len())));
    let keys: Vec<_> = once.concat();
    let distinct: HashSet<_> = keys.iter().collect();
    assert_eq!((keys.len(), distinct.len()), (1000, 1000));
    let again = pages(&engine.store, Class::Open, "mailer", late)
        .await
        .concat();
    assert_ne!(keys, again);
    // Two sweeps that start at once are at different pages almost all of the time.
    let met = keys.iter().zip(&again).filter(|(a, b)| a == b).count();
    assert!(met < 100, "{met} of 1000");
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
        .settle(&asked, &unknown, None, NOW, soon())
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
    accept_many(&engine.store, 0..3).await;
    let listed = engine
        .store
        .list(Class::Open, &name("mailer"), 0)
        .await
        .unwrap();
    assert_eq!(listed, []);
}
