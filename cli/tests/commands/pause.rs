//! `ackbox pause` and `ackbox resume`: what is done, what is told and what stands on the record; slips, dry runs,
//! and operators that come at once.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use ackbox_domain::{OperatorPause, Pause, PauseRecord, Timestamp};
use ackbox_store::{OperatorRecord, PauseChange};
use serde_json::{Value, json};

use crate::list_and_show::{AT, action, key};
use crate::support::Place;
use crate::tabled::{Tabled, soon};

const FAR: Timestamp = Timestamp::from_unix_ms(32_503_680_000_000);

/// Two actions, to `mailer` and to `pipeline`.
fn filled() -> Tabled {
    let tabled = Tabled::new(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    tabled.accept(&action("evt_2", "pipeline", "{}", 1));
    tabled
}

fn stands(tabled: &Tabled, destination: &str) -> PauseRecord {
    let destination = destination.parse().unwrap();
    tabled.with(async |store, _| store.pause_now(&destination).await.unwrap())
}

/// Who did what, of a destination.
fn records(tabled: &Tabled, destination: &str) -> Vec<(String, String, Option<String>)> {
    let pk = format!("DESTINATION#{destination}");
    tabled.with(async |store, clients| {
        let query = clients.dynamodb.query().table_name(store.table());
        let value = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
        let query = query
            .key_condition_expression("pk = :pk AND begins_with(sk, :sk)")
            .expression_attribute_values(":pk", value(&pk))
            .expression_attribute_values(":sk", value("OPERATOR#"));
        let items = query.send().await.unwrap().items.unwrap();
        let text = |item: &std::collections::HashMap<_, _>, name: &str| -> Option<String> {
            let value: &aws_sdk_dynamodb::types::AttributeValue = item.get(name)?;
            value.as_s().ok().cloned()
        };
        items
            .iter()
            .map(|item| {
                let [by, did] = ["by", "did"].map(|name| text(item, name).unwrap());
                (by, did, text(item, "reason"))
            })
            .collect()
    })
}

#[test]
fn a_pause_is_told_everywhere_stands_on_the_record_and_ends_by_resume() {
    let tabled = filled();
    let ended = tabled.run(&["pause", "mailer", "--reason", "their maintenance"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.out, "mailer: paused until it is resumed\n");
    let words = "mailer is paused by ada, until it is resumed; since 20";
    for command in [&["list"][..], &["stats"], &["show", key("evt_1").as_str()]] {
        let ended = tabled.run(command);
        assert!(ended.out.contains(words), "{command:?}: {}", ended.out);
        assert!(ended.out.contains(": their maintenance"), "{}", ended.out);
        let object = tabled.json(0, command);
        let paused = match &object["paused"] {
            Value::Array(all) => &all[0],
            one => one,
        };
        assert_eq!(paused["destination"], "mailer");
        assert_eq!(paused["state"], "paused");
        assert_eq!(paused["by"], "ada");
        assert_eq!(paused["reason"], "their maintenance");
        assert_eq!(
            (&paused["until"], &paused["number"]),
            (&json!(null), &json!(null))
        );
    }
    let stats = tabled.json(0, &["stats"]);
    let mut counts = stats["counts"].as_array().unwrap().iter();
    assert!(counts.all(|one| one["class"] != "paused"), "{stats}");
    assert!(stands(&tabled, "pipeline").operator.is_none());
    let again = tabled.run(&["pause", "mailer", "--reason", "their maintenance"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (Some(0), "mailer: paused so already\n")
    );

    let ended = tabled.run(&["resume", "mailer", "--by", "bob"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .out
            .starts_with("mailer: open again: an operator's pause is over; it was paused by ada"),
        "{}",
        ended.out
    );
    assert_eq!(tabled.json(0, &["list"])["paused"], json!([]));
    let nothing = tabled.run(&["resume", "mailer"]);
    assert_eq!(
        (nothing.code, nothing.out.as_str()),
        (Some(0), "mailer: not paused\n")
    );
    let reason = Some("their maintenance".to_owned());
    let record = |by: &str, did: &str, reason| (by.to_owned(), did.to_owned(), reason);
    assert_eq!(
        records(&tabled, "mailer"),
        [
            record("ada", "pause", reason),
            record("bob", "resume", None)
        ]
    );
}

#[test]
fn a_pause_for_a_time_has_an_end_and_another_takes_its_place_and_says_so() {
    let tabled = filled();
    let object = tabled.json(0, &["pause", "mailer", "pipeline", "--for", "2h"]);
    assert_eq!(
        (&object["did"], &object["dry_run"]),
        (&json!("pause"), &json!(false))
    );
    let destinations = object["destinations"].as_array().unwrap();
    assert_eq!(destinations.len(), 2);
    for one in destinations {
        assert_eq!(one["result"], "changed");
        assert_eq!(one["paused"]["by"], "ada");
        assert!(one["paused"]["until"].is_string(), "{one}");
    }
    let operator = stands(&tabled, "mailer").operator.unwrap();
    let lasting = operator.until.unwrap().since(operator.since);
    assert_eq!(lasting.as_secs(), 7200);
    let ended = tabled.run(&["pause", "mailer", "--by", "bob"]);
    assert!(
        ended
            .out
            .starts_with("mailer: paused until it is resumed; it was paused by ada until 20"),
        "{}",
        ended.out
    );
    assert_eq!(stands(&tabled, "mailer").operator.unwrap().by, "bob");
}

#[test]
fn a_breakers_pause_is_ended_alike_and_named_and_one_that_is_over_is_none() {
    let tabled = filled();
    tabled.with(async |store, _| {
        let pause = Pause {
            since: AT,
            until: FAR,
            number: 3,
            is_probing: false,
            why: "busy (503)".to_owned(),
        };
        let seen = PauseRecord::default();
        let mailer = "mailer".parse().unwrap();
        let begun = store.change_pause(&mailer, &seen, Some(&pause), "b", soon());
        assert!(matches!(begun.await.unwrap(), PauseChange::Written(_)));
        let over = OperatorPause {
            since: AT,
            until: Some(AT),
            by: "ada".to_owned(),
            why: None,
        };
        let record = OperatorRecord {
            at: AT,
            by: "ada".to_owned(),
            did: "pause".to_owned(),
            detail: None,
            number: None,
            reason: None,
        };
        let pipeline = "pipeline".parse().unwrap();
        let paused = store.operate_pause(&pipeline, &seen, Some(&over), &record, soon());
        assert!(matches!(paused.await.unwrap(), PauseChange::Written(_)));
    });
    let listed = tabled.json(0, &["list"]);
    assert_eq!(listed["paused"].as_array().unwrap().len(), 1);
    let object = tabled.json(0, &["resume", "--all", "--yes"]);
    let [mailer, pipeline] = object["destinations"].as_array().unwrap().as_slice() else {
        panic!("{object}");
    };
    assert_eq!(
        (&mailer["result"], &pipeline["result"]),
        (&json!("changed"), &json!("nothing"))
    );
    let detail = mailer["detail"].as_str().unwrap();
    assert!(detail.contains("its breaker's pause is over"), "{detail}");
    assert!(detail.contains("pause 3 in a row: busy (503)"), "{detail}");
    assert_eq!(mailer["paused"], json!(null));
    assert_eq!(stands(&tabled, "mailer").pause, None);
}

#[test]
fn a_dry_run_says_what_would_be_and_changes_nothing() {
    let tabled = filled();
    let ended = tabled.run(&["pause", "--all", "--dry-run"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        ended.out,
        "mailer: would be paused until it is resumed\npipeline: would be paused until it is resumed\n"
    );
    let object = tabled.json(0, &["pause", "mailer", "--dry-run"]);
    assert_eq!(object["destinations"][0]["result"], "would-change");
    assert_eq!(stands(&tabled, "mailer"), PauseRecord::default());
    assert_eq!(records(&tabled, "mailer"), []);
}

#[test]
fn a_slip_is_told_and_nothing_is_done() {
    let tabled = filled();
    tabled.place.file(
        "ackbox.toml",
        "[destination.warehouse]\nurl = \"https://shop.example/\"\nidempotency = \"none\"\n",
    );
    for (wrong, told) in [
        (&["pause", "mailer", "maler"][..], "did you mean mailer?"),
        (&["pause", "warehose"], "did you mean warehouse?"),
        (
            &["pause", "nothing-like-it"],
            "known are mailer, pipeline, warehouse",
        ),
        (&["pause", "mailer", "--config", "no.toml"], "no.toml"),
        (&["pause"], "DESTINATION"),
        (&["pause", "mailer", "--all"], "--all"),
        (&["pause", "--all"], "--yes"),
        (&["resume"], "DESTINATION"),
        (&["pause", "mailer", "--for", "0s"], "span of time"),
        (&["pause", "mailer", "--for", "soon"], "span of time"),
        (&["pause", "mailer", "--for", "1M"], "months or years"),
        (&["pause", "mailer", "--for", "400d"], "longer than 365d"),
        (&["pause", "mailer", "--by", "a\nb"], "control characters"),
        (&["pause", "mailer", "--by", " "], "empty"),
        (
            &["pause", "mailer", "--reason", "\u{1b}[2J"],
            "control characters",
        ),
        (&["pause", "Not A Name"], "Not A Name"),
    ] {
        let ended = tabled.run(wrong);
        assert_eq!(ended.code, Some(2), "{wrong:?}: {ended:?}");
        assert!(ended.out.is_empty(), "{wrong:?}: {ended:?}");
        assert!(ended.err.contains(told), "{wrong:?}: {}", ended.err);
    }
    assert_eq!(stands(&tabled, "mailer"), PauseRecord::default());
    // One that only the configuration has can be paused before its first action.
    assert_eq!(tabled.run(&["pause", "warehouse"]).code, Some(0));
    let listed = tabled.json(0, &["list"]);
    assert_eq!(listed["paused"][0]["destination"], "warehouse");
}

#[test]
fn who_nobody_knows_is_asked_to_say_so() {
    let mut tabled = filled();
    tabled.place = tabled.place.without("USER");
    let ended = tabled.run(&["pause", "mailer"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--by"), "{}", ended.err);
    // A wrong name comes first: to say who it is would not help.
    let ended = tabled.run(&["pause", "maler"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.err.contains("did you mean mailer?") && !ended.err.contains("--by"),
        "{}",
        ended.err
    );
    assert_eq!(
        tabled.run(&["pause", "mailer", "--by", "ada"]).code,
        Some(0)
    );
}

#[test]
fn of_operators_at_once_each_has_their_change_and_record_or_is_told_whose_stands() {
    let tabled = Tabled::served(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    let names: Vec<String> = (0..6).map(|n| format!("operator {n}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|by| {
            let arguments = tabled.arguments(&["pause", "mailer", "--by", by, "--json"]);
            tabled.place.command(&arguments).spawn().unwrap()
        })
        .collect();
    let mut done = Vec::new();
    for (by, child) in names.iter().zip(children) {
        let output = child.wait_with_output().unwrap();
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let one = &object["destinations"][0];
        match output.status.code() {
            Some(0) => {
                assert_eq!(
                    (&one["result"], &one["paused"]["by"]),
                    (&json!("changed"), &json!(by))
                );
                done.push(by.clone());
            }
            Some(1) => {
                assert_eq!(one["result"], "overtaken");
                assert_ne!(one["paused"]["by"], json!(by), "whose it is: {one}");
            }
            other => panic!("{other:?}: {output:?}"),
        }
    }
    let mut on_record: Vec<String> = records(&tabled, "mailer")
        .into_iter()
        .map(|(by, ..)| by)
        .collect();
    on_record.sort();
    done.sort();
    assert_eq!(on_record, done);
    let stands = stands(&tabled, "mailer");
    assert_eq!(stands.fence, done.len() as u64);
    assert!(done.contains(&stands.operator.unwrap().by));
}

/// A server that answers every request so.
fn answering(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut request = [0; 8192];
            let _ = connection.read(&mut request);
            let length = body.len();
            let _ = write!(
                connection,
                "HTTP/1.1 {status}\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    endpoint
}

#[test]
fn in_aws_who_it_is_is_who_aws_says_and_else_they_are_asked() {
    const IDENTITY: &str = "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/grace</Arn><UserId>AIDA</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>";
    const REFUSED: &str = "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>no</Message></Error></ErrorResponse>";
    let mut tabled = Tabled::served(Place::empty());
    tabled.accept(&action("evt_1", "mailer", "{}", 1));
    let without = tabled.run(&["pause", "mailer", "--aws"]);
    assert_eq!(without.code, Some(2), "{without:?}");
    assert!(without.err.contains("AWS_REGION"), "{}", without.err);
    // As the table was made: engines may keep those of each Region and account apart.
    for (name, value) in [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ] {
        tabled.place = tabled.place.with(name, value);
    }
    let refusing = answering("403 Forbidden", REFUSED);
    tabled.place = tabled.place.with("AWS_ENDPOINT_URL_STS", &refusing);
    let refused = tabled.run(&["pause", "mailer", "--aws"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("--by NAME"), "{}", refused.err);
    assert_eq!(stands(&tabled, "mailer"), PauseRecord::default());
    let knowing = answering("200 OK", IDENTITY);
    tabled.place = tabled.place.with("AWS_ENDPOINT_URL_STS", &knowing);
    let ended = tabled.run(&["pause", "mailer", "--aws"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let operator = stands(&tabled, "mailer").operator.unwrap();
    assert_eq!(operator.by, "arn:aws:iam::123456789012:user/grace");
}
