//! Two configurations compared: what changes identity is a mistake, and what changes what becomes of open entries is
//! warned of.

use ackbox_config::{Change, Changes, Config, against};

use crate::{BASE, edited};

fn said(found: &[Change]) -> String {
    let lines = found
        .iter()
        .map(|change| format!("{}: {}; {}", change.place, change.message, change.help));
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn compared(old: &str, new: &str) -> Changes {
    let read = |text| Config::parse("f", text).unwrap();
    against(&read(old), &read(new))
}

#[track_caller]
fn is_mistake(old: &str, new: &str, parts: &[&str]) {
    let changes = compared(old, new);
    assert_eq!(changes.mistakes.len(), 1, "{}", said(&changes.mistakes));
    for part in parts {
        let text = said(&changes.mistakes);
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[track_caller]
fn is_warning(old: &str, new: &str, parts: &[&str]) {
    let changes = compared(old, new);
    assert_eq!(said(&changes.mistakes), "");
    assert_eq!(changes.warnings.len(), 1, "{}", said(&changes.warnings));
    for part in parts {
        let text = said(&changes.warnings);
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[track_caller]
fn is_nothing(old: &str, new: &str) {
    assert_eq!(compared(old, new), Changes::default());
}

/// Whose namespace is the default.
fn plain() -> String {
    edited("namespace = \"reports\"\n", "")
}

#[test]
fn a_configuration_is_the_same_as_itself_and_as_one_with_more_in_it() {
    is_nothing(BASE, BASE);
    is_nothing(
        BASE,
        &edited("max_body = \"256 KiB\"", "max_body = \"1 MiB\""),
    );
    let more = "\n[source.more]\nscheme = \"github\"\nsecrets = [\"env:S\"]\n[[source.more.rule]]\nname = \"all\"\nkey = [\"/id\"]\ndestination = \"mailer\"\n";
    is_nothing(BASE, &format!("{BASE}{more}"));
}

#[test]
fn a_source_is_renamed_by_previously_alone() {
    let plain = plain();
    let renamed = plain.replace("source.reports", "source.exports");
    is_mistake(
        &plain,
        &renamed,
        &[
            "[source.exports]: [source.reports] is gone, and this one looks like it: it is renamed without `previously`",
            "its rules \"ready\" make other keys",
            "write previously = [\"reports\"] in [source.exports]; it then answers at /hooks/reports too",
        ],
    );
    let said = renamed.replace(
        "[source.exports]\n",
        "[source.exports]\npreviously = [\"reports\"]\n",
    );
    is_nothing(&plain, &said);
    // Once more, and the first name is forgotten.
    let again = said.replace("source.exports", "source.files");
    is_warning(
        &said,
        &again,
        &["write previously = [\"reports\", \"exports\"] in [source.files]"],
    );
    let short = again.replace("[\"reports\"]", "[\"exports\"]");
    let changes = compared(&said, &short);
    assert!(
        said_of(&changes).contains("its namespace was \"reports/ready\" and is \"exports/ready\""),
        "{}",
        said_of(&changes)
    );
    let whole = again.replace("[\"reports\"]", "[\"reports\", \"exports\"]");
    is_nothing(&said, &whole);
    // A name taken out of the middle changes no key; its path is gone.
    let hole = whole.replace("[\"reports\", \"exports\"]", "[\"reports\"]");
    is_warning(
        &whole,
        &hole,
        &["[source.files]: `previously` has no \"exports\" any more"],
    );
}

fn said_of(changes: &Changes) -> String {
    said(&changes.mistakes)
}

#[test]
fn a_source_whose_keys_stay_loses_its_path_alone() {
    // The rule has a namespace of its own.
    let renamed = BASE.replace("source.reports", "source.exports");
    is_warning(
        BASE,
        &renamed,
        &[
            "[source.reports]: the source is [source.exports] now, with the same keys: messages to /hooks/reports are answered with 404",
            "write previously = [\"reports\"]",
        ],
    );
    // The key part `source` is another value.
    let with_source = |text: &str| text.replace("[\"message:id\"]", "[\"source\", \"message:id\"]");
    is_mistake(
        &with_source(BASE),
        &with_source(&renamed),
        &["renamed without `previously`"],
    );
}

#[test]
fn a_rule_is_renamed_by_previously_alone() {
    let plain = plain();
    let renamed = plain.replace("name = \"ready\"", "name = \"done\"");
    is_mistake(
        &plain,
        &renamed,
        &[
            "[[source.reports.rule]] \"done\": the rule \"ready\" is gone, and this one has its key: it is renamed without `previously`",
            "its namespace was \"reports/ready\" and is \"reports/done\"",
            "write previously = [\"ready\"] in the rule",
        ],
    );
    is_nothing(
        &plain,
        &renamed.replace("payload = ", "previously = [\"ready\"]\npayload = "),
    );
    is_nothing(BASE, &edited("name = \"ready\"", "name = \"done\""));
}

#[test]
fn a_rule_that_is_moved_keeps_its_namespace_by_name() {
    let plain = format!(
        "{}\n[source.other]\nscheme = \"standard-webhooks\"\nsecrets = [\"env:O\"]\n",
        plain()
    );
    let moved = plain.replace("[[source.reports.rule]]", "[[source.other.rule]]");
    is_mistake(
        &plain,
        &moved,
        &[
            "it is moved",
            "write namespace = \"reports/ready\" in the rule",
        ],
    );
    is_nothing(
        &plain,
        &moved.replace("payload = ", "namespace = \"reports/ready\"\npayload = "),
    );
}

#[test]
fn other_keys_are_told() {
    is_mistake(
        BASE,
        &edited("[\"message:id\"]", "[\"/id\"]"),
        &["its `key` was [\"message:id\"] and is [\"/id\"]"],
    );
    let two = edited("[\"message:id\"]", "[\"/a\", \"/b\"]");
    is_mistake(
        &two,
        &two.replace("[\"/a\", \"/b\"]", "[\"/b\", \"/a\"]"),
        &["its `key` was [\"/a\", \"/b\"] and is [\"/b\", \"/a\"]"],
    );
    is_mistake(
        BASE,
        &edited("namespace = \"reports\"", "namespace = \"files\""),
        &[
            "its namespace was \"reports\" and is \"files\"",
            "write namespace = \"reports\" in the rule",
        ],
    );
    is_mistake(
        BASE,
        &plain(),
        &["its namespace was \"reports\" and is \"reports/ready\""],
    );
    is_nothing(
        &plain(),
        &edited("namespace = \"reports\"", "namespace = \"reports/ready\""),
    );
}

#[test]
fn the_same_part_at_another_place_is_another_key() {
    let at = |id: &str| edited("max_body = \"256 KiB\"\n", &format!("id = {id}\n"));
    is_mistake(
        &at("\"/id\""),
        &at("\"/key\""),
        &["[source.reports]: `id` was read at \"/id\" and is read at \"/key\""],
    );
    is_nothing(&at("\"/id\""), &at("[\"/id\", \"/key\"]"));
    let plain = at("\"/id\"").replace("[\"message:id\"]", "[\"/id\"]");
    is_nothing(&plain, &plain.replace("id = \"/id\"\n", "id = \"/key\"\n"));
    is_mistake(
        &plain,
        &plain.replace("tolerance", "each = \"/all\"\ntolerance"),
        &["`each` was nothing and is \"/all\""],
    );
}

#[test]
fn what_is_removed_is_told() {
    let more =
        "\n[[source.reports.rule]]\nname = \"other\"\nkey = [\"/x\"]\ndestination = \"mailer\"\n";
    is_warning(
        &format!("{BASE}{more}"),
        BASE,
        &["[[source.reports.rule]] \"other\": the rule is removed"],
    );
    let source = "\n[source.gone]\nscheme = \"github\"\nsecrets = [\"env:S\"]\n[[source.gone.rule]]\nname = \"all\"\nkey = [\"/id\"]\ndestination = \"mailer\"\n";
    is_warning(
        &format!("{BASE}{source}"),
        BASE,
        &["[source.gone]: the source is removed: messages to /hooks/gone are answered with 404"],
    );
    let destination =
        "\n[destination.gone]\nurl = \"https://o.example.com\"\nidempotency = \"none\"\n";
    is_warning(
        &format!("{BASE}{destination}"),
        BASE,
        &[
            "[destination.gone]: the destination is removed",
            "`ackbox list --destination gone`",
            "--table NAME",
        ],
    );
}

#[test]
fn edits_that_decide_what_becomes_of_open_entries_are_warned_of() {
    is_warning(
        BASE,
        &edited("[\"body\"]", "[\"/id\", \"/n\"]"),
        &["[[source.reports.rule]] \"ready\": `fingerprint` is edited"],
    );
    is_warning(
        BASE,
        &edited("https://mail.", "https://post."),
        &[
            "[destination.mailer]: it goes to another place (https://post.example.com:443 was https://mail.example.com:443)",
            "is held",
        ],
    );
    is_nothing(BASE, &edited("/actions", "/v2"));
    let kept = |accepted: &str| {
        let line = format!("max_body = \"256 KiB\"\nretention = {{ accepted = \"{accepted}\" }}\n");
        edited("max_body = \"256 KiB\"\n", &line)
    };
    is_nothing(BASE, &kept("90d"));
    is_nothing(BASE, &kept("91d"));
    let shorter = [
        "[source.reports]: `accepted` was 90d and is 30d: what was accepted before is known for as long as it was, and what is accepted from now on for less: what comes again after 30d makes a second action",
        "restore retention = { accepted = \"90d\" }",
    ];
    is_warning(BASE, &kept("30d"), &shorter);
    let renamed = kept("30d").replace(
        "[source.reports]\n",
        "[source.files]\npreviously = [\"reports\"]\n",
    );
    let renamed = renamed.replace("[[source.reports", "[[source.files");
    is_warning(BASE, &renamed, &["[source.files]: `accepted` was 90d"]);
    is_warning(
        BASE,
        &edited("\"Idempotency-Key\"", "\"X-Key\""),
        &["the key is sent in the header x-key and was in idempotency-key"],
    );
    let renamed = BASE
        .replace("destination.mailer", "destination.post")
        .replace("\"mailer\"", "\"post\"");
    is_warning(
        BASE,
        &renamed,
        &["[destination.post] goes to the same place"],
    );
}

#[test]
fn jobs_are_found_by_their_space_and_account() {
    let job = |job: &str| {
        edited(
            "max_body = \"256 KiB\"\n",
            &format!(
                "subject = \"/job\"\njob = {{ status = \"/s\", outcomes = {{ done = \"completed\" }}{job} }}\n"
            ),
        )
    };
    let plain = job("");
    is_nothing(&plain, &job(", space = \"reports\""));
    is_mistake(
        &plain,
        &job(", space = \"files\""),
        &[
            "[source.reports.job]: the job space was \"reports\" and is \"files\"",
            "write space = \"reports\"",
        ],
    );
    is_mistake(
        &plain,
        &job(", ids = \"per-account\""),
        &["`ids` was \"shared\" and is \"per-account\""],
    );
    is_mistake(
        &job(", ids = \"per-account\""),
        &job(", ids = \"per-account\", account = \"b\""),
        &["write account = \"default\""],
    );
    is_nothing(&plain, &job(", account = \"b\""));
    is_warning(&plain, BASE, &["the table is removed"]);
    // A source without rules is known by its scheme and its jobs.
    let bare = |name: &str| {
        format!("[source.{name}]\nscheme = \"tornado\"\nsecrets = [\"env:T\"]\njob = {{}}\n")
    };
    is_mistake(
        &bare("a"),
        &bare("b"),
        &[
            "[source.b]: [source.a] is gone",
            "its jobs are bound in the space \"a\"",
            "write previously = [\"a\"]",
        ],
    );
    is_nothing(&bare("a"), &format!("{}previously = [\"a\"]\n", bare("b")));
}

#[test]
fn another_rule_with_the_same_key_is_no_rename() {
    let plain = plain();
    let other = plain
        .replace("name = \"ready\"", "name = \"other\"")
        .replace("[\"export.ready\", \"invoice.*\"]", "[\"refund\"]");
    is_warning(&plain, &other, &["\"ready\": the rule is removed"]);
    let named = plain
        .replace("name = \"ready\"", "name = \"other\"")
        .replace("fingerprint =", "namespace = \"others\"\nfingerprint =");
    // Nor does a namespace let the events have other keys.
    let parts =
        ["\"other\": it wants \"export.ready\", \"invoice.*\", of which the rule \"ready\" made"];
    is_mistake(&plain, &named, &parts);
}

#[test]
fn of_two_rules_that_become_one_the_second_loses_its_keys() {
    let second = "\n[[source.reports.rule]]\nname = \"second\"\nkey = [\"message:id\"]\ndestination = \"mailer\"\n";
    let two = format!("{}{second}", plain());
    let one = plain().replace("payload = ", "previously = [\"second\"]\npayload = ");
    let parts = ["its namespace was \"reports/ready\" and is \"reports/second\""];
    is_mistake(&two, &one, &parts);
}
