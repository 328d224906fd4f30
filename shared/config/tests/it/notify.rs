//! `[notify]`: who is told of trouble, and of which.

use ackbox_config::Config;
use ackbox_domain::Trouble;

use crate::{BASE, Case, case, check, edited, mistakes, warnings};

const OPS: &str =
    "\n[destination.ops]\nurl = \"https://ops.example.com/\"\nidempotency = \"none\"\n";

fn with(notify: &str) -> String {
    format!("{BASE}{OPS}{notify}")
}

#[test]
fn nobody_is_told_where_the_file_says_nothing_of_it() {
    assert_eq!(Config::parse("f", BASE).unwrap().notify, None);
}

#[test]
fn all_of_it_is_told_unless_the_file_says_of_what() {
    let read = |notify: &str| Config::parse("f", &with(notify)).unwrap().notify.unwrap();
    let all = read("[notify]\ndestination = \"ops\"\n");
    assert_eq!(all.destination.as_str(), "ops");
    assert!(all.on.iter().eq(&Trouble::ALL));
    let some = read("[notify]\ndestination = \"ops\"\non = [\"held\", \"dead\", \"held\"]\n");
    assert!(some.on.iter().eq(&[Trouble::Dead, Trouble::Held]));
}

#[test]
fn a_destination_that_is_only_told_of_trouble_is_used() {
    assert_eq!(warnings(&with("[notify]\ndestination = \"ops\"\n")), "");
    assert!(warnings(&with("")).contains("[destination.ops] is used by no rule"));
}

#[test]
fn every_mistake_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "a destination that is none",
        "",
        "\n[notify]\ndestination = \"mailr\"\n",
        "39:15: there is no destination \"mailr\"; did you mean \"mailer\"?",
    ),
    case(
        "no destination",
        "",
        "\n[notify]\non = [\"dead\"]\n",
        "38:1: [notify] has no `destination`; write destination = \"operations\"",
    ),
    case(
        "a trouble that is none",
        "",
        "\n[notify]\ndestination = \"mailer\"\non = [\"dead\", \"delivered\"]\n",
        "40:15: `on` cannot have \"delivered\"; write some of \"dead\", \"held\", \"unknown\", \"conflict\" and \"silent\"",
    ),
    case(
        "nothing to be told of",
        "",
        "\n[notify]\ndestination = \"mailer\"\non = []\n",
        "40:6: `on` is empty: nobody would be told of anything; write some of \"dead\", \"held\", \"unknown\", \"conflict\" and \"silent\"",
    ),
    case(
        "a key that is none",
        "",
        "\n[notify]\ndestination = \"mailer\"\nwhen = \"dead\"\n",
        "40:1: [notify] has no key \"when\"; known here: `destination`, `on`",
    ),
    case(
        "a source of our own name",
        "",
        "\n[source.ackbox]\nscheme = \"github\"\nsecrets = [\"env:HUB\"]\n",
        "38:9: the source name \"ackbox\" is kept for ackbox's own notices; write another name, such as that of the sender",
    ),
    case(
        "the namespace of notices",
        "namespace = \"reports\"",
        "namespace = \"ackbox/notify\"",
        "12:13: the namespace \"ackbox/notify\" is kept for notices of trouble; write another name, such as that of the source",
    ),
];

#[test]
fn a_way_that_cannot_carry_a_notice_is_a_mistake() {
    let queue = "\n[destination.queue]\nkind = \"sqs\"\nqueue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/ops.fifo\"\ngroup = \"/data/tenant\"\n[notify]\ndestination = \"queue\"\n";
    let said = mistakes(&edited("", queue));
    assert!(said.contains("a notice cannot be sent to queue"), "{said}");
    assert!(said.contains("/data/tenant"), "{said}");
}
