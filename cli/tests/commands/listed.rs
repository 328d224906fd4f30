//! `ackbox list` where there is more than one of something: conflicts of one key, names of one source; and what
//! is said of a name or a table that is not there.

use ackbox_domain::{Acceptance, Timestamp};
use ackbox_store::{Heard, OperatorRecord};
use serde_json::{Value, json};

use crate::list_and_show::{AT, action, key};
use crate::operate::{Desk, End, MINUTES};
use crate::support::{CONFIG, Place};
use crate::tabled::{Tabled, soon};

/// A key with three conflicts, one of them dismissed; the later, the more often it was seen.
fn conflicting() -> Tabled {
    let tabled = Tabled::new(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    let timing = ackbox_config::DeliverySettings::default().timing;
    tabled.with(async |store, _| {
        for digest in [2, 3, 4] {
            for again in 2..=digest {
                let mut other = action("evt_1", "mailer", "{\"other\":1}", digest);
                let ms = AT.unix_ms() + u64::from(digest) * 1000 + u64::from(again);
                other.accepted_at = Timestamp::from_unix_ms(ms);
                let accepted = store.accept(&other, &timing, soon()).await.unwrap();
                assert_eq!(accepted, Acceptance::Conflict { accepted_at: AT });
            }
        }
        let story = store.story(&key("evt_1")).await.unwrap();
        let last = story
            .conflicts
            .iter()
            .find(|one| one.fingerprint.hash == [4; 32]);
        let record = OperatorRecord {
            at: AT,
            by: "ada".to_owned(),
            did: "dismiss".to_owned(),
            detail: None,
            number: None,
            reason: None,
        };
        let key = key("evt_1");
        let closed = store.close_conflict(&key, last.unwrap(), None, &record, soon());
        assert_eq!(closed.await.unwrap(), Heard::Written);
    });
    tabled
}

#[test]
fn each_open_conflict_of_a_key_is_named_and_the_one_that_is_closed_is_not() {
    let tabled = conflicting();
    let object = tabled.json(0, &["list", "--state", "conflict"]);
    let entries = object["entries"].as_array().unwrap().iter();
    let found: Vec<_> = entries
        .map(|entry| (&entry["fingerprint"], &entry["count"], &entry["reason"]))
        .collect();
    let [second, third] = ["0202020202020202", "0303030303030303"].map(Value::from);
    let differs = json!("differs");
    assert_eq!(
        found,
        [
            (&second, &json!(1), &differs),
            (&third, &json!(2), &differs)
        ]
    );
    let text = tabled.run(&["list", "--state", "conflict"]).out;
    for part in [
        "0202020202020202, seen 1 times",
        "0303030303030303, seen 2 times",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("0404"), "{text}");
}

#[test]
fn what_waits_for_an_operator_is_due_for_nobody() {
    let is_due_now = |text: &str| text.split_whitespace().any(|word| word == "now");
    let desk = Desk::new();
    desk.ended("h1", "till", "{}", End::Held, MINUTES);
    desk.ended("d1", "mailer", "{}", End::Dead, MINUTES);
    for state in ["held", "dead"] {
        let listed = desk.run(&["list", "--state", state]).out;
        assert!(
            listed.contains("  10m ") && !is_due_now(&listed),
            "{listed}"
        );
        let object = desk.json(0, &["list", "--state", state]);
        assert!(object["entries"][0]["due_at"].is_string(), "{object}");
    }
    desk.ended("p1", "mailer", "{}", End::Fresh, MINUTES);
    let listed = desk.run(&["list", "--state", "pending"]).out;
    assert!(is_due_now(&listed), "{listed}");
}

#[test]
fn a_name_that_the_table_never_had_is_told_by_list_and_stats_alike() {
    let tabled = Tabled::new(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    for command in ["list", "stats"] {
        for (option, name, told) in [
            (
                "--destination",
                "nope",
                "never had a destination nope; it knows: mailer",
            ),
            (
                "--source",
                "nope",
                "never had a source nope; it knows: shop",
            ),
            ("--destination", "mailer", ""),
            ("--source", "shop", ""),
        ] {
            for more in [&[][..], &["--json"]] {
                let ended = tabled.run(&[&[command, option, name], more].concat());
                assert_eq!(ended.code, Some(0), "{ended:?}");
                assert!(
                    ended.err.contains(told),
                    "{command} {option} {name}: {ended:?}"
                );
                assert_eq!(ended.err.is_empty(), told.is_empty(), "{ended:?}");
            }
        }
    }
}

#[test]
fn of_a_source_that_was_renamed_it_is_told_where_its_entries_are() {
    let tabled = Tabled::new(Place::configured());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    let renamed = CONFIG.replace("source.shop", "source.till").replace(
        "[source.till]\n",
        "[source.till]\npreviously = [\"shop\"]\n",
    );
    for command in ["list", "stats"] {
        tabled.place.file("ackbox.toml", &renamed);
        let ended = tabled.run(&[command, "--source", "till"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        for part in [
            "entries keep the name under which they came",
            "see --source shop",
        ] {
            assert!(ended.err.contains(part), "{part}: {}", ended.err);
        }
        // A configuration is not needed.
        tabled.place.file("ackbox.toml", "this is none");
        let ended = tabled.run(&[command, "--source", "till"]);
        assert!(
            ended.err.contains("never had a source till") && !ended.err.contains("--source"),
            "{ended:?}"
        );
    }
}

#[test]
fn a_table_that_the_file_does_not_have_is_told_with_the_file() {
    let place = Place::empty();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = ackbox::dev::Engine::file(&place.path("table.db"))
            .await
            .unwrap();
        engine.stop().await;
    });
    for command in ["list", "stats"] {
        let ended = place.run(&[command, "--db", "table.db", "--table", "nosuch"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended
                .err
                .contains("the file table.db has no table \"nosuch\""),
            "{}",
            ended.err
        );
        assert!(!ended.err.contains("region"), "{}", ended.err);
    }
}
