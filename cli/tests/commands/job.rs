//! `ackbox job`, and what `list` and `show` say of jobs, on a table file that the store itself has written.

use std::time::Duration;

use ackbox::dev::Engine;
use ackbox_domain::job::{Ids, JobObservation, JobRef, Unbound, binding, normal_form};
use ackbox_store::{Offer, Store};
use serde_json::{Value, json};

use crate::list_and_show::AT;
use crate::support::Place;

fn record(space: &str, id: &str) -> Value {
    json!({
        "space": space, "job_id": id, "account": "acme", "tenant": "t-1", "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "mailer", "input": {"language": "de"}},
            {"step": "refund-v1", "on": ["failed", "expired"], "destination": "mailer"}
        ],
        "expected": {"/size": 12},
        "poll_after": "10m"
    })
}

fn end(space: &str, id: &str, outcome: &str, ids: Ids) -> JobObservation {
    let told = json!({"space": space, "job_id": id, "account": "acme", "outcome": outcome});
    let told = normal_form(told.to_string().as_bytes()).unwrap();
    told.observation(ids, "tornado".parse().unwrap(), AT)
}

fn job(space: &str, id: &str, ids: Ids) -> JobRef {
    JobRef::new(space.parse().unwrap(), id.to_owned(), "acme", ids)
}

/// Writes to a fresh table file.
fn filled(write: impl AsyncFnOnce(&Store)) -> Place {
    let place = Place::empty();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Engine::file(&place.path("table.db")).await.unwrap();
        let clients = engine.clients().await;
        let store = Store::new(clients.dynamodb, "ackbox");
        store.create_table().await.unwrap();
        write(&store).await;
        engine.stop().await;
    });
    place
}

fn deadline() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_secs(60)
}

async fn bind(store: &Store, space: &str, id: &str, ids: Ids) {
    let text = record(space, id).to_string();
    let binding = binding(text.as_bytes()).unwrap().within(ids);
    store.bind(&binding, &text, AT, deadline()).await.unwrap();
}

async fn observe(store: &Store, seen: &JobObservation) {
    let timing = ackbox_config::DeliverySettings::default().timing;
    let offer = Offer {
        unbound: Unbound::Park,
        parked_for: Duration::from_secs(3600),
        timing: &timing,
        now: AT,
        deadline: deadline(),
    };
    store.observe(seen, offer).await.unwrap();
}

async fn asked(store: &Store, job: &JobRef, told: &str) {
    let record = store.job(job).await.unwrap().unwrap();
    let due = AT.plus(Duration::from_secs(1200));
    let waits = store.wait_for_job(&record, Some(told), due, deadline());
    assert!(waits.await.unwrap());
}

async fn give_up(store: &Store, job: &JobRef) {
    let record = store.job(job).await.unwrap().unwrap();
    let timing = ackbox_config::DeliverySettings::default().timing;
    let source = "tornado".parse().unwrap();
    let given_up = store.give_up_job(&record, &source, &timing, AT, deadline());
    assert!(given_up.await.unwrap().is_some());
}

/// One job of each kind: `new`, `asked`, `lost`, `done`, `odd` (ended, then contradicted); `early` is parked; and one
/// of a space whose ids are of an account.
fn one_of_each() -> Place {
    filled(async |store| {
        for id in ["new", "asked", "lost", "done", "odd"] {
            bind(store, "tornado", id, Ids::Shared).await;
        }
        bind(store, "sume", "it's 1", Ids::PerAccount).await;
        asked(
            store,
            &job("tornado", "asked", Ids::Shared),
            "it said 404: \u{1b}[2J",
        )
        .await;
        give_up(store, &job("tornado", "lost", Ids::Shared)).await;
        for (id, outcome) in [
            ("done", "completed"),
            ("odd", "completed"),
            ("odd", "failed"),
            ("early", "completed"),
        ] {
            observe(store, &end("tornado", id, outcome, Ids::Shared)).await;
        }
        observe(store, &end("sume", "it's 1", "completed", Ids::PerAccount)).await;
    })
}

