//! `[[source.NAME.rule]]`.

use crate::{Case, case, check, edited, mistakes, warnings};

#[test]
fn every_mistake_of_a_rule_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "an unknown key",
        "payload =",
        "pay_load =",
        "15:1: [[source.reports.rule]] has no key \"pay_load\"; did you mean `payload`?",
    ),
    case(
        "single brackets",
        "[[source.reports.rule]]",
        "[source.reports.rule]",
        "8:1: [[source.reports.rule]] is not a list of rules; write [[source.reports.rule]], with two brackets, above each rule",
    ),
    case(
        "no name",
        "name = \"ready\"\n",
        "",
        "8:1: [[source.reports.rule]] has no `name`; write name = \"report-ready\"",
    ),
    case(
        "a name that cannot be",
        "\"ready\"",
        "\"Is Ready\"",
        "9:8: a rule's name: \"Is Ready\" is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit",
    ),
    case(
        "two rules of one name",
        "[destination.mailer]",
        "[[source.reports.rule]]\nname = \"ready\"\nkey = [\"message:id\"]\ndestination = \"mailer\"\n[destination.mailer]",
        "18:8: [source.reports] has two rules of the name \"ready\"; give each rule a name of its own: it is part of its actions' identity",
    ),
    case(
        "no events",
        "[\"export.ready\", \"invoice.*\"]",
        "[]",
        "10:6: `on` is empty: the rule wants nothing; write the events that it wants, or leave `on` out for all of them",
    ),
    case(
        "an empty event",
        "[\"export.ready\", \"invoice.*\"]",
        "[\"\"]",
        "10:7: `on` has an empty entry; write the event's type, or \"*\" for all",
    ),
    case(
        "a star in the middle",
        "[\"export.ready\", \"invoice.*\"]",
        "[\"a.*.b\", \"a.**\"]",
        "10:7: `on` has \"a.*.b\": a star stands at the end only; write \"invoice.*\" for all that begin so, \"*\" for all, or each event in full\n\
         10:16: `on` has \"a.**\": a star stands at the end only; write \"invoice.*\" for all that begin so, \"*\" for all, or each event in full",
    ),
    case(
        "space around an event",
        "[\"export.ready\", \"invoice.*\"]",
        "[\" a\"]",
        "10:7: `on` has \" a\", with space around it; remove the space",
    ),
    case(
        "an event that is a number",
        "[\"export.ready\", \"invoice.*\"]",
        "[1]",
        "10:7: `on` has an entry that is a number, not a text; write on = [\"export.ready\"]",
    ),
    case(
        "no key",
        "key = [\"message:id\"]\n",
        "",
        "8:1: [[source.reports.rule]] has no `key`; write key = [\"message:id\"]",
    ),
    case(
        "an empty key",
        "key = [\"message:id\"]",
        "key = []",
        "11:7: `key` has 0 parts; write 1 to 10 values that name the action, as in [\"message:id\"] or [\"/data/id\"]",
    ),
    case(
        "a key that is no list",
        "key = [\"message:id\"]",
        "key = \"message:id\"",
        "11:7: `key` is a text, not a list; write key = [\"message:id\"]",
    ),
    case(
        "a part that is none",
        "key = [\"message:id\"]",
        "key = [\"id\", \"body\"]",
        "11:8: `key`: \"id\" names no key part: use \"message:id\", \"message:event\", \"message:subject\", \"message:account\", \"source\", \"header:NAME\" or a JSON pointer such as \"/data/id\"\n\
         11:14: `key` cannot be the body: a repetition with one other byte would be a new action; name the values that tell one action from another, as in [\"/data/id\"]",
    ),
    case(
        "a part in a header that cannot be",
        "key = [\"message:id\"]",
        "key = [\"header:a b\"]",
        "11:8: \"a b\" is not the name of a header; write \"header:NAME\"",
    ),
    case(
        "a part that is no pointer",
        "key = [\"message:id\"]",
        "key = [\"/a~2\"]",
        "11:8: `key`: \"/a~2\": in a JSON pointer '~' is written \"~0\" and '/' inside a name \"~1\"",
    ),
    case(
        "a part past a batch that is none",
        "key = [\"message:id\"]",
        "key = [\"body:/id\"]",
        "11:8: `key`: \"body:/id\" reads past a batch, and this source has none; write the pointer without \"body:\", or `each` in the source",
    ),
    case(
        "a part whose place is not known",
        "key = [\"message:id\"]",
        "key = [\"message:subject\"]",
        "11:8: `key`: \"message:subject\": the scheme \"standard-webhooks\" does not know where that stands; write subject = \"/pointer\" (or \"header:NAME\") in [source.reports], or use another key part",
    ),
    case(
        "a part in a header that is not signed",
        "key = [\"message:id\"]",
        "key = [\"header:X-Id\"]",
        "11:8: `key`: \"header:X-Id\" stands in the header x-id, which the signature of \"standard-webhooks\" does not cover; use a value of the signed body, as in \"/data/id\"; or write trust_unsigned_id = true in [source.reports], which means: whoever replays a signed body can change that header, and so make a new action of it",
    ),
    case(
        "too many parts",
        "key = [\"message:id\"]",
        "key = [\"/a\",\"/b\",\"/c\",\"/d\",\"/e\",\"/f\",\"/g\",\"/h\",\"/i\",\"/j\",\"/k\"]",
        "11:7: `key` has 11 parts; write 1 to 10 values that name the action, as in [\"message:id\"] or [\"/data/id\"]",
    ),
    case(
        "an id in a header that is not signed",
        "\"standard-webhooks\"\nsecrets = [\"env:REPORTS\"]\nmax_body = \"256 KiB\"\ntolerance = \"5m\"",
        "\"github\"\nsecrets = [\"env:REPORTS\"]",
        "9:8: `key`: \"message:id\" stands in the header x-github-delivery, which the signature of \"github\" does not cover; use a value of the signed body, as in \"/data/id\"; or write trust_unsigned_id = true in [source.reports], which means: whoever replays a signed body can change that header, and so make a new action of it",
    ),
    case(
        "a body that is not signed",
        "\"standard-webhooks\"\nsecrets = [\"env:REPORTS\"]\nmax_body = \"256 KiB\"\ntolerance = \"5m\"",
        "\"token\"\nsecrets = [\"env:REPORTS\"]",
        "9:8: `key`: \"message:id\" stands in the body, which the signature of \"token\" does not cover; choose a scheme that signs the body, if the sender has one; or write trust_body = true in [source.reports], which means: whoever knows the secret, or stands between, can put anything there, and so make any action",
    ),
    case(
        "a reserved namespace",
        "namespace = \"reports\"",
        "namespace = \"workflow\"",
        "12:13: the namespace \"workflow\" is kept for the actions of jobs; write another name, such as that of the source",
    ),
    case(
        "a namespace that cannot be",
        "namespace = \"reports\"",
        "namespace = \"a b\"",
        "12:13: \"a b\" is no namespace; write 1 to 129 lower-case letters, digits and - _ . /",
    ),
    case(
        "an empty fingerprint",
        "[\"body\"]",
        "[]",
        "13:15: `fingerprint` is empty: nothing would tell a repetition from another fact; write \"body\" for the bytes as they came, or JSON pointers, as in [\"/id\", \"/status\"]",
    ),
    case(
        "a fingerprint of nothing",
        "[\"body\"]",
        "[\"\"]",
        "13:16: `fingerprint` has an empty entry; write \"body\" for the bytes as they came, or JSON pointers, as in [\"/id\", \"/status\"]",
    ),
    case(
        "a fingerprint that is no pointer",
        "[\"body\"]",
        "[\"id\"]",
        "13:16: `fingerprint`: \"id\" names no fingerprint part: use \"body\" or a JSON pointer (a JSON pointer starts with '/', as in \"/data/id\"); write \"body\" for the bytes as they came, or JSON pointers, as in [\"/id\", \"/status\"]",
    ),
    case(
        "no destination",
        "destination = \"mailer\"\n",
        "",
        "8:1: [[source.reports.rule]] has no `destination`; write destination = \"mailer\"",
    ),
    case(
        "an unknown destination, nearly right",
        "destination = \"mailer\"",
        "destination = \"mailr\"",
        "14:15: there is no destination \"mailr\"; did you mean \"mailer\"?",
    ),
    case(
        "an unknown destination, like none",
        "destination = \"mailer\"",
        "destination = \"frobnicator\"",
        "14:15: there is no destination \"frobnicator\"; write the name of a [destination.NAME] of this file",
    ),
    case(
        "an unknown payload",
        "payload = \"body\"",
        "payload = \"json\"",
        "15:11: `payload` cannot be \"json\"; write \"body\", \"envelope\", or a shape with values in it, as in { json = { order = \"{/data/order}\" } }",
    ),
    case(
        "events without a place for their type",
        "",
        "[source.own]\nscheme = \"own\"\nsecrets = [\"env:A\"]\n[[source.own.rule]]\nname = \"a\"\non = [\"x\"]\nkey = [\"/id\"]\ndestination = \"mailer\"\n[scheme.own]\nsigned = \"{body}\"\n[[scheme.own.signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n",
        "42:7: the rule wants \"x\", and [source.own] does not know where the event's type stands; write event = \"/pointer\" (or \"header:NAME\") in the source, or leave `on` out",
    ),
];

