//! Whole files through the public interface: what is read, and what is said of every kind of mistake.
//! Each case edits one valid file in one place, and asserts every line that is said of it.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that panics fails its test"
)]

use ackbox_config::{Config, Mistake};

mod compare;
mod compare_events;
mod compare_table;
mod delivery;
mod destination;
mod example;
mod hostile;
mod job;
mod kind;
mod load;
mod lookup;
mod meaning;
mod notify;
mod payload;
mod previously;
mod reconcile;
mod retention;
mod rule;
mod said_of_jobs;
mod scheme;
mod source;
mod syntax;

/// A valid file, without warnings.
const BASE: &str = include_str!("base.toml");

/// One edit of the valid file, and what is said of the result: `line:column: message; help`, a line each.
struct Case {
    what: &'static str,
    old: &'static str,
    new: &'static str,
    said: &'static str,
}

const fn case(
    what: &'static str,
    old: &'static str,
    new: &'static str,
    said: &'static str,
) -> Case {
    Case {
        what,
        old,
        new,
        said,
    }
}

/// The valid file with one text in it replaced by another; an empty `old` adds at the end.
fn edited(old: &str, new: &str) -> String {
    if old.is_empty() {
        return format!("{BASE}{new}");
    }
    assert_eq!(
        BASE.matches(old).count(),
        1,
        "{old:?} stands once in the valid file"
    );
    BASE.replace(old, new)
}

fn said(found: &[Mistake]) -> String {
    let lines = found.iter().map(|mistake| {
        let text = mistake.to_string();
        text.strip_prefix("f:").unwrap_or(&text).to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn mistakes(text: &str) -> String {
    match Config::parse("f", text) {
        Ok(_) => "no mistake".to_owned(),
        Err(mistakes) => said(&mistakes.0),
    }
}

fn warnings(text: &str) -> String {
    match Config::parse("f", text) {
        Ok(config) => said(&config.warnings),
        Err(mistakes) => format!("refused: {mistakes}"),
    }
}

fn check(cases: &[Case], say: fn(&str) -> String) {
    check_edited(cases, edited, say);
}

fn check_edited(cases: &[Case], edit: fn(&str, &str) -> String, say: fn(&str) -> String) {
    let mut wrong = String::new();
    for Case {
        what,
        old,
        new,
        said,
    } in cases
    {
        let found = say(&edit(old, new));
        assert!(!found.contains("dontsay"), "{what}: {found}");
        if found != *said {
            wrong += &format!("== {what}\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "said otherwise:\n{wrong}");
}
