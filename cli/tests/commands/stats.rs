//! `ackbox stats`, and what `ackbox list` says by time: counts and ages, what is overdue, what was accepted when,
//! and the delivered entries by a scan.

use std::time::{Duration, SystemTime};

use ackbox_domain::settlement::Settlement;
use ackbox_domain::{Settled, Timestamp};
use ackbox_store::{Change, SettleResult};
use serde_json::{Value, json};

use crate::list_and_show::{action, key};
use crate::support::Place;
use crate::tabled::{Tabled, soon};

#[allow(clippy::disallowed_methods, reason = "ages are told from now")]
fn ago(seconds: u64) -> Timestamp {
    Timestamp::from(SystemTime::now()).minus(Duration::from_secs(seconds))
}

fn settle(tabled: &Tabled, id: &str, settlement: Settlement) {
    tabled.with(async |store, _| {
        let entry = store.entry(&key(id)).await.unwrap().unwrap();
        let change = Change {
            settled: &Settled::new(settlement, None),
            attempt: None,
            told: None,
            now: ago(0),
        };
        let settled = store.settle(&entry, change, soon()).await.unwrap();
        assert_eq!(settled, SettleResult::Settled);
    });
}

/// One that is overdue, one that is fresh, one that is to be asked about since long, one that was delivered.
fn filled() -> Tabled {
    let tabled = Tabled::new(Place::empty());
    for (id, destination, accepted_ago) in [
        ("old", "mailer", 7200),
        ("fresh", "mailer", 5),
        ("asked", "pipeline", 3600),
        ("done", "mailer", 86_400),
    ] {
        let mut action = action(id, destination, "{}", 1);
        action.accepted_at = ago(accepted_ago);
        tabled.accept(&action);
    }
    settle(&tabled, "asked", Settlement::Unknown { due_at: ago(600) });
    settle(&tabled, "done", Settlement::Delivered);
    tabled
}

fn keys(object: &Value) -> Vec<&str> {
    let entries = object["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| entry["key"].as_str().unwrap())
        .collect()
}

#[track_caller]
fn listed(tabled: &Tabled, more: &[&str], ids: &[&str]) {
    let object = tabled.json(0, &[&["list"], more].concat());
    let wanted: Vec<_> = ids.iter().map(|id| key(id).to_string()).collect();
    assert_eq!(keys(&object), wanted, "{more:?}");
    assert_eq!(object["complete"], true);
}

#[test]
fn how_much_waits_is_counted_by_class_and_name_with_the_oldest() {
    let tabled = filled();
    let object = tabled.json(0, &["stats"]);
    let of = |class: &str, name: &str| {
        let counts = object["counts"].as_array().unwrap().iter();
        let mut found = counts.filter(|one| one["class"] == class && one["name"] == name);
        let one = found
            .next()
            .unwrap_or_else(|| panic!("{class} {name}: {object}"));
        assert!(found.next().is_none());
        one.clone()
    };
    let open = of("open", "mailer");
    assert_eq!((&open["count"], &open["more"]), (&json!(2), &json!(false)));
    let age = open["oldest_age_seconds"].as_u64().unwrap();
    assert!((7200..7300).contains(&age), "{open}");
    assert!(open["oldest_accepted_at"].is_string());
    assert_eq!(of("unknown", "pipeline")["count"], 1);
    assert_eq!(of("overdue", "mailer")["count"], 1);
    assert_eq!(of("overdue", "pipeline")["count"], 1);
    let none = of("dead", "mailer");
    assert_eq!(
        (&none["count"], &none["oldest_age_seconds"]),
        (&json!(0), &json!(null))
    );
    assert_eq!(of("conflict", "shop")["count"], 0);
    assert_eq!(object["totals"]["open"]["count"], 2);
    assert_eq!(object["totals"]["overdue"]["count"], 2);
    assert_eq!(object["totals"]["silent"]["count"], 0);
    assert_eq!(object["paused"], json!([]));

    let text = tabled.run(&["stats"]).out;
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["CLASS", "NAME", "COUNT", "OLDEST"]);
    assert_eq!(lines[1], ["open", "mailer", "2", "2h", "ago"]);
    assert_eq!(lines.len(), 5, "what is nothing is left out: {text}");

    let one = tabled.json(0, &["stats", "--destination", "pipeline"]);
    assert_eq!(one["totals"]["open"]["count"], 0);
    assert_eq!(one["totals"]["unknown"]["count"], 1);
    let of_source = tabled.json(0, &["stats", "--source", "shop"]);
    assert_eq!(of_source["counts"].as_array().unwrap().len(), 1);
    let nothing = tabled.run(&["stats", "--destination", "nowhere"]);
    assert_eq!(
        (nothing.code, nothing.out.as_str()),
        (Some(0), "nothing waits for attention\n")
    );
}

