//! `ackbox redrive KEY..`: what is sent again, what is refused, and what stands on the record.

use ackbox_domain::EntryState;
use ackbox_store::schema::Class;

use super::{Desk, End, HOURS, MINUTES, is};
use crate::list_and_show::key;

#[test]
fn what_was_given_up_is_sent_again_under_its_own_key_and_the_record_says_who_and_why() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Dead, MINUTES);
    let m1 = key("m1");
    let ended = desk.run(&["redrive", m1.as_str(), "--reason", "the template is mended"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in ["sent again", "rejected", "no doubt", "1 of 1 done"] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let entry = desk.entry("m1");
    is(&entry, EntryState::Pending, 2);
    let story = desk.story(&m1);
    let word = &story.operators[0];
    assert_eq!((word.by.as_str(), word.did.as_str()), ("ada", "redrive"));
    assert_eq!(word.detail.as_deref(), Some("was dead (rejected)"));
    assert_eq!(word.reason.as_deref(), Some("the template is mended"));
    let shown = desk.run(&["show", m1.as_str()]);
    for part in [
        "redrive by ada: was dead (rejected) (why: the template is mended)",
        "attempts     1",
        "attempt 1: rejected",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let object = desk.json(0, &["show", m1.as_str()]);
    let moments = object["timeline"].as_array().unwrap();
    let operator = moments.iter().find(|moment| moment["kind"] == "operator");
    assert_eq!(operator.unwrap()["by"], "ada");
    // Again: it is due, and somebody else is to send it.
    let again = desk.json(1, &["redrive", m1.as_str()]);
    let refused = again["actions"][0]["refused"].as_str().unwrap();
    assert!(refused.contains("pending and due"), "{refused}");
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Dead, MINUTES);
    let before = desk.entry("m1");
    let object = desk.json(0, &["redrive", key("m1").as_str(), "--dry-run"]);
    assert_eq!(
        (&object["dry_run"], &object["done"]),
        (&true.into(), &0.into())
    );
    assert!(object["actions"][0]["refused"].is_null());
    assert_eq!(desk.entry("m1"), before);
    assert!(desk.story(&key("m1")).operators.is_empty());
}

#[test]
fn what_may_have_arrived_is_repeated_only_inside_the_window_or_by_name() {
    let desk = Desk::new();
    desk.ended("inside", "mailer", "{}", End::Held, MINUTES);
    desk.ended("past", "mailer", "{}", End::Held, HOURS);
    desk.ended("none", "till", "{}", End::Held, MINUTES);
    let inside = desk.json(0, &["redrive", key("inside").as_str()]);
    assert_eq!(inside["done"], 1);
    assert_eq!(
        desk.entry("inside").cleared_fence,
        0,
        "the window is still watched"
    );
    for (id, why) in [
        ("past", "keeps a key for 3600s only"),
        ("none", "keeps no keys"),
    ] {
        let id_key = key(id);
        let object = desk.json(1, &["redrive", id_key.as_str()]);
        let refused = object["actions"][0]["refused"].as_str().unwrap();
        assert!(
            refused.contains(why) && refused.contains("--past-window"),
            "{refused}"
        );
        is(&desk.entry(id), EntryState::Held, 1);
        let object = desk.json(
            0,
            &["redrive", id_key.as_str(), "--past-window", "--by", "bo"],
        );
        assert_eq!(object["actions"][0]["may_be_carried_out_twice"], true);
        let entry = desk.entry(id);
        is(&entry, EntryState::Pending, 2);
        assert_eq!(entry.cleared_fence, 2);
        let shown = desk.run(&["show", id_key.as_str()]).out;
        assert!(
            shown.contains("bo had it sent again, whatever became of it before"),
            "{shown}"
        );
    }
}

#[test]
fn another_destination_is_named_and_in_doubt_forced() {
    let desk = Desk::new();
    desk.ended("dead", "mailer", "{}", End::Dead, MINUTES);
    desk.ended("held", "mailer", "{}", End::Held, MINUTES);
    let wrong = desk.run(&["redrive", key("dead").as_str(), "--to", "nowhere"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    desk.json(0, &["redrive", key("dead").as_str(), "--to", "mailer-eu"]);
    let entry = desk.entry("dead");
    assert_eq!(entry.destination.as_str(), "mailer-eu");
    let listed = desk.on(desk.store.list(Class::Open, &entry.destination, 10));
    assert_eq!(listed.unwrap().len(), 1);
    let to = ["redrive", key("held").as_str(), "--to", "mailer-eu"].map(str::to_owned);
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    let object = desk.json(1, &to);
    let refused = object["actions"][0]["refused"].as_str().unwrap();
    assert!(refused.contains("--force"), "{refused}");
    // The window is no word about another address.
    desk.json(1, &[&to[..], &["--past-window"]].concat());
    desk.json(0, &[&to[..], &["--force"]].concat());
    is(&desk.entry("held"), EntryState::Pending, 2);
}

#[test]
fn an_entry_of_a_destination_that_is_gone_names_the_way_out() {
    let desk = Desk::new();
    desk.ended("m1", "post", "{}", End::Dead, MINUTES);
    let object = desk.json(1, &["redrive", key("m1").as_str()]);
    let refused = object["actions"][0]["refused"].as_str().unwrap();
    assert!(
        refused.contains("no destination \"post\"") && refused.contains("--to"),
        "{refused}"
    );
    desk.json(0, &["redrive", key("m1").as_str(), "--to", "mailer"]);
}

#[test]
fn as_new_makes_a_linked_action_and_closes_the_old_one() {
    let desk = Desk::new();
    desk.ended("dead", "mailer", "{\"n\":1}", End::Dead, MINUTES);
    desk.ended("done", "mailer", "{\"n\":2}", End::Delivered, MINUTES);
    let object = desk.json(
        0,
        &[
            "redrive",
            key("dead").as_str(),
            key("done").as_str(),
            "--as-new",
        ],
    );
    assert_eq!(object["done"], 2);
    for one in object["actions"].as_array().unwrap() {
        let new = one["new_key"].as_str().unwrap().parse().unwrap();
        let made = desk.story(&new);
        assert_eq!(made.outbox.unwrap().state, EntryState::Pending);
        assert_eq!(
            made.accepted.unwrap().parts[0].1.as_str(),
            one["key"].as_str().unwrap()
        );
        let old = desk.run(&["show", one["key"].as_str().unwrap()]).out;
        assert!(old.contains(&format!("the new action is {new}")), "{old}");
    }
    let old = desk.entry("dead");
    assert_eq!(old.reason.as_deref(), Some("replaced"));
    is(&desk.entry("done"), EntryState::Delivered, 2);
    let listed = desk.json(0, &["list", "--state", "dead"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 0, "{listed}");
    // The replaced one is not sent any more; a second one of a delivered is a second request.
    for more in [&["--as-new"][..], &[]] {
        let refused = desk.json(1, &[&["redrive", key("dead").as_str()][..], more].concat());
        let why = refused["actions"][0]["refused"].as_str().unwrap();
        assert!(why.contains("a new action was made of it"), "{why}");
    }
    let second = desk.json(0, &["redrive", key("done").as_str(), "--as-new"]);
    assert_ne!(
        second["actions"][0]["new_key"],
        object["actions"][1]["new_key"]
    );
}

#[test]
fn a_new_key_escapes_every_window_so_a_doubt_takes_a_word() {
    let desk = Desk::new();
    desk.ended("inside", "mailer", "{}", End::Held, MINUTES);
    desk.ended("none", "till", "{}", End::Held, MINUTES);
    let many = desk.json(1, &["redrive", "--state", "held", "--as-new", "--yes"]);
    assert_eq!(many["done"], 0);
    for one in many["actions"].as_array().unwrap() {
        let why = one["refused"].as_str().unwrap();
        assert!(why.contains("does not know a new key"), "{why}");
        assert!(why.contains("--past-window"), "{why}");
    }
    let none = key("none");
    let forced = desk.json(0, &["redrive", none.as_str(), "--as-new", "--past-window"]);
    assert_eq!(forced["actions"][0]["may_be_carried_out_twice"], true);
    is(&desk.entry("none"), EntryState::Dead, 2);
    is(&desk.entry("inside"), EntryState::Held, 1);
}

#[test]
fn what_an_operator_gave_up_in_doubt_is_still_in_doubt() {
    let desk = Desk::new();
    desk.ended("m1", "till", "{}", End::Held, MINUTES);
    let m1 = key("m1");
    desk.json(0, &["resolve", m1.as_str(), "--dead"]);
    desk.json(1, &["redrive", m1.as_str()]);
    let shown = desk.run(&["show", m1.as_str()]);
    assert!(
        shown.err.contains("while an attempt was in doubt"),
        "{}",
        shown.err
    );
    desk.json(0, &["resolve", m1.as_str(), "--not-applied"]);
    is(&desk.entry("m1"), EntryState::Pending, 3);
}

#[test]
fn a_refused_action_that_is_sent_again_is_nobodys_word_about_it() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Dead, MINUTES);
    let m1 = key("m1");
    desk.json(0, &["redrive", m1.as_str()]);
    let shown = desk.run(&["show", m1.as_str()]).out;
    assert!(shown.contains("due for its next attempt"), "{shown}");
    assert!(!shown.contains("word"), "{shown}");
    let listed = desk.run(&["list"]).out;
    assert!(
        !listed.contains("word") && !listed.contains("not applied"),
        "{listed}"
    );
}

#[test]
fn a_paused_destination_is_named() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Dead, MINUTES);
    let paused = desk.run(&["pause", "mailer", "--reason", "moving"]);
    assert_eq!(paused.code, Some(0), "{paused:?}");
    let ended = desk.run(&["redrive", key("m1").as_str()]);
    assert!(
        ended.err.contains("mailer is paused by ada"),
        "{}",
        ended.err
    );
}

