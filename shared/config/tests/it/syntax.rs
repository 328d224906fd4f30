//! Files that are no valid TOML, and tables that are not known.

use crate::{Case, case, check, mistakes, warnings};

#[test]
fn every_mistake_of_the_syntax_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "a value without quotes",
        "timeout = \"10s\"",
        "timeout = 10s",
        "22:11: not valid TOML: string values must be quoted, expected literal string; put the value in double quotes; times and sizes are texts too, as in \"10s\"",
    ),
    case(
        "several, and others beside them",
        "retry_for = \"3d\"\nbackoff = { first = \"30s\", max = \"1h\" }",
        "retry_for = 3d\nretries = 5\nbackoff = { first = 30s, max = \"1 q\" }",
        "23:13: not valid TOML: string values must be quoted, expected literal string; put the value in double quotes; times and sizes are texts too, as in \"10s\"\n\
         24:1: [destination.mailer] has no key \"retries\"; known here: `kind`, `url`, `headers`, `idempotency`, `on_unknown`, `timeout`, `retry_for`, `backoff`, `signing`, `allow_private`, `reconcile`, `concurrency`, `breaker`\n\
         25:21: not valid TOML: string values must be quoted, expected literal string; put the value in double quotes; times and sizes are texts too, as in \"10s\"",
    ),
    case(
        "a text without an end",
        "\"https://mail.example.com/actions\"",
        "\"https://mail.example.com/actions",
        "18:40: not valid TOML: invalid basic string, expected `\"`",
    ),
    case(
        "a header without an end",
        "[destination.mailer]",
        "[destination.mailer",
        "17:20: not valid TOML: unclosed table, expected `]`; close it, before the next line begins",
    ),
    case(
        "a list without an end",
        "[\"env:SIGNING\"]",
        "[\"env:SIGNING\"",
        "25:24: not valid TOML: a list or table is not closed here, or a comma is missing; close it with ] or }",
    ),
    case(
        "a key without a value",
        "timeout = \"10s\"",
        "timeout",
        "22:8: not valid TOML: key with no value, expected `=`; write key = value",
    ),
    case(
        "a source of one name again",
        "",
        "[source.reports]\nscheme = \"stripe\"\n",
        "37:9: the table \"reports\" stands here a second time; rename one of the two, or put both together\n\
         38:1: the key \"scheme\" stands here a second time; remove one of the two",
    ),
    case(
        "a destination of one name again",
        "",
        "[destination.mailer]\nurl = \"https://a.example.com/\"\n",
        "37:14: the table \"mailer\" stands here a second time; rename one of the two, or put both together\n\
         38:1: the key \"url\" stands here a second time; remove one of the two",
    ),
    case(
        "a key again",
        "timeout = \"10s\"",
        "timeout = \"10s\"\ntimeout = \"11s\"",
        "23:1: the key \"timeout\" stands here a second time; remove one of the two",
    ),
    case(
        "a table that is not known",
        "",
        "[destinations.other]\nurl = \"https://a.example.com/\"\n",
        "37:2: the file has no key \"destinations\"; did you mean `destination`?",
    ),
    case(
        "a secret without quotes",
        "[\"env:REPORTS\"]",
        "[whsec_dontsay]",
        "3:12: not valid TOML: string values must be quoted, expected literal string; put the value in double quotes; times and sizes are texts too, as in \"10s\"",
    ),
    case(
        "a secret without quotes that breaks the line",
        "[\"env:REPORTS\"]",
        "whsec_dontsay+/=",
        "3:11: not valid TOML: string values must be quoted, expected literal string; put the value in double quotes; times and sizes are texts too, as in \"10s\"",
    ),
];

#[test]
fn a_byte_order_mark_and_line_ends_of_another_system_are_no_mistakes() {
    assert_eq!(warnings(&format!("\u{feff}{}", crate::BASE)), "");
    assert_eq!(warnings(&crate::BASE.replace('\n', "\r\n")), "");
}

#[test]
fn places_are_right_behind_a_byte_order_mark_and_other_line_ends() {
    let text = crate::edited("scheme = \"standard-webhooks\"", "scheme = \"nosuchthing\"");
    let plain = mistakes(&text);
    assert!(plain.starts_with("2:10: "), "{plain}");
    assert_eq!(
        mistakes(&format!("\u{feff}{}", text.replace('\n', "\r\n"))),
        plain
    );
}

#[test]
fn an_empty_file_is_read_and_warned_of() {
    assert_eq!(
        warnings(""),
        "1:1: there is no source: nothing is received; write a [source.NAME]"
    );
}
