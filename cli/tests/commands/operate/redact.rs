//! `ackbox redact`: bodies go, and what was accepted stays.

use ackbox_domain::Acceptance;

use super::{Desk, End, MINUTES, TIMING, soon};
use crate::list_and_show::{action, key};

#[test]
fn the_bodies_of_a_closed_action_go_and_a_repetition_is_still_a_duplicate() {
    let large: String = (0..20_000).map(|_| fastrand::alphanumeric()).collect();
    for body in ["{\"name\":\"Zoë\"}", &large] {
        let desk = Desk::new();
        desk.ended("m1", "mailer", body, End::Delivered, MINUTES);
        let m1 = key("m1");
        let dry = desk.json(0, &["redact", m1.as_str(), "--dry-run"]);
        assert_eq!(dry["done"], false);
        assert!(desk.story(&m1).body().is_some());
        let object = desk.json(0, &["redact", m1.as_str(), "--reason", "asked for"]);
        assert_eq!(object["done"], true);
        let story = desk.story(&m1);
        assert!(story.body().is_none());
        assert_eq!(story.outbox.as_ref().unwrap().last_detail, None);
        let repeated =
            desk.on(desk
                .store
                .accept(&action("m1", "mailer", body, 1), &TIMING, soon()));
        assert!(
            matches!(repeated, Ok(Acceptance::Duplicate { .. })),
            "{repeated:?}"
        );
        let shown = desk.run(&["show", m1.as_str()]).out;
        for part in ["not there any more", "redact by ada", "asked for"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let again = desk.json(0, &["redact", m1.as_str()]);
        assert_eq!(
            (&again["bodies"], &again["key"]),
            (&0.into(), &m1.as_str().into())
        );
        let unknown = desk.json(1, &["redact", key("nobody").as_str()]);
        assert!(
            unknown["refused"].as_str().unwrap().contains("no entry"),
            "{unknown}"
        );
        // What is gone cannot be sent.
        let resent = desk.json(1, &["redrive", m1.as_str(), "--as-new"]);
        let why = resent["actions"][0]["problem"].as_str().unwrap();
        assert!(why.contains("body is gone"), "{why}");
    }
}

#[test]
fn what_may_still_be_sent_keeps_its_body() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Held, MINUTES);
    let object = desk.json(1, &["redact", key("m1").as_str()]);
    let why = object["refused"].as_str().unwrap();
    assert!(
        why.contains("held") && why.contains("ackbox resolve"),
        "{why}"
    );
    assert!(desk.story(&key("m1")).body().is_some());
}