#[test]
fn nobody_speaks_over_an_attempt_and_what_is_unknown_is_said() {
    let desk = Desk::new();
    desk.ended(
        "m1",
        "mailer",
        "{}",
        End::Claimed,
        std::time::Duration::ZERO,
    );
    let object = desk.json(1, &["redrive", key("m1").as_str(), key("nobody").as_str()]);
    let actions = object["actions"].as_array().unwrap();
    let of = |id: &str| {
        let one = actions.iter().find(|one| one["key"] == key(id).as_str());
        one.unwrap()["refused"].as_str().unwrap().to_owned()
    };
    assert!(of("m1").contains("under way until"), "{object}");
    assert!(of("nobody").contains("no entry of it"), "{object}");
}

#[test]
fn a_name_that_the_table_never_had_is_said() {
    let desk = Desk::new();
    desk.ended("m1", "mailer", "{}", End::Dead, MINUTES);
    let slip = [
        "redrive",
        "--state",
        "dead",
        "--destination",
        "maier",
        "--yes",
    ];
    let ended = desk.run(&slip);
    assert!(
        ended.err.contains("maier") && ended.err.contains("mailer"),
        "{}",
        ended.err
    );
}

#[test]
fn wrong_command_lines_are_refused_with_what_to_write() {
    let desk = Desk::new();
    for (arguments, says) in [
        (&["redrive"][..], "--state"),
        (&["redrive", "act_x"], "a key is"),
        (&["redrive", "--state", "pending"], "possible values"),
        (&["redrive", "--destination", "mailer"], "--state"),
        (
            &["redrive", key("a").as_str(), "--state", "dead"],
            "cannot be used with",
        ),
        (
            &[
                "redrive", "--state", "dead", "--since", "1h", "--until", "2h",
            ],
            "later than --until",
        ),
        (
            &["redrive", "--state", "dead", "--since", "yesterday"],
            "write a time",
        ),
        (
            &["redrive", key("a").as_str(), "--by", "a\u{7}b"],
            "control characters",
        ),
    ] {
        let ended = desk.run(arguments);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(says), "{says}: {}", ended.err);
    }
}