#[test]
fn what_is_doubtful_in_a_rule_is_warned_of() {
    check(WARNINGS, warnings);
}

const WARNINGS: &[Case] = &[
    case(
        "a key of times",
        "key = [\"message:id\"]",
        "key = [\"/data/created_at\", \"message:event\"]",
        "11:7: `key` is made of times or digests only: a sender that renders them anew makes a new action of the same fact, and two facts of one moment are one; use the id of the thing or of the event, as in \"message:id\" or \"/data/id\"",
    ),
    case(
        "a key of digests",
        "key = [\"message:id\"]",
        "key = [\"/sha/content_digest\"]",
        "11:7: `key` is made of times or digests only: a sender that renders them anew makes a new action of the same fact, and two facts of one moment are one; use the id of the thing or of the event, as in \"message:id\" or \"/data/id\"",
    ),
    case(
        "a key that never changes",
        "key = [\"message:id\"]",
        "key = [\"source\", \"message:event\"]",
        "11:7: `key` is the same for every message of a kind: only the first ever becomes an action; add what tells one from another, such as \"message:id\" or \"message:subject\"",
    ),
    case(
        "a part twice",
        "key = [\"message:id\"]",
        "key = [\"/id\", \"/id\"]",
        "11:15: `key` names \"/id\" twice; remove one of the two",
    ),
    case(
        "an event twice",
        "[\"export.ready\", \"invoice.*\"]",
        "[\"a\", \"a\"]",
        "10:12: `on` names \"a\" twice; remove one of the two",
    ),
    case(
        "a test event",
        "tolerance = \"5m\"",
        "test_events = [\"export.ready\"]",
        "10:7: the rule wants \"export.ready\", which only tests the connection: it never makes an action; remove it, or take it out of `test_events` in [source.reports]",
    ),
    case(
        "a fingerprint value twice",
        "[\"body\"]",
        "[\"body\", \"body\"]",
        "13:24: `fingerprint` names \"body\" twice; remove one of the two",
    ),
    case(
        "a fingerprint of the key alone",
        "key = [\"message:id\"]\nnamespace = \"reports\"\nfingerprint = [\"body\"]",
        "key = [\"/id\"]\nfingerprint = [\"/id\"]",
        "12:15: `fingerprint` holds only parts of the key: no second content is ever seen as a conflict; name what must be the same on every repetition, such as \"body\"",
    ),
    case(
        "two rules that make one action for two destinations",
        "[destination.mailer]",
        "[[source.reports.rule]]\nname = \"again\"\non = [\"invoice.paid\"]\nkey = [\"message:id\"]\nnamespace = \"reports\"\ndestination = \"second\"\n[destination.second]\nurl = \"https://b.example.com\"\nidempotency = \"none\"\n[destination.mailer]",
        "21:13: the rules ready and again share namespace and key: of an event that both want, one action is made, for one of their destinations; give one of them another namespace, if both destinations are to see it",
    ),
    case(
        "two rules of one namespace for other events",
        "[destination.mailer]",
        "[[source.reports.rule]]\nname = \"again\"\non = [\"export.gone\"]\nkey = [\"message:id\"]\nnamespace = \"reports\"\ndestination = \"second\"\n[destination.second]\nurl = \"https://b.example.com\"\nidempotency = \"none\"\n[destination.mailer]",
        "",
    ),
];

