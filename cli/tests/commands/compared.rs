//! `ackbox check --against`, and against a table.

use std::time::Duration;

use ackbox::dev::Engine;
use ackbox_config::Config;
use ackbox_domain::{Acceptance, RuleIdentity};
use ackbox_store::Store;

use crate::list_and_show::action;
use crate::support::{CONFIG, Ended, Place};

/// A folder with the configuration, and an older one.
fn edited(old: &str, new: &str) -> Place {
    let place = Place::configured();
    place.file("old.toml", CONFIG);
    assert_eq!(CONFIG.matches(old).count(), 1, "{old}");
    place.file("ackbox.toml", CONFIG.replace(old, new));
    place
}

const AGAINST: [&str; 3] = ["check", "--against", "old.toml"];
const FINE: &str = "ackbox.toml: 2 sources, 2 rules, 1 destination, 3 secrets: fine\n";

#[track_caller]
fn says(ended: &Ended, code: i32, parts: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for part in parts {
        assert!(ended.err.contains(part), "{part} in {}", ended.err);
    }
}

#[test]
fn a_configuration_that_keeps_every_identity_is_fine() {
    let place = edited("[source.shop]", "[source.shop]");
    let ended = place.run(&AGAINST);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), FINE),
        "{ended:?}"
    );
    let renamed = CONFIG.replace("source.shop", "source.store").replace(
        "[source.store]\n",
        "[source.store]\npreviously = [\"shop\"]\n",
    );
    place.file("ackbox.toml", renamed);
    let ended = place.run(&AGAINST);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), FINE),
        "{ended:?}"
    );
    assert_eq!(ended.err, "");
}

#[test]
fn an_edit_of_identity_fails_and_says_what_to_write() {
    let place = edited("[\"message:id\"]", "[\"/data/object/id\"]");
    let ended = place.run(&AGAINST);
    assert_eq!(ended.out, "");
    says(
        &ended,
        1,
        &[
            "ackbox.toml: [[source.shop.rule]] \"paid\": its `key` was [\"message:id\"] and is [\"/data/object/id\"]",
            "\n    restore the key",
            "ackbox.toml: 1 mistake\n",
        ],
    );
    place.file("ackbox.toml", CONFIG.replace("source.shop", "source.store"));
    says(
        &place.run(&AGAINST),
        1,
        &[
            "[source.store]: [source.shop] is gone",
            "write previously = [\"shop\"] in [source.store]",
        ],
    );
}

#[test]
fn an_event_that_goes_to_a_rule_with_another_key_fails() {
    let taken = "on = [\"invoice.sent\"]\nkey = [\"message:id\"]\ndestination = \"mailer\"\n\n[[source.shop.rule]]\nname = \"settled\"\non = [\"invoice.*\"]\nkey = [\"/id\"]";
    let place = edited("on = [\"invoice.paid\"]\nkey = [\"message:id\"]", taken);
    let ended = place.run(&AGAINST);
    assert_eq!(ended.out, "");
    says(
        &ended,
        1,
        &[
            "ackbox.toml: [[source.shop.rule]] \"settled\": it wants \"invoice.paid\", of which the rule \"paid\" made actions: their key was [\"message:id\"] in the namespace \"shop/paid\", and is [\"/id\"] in the namespace \"shop/settled\"",
            "\n    restore the key, and write namespace = \"shop/paid\" in the rule",
            "ackbox.toml: 1 mistake\n",
        ],
    );
}

#[test]
fn a_shorter_retention_is_warned_of() {
    let place = edited(
        "[source.shop]\n",
        "[source.shop]\nretention = { accepted = \"30d\" }\n",
    );
    let ended = place.run(&AGAINST);
    says(
        &ended,
        0,
        &["warning: ackbox.toml: [source.shop]: `accepted` was 90d and is 30d"],
    );
}

#[test]
fn an_edit_that_matters_to_open_entries_is_warned_of() {
    let place = edited("http://127.0.0.1:9/", "http://127.0.0.1:10/");
    let ended = place.run(&AGAINST);
    says(
        &ended,
        0,
        &["warning: ackbox.toml: [destination.mailer]: it goes to another place"],
    );
    assert!(
        ended.out.contains("usable, with 1 warning"),
        "{}",
        ended.out
    );
}

