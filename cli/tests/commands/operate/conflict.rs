//! `ackbox resolve KEY --conflict`: other content under a key counts, or it does not.

use ackbox_domain::Acceptance;

use super::{Desk, End, MINUTES, TIMING, soon};
use crate::list_and_show::{action, key};

/// An action, and other content under its key.
fn conflicting() -> (Desk, String) {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{\"n\":1}", End::Delivered, MINUTES);
    let other = action("m1", "mailer", "{\"n\":2}", 2);
    let accepted = desk.on(desk.store.accept(&other, &TIMING, soon()));
    assert!(
        matches!(accepted, Ok(Acceptance::Conflict { .. })),
        "{accepted:?}"
    );
    let print = other.fingerprint.short();
    (desk, print)
}

#[test]
fn a_conflict_is_dismissed_and_listed_no_more() {
    let (desk, print) = conflicting();
    let m1 = key("m1");
    let listed = || {
        let listed = desk.json(0, &["list", "--state", "conflict"]);
        listed["entries"].as_array().unwrap().len()
    };
    assert_eq!(listed(), 1);
    let dismiss = [
        "resolve",
        m1.as_str(),
        "--conflict",
        &print[..6],
        "--dismiss",
    ];
    let dry = desk.json(0, &[&dismiss[..], &["--dry-run"]].concat());
    assert_eq!((&dry["done"], listed()), (&false.into(), 1));
    let object = desk.json(0, &dismiss);
    assert_eq!(
        (&object["done"], &object["becomes"]),
        (&true.into(), &"dismissed".into())
    );
    assert_eq!(listed(), 0);
    let shown = desk.run(&["show", m1.as_str()]).out;
    for part in [
        "; dismissed at ",
        &format!("dismiss by ada: the conflict {print}"),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let again = desk.json(1, &dismiss);
    assert!(
        again["refused"].as_str().unwrap().contains("already"),
        "{again}"
    );
}

#[test]
fn a_conflict_that_counts_becomes_an_action_of_its_own() {
    let (desk, print) = conflicting();
    let m1 = key("m1");
    let supersede = ["resolve", m1.as_str(), "--conflict", &print, "--supersede"];
    let object = desk.json(0, &supersede);
    let new = object["new_key"].as_str().unwrap().parse().unwrap();
    let made = desk.story(&new);
    assert_eq!(made.body().unwrap().bytes, b"{\"n\":2}");
    assert_eq!(desk.story(&m1).body().unwrap().bytes, b"{\"n\":1}");
    let again = desk.json(1, &supersede);
    assert!(
        again["refused"].as_str().unwrap().contains("superseded"),
        "{again}"
    );
}

#[test]
fn a_fingerprint_that_is_not_there_is_told_with_those_that_are() {
    let (desk, print) = conflicting();
    let object = desk.json(
        1,
        &[
            "resolve",
            key("m1").as_str(),
            "--conflict",
            "ffffffff",
            "--dismiss",
        ],
    );
    assert!(
        object["refused"].as_str().unwrap().contains(&print),
        "{object}"
    );
    let none = desk.json(
        1,
        &[
            "resolve",
            key("nobody").as_str(),
            "--conflict",
            "ffffffff",
            "--dismiss",
        ],
    );
    assert!(
        none["refused"]
            .as_str()
            .unwrap()
            .contains("no other content"),
        "{none}"
    );
}