/// A second rule beside one of a source that signs the body alone: on `first` and `second`, with the rest of
/// both as given.
fn two_rules(source: &str, first: &str, second: &str) -> String {
    format!(
        r#"[source.repo]
scheme = "github"
secrets = ["env:A"]
{source}
[[source.repo.rule]]
name = "push"
{first}
destination = "there"
[[source.repo.rule]]
name = "release"
{second}
destination = "there"
[destination.there]
url = "https://there.example.com"
idempotency = "none"
"#
    )
}

const PUSH: &str = "key = [\"/id\"]\non = [\"push\"]";
const RELEASE: &str = "key = [\"/id\"]\non = [\"release\"]";

#[test]
fn rules_between_which_an_unsigned_event_type_chooses_are_warned_of() {
    let said = |at: &str, header: &str, names: &str| {
        format!(
            "{at}: the event's type stands in the header {header}, which the signature of \"github\" does not cover: whoever replays a signed body can change its type, and so make the rules {names} both fire for it, although their `on` differ; write event = \"/pointer\" in [source.repo], where the body tells the type; or give the rules one namespace and one key; or accept it by trust_unsigned_id = true in [source.repo]"
        )
    };
    let usual = said("8:6", "x-github-event", "push and release");
    let namespace = "\nnamespace = \"one\"";
    for (what, text, expected) in [
        ("two types", two_rules("", PUSH, RELEASE), &usual),
        (
            "a type, and all",
            two_rules("", PUSH, "key = [\"/id\"]"),
            &usual,
        ),
        (
            "all, and a type",
            two_rules("", "key = [\"/id\"]", RELEASE),
            &said("12:6", "x-github-event", "release and push"),
        ),
        (
            "types that overlap",
            two_rules("", PUSH, "key = [\"/id\"]\non = [\"push\", \"pull.*\"]"),
            &usual,
        ),
        (
            "one namespace, and two keys",
            two_rules(
                "",
                &format!("{PUSH}{namespace}"),
                &format!("key = [\"/other\"]\non = [\"release\"]{namespace}"),
            ),
            &usual,
        ),
        (
            "a place of the source's own, behind one in the body",
            two_rules("event = [\"/type\", \"header:X-Type\"]", PUSH, RELEASE),
            &said("8:6", "x-type", "push and release"),
        ),
    ] {
        assert_eq!(&warnings(&text), expected, "{what}");
    }
}

