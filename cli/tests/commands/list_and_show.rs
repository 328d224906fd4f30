//! `ackbox list` and `ackbox show`, on a table file that the store itself has written.

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use ackbox::dev::Engine;
use ackbox_domain::acceptance::Fingerprint;
use ackbox_domain::{Acceptance, Action, ActionKey, Pause, RenderedBody, Scalar, Timestamp};
use ackbox_store::{PauseChange, Store};

use crate::support::Place;

pub(crate) const AT: Timestamp = Timestamp::from_unix_ms(1_767_225_600_000);

pub(crate) fn action(id: &str, destination: &str, body: &str, digest: u8) -> Action {
    let parts = vec![("message:id".to_owned(), Scalar::Text(id.to_owned()))];
    Action {
        key: key(id),
        namespace: "shop/paid".to_owned(),
        parts,
        fingerprint: Fingerprint {
            hash: [digest; 32],
            recipe: [1; 8],
            digest: [digest; 32],
        },
        source: "shop".parse().unwrap(),
        rule: "paid".parse().unwrap(),
        account: None,
        subject: Some("in_1\u{1b}[2J".to_owned()),
        event: Some("invoice.paid".to_owned()),
        message_id: Some(id.to_owned()),
        destination: destination.parse().unwrap(),
        body: RenderedBody {
            bytes: body.as_bytes().to_vec(),
            content_type: Some("application/json".to_owned()),
            content_encoding: None,
        },
        accepted_at: AT,
    }
}

pub(crate) fn key(id: &str) -> ActionKey {
    ActionKey::new("shop/paid", [&Scalar::Text(id.to_owned())])
}

/// A table file with two entries and a conflict on the first.
fn filled() -> Place {
    let place = Place::empty();
    let path = place.path("table.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Engine::file(&path).await.unwrap();
        let clients = engine.clients().await;
        let store = Store::new(clients.dynamodb, "ackbox");
        store.create_table().await.unwrap();
        let timing = ackbox_config::DeliverySettings::default().timing;
        for (action, expected) in [
            (action("evt_1", "mailer", "{}", 1), Acceptance::Accepted),
            (action("evt_2", "pipeline", "{}", 1), Acceptance::Accepted),
            (
                action("evt_1", "mailer", "{\"other\":1}", 2),
                Acceptance::Conflict { accepted_at: AT },
            ),
        ] {
            let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
            let accepted = store.accept(&action, &timing, deadline).await.unwrap();
            assert_eq!(accepted, expected);
        }
        engine.stop().await;
    });
    place
}

