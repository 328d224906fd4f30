//! `ackbox redrive --state`: many at once, ended half way and said again, and two operators at once.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Stdio;
use std::thread;

use ackbox_domain::EntryState;
use ackbox_store::Class;

use super::{Desk, End, MINUTES};
use crate::list_and_show::key;

fn states(desk: &Desk, many: usize) -> (usize, usize) {
    let all = (0..many).map(|n| desk.entry(&format!("m{n}")).state);
    let all: Vec<EntryState> = all.collect();
    let of = |state| all.iter().filter(|one| **one == state).count();
    (of(EntryState::Pending), of(EntryState::Dead))
}

fn filled(many: usize) -> Desk {
    let desk = Desk::new();
    for n in 0..many {
        let to = if n % 4 == 3 { "till" } else { "mailer" };
        desk.ended(&format!("m{n}"), to, "{}", End::Dead, MINUTES);
    }
    desk
}

#[test]
fn a_filter_chooses_and_is_not_carried_out_unasked() {
    let desk = filled(8);
    let filter = ["redrive", "--state", "dead", "--destination", "mailer"];
    let unasked = desk.run(&filter);
    assert_eq!(unasked.code, Some(2), "{unasked:?}");
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    assert_eq!(states(&desk, 8), (0, 8));
    let dry = desk.json(0, &[&filter[..], &["--dry-run"]].concat());
    assert_eq!(dry["actions"].as_array().unwrap().len(), 6);
    let none = desk.json(0, &[&filter[..], &["--until", "2h", "--yes"]].concat());
    assert_eq!(none["actions"].as_array().unwrap().len(), 0);
    let other = desk.json(0, &[&filter[..], &["--source", "other", "--yes"]].concat());
    assert_eq!(other["actions"].as_array().unwrap().len(), 0);
    let two = desk.json(
        0,
        &[&filter[..], &["--since", "2h", "--limit", "2", "--yes"]].concat(),
    );
    assert_eq!(two["done"], 2);
    let rest = desk.json(0, &[&filter[..], &["--yes"]].concat());
    assert_eq!(rest["done"], 4);
    assert_eq!(states(&desk, 8), (6, 2));
}

