//! Two configurations compared, event by event: one whose actions had a key has it still, whatever its rule is called;
//! else it is a mistake, unless the rule that makes another key of it did so before.

use ackbox_config::{Changes, Config, against};

use crate::BASE;

/// The name, `on` and `key` of a rule, and what else it says.
type Written<'w> = (&'w str, &'w str, &'w str, &'w str);

/// The valid file with these rules.
fn with(rules: &[Written<'_>]) -> String {
    let (source, rest) = BASE.split_once("[[source.reports.rule]]").unwrap();
    let (_, rest) = rest.split_once("[destination.mailer]").unwrap();
    let rules = rules.iter().map(|(name, on, key, more)| {
        format!("[[source.reports.rule]]\nname = \"{name}\"\non = {on}\nkey = {key}\ndestination = \"mailer\"\n{more}\n")
    });
    format!(
        "{source}{}[destination.mailer]{rest}",
        rules.collect::<String>()
    )
}

#[track_caller]
fn compared(old: &[Written<'_>], new: &[Written<'_>]) -> Changes {
    let read = |rules| Config::parse("f", &with(rules)).unwrap();
    against(&read(old), &read(new))
}

#[track_caller]
fn mistakes(old: &[Written<'_>], new: &[Written<'_>]) -> Vec<String> {
    let changes = compared(old, new);
    assert_eq!(changes.warnings, [], "beside the mistakes");
    let lines = changes
        .mistakes
        .iter()
        .map(|change| format!("{}: {}; {}", change.place, change.message, change.help));
    lines.collect()
}

#[track_caller]
fn is_nothing(old: &[Written<'_>], new: &[Written<'_>]) {
    assert_eq!(compared(old, new), Changes::default());
}

#[track_caller]
fn is_removed(old: &[Written<'_>], new: &[Written<'_>]) {
    let changes = compared(old, new);
    assert_eq!(changes.mistakes, []);
    assert_eq!(changes.warnings.len(), 1, "{changes:?}");
    assert!(
        changes.warnings[0]
            .message
            .starts_with("the rule is removed")
    );
}

const ID: &str = "[\"message:id\"]";
const PAID: Written<'_> = ("paid", "[\"invoice.paid\", \"invoice.sent\"]", ID, "");
const PAID_ALONE: Written<'_> = ("paid", "[\"invoice.paid\"]", ID, "");

#[test]
fn the_names_of_two_rules_cannot_be_swapped() {
    let old = [("a", "[\"x\"]", ID, ""), ("b", "[\"y\"]", ID, "")];
    let new = [("a", "[\"y\"]", ID, ""), ("b", "[\"x\"]", ID, "")];
    let said = mistakes(&old, &new);
    assert_eq!(
        said[0],
        "[[source.reports.rule]] \"b\": it wants \"x\", of which the rule \"a\" made actions: their key was [\"message:id\"] in the namespace \"reports/a\", and is [\"message:id\"] in the namespace \"reports/b\", and whatever comes again makes a second action; write namespace = \"reports/a\" in the rule; to have other keys from now on, leave these events to the rule \"a\" as well, with the keys that it had, and take them from it when none can come again"
    );
    assert!(
        said[1].starts_with(
            "[[source.reports.rule]] \"a\": it wants \"y\", of which the rule \"b\" made"
        ),
        "{said:?}"
    );
    assert_eq!(said.len(), 2);
    let pinned = [
        ("b", "[\"x\"]", ID, "namespace = \"reports/a\""),
        ("a", "[\"y\"]", ID, "namespace = \"reports/b\""),
    ];
    is_nothing(&old, &pinned);
}

#[test]
fn a_rule_may_become_two_where_both_keep_its_keys() {
    let keeps = "namespace = \"reports/paid\"";
    let two = [
        ("sent", "[\"invoice.sent\"]", ID, keeps),
        ("settled", "[\"invoice.paid\"]", ID, keeps),
    ];
    is_nothing(&[PAID], &two);
    let beside = ("beside", "[\"invoice.*\"]", ID, "");
    is_nothing(&[PAID], &[beside, two[0], two[1]]);
    assert_eq!(mistakes(&[PAID], &[beside, two[0]]).len(), 1);
}

#[test]
fn an_event_is_not_given_to_a_rule_with_another_key() {
    let sent = |key, more| [PAID_ALONE, ("sent", "[\"invoice.sent\"]", key, more)];
    let said = mistakes(&[PAID], &sent("[\"/id\"]", ""));
    assert_eq!(said.len(), 1, "{said:?}");
    for part in [
        "\"sent\": it wants \"invoice.sent\", of which the rule \"paid\" made actions",
        "their key was [\"message:id\"] in the namespace \"reports/paid\", and is [\"/id\"] in the namespace \"reports/sent\"",
        "restore the key, and write namespace = \"reports/paid\"",
    ] {
        assert!(said[0].contains(part), "{part} in {said:?}");
    }
    assert_eq!(mistakes(&[PAID], &sent(ID, "")).len(), 1);
    assert_eq!(
        mistakes(&[PAID], &sent(ID, "namespace = \"files\"")).len(),
        1
    );
    is_nothing(&[PAID], &sent(ID, "namespace = \"reports/paid\""));
    // A rule beside one that keeps the event makes a further action, and no second one.
    is_nothing(
        &[PAID],
        &[PAID, ("sent", "[\"invoice.sent\"]", "[\"/id\"]", "")],
    );
}

#[test]
fn a_rename_with_another_key_is_no_removal() {
    let said = mistakes(
        &[PAID_ALONE],
        &[("settled", "[\"invoice.*\"]", "[\"/id\"]", "")],
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("\"settled\": it wants \"invoice.paid\""),
        "{said:?}"
    );
    assert!(
        said[0].contains(
            "restore the key, and write previously = [\"paid\"] or namespace = \"reports/paid\""
        ),
        "{said:?}"
    );
}

#[test]
fn what_a_rule_made_before_it_makes_still() {
    let all = ("all", "[\"*\"]", "[\"/id\"]", "");
    is_removed(&[PAID, all], &[all]);
    is_nothing(&[PAID, all], &[PAID_ALONE, all]);
    // Which events it wanted counts.
    let sent = ("sent", "[\"invoice.sent\"]", "[\"/id\"]", "");
    let said = mistakes(
        &[PAID, sent],
        &[("sent", "[\"invoice.*\"]", "[\"/id\"]", "")],
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("it wants \"invoice.paid\","), "{said:?}");
}

#[test]
fn events_are_compared_as_patterns() {
    let all = ("all", "[\"*\"]", ID, "");
    let other = |on| ("other", on, "[\"/id\"]", "");
    for (kept, other_on, said_of) in [
        ("[\"invoice.*\"]", "[\"refund.*\"]", "\"refund.*\""),
        ("[\"invoice.*\"]", "[\"*\"]", "\"*\""),
        ("[\"a.*\"]", "[\"a\", \"a.b\"]", "\"a\""),
        ("[\"a.b.*\"]", "[\"a.*\", \"c\"]", "\"a.*\", \"c\""),
    ] {
        let said = mistakes(&[all], &[("all", kept, ID, ""), other(other_on)]);
        assert_eq!(said.len(), 1, "{said:?}");
        let wants = format!("it wants {said_of}, of which");
        assert!(said[0].contains(&wants), "{wants} in {said:?}");
    }
    let narrow = ("all", "[\"a.*\"]", ID, "");
    is_nothing(&[all], &[narrow, other("[\"a.b\", \"a.b.*\"]")]);
    is_removed(&[narrow], &[other("[\"b.*\", \"a\"]")]);
    // Two rules keep what one had.
    is_nothing(
        &[all],
        &[
            narrow,
            ("rest", "[\"*\"]", ID, "namespace = \"reports/all\""),
        ],
    );
}

#[test]
fn a_source_that_is_renamed_is_asked_by_its_names() {
    let old = Config::parse("f", &with(&[PAID])).unwrap();
    let new = with(&[PAID_ALONE, ("sent", "[\"invoice.sent\"]", ID, "")])
        .replace("source.reports", "source.exports");
    let named = new.replace(
        "[source.exports]\n",
        "[source.exports]\npreviously = [\"reports\"]\n",
    );
    let changes = against(&old, &Config::parse("f", &named).unwrap());
    assert_eq!(changes.mistakes.len(), 1, "{changes:?}");
    assert_eq!(
        changes.mistakes[0].place,
        "[[source.exports.rule]] \"sent\""
    );
    // Without a word, by its looks; the keys of one rule stay, so that the rename itself changes none.
    let pin = |text: &str| {
        text.replace(
            "name = \"paid\"",
            "name = \"paid\"\nnamespace = \"reports/paid\"",
        )
    };
    let changes = against(&old, &Config::parse("f", &pin(&new)).unwrap());
    assert_eq!(changes.mistakes.len(), 1, "{changes:?}");
    assert_eq!(
        changes.mistakes[0].place,
        "[[source.exports.rule]] \"sent\""
    );
}
