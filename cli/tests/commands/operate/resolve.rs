//! `ackbox resolve KEY`: what an operator knows of an action.

use ackbox_domain::EntryState;

use super::{Desk, End, HOURS, MINUTES, is};
use crate::list_and_show::key;

#[test]
fn each_word_puts_the_entry_where_it_says() {
    for (word, did, state, cleared) in [
        ("--applied", "resolve-applied", EntryState::Delivered, 0),
        (
            "--not-applied",
            "resolve-not-applied",
            EntryState::Pending,
            2,
        ),
        ("--dead", "resolve-dead", EntryState::Dead, 0),
    ] {
        let desk = Desk::new();
        desk.ended("m1", "till", "{}", End::Held, HOURS);
        let m1 = key("m1");
        let dry = desk.json(0, &["resolve", m1.as_str(), word, "--dry-run"]);
        assert_eq!(
            (&dry["done"], &dry["becomes"]),
            (&false.into(), &state.as_str().into())
        );
        is(&desk.entry("m1"), EntryState::Held, 1);
        let object = desk.json(0, &["resolve", m1.as_str(), word, "--reason", "I looked"]);
        assert_eq!(
            (&object["done"], &object["was"]),
            (&true.into(), &"held".into())
        );
        let entry = desk.entry("m1");
        is(&entry, state, 2);
        assert_eq!(entry.cleared_fence, cleared);
        assert_eq!(desk.story(&m1).operators[0].did, did);
        let shown = desk.run(&["show", m1.as_str()]).out;
        assert!(
            shown.contains(&format!(
                "{did} by ada: was held (outcome-unknown) (why: I looked)"
            )),
            "{shown}"
        );
    }
}

#[test]
fn what_was_said_of_the_attempts_is_shown_as_the_operators_word() {
    let desk = Desk::new();
    desk.ended("m1", "till", "{}", End::Held, MINUTES);
    let m1 = key("m1");
    desk.json(0, &["resolve", m1.as_str(), "--not-applied", "--by", "bo"]);
    let shown = desk.run(&["show", m1.as_str()]).out;
    for part in [
        "a word       bo said that attempt 1 was not applied",
        "not applied, bo said later",
        "due for one attempt more, by an operator's word",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("the destination said"), "{shown}");
    desk.ended("m2", "till", "{}", End::Held, MINUTES);
    desk.json(0, &["resolve", key("m2").as_str(), "--applied"]);
    let shown = desk.run(&["show", key("m2").as_str()]).out;
    assert!(shown.contains("delivered: an operator said so"), "{shown}");
}

#[test]
fn a_word_that_does_not_fit_changes_nothing() {
    let desk = Desk::new();
    desk.ended("fresh", "mailer", "{}", End::Fresh, MINUTES);
    desk.ended(
        "busy",
        "mailer",
        "{}",
        End::Claimed,
        std::time::Duration::ZERO,
    );
    desk.ended("dead", "mailer", "{}", End::Dead, MINUTES);
    desk.ended("done", "mailer", "{}", End::Delivered, MINUTES);
    for (id, word, why) in [
        ("fresh", "--not-applied", "no attempt of it is in doubt"),
        ("busy", "--applied", "under way until"),
        ("dead", "--dead", "it is dead already"),
        (
            "dead",
            "--not-applied",
            "nothing of it is in doubt; `ackbox redrive act_",
        ),
        ("done", "--applied", "it is delivered already"),
        ("done", "--dead", "--as-new"),
        ("nobody", "--applied", "no entry"),
    ] {
        let object = desk.json(1, &["resolve", key(id).as_str(), word]);
        let refused = object["refused"].as_str().unwrap();
        assert!(refused.contains(why), "{id} {word}: {refused}");
        assert_eq!(object["done"], false);
        assert!(desk.story(&key(id)).operators.is_empty());
    }
}

#[test]
fn wrong_command_lines_are_refused_with_what_to_write() {
    let desk = Desk::new();
    let a = key("a");
    for (arguments, says) in [
        (&["resolve", a.as_str()][..], "--applied"),
        (&["resolve", "--applied"], "--job SPACE/ID"),
        (
            &["resolve", a.as_str(), "--applied", "--dead"],
            "cannot be used with",
        ),
        (&["resolve", a.as_str(), "--dismiss"], "--conflict"),
        (
            &[
                "resolve",
                a.as_str(),
                "--dead",
                "--conflict",
                "0123456789abcdef",
            ],
            "--dismiss",
        ),
        (
            &["resolve", a.as_str(), "--conflict", "xyz", "--dismiss"],
            "hex digits",
        ),
        (
            &["resolve", "--job", "tornado", "--dismiss"],
            "tornado/550e8400",
        ),
        (
            &["resolve", "--job", "tornado/1", "--applied"],
            "name its KEY",
        ),
        (
            &["resolve", "--job", "tornado/1", "--supersede"],
            "which end",
        ),
        (
            &["resolve", a.as_str(), "--job", "tornado/1", "--dismiss"],
            "cannot be used with",
        ),
    ] {
        let ended = desk.run(arguments);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(says), "{says}: {}", ended.err);
    }
}