#[test]
fn programs_get_one_object() {
    let place = edited("[\"message:id\"]", "[\"/data/object/id\"]");
    let mut arguments = AGAINST.to_vec();
    arguments.push("--json");
    let ended = place.run(&arguments);
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), ""), "{ended:?}");
    let object = ended.json();
    assert_eq!(object["usable"], false);
    assert_eq!(object["sources"], 2);
    assert_eq!(object["warnings"], serde_json::json!([]));
    let mistake = &object["mistakes"][0];
    assert_eq!(mistake["about"], "[[source.shop.rule]] \"paid\"");
    assert_eq!(mistake["line"], serde_json::Value::Null);
    assert!(
        mistake["help"]
            .as_str()
            .unwrap()
            .starts_with("restore the key")
    );

    place.file("ackbox.toml", CONFIG.replace("\"stripe\"", "\"strpe\""));
    let ended = place.run(&["check", "--json"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.json()["mistakes"][0]["line"], 3);
    place.file("ackbox.toml", CONFIG);
    let ended = place.run(&["check", "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["usable"], true);
}

#[test]
fn what_cannot_be_compared_with_is_told() {
    let place = edited("[source.shop]", "[source.shop]");
    let none = place.run(&["check", "--against", "none.toml"]);
    says(&none, 2, &["cannot read none.toml", "to be compared with"]);
    assert!(!none.err.contains("ACKBOX_CONFIG"), "{}", none.err);
    place.file("old.toml", CONFIG.replace("\"stripe\"", "\"strpe\""));
    says(
        &place.run(&AGAINST),
        2,
        &["old.toml cannot be compared with", "strpe"],
    );
    says(
        &place.run(&["check", "--db", "none.db"]),
        2,
        &["there is no table file none.db"],
    );
}

/// A folder with the configuration, and a table that has accepted of it, and of a destination that is gone.
fn used() -> Place {
    let place = Place::configured();
    let path = place.path("table.db");
    let config = Config::parse("ackbox.toml", CONFIG).unwrap();
    let source = &config.sources["shop"].source;
    let identity = RuleIdentity::of(source, &source.rules[0]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Engine::file(&path).await.unwrap();
        let store = Store::new(engine.clients().await.dynamodb, "ackbox");
        store.create_table().await.unwrap();
        let timing = ackbox_config::DeliverySettings::default().timing;
        for (id, destination) in [
            ("evt_1", "mailer"),
            ("evt_2", "archive"),
            ("evt_3", "archive"),
        ] {
            let mut action = action(id, destination, "{}", 1);
            action.fingerprint.recipe = source.rules[0].recipe();
            assert_eq!(RuleIdentity::of_action(&action), Some(identity.clone()));
            let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
            let accepted = store.accept(&action, &timing, deadline).await.unwrap();
            assert_eq!(accepted, Acceptance::Accepted);
        }
        engine.stop().await;
    });
    place
}

#[test]
fn a_table_knows_its_rules_and_what_is_open_for_a_removed_destination() {
    const TABLE: [&str; 5] = ["check", "--db", "table.db", "--table", "ackbox"];
    let place = used();
    let ended = place.run(&TABLE);
    says(
        &ended,
        0,
        &[
            "warning: ackbox.toml: [destination.archive]: the configuration does not have it, and entries of it are open: 2 pending or claimed (the oldest accepted",
            "2026-01-01T00:00:00.000Z",
            "`ackbox list --destination archive`",
        ],
    );
    assert_eq!(ended.err.matches("warning:").count(), 1, "{}", ended.err);

    place.file("ackbox.toml", CONFIG.replace("\"message:id\"", "\"/id\""));
    says(
        &place.run(&TABLE),
        1,
        &["its `key` was [\"message:id\"] and is [\"/id\"]"],
    );
    place.file("ackbox.toml", CONFIG.replace("source.shop", "source.store"));
    says(
        &place.run(&TABLE),
        1,
        &["write previously = [\"shop\"] in [source.store]"],
    );
    let fingerprint = CONFIG.replace(
        "[\"message:id\"]\n",
        "[\"message:id\"]\nfingerprint = [\"/id\", \"/n\"]\n",
    );
    place.file("ackbox.toml", fingerprint);
    says(
        &place.run(&TABLE),
        0,
        &["warning: ackbox.toml: [[source.shop.rule]] \"paid\": `fingerprint` is edited"],
    );
}