#[test]
fn what_is_overdue_is_listed_and_nothing_else() {
    let tabled = filled();
    listed(&tabled, &["--state", "overdue"], &["old", "asked"]);
    listed(
        &tabled,
        &["--state", "overdue", "--destination", "pipeline"],
        &["asked"],
    );
    listed(&tabled, &["--state", "pending"], &["old", "fresh"]);
}

#[test]
fn what_was_accepted_between_two_times_is_listed() {
    let tabled = filled();
    listed(&tabled, &["--since", "90m"], &["asked", "fresh"]);
    listed(&tabled, &["--until", "90m"], &["old"]);
    listed(&tabled, &["--since", "90m", "--until", "30m"], &["asked"]);
    let since = ago(4000).to_string();
    listed(
        &tabled,
        &["--since", &since, "--state", "pending"],
        &["fresh"],
    );
    listed(&tabled, &["--until", "1970-01-02T00:00:00Z"], &[]);
}

#[test]
fn delivered_entries_are_listed_by_a_scan_that_is_agreed_to_and_says_what_it_costs() {
    let tabled = filled();
    let unasked = tabled.run(&["list", "--state", "delivered", "--scan"]);
    assert_eq!(
        (unasked.code, unasked.out.as_str()),
        (Some(2), ""),
        "{unasked:?}"
    );
    for part in ["reads the whole table", "read units", "--yes"] {
        assert!(unasked.err.contains(part), "{part}: {}", unasked.err);
    }
    let scan = ["--state", "delivered", "--scan", "--yes"];
    listed(&tabled, &scan, &["done"]);
    listed(
        &tabled,
        &[&scan[..], &["--destination", "pipeline"]].concat(),
        &[],
    );
    listed(
        &tabled,
        &[&scan[..], &["--source", "shop", "--since", "2days"]].concat(),
        &["done"],
    );
    listed(&tabled, &[&scan[..], &["--since", "2h"]].concat(), &[]);
    let text = tabled.run(&[&["list"], &scan[..]].concat());
    assert!(text.err.contains("read units"), "{}", text.err);
    assert!(text.out.contains("delivered"), "{}", text.out);
    let none = tabled.run(&[&["list"], &scan[..], &["--source", "other"]].concat());
    assert_eq!(none.out, "no delivered entry fits\n");
    settle(&tabled, "old", Settlement::Delivered);
    let some = tabled.json(0, &[&["list"], &scan[..], &["--limit", "1"]].concat());
    assert_eq!((keys(&some).len(), &some["complete"]), (1, &json!(false)));
}

#[test]
fn what_cannot_be_is_told() {
    let tabled = filled();
    for (wrong, told) in [
        (&["list", "--watch"][..], "terminal"),
        (&["stats", "--watch", "5"], "terminal"),
        (&["stats", "--watch", "--json"], "--json"),
        (&["list", "--watch=0"], "0"),
        (&["list", "--scan", "--yes"], "--state delivered"),
        (&["list", "--state", "delivered"], "--scan"),
        (&["list", "--yes"], "--scan"),
        (&["list", "--since", "yesterday"], "how long ago"),
        (&["list", "--since", "1M"], "months or years"),
        (&["list", "--until", "400d"], "longer than 365d"),
        (&["list", "--since", "1h", "--until", "2h"], "later than"),
        (
            &["stats", "--source", "shop", "--destination", "mailer"],
            "--source",
        ),
        (&["stats", "--aws", "--db", "x"], "--db"),
    ] {
        let ended = tabled.run(wrong);
        assert_eq!(ended.code, Some(2), "{wrong:?}: {ended:?}");
        assert!(ended.err.contains(told), "{wrong:?}: {}", ended.err);
    }
}

#[test]
fn the_endpoint_that_holds_for_all_services_is_the_tables_too() {
    let tabled = Tabled::served(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    let endpoint = tabled.endpoint();
    let arguments = tabled.arguments(&["stats", "--json"]);
    let place = Place::empty().with("AWS_ENDPOINT_URL", &endpoint);
    let ended = place.run(&arguments);
    assert_eq!(ended.json()["totals"]["open"]["count"], 1, "{ended:?}");
    let ignored = place.with("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    let ended = ignored.run(&arguments);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("no table file"), "{}", ended.err);
}