#[test]
fn a_risk_that_one_word_took_is_not_taken_by_the_next() {
    let desk = Desk::new();
    desk.ended("m1", "till", "{}", End::Held, MINUTES);
    let m1 = key("m1");
    desk.json(0, &["redrive", m1.as_str(), "--to", "mailer", "--force"]);
    // Pending at the other destination; nothing was sent yet.
    for word in [&["--to", "till"][..], &["--to", "till", "--past-window"]] {
        let object = desk.json(1, &[&["redrive", m1.as_str()], word].concat());
        let why = object["actions"][0]["refused"].as_str().unwrap();
        assert!(why.contains("another address"), "{why}");
    }
    desk.ended("m2", "till", "{}", End::Held, MINUTES);
    let m2 = key("m2");
    desk.json(0, &["redrive", m2.as_str(), "--past-window"]);
    let object = desk.json(1, &["redrive", m2.as_str(), "--to", "mailer"]);
    let why = object["actions"][0]["refused"].as_str().unwrap();
    assert!(why.contains("--force"), "{why}");
}

#[test]
fn what_happened_in_one_second_is_told_in_its_order() {
    let desk = Desk::new();
    desk.ended("m1", "till", "{}", End::Held, std::time::Duration::ZERO);
    let m1 = key("m1");
    desk.json(0, &["resolve", m1.as_str(), "--dead"]);
    desk.json(0, &["resolve", m1.as_str(), "--not-applied"]);
    let object = desk.json(0, &["show", m1.as_str()]);
    let moments = object["timeline"].as_array().unwrap();
    let told: Vec<&str> = moments
        .iter()
        .map(|moment| moment["did"].as_str().or(moment["kind"].as_str()).unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "accepted",
            "attempt",
            "resolve-dead",
            "resolve-not-applied",
            "due"
        ]
    );
}