/// Kills a bulk as soon as something of it is written; how much was and how much was left.
fn killed(desk: &Desk, many: usize) -> (usize, usize) {
    let arguments = ["redrive", "--state", "dead", "--yes", "--json"];
    let mut child = desk
        .place
        .command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mailer = "mailer".parse().unwrap();
    loop {
        let open = desk.on(desk.store.list(Class::Open, &mailer, 1)).unwrap();
        if !open.is_empty() || child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
    states(desk, many)
}

#[test]
fn a_bulk_that_is_killed_half_way_and_said_again_does_each_once() {
    const MANY: usize = 60;
    // Where it was through before it could be killed, another one is.
    let (desk, left) = (0..20)
        .find_map(|_| {
            let desk = filled(MANY);
            let (done, left) = killed(&desk, MANY);
            assert_eq!(done + left, MANY, "each is done or not");
            (done > 0 && left > 0).then_some((desk, left))
        })
        .expect("one of them is killed half way");
    let again = desk.json(0, &["redrive", "--state", "dead", "--yes"]);
    assert_eq!(again["done"], left);
    assert_eq!(states(&desk, MANY), (MANY, 0));
    for n in 0..MANY {
        let story = desk.story(&key(&format!("m{n}")));
        assert_eq!(
            story.operators.len(),
            1,
            "each is written whole, with its record"
        );
        assert_eq!(story.outbox.unwrap().fence, 2);
    }
}

#[test]
fn a_bulk_of_new_actions_that_is_said_again_makes_none_twice() {
    let desk = filled(6);
    let first = desk.json(
        0,
        &[
            "redrive", "--state", "dead", "--as-new", "--limit", "4", "--yes",
        ],
    );
    assert_eq!(first["done"], 4);
    let second = desk.json(0, &["redrive", "--state", "dead", "--as-new", "--yes"]);
    assert_eq!(second["done"], 2);
    let third = desk.json(0, &["redrive", "--state", "dead", "--as-new", "--yes"]);
    assert_eq!(third["done"], 0);
    let keys: BTreeSet<String> = [&first, &second]
        .iter()
        .flat_map(|object| object["actions"].as_array().unwrap())
        .map(|one| one["new_key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(keys.len(), 6);
}

#[test]
fn two_operators_at_once_do_each_once_and_the_slower_one_is_told() {
    const MANY: usize = 24;
    let desk = filled(MANY);
    let run = |by: &'static str| {
        let mut command = desk
            .place
            .command(&["redrive", "--state", "dead", "--yes", "--json", "--by", by]);
        command.spawn().unwrap()
    };
    let both = ["ada", "bo"].map(run).map(|child| {
        thread::spawn(move || {
            let mut child = child;
            let (mut out, mut err) = (String::new(), String::new());
            child
                .stdout
                .take()
                .unwrap()
                .read_to_string(&mut out)
                .unwrap();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut err)
                .unwrap();
            child.wait().unwrap();
            serde_json::from_str::<serde_json::Value>(&out)
                .unwrap_or_else(|e| panic!("{e}: {out}{err}"))
        })
    });
    let both = both.map(|thread| thread.join().unwrap());
    let done: u64 = both
        .iter()
        .map(|object| object["done"].as_u64().unwrap())
        .sum();
    assert_eq!(done, MANY as u64);
    for object in &both {
        for one in object["actions"].as_array().unwrap() {
            if one["done"] == false {
                let why = one["problem"].as_str().unwrap();
                assert!(
                    why.contains("faster") || why.contains("pending and due"),
                    "{why}"
                );
            }
        }
    }
    for n in 0..MANY {
        assert_eq!(desk.story(&key(&format!("m{n}"))).operators.len(), 1);
    }
}

#[test]
fn what_an_operator_gave_up_by_hand_is_left_out_and_what_is_refused_takes_no_place() {
    let desk = filled(2);
    desk.ended("by-hand", "mailer", "{}", End::Held, MINUTES);
    desk.json(
        0,
        &[
            "resolve",
            key("by-hand").as_str(),
            "--dead",
            "--reason",
            "never",
        ],
    );
    let all = desk.json(0, &["redrive", "--state", "dead", "--yes"]);
    assert_eq!(
        (&all["done"], all["actions"].as_array().unwrap().len()),
        (&2.into(), 2)
    );
    assert_eq!(desk.entry("by-hand").state, EntryState::Dead);
    // Refused, and older than the one that is not.
    desk.ended("refused", "till", "{}", End::Held, MINUTES);
    desk.ended(
        "ready",
        "mailer",
        "{}",
        End::Held,
        std::time::Duration::ZERO,
    );
    let one = desk.json(1, &["redrive", "--state", "held", "--limit", "1", "--yes"]);
    assert_eq!(one["done"], 1, "{one}");
    assert_eq!(desk.entry("ready").state, EntryState::Pending);
}

/// Interrupts a bulk as soon as something of it is written; what it says of itself.
fn interrupted(desk: &Desk) -> serde_json::Value {
    let arguments = ["redrive", "--state", "dead", "--yes", "--json"];
    let mut child = desk.place.command(&arguments).spawn().unwrap();
    let mailer = "mailer".parse().unwrap();
    loop {
        let open = desk.on(desk.store.list(Class::Open, &mailer, 1)).unwrap();
        if !open.is_empty() || child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let id = rustix::process::Pid::from_child(&child);
    // It may be through by now.
    let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
    let ended = child.wait_with_output().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn a_bulk_that_is_interrupted_says_how_far_it_came_and_that_is_so() {
    const MANY: usize = 60;
    let (desk, told) = (0..20)
        .find_map(|_| {
            let desk = filled(MANY);
            let told = interrupted(&desk);
            let done = told["done"].as_u64().unwrap();
            (done < MANY as u64).then_some((desk, told))
        })
        .expect("one of them is interrupted half way");
    let done = usize::try_from(told["done"].as_u64().unwrap()).unwrap();
    assert_eq!(states(&desk, MANY), (done, MANY - done), "{told}");
    let actions = told["actions"].as_array().unwrap();
    let said = actions.iter().filter(|one| one["done"] == true).count();
    assert_eq!(said, done);
}