#[test]
fn an_unsigned_event_type_that_makes_no_second_action_is_not_warned_of() {
    let one = |rule: &str| format!("{rule}\nnamespace = \"one\"");
    for (what, text) in [
        (
            "trusted",
            two_rules("trust_unsigned_id = true", PUSH, RELEASE),
        ),
        (
            "in the body",
            two_rules("event = \"/action\"", PUSH, RELEASE),
        ),
        (
            "one namespace and key",
            two_rules("", &one(PUSH), &one(RELEASE)),
        ),
        ("the same types", two_rules("", PUSH, PUSH)),
        (
            "all types",
            two_rules("", "key = [\"/id\"]", "key = [\"/id\"]\non = [\"*\"]"),
        ),
        (
            "a body that nobody signs, either",
            two_rules(
                "trust_body = true\nevent = \"header:X-Type\"",
                PUSH,
                RELEASE,
            )
            .replace("\"github\"", "\"token\""),
        ),
        (
            "one rule",
            edited(
                "\"standard-webhooks\"\nsecrets = [\"env:REPORTS\"]\nmax_body = \"256 KiB\"\ntolerance = \"5m\"",
                "\"github\"\nsecrets = [\"env:REPORTS\"]",
            )
            .replace("[\"message:id\"]", "[\"/id\"]"),
        ),
    ] {
        assert_eq!(warnings(&text), "", "{what}");
    }
}

#[test]
fn a_permission_that_only_the_event_type_needs_is_needless_where_nothing_hangs_on_it() {
    let text = two_rules("trust_unsigned_id = true", PUSH, PUSH);
    assert!(
        warnings(&text).contains("is not needed"),
        "{}",
        warnings(&text)
    );
}

/// A scheme that signs an id, and leaves the body out.
const ID_ONLY: &str = r#"
[scheme.own]
signed = "{id}.{timestamp}"
id = [{ header = "X-Id" }]
timestamp = { header = "X-Time" }
[[scheme.own.signature]]
header = "X-Sig"
algorithm = "hmac-sha256"
encoding = "hex"
"#;

#[test]
fn a_signed_id_over_an_unsigned_body_needs_trust_in_the_body() {
    let text = edited("\"standard-webhooks\"", "\"own\"\nevent = \"/type\"") + ID_ONLY;
    assert_eq!(
        mistakes(&text),
        "12:7: `key` has no part of the body, and the signature of \"own\" does not cover the body either: one signature lets any body in; choose a scheme that signs the body, if the sender has one; or write trust_body = true in [source.reports], which means: whoever knows the secret, or stands between, can put anything there, and so make any action"
    );
    let trusted = text.replace("\"own\"\n", "\"own\"\ntrust_body = true\n");
    assert_eq!(warnings(&trusted), "");
}
