//! `ackbox list` and `ackbox show`, of entries whose destination is asked what became of them.

use std::time::Duration;

use ackbox::dev::Engine;
use ackbox_domain::outbox::Claim;
use ackbox_domain::settlement::Settlement;
use ackbox_domain::{ActionKey, AttemptRecord, OutcomeKind, Settled, Timestamp};
use ackbox_store::{Change, Claimed, SettleResult, Store};
use tokio::time::Instant;

use crate::list_and_show::{AT, action, key};
use crate::support::Place;

/// A time that is long ahead.
const LATER: Timestamp = Timestamp::from_unix_ms(4_102_444_800_000);

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// An entry with one attempt that may have arrived, to be asked about at [`LATER`].
async fn in_doubt(store: &Store, id: &str) {
    let timing = ackbox_config::DeliverySettings::default().timing;
    let action = action(id, "mailer", "{}", 1);
    store.accept(&action, &timing, soon()).await.unwrap();
    let entry = store.entry(&key(id)).await.unwrap().unwrap();
    let claim = Claim {
        id: id.to_owned(),
        claimed_at: AT,
        lease_until: AT.plus(Duration::from_secs(45)),
    };
    let claimed = store.claim(&entry, claim, [1; 8], soon()).await.unwrap();
    let Claimed::Started(entry) = claimed else {
        panic!("{claimed:?}");
    };
    let attempt = AttemptRecord {
        number: 1,
        kind: OutcomeKind::Unknown,
        status: None,
        began_after: Duration::ZERO,
    };
    let change = Change {
        settled: &Settled::new(Settlement::Unknown { due_at: LATER }, Some(AT)),
        attempt: Some((&attempt, "the connection was closed")),
        told: None,
        now: AT.plus(Duration::from_secs(1)),
    };
    let settled = store.settle(&entry, change, soon()).await.unwrap();
    assert_eq!(settled, SettleResult::Settled);
}

/// What the destination said of it, settled.
async fn said(store: &Store, id: &str, settlement: Settlement, cleared: Option<u64>, told: &str) {
    let entry = store.entry(&key(id)).await.unwrap().unwrap();
    let change = Change {
        settled: &Settled {
            cleared_fence: cleared,
            ..Settled::new(settlement, Some(AT))
        },
        attempt: None,
        told: Some(told),
        now: AT.plus(Duration::from_secs(90)),
    };
    let settled = store.settle(&entry, change, soon()).await.unwrap();
    assert_eq!(settled, SettleResult::Settled);
}

/// A table file with four entries in doubt: one not asked about yet, one asked about in vain, one found not
/// applied, one found applied.
fn filled() -> Place {
    let place = Place::empty();
    let path = place.path("table.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Engine::file(&path).await.unwrap();
        let clients = engine.clients().await;
        let store = Store::new(clients.dynamodb, "ackbox");
        store.create_table().await.unwrap();
        for id in ["fresh", "vain", "denied", "has_it"] {
            in_doubt(&store, id).await;
        }
        let unknown = Settlement::Unknown { due_at: LATER };
        said(&store, "vain", unknown, None, "asked, it said 503: busy").await;
        let retry = Settlement::Retry { due_at: LATER };
        said(&store, "denied", retry, Some(1), "asked, it said 404: none").await;
        let delivered = Settlement::Delivered;
        said(
            &store,
            "has_it",
            delivered,
            None,
            "asked, it said 200: on air",
        )
        .await;
        engine.stop().await;
    });
    place
}

#[track_caller]
fn show(place: &Place, id: &str) -> String {
    let key: ActionKey = key(id);
    let ended = place.run(&["show", key.as_str(), "--db", "table.db"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.out
}

#[test]
fn an_entry_that_is_asked_about_is_shown_with_what_was_said_and_when_it_is_asked_next() {
    let place = filled();
    for (id, parts, not) in [
        (
            "fresh",
            &[
                "attempt 1: unknown: the connection was closed; from here on it may have arrived",
                "2100-01-01T00:00:00.000Z  the destination is asked what became of it (in ",
            ][..],
            "last asked",
        ),
        (
            "vain",
            &[
                "last asked   it said 503: busy",
                "attempt 1: unknown; from here on it may have arrived",
                "the destination is asked what became of it (in ",
            ],
            "its word",
        ),
        (
            "denied",
            &[
                "its word     the destination said that attempt 1 was not applied",
                "last asked   it said 404: none",
                "attempt 1: unknown; not applied, the destination said later",
                "due for one attempt more, by the destination's word",
            ],
            "from here on",
        ),
        (
            "has_it",
            &[
                "last asked   it said 200: on air",
                "delivered: the destination was asked, and has it",
            ],
            "not applied",
        ),
    ] {
        let out = show(&place, id);
        for part in parts {
            assert!(out.contains(part), "{part}: {out}");
        }
        assert!(!out.contains(not), "{not}: {out}");
    }
}

#[test]
fn the_number_up_to_which_attempts_were_not_applied_is_in_json() {
    let place = filled();
    let of = |id: &str| {
        let key = key(id);
        let show = ["show", key.as_str(), "--db", "table.db", "--json"];
        place.run(&show).json()
    };
    assert_eq!(of("denied")["entry"]["cleared_fence"], 1);
    let unsaid = of("vain");
    let entry = unsaid["entry"].as_object().unwrap();
    assert!(entry["cleared_fence"].is_null() && entry.contains_key("cleared_fence"));

    let listed = place.run(&["list", "--db", "table.db", "--json"]).json();
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3, "{listed}");
    for entry in entries {
        let expected = match entry["key"] == key("denied").as_str() {
            true => serde_json::json!(1),
            false => serde_json::Value::Null,
        };
        assert_eq!(entry["cleared_fence"], expected, "{entry}");
    }
}

#[test]
fn the_list_says_what_comes_next_for_an_entry_in_doubt() {
    let place = filled();
    let ended = place.run(&["list", "--db", "table.db"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for why in [
        "to be asked: the connection was closed",
        "to be asked again: it said 503: busy",
        "not applied, to be sent once more: it said 404: none",
    ] {
        assert!(ended.out.contains(why), "{why}: {}", ended.out);
    }
    let unknown = place.run(&["list", "--db", "table.db", "--state", "unknown"]);
    // The time of the next question stands under DUE.
    let rows: Vec<&str> = unknown.out.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{}", unknown.out);
    assert!(rows.iter().all(|row| row.contains("  in ")), "{rows:?}");
}