fn listed(place: &Place, more: &[&str]) -> (Vec<(String, String)>, Value) {
    let arguments = ["job", "list", "--db", "table.db", "--json"];
    let ended = place.run(&[&arguments, more].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object = ended.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let jobs = object["jobs"].as_array().unwrap().iter();
    let mut jobs: Vec<_> = jobs
        .map(|job| (text(&job["id"]), text(&job["state"])))
        .collect();
    jobs.sort();
    (jobs, object)
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(id, state): &(&str, &str)| ((*id).to_owned(), (*state).to_owned());
    all.iter().map(owned).collect()
}

#[test]
fn jobs_that_have_not_ended_are_listed_and_those_that_nothing_was_heard_of_alone() {
    let place = one_of_each();
    let (jobs, object) = listed(&place, &[]);
    assert_eq!(
        jobs,
        pairs(&[("asked", "waiting"), ("lost", "silent"), ("new", "waiting")])
    );
    assert_eq!(object["complete"], true);
    let (jobs, object) = listed(&place, &["--silent"]);
    assert_eq!(jobs, pairs(&[("asked", "waiting"), ("lost", "silent")]));
    let asked = object["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|job| job["id"] == "asked")
        .unwrap();
    assert_eq!(
        (&asked["asked"], &asked["account"]),
        (&json!(1), &json!("acme"))
    );
    assert_eq!(asked["due_at"], "2026-01-01T00:20:00.000Z");
    assert_eq!(listed(&place, &["--space", "sume"]).0, []);
    let (jobs, object) = listed(&place, &["--limit", "1"]);
    assert_eq!((jobs.len(), &object["complete"]), (1, &json!(false)));

    let ended = place.run(&["job", "list", "--db", "table.db", "--silent"]);
    assert!(
        ended.out.contains("asked once") && ended.out.contains("404: \\u{1b}"),
        "{}",
        ended.out
    );
    let ended = place.run(&["job", "list", "--db", "table.db", "--space", "vimeo"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), "no job waits to be looked at\n")
    );
    assert!(
        ended.err.contains("it knows: sume, tornado"),
        "{}",
        ended.err
    );
}

#[test]
fn one_job_is_shown_with_its_steps_and_what_was_seen_of_it() {
    let place = one_of_each();
    let ended = place.run(&["job", "show", "tornado", "odd", "--db", "table.db"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "tornado/odd",
        "state       ended: completed at 2026-01-01T00:00:00.000Z",
        "by tornado",
        "account     acme",
        "analyze-v1 on completed -> mailer  act_",
        "refund-v1 on expired, failed -> mailer  act_",
        "expected    /size = 12",
        "ended: completed by tornado of acme",
        ": failed by tornado of acme: the job has ended as completed",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    assert!(!ended.out.contains("language"), "{}", ended.out);
    let object = place
        .run(&[
            "job", "show", "tornado", "odd", "--db", "table.db", "--json",
        ])
        .json();
    assert_eq!(object["binding"], record("tornado", "odd"));
    assert_eq!(object["observations"].as_array().unwrap().len(), 2);
    let asked = place.run(&["job", "show", "tornado", "asked", "--db", "table.db"]);
    assert!(
        asked
            .out
            .contains("asked       once; last: it said 404: \\u{1b}[2J"),
        "{}",
        asked.out
    );
    assert!(
        asked.out.contains("next look   2026-01-01T00:20:00.000Z"),
        "{}",
        asked.out
    );
}

#[test]
fn a_job_that_is_not_bound_is_told_with_1_and_what_is_parked_of_it() {
    let place = one_of_each();
    let ended = place.run(&["job", "show", "tornado", "early", "--db", "table.db"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .out
            .contains("parked: completed by tornado of acme, until"),
        "{}",
        ended.out
    );
    assert!(ended.err.contains("knows no binding"), "{}", ended.err);
    let ended = place.run(&["job", "show", "tornado", "nowhere", "--db", "table.db"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    // Where ids are of an account, the account is part of which job.
    let ended = place.run(&["job", "show", "sume", "it's 1", "--db", "table.db"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("--account"), "{}", ended.err);
    let with = [
        "job",
        "show",
        "sume",
        "it's 1",
        "--account",
        "acme",
        "--db",
        "table.db",
    ];
    assert_eq!(place.run(&with).code, Some(0));
}

#[test]
fn what_belongs_to_jobs_is_listed_beside_the_entries_with_how_to_see_it() {
    let place = one_of_each();
    let list = |more: &[&str]| {
        let ended = place.run(&[&["list", "--db", "table.db", "--json"], more].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let object = ended.json();
        let jobs = object["jobs"].as_array().unwrap().iter();
        let mut jobs: Vec<String> = jobs
            .map(|job| format!("{} {}", job["state"], job["id"]).replace('"', ""))
            .collect();
        jobs.sort();
        (object["entries"].as_array().unwrap().len(), jobs)
    };
    let own = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(list(&["--state", "parked"]), (0, own(&["parked early"])));
    assert_eq!(list(&["--state", "conflict"]).1, own(&["conflict odd"]));
    assert_eq!(
        list(&["--state", "parked", "--source", "other"]),
        (0, own(&[]))
    );
    assert_eq!(
        list(&["--state", "parked", "--source", "tornado"]).1,
        own(&["parked early"])
    );
    assert_eq!(list(&["--destination", "mailer"]).1, own(&[]));
    assert_eq!(
        list(&[]).1,
        own(&["conflict odd", "parked early", "silent lost"])
    );
    assert_eq!(list(&["--state", "pending"]).1, own(&[]));

    let ended = place.run(&["list", "--db", "table.db", "--state", "parked"]);
    assert!(
        ended.out.starts_with("STATE") && ended.out.contains("not bound"),
        "{}",
        ended.out
    );
    assert!(
        ended.err.contains("ackbox job show tornado early"),
        "{}",
        ended.err
    );
}

#[test]
fn an_action_of_a_job_names_it_and_how_to_see_it() {
    let place = one_of_each();
    let shown = place.run(&[
        "job", "show", "tornado", "done", "--db", "table.db", "--json",
    ]);
    let key = shown.json()["actions"][0]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let ended = place.run(&["show", &key, "--db", "table.db"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.err.contains("ackbox job show tornado done"),
        "{}",
        ended.err
    );
    let own = filled(async |store| {
        bind(store, "sume", "it's 1", Ids::PerAccount).await;
        observe(store, &end("sume", "it's 1", "completed", Ids::PerAccount)).await;
    });
    let shown = own.run(&[
        "job",
        "show",
        "sume",
        "it's 1",
        "--account",
        "acme",
        "--db",
        "table.db",
        "--json",
    ]);
    let key = shown.json()["actions"][0]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let ended = own.run(&["show", &key, "--db", "table.db"]);
    assert!(
        ended
            .err
            .contains("ackbox job show --account acme sume 'it'\\''s 1'"),
        "{}",
        ended.err
    );
    let object = own
        .run(&["show", &key, "--db", "table.db", "--json"])
        .json();
    assert_eq!(
        object["job"],
        json!({"space": "sume", "id": "it's 1", "account": "acme"})
    );
}

#[test]
fn a_record_that_cannot_be_used_is_told_with_2_before_a_table_is_looked_for() {
    let place = Place::configured();
    for (record, part) in [
        ("{", "this cannot be read"),
        ("{\"space\":\"shop\"}", "missing field"),
        (
            &record("shop", "j-1").to_string(),
            "/space is shop, and no source is of that job space",
        ),
    ] {
        place.file("job.json", record);
        let ended = place.run(&["job", "add", "job.json", "--dry-run"]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
}

const CONFIG: &str = r#"
[source.tornado]
scheme = "tornado"
secrets = ["env:TORNADO"]
job = { account = "acme" }

[destination.mailer]
url = "http://127.0.0.1:9/actions"
allow_private = true
idempotency = "none"
"#;

#[test]
fn a_job_is_bound_once_with_what_was_parked_of_it_and_by_the_same_checks() {
    let place = filled(async |store| {
        observe(store, &end("tornado", "j-1", "completed", Ids::Shared)).await;
    });
    place.file("ackbox.toml", CONFIG);
    let mut record = record("tornado", "j-1");
    record["steps"][1]["on"] = json!(["failed"]);
    place.file("job.json", record.to_string());
    let add = ["job", "add", "job.json", "--db", "table.db"];

    let ended = place.run(&["job", "add", "job.json", "--dry-run"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("can be bound; nothing was written"),
        "{}",
        ended.out
    );
    assert!(ended.err.contains("nobody asks"), "{}", ended.err);

    let ended = place.run(&add);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "bound tornado/j-1",
        "analyze-v1 on completed -> mailer  act_",
        "taken up what was parked: accepted",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let text = record.to_string();
    let again = place.run_with_input(
        &["job", "add", "-", "--db", "table.db", "--json"],
        text.as_bytes(),
    );
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(again.json()["outcome"], "same");

    record["tenant"] = json!("another");
    place.file("job.json", record.to_string());
    let ended = place.run(&add);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.contains("is bound to something else"),
        "{}",
        ended.out
    );
    record["steps"][0]["on"] = json!(["done"]);
    place.file("job.json", record.to_string());
    let ended = place.run(&add);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert!(
        ended
            .err
            .contains("known: completed, failed, skipped, warning"),
        "{}",
        ended.err
    );
}