fn list(place: &Place, more: &[&str]) -> serde_json::Value {
    let arguments: Vec<&str> = ["list", "--db", "table.db", "--json"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let ended = place.run(&arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.json()
}

fn states(object: &serde_json::Value) -> Vec<&str> {
    let entries = object["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|e| e["state"].as_str().unwrap())
        .collect()
}

#[test]
fn what_waits_is_listed_and_filtered() {
    let place = filled();
    let all = list(&place, &[]);
    let mut found = states(&all);
    found.sort_unstable();
    assert_eq!(found, ["conflict", "pending", "pending"]);
    assert_eq!(all["complete"], true);

    let mailer = list(&place, &["--state", "pending", "--destination", "mailer"]);
    assert_eq!(mailer["entries"].as_array().unwrap().len(), 1);
    let entry = &mailer["entries"][0];
    assert_eq!(entry["key"], key("evt_1").as_str());
    assert_eq!(entry["destination"], "mailer");
    assert_eq!(entry["source"], "shop");
    assert_eq!(entry["accepted_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(entry["due_at"], "2026-01-01T00:01:00.000Z");
    assert_eq!(entry["attempts"], 0);

    assert_eq!(states(&list(&place, &["--state", "claimed"])), [""; 0]);
    assert_eq!(
        states(&list(&place, &["--state", "conflict"])),
        ["conflict"]
    );
    assert_eq!(states(&list(&place, &["--source", "other"])), [""; 0]);
    let one = list(&place, &["--limit", "1"]);
    assert_eq!((states(&one).len(), &one["complete"]), (1, &false.into()));
}

#[test]
fn people_get_a_table_and_a_hint_where_there_is_more() {
    let place = filled();
    let ended = place.run(&["list", "--db", "table.db", "--limit", "1"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("STATE"), "{}", ended.out);
    assert_eq!(ended.out.lines().count(), 2, "{}", ended.out);
    assert!(ended.err.contains("--limit"), "{}", ended.err);
    let ended = place.run(&["list", "--db", "table.db", "--destination", "nowhere"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), "nothing waits for attention\n")
    );
    assert!(
        ended.err.contains("never had a destination nowhere"),
        "{}",
        ended.err
    );
}

#[test]
fn one_action_is_shown_from_acceptance_on() {
    let place = filled();
    let key = key("evt_1");
    let ended = place.run(&["show", key.as_str(), "--db", "table.db"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "pending",
        "destination  mailer",
        "message:id = evt_1",
        "in_1\\u{1b}[2J",
        "2 bytes (application/json)",
        "accepted: event invoice.paid of shop",
        "conflict: other content under the same key",
        "due for the sweep",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    assert!(!ended.out.contains('\u{1b}'), "{}", ended.out);

    let object = place
        .run(&["show", key.as_str(), "--db", "table.db", "--json"])
        .json();
    assert_eq!(object["key"], key.as_str());
    assert_eq!(object["entry"]["state"], "pending");
    assert_eq!(object["accepted"]["parts"][0]["value"], "evt_1");
    assert_eq!(object["body"]["bytes"], 2);
    let kinds: Vec<&str> = object["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moment| moment["kind"].as_str().unwrap())
        .collect();
    assert!(
        kinds.contains(&"accepted") && kinds.contains(&"conflict"),
        "{kinds:?}"
    );
}

#[test]
fn an_action_that_the_table_does_not_know_is_told_with_1() {
    let place = filled();
    let unknown = key("evt_9");
    let ended = place.run(&["show", unknown.as_str(), "--db", "table.db"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.err.contains("knows no action"), "{}", ended.err);
    let ended = place.run(&["show", unknown.as_str(), "--db", "table.db", "--json"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.json()["known"], false);
}

#[test]
fn delivered_entries_cannot_be_listed_and_that_is_said() {
    let ended = Place::empty().run(&["list", "--state", "delivered"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("ackbox show KEY"), "{}", ended.err);
}

#[test]
fn a_table_file_that_is_missing_is_not_created() {
    let place = Place::empty();
    let ended = place.run(&["list", "--db", "none/table.db"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.err.contains("none/table.db") && ended.err.contains("ackbox dev"),
        "{}",
        ended.err
    );
    assert!(!place.path("none").exists());
}

#[test]
fn a_table_of_another_name_is_told() {
    let place = filled();
    let ended = place.run(&["list", "--db", "table.db", "--table", "other"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("\"other\""), "{}", ended.err);
}

#[test]
fn a_file_that_is_no_table_is_told() {
    let place = Place::empty();
    place.file(
        "table.db",
        "this is no database, however long it may be made to look like one",
    );
    let ended = place.run(&["list", "--db", "table.db"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("table.db"), "{}", ended.err);
}

#[test]
fn the_engine_that_the_environment_names_is_read() {
    let filled = filled();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let path = filled.path("table.db");
    let engine = runtime.block_on(Engine::unguarded_file(&path)).unwrap();
    let place = Place::empty().with("AWS_ENDPOINT_URL_DYNAMODB", engine.endpoint());
    let ended = place.run(&["list", "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(states(&ended.json()).len(), 3);
    runtime.block_on(engine.stop());

    // A port of its own on which no engine answers: one that was let go of could be another's by now.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", nobody.local_addr().unwrap());
    std::thread::spawn(move || nobody.incoming().for_each(drop));
    let place = Place::empty().with("AWS_ENDPOINT_URL_DYNAMODB", &endpoint);
    let ended = place.run(&["list", "--json"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:?}");
    assert!(
        ended.err.contains("is its engine running?"),
        "{}",
        ended.err
    );
}

/// `ackbox dev` on a file, running; killed when dropped, as nothing waits for it.
struct Dev {
    child: std::process::Child,
    url: String,
}

impl Dev {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["dev", "--db", "table.db", "--port", "0"]);
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map(Result::unwrap)
            .find_map(|line| {
                let start = line.find("http://127.0.0.1:")?;
                let url = &line[start..];
                let port = url["http://127.0.0.1:".len()..].bytes();
                let digits = port.take_while(u8::is_ascii_digit).count();
                Some(url[.."http://127.0.0.1:".len() + digits].to_owned())
            })
            .expect("it says where it receives");
        // What else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }

    /// As `kill -9` does.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_file_is_read_while_dev_has_it_and_after_dev_was_killed() {
    let place = Place::configured();
    let dev = Dev::start(&place);
    let send = ["send", "shop", "--id", "evt_1", "--url", &dev.url];
    let accepted = place.run(&send);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert!(accepted.out.contains("200 accepted"), "{}", accepted.out);
    let again = place.run(&send);
    assert!(again.out.contains("200 duplicate"), "{}", again.out);

    let running = list(&place, &[]);
    let [entry] = running["entries"].as_array().unwrap().as_slice() else {
        panic!("{running}");
    };
    let key = entry["key"].as_str().unwrap().to_owned();
    assert_eq!(entry["source"], "shop");
    let show = ["show", &key, "--db", "table.db", "--json"];
    assert_eq!(
        place.run(&show).json()["accepted"]["parts"][0]["value"],
        "evt_1"
    );

    dev.kill();
    let killed = list(&place, &[]);
    assert_eq!(killed["entries"][0]["key"], key.as_str());
    assert_eq!(place.run(&show).json()["key"], key.as_str());
}

#[test]
fn a_paused_destination_is_named_beside_what_waits_for_it() {
    let place = filled();
    let path = place.path("table.db");
    let far = Timestamp::from_unix_ms(32_503_680_000_000);
    let paused = |until, is_probing| Pause {
        since: AT,
        until,
        number: 3,
        is_probing,
        why: "busy (503)\u{1b}[2J".to_owned(),
    };
    let show = |id: &str, more: &[&str]| {
        let key = key(id);
        let arguments = [&["show", key.as_str(), "--db", "table.db"], more].concat();
        place.run(&arguments)
    };
    assert_eq!(list(&place, &[])["paused"].as_array().unwrap().len(), 0);
    for (fence, pause, state, words) in [
        (
            0,
            paused(far, false),
            "paused",
            "is paused until 3000-01-01",
        ),
        (1, paused(far, true), "probing", "is paused, and probed"),
        (
            2,
            paused(AT, false),
            "to-be-probed",
            "until the next attempt",
        ),
    ] {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let engine = Engine::file(&path).await.unwrap();
            let clients = engine.clients().await;
            let store = Store::new(clients.dynamodb, "ackbox");
            let seen = store.pause(&"mailer".parse().unwrap()).await.unwrap();
            assert_eq!(seen.fence, fence);
            let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
            let id = fence.to_string();
            let mailer = "mailer".parse().unwrap();
            let change = store.change_pause(&mailer, &seen, Some(&pause), &id, deadline);
            assert!(matches!(change.await.unwrap(), PauseChange::Written(_)));
            engine.stop().await;
        });
        let object = list(&place, &[]);
        assert_eq!(object["entries"].as_array().unwrap().len(), 3);
        assert_eq!(object["paused"].as_array().unwrap().len(), 1);
        assert_eq!(object["paused"][0]["destination"], "mailer");
        assert_eq!(object["paused"][0]["state"], state);
        assert_eq!(object["paused"][0]["since"], "2026-01-01T00:00:00.000Z");
        let other = list(&place, &["--destination", "pipeline"]);
        assert_eq!(other["paused"].as_array().unwrap().len(), 0);
        let text = place.run(&["list", "--db", "table.db"]).out;
        assert!(text.contains(words), "{words}: {text}");
        assert!(
            text.contains("pause 3 in a row: busy (503)\\u{1b}"),
            "{text}"
        );

        assert_eq!(show("evt_1", &["--json"]).json()["paused"]["state"], state);
        assert!(show("evt_1", &[]).out.contains(words));
        assert!(show("evt_2", &["--json"]).json()["paused"].is_null());
        assert!(!show("evt_2", &[]).out.contains("paused"));
    }
}
