//! The example configuration, and a file with ten mistakes.

use std::collections::BTreeSet;

use ackbox_config::Config;

pub(crate) const EXAMPLE: &str = include_str!("../../../../ackbox.toml");

#[test]
fn the_example_has_neither_mistakes_nor_warnings() {
    assert_eq!(crate::warnings(EXAMPLE), "");
}

#[test]
fn the_example_has_the_sources_that_it_tells_of() {
    let config = Config::parse("f", EXAMPLE).unwrap();
    let names: Vec<&str> = config.sources.keys().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "github",
            "openrouter",
            "reports",
            "stripe",
            "sume",
            "tornado",
            "tornado-org"
        ]
    );
}

#[test]
fn ten_mistakes_of_ten_kinds_are_reported_at_once() {
    let text = r#"[source.reports]
scheme = "standard-webhook"
secrets = ["whsec_dontsay"]
max_body = "7 GB"
frobnicate = 1

[[source.reports.rule]]
name = "ready"
key = []
destination = "mailr"

[destination.mailer]
url = "ftp://mail.example.com"
idempotency = "none"
on_unknown = "retry"
timeout = 10s
backoff = { first = "2h", max = "1h" }

[delivery]
lease = "5s"
"#;
    let Err(mistakes) = Config::parse("f", text) else {
        panic!("the file was read");
    };
    let lines: BTreeSet<usize> = mistakes.0.iter().map(|mistake| mistake.line).collect();
    let expected = BTreeSet::from([2, 3, 4, 5, 9, 10, 13, 15, 16, 17, 20]);
    assert_eq!(lines, expected, "{mistakes}");
    assert_eq!(mistakes.0.len(), 11, "{mistakes}");
    assert!(!mistakes.to_string().contains("dontsay"), "{mistakes}");
}

/// Every block of a page is a whole configuration but for the destination, which is the example's.
#[test]
fn the_blocks_of_the_pages_on_sources_have_neither_mistakes_nor_warnings() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sources");
    let destination = EXAMPLE.find("[destination.pipeline]").unwrap();
    let destination = EXAMPLE[destination..].split("\n\n").next().unwrap();
    let mut blocks = 0;
    for page in std::fs::read_dir(folder).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let whole = format!("{block}\n{destination}\n");
            assert_eq!(crate::warnings(&whole), "", "{}:\n{whole}", page.display());
            blocks += 1;
        }
    }
    assert!(blocks >= 9, "{blocks}");
}
