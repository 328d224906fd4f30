//! A configuration compared with what a table remembers.

use std::collections::BTreeSet;

use ackbox_config::{Changes, Config, Remembered, against_table};
use ackbox_domain::{Name, RuleIdentity};

use crate::{BASE, edited};

/// What a table remembers after each of these configurations was in use.
struct Table {
    sources: BTreeSet<Name>,
    spaces: BTreeSet<Name>,
    rules: BTreeSet<RuleIdentity>,
}

impl Table {
    fn after(texts: &[&str]) -> Self {
        let mut table = Self {
            sources: BTreeSet::from(["ackbox".parse().unwrap()]),
            spaces: BTreeSet::new(),
            rules: BTreeSet::new(),
        };
        for text in texts {
            let config = Config::parse("f", text).unwrap();
            table.spaces.extend(config.spaces());
            for source in config.sources.values().map(|source| &source.source) {
                table.sources.insert(source.name.clone());
                let rules = source.rules.iter();
                table
                    .rules
                    .extend(rules.map(|rule| RuleIdentity::of(source, rule)));
            }
        }
        table
    }

    fn against(&self, text: &str) -> Changes {
        let known = Remembered {
            sources: &self.sources,
            spaces: &self.spaces,
            rules: &self.rules,
        };
        against_table(known, &Config::parse("f", text).unwrap())
    }

    #[track_caller]
    fn refuses(&self, text: &str, part: &str) {
        let changes = self.against(text);
        assert_eq!(changes.mistakes.len(), 1, "{changes:?}");
        let change = &changes.mistakes[0];
        let said = format!("{}: {}; {}", change.place, change.message, change.help);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn edits_of_identity_are_seen_without_an_old_file() {
    let plain = edited("namespace = \"reports\"\n", "");
    let table = Table::after(&[&plain]);
    assert_eq!(table.against(&plain), Changes::default());
    table.refuses(
        &plain.replace("[\"message:id\"]", "[\"/id\"]"),
        "its `key` was [\"message:id\"] and is [\"/id\"]",
    );
    table.refuses(
        &plain.replace("name = \"ready\"", "name = \"done\""),
        "the rule \"ready\" is gone",
    );
    let renamed = plain.replace("source.reports", "source.exports");
    table.refuses(
        &renamed,
        "write previously = [\"reports\"] in [source.exports]",
    );
    let said = renamed.replace(
        "[source.exports]\n",
        "[source.exports]\npreviously = [\"reports\"]\n",
    );
    assert_eq!(table.against(&said), Changes::default());
    let fingerprint = table.against(&plain.replace("[\"body\"]", "[\"/id\", \"/n\"]"));
    assert!(fingerprint.mistakes.is_empty());
    assert!(
        fingerprint.warnings[0]
            .message
            .starts_with("`fingerprint` is edited")
    );
}

#[test]
fn an_edit_that_is_in_use_has_happened() {
    let other = edited("[\"message:id\"]", "[\"/id\"]");
    let table = Table::after(&[BASE, &other]);
    assert_eq!(table.against(&other), Changes::default());
    assert_eq!(table.against(BASE), Changes::default());
}

#[test]
fn a_removed_source_is_told_and_a_table_that_knows_nothing_says_nothing() {
    let gone = BASE
        .replace("source.reports", "source.files")
        .replace("[\"message:id\"]", "[\"/id\"]");
    let changes = Table::after(&[BASE]).against(&gone);
    assert!(changes.mistakes.is_empty(), "{changes:?}");
    assert_eq!(changes.warnings.len(), 1, "{changes:?}");
    assert_eq!(changes.warnings[0].place, "[source.reports]");
    assert_eq!(Table::after(&[]).against(BASE), Changes::default());
}

#[test]
fn a_rule_that_is_gone_names_those_that_may_have_its_events() {
    let plain = edited("namespace = \"reports\"\n", "");
    let table = Table::after(&[&plain]);
    let other = plain
        .replace("name = \"ready\"", "name = \"done\"")
        .replace("[\"message:id\"]", "[\"/id\"]");
    let changes = table.against(&other);
    assert!(changes.mistakes.is_empty(), "{changes:?}");
    assert_eq!(changes.warnings.len(), 1, "{changes:?}");
    let message = &changes.warnings[0].message;
    assert!(
        message.contains("the table does not know which events those were: where \"done\" wants them, it makes other keys, and whatever comes again makes a second action"),
        "{message}"
    );
    assert!(
        changes.warnings[0]
            .help
            .contains("`ackbox check --against OLD.toml`")
    );
}

#[test]
fn a_job_space_that_no_source_has_is_told() {
    let job = |job: &str| {
        edited(
            "max_body = \"256 KiB\"\n",
            &format!(
                "subject = \"/job\"\njob = {{ status = \"/s\", outcomes = {{ done = \"completed\" }}{job} }}\n"
            ),
        )
    };
    let table = Table::after(&[&job("")]);
    assert_eq!(table.against(&job("")), Changes::default());
    table.refuses(
        &job(", space = \"files\""),
        "write space = \"reports\" in it",
    );
    let without = table.against(BASE);
    assert!(without.mistakes.is_empty());
    assert!(
        without.warnings[0]
            .message
            .contains("the space \"reports\", which no source has")
    );
}
