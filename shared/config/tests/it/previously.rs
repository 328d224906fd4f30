//! `previously` of sources and rules: what keeps its identity under a new name, and who may claim one.

use ackbox_config::Config;
use ackbox_domain::RuleIdentity;

use crate::{case, check, edited, mistakes};

const BODY: &str = "max_body = \"256 KiB\"\n";
const RULE: &str = "payload = \"body\"\n";

fn rule(text: &str, source: &str) -> RuleIdentity {
    let config = Config::parse("f", text).unwrap();
    let source = &config.sources[source].source;
    RuleIdentity::of(source, &source.rules[0])
}

#[test]
fn a_rename_changes_no_key_no_job_space_no_path_and_no_retention() {
    let job = "subject = \"/job\"\njob = { status = \"/s\", outcomes = { done = \"completed\" } }\nretention = { accepted = \"100d\" }\n";
    let before = edited("namespace = \"reports\"\n", "")
        .replace("[\"message:id\"]", "[\"source\", \"message:id\"]")
        .replace(BODY, job);
    let once = before
        .replace("source.reports", "source.exports")
        .replace("job =", "previously = [\"reports\"]\njob =")
        .replace(RULE, "previously = [\"ready\"]\n")
        .replace("name = \"ready\"", "name = \"done\"");
    let twice = once
        .replace("source.exports", "source.files")
        .replace("[\"reports\"]", "[\"reports\", \"exports\"]");
    let first = rule(&before, "reports");
    assert_eq!(first.namespace, "reports/ready");
    assert!(rule(&once, "exports").makes_the_keys_of(&first));
    assert!(rule(&twice, "files").makes_the_keys_of(&first));

    let config = Config::parse("f", &twice).unwrap();
    let jobs = config.sources["files"].source.jobs.as_ref().unwrap();
    assert_eq!(jobs.space.as_str(), "reports");
    for name in ["files", "exports", "reports"] {
        let source = config.source_called(name).unwrap();
        assert_eq!(source.source.name.as_str(), "files");
        let kept = config.retentions().of(&name.parse().unwrap());
        assert_eq!(kept, source.retention);
    }
    for name in ["other", "Files", ""] {
        assert!(config.source_called(name).is_none(), "{name}");
    }
}

#[test]
fn a_name_belongs_to_one() {
    const HELP: &str = "write the names that it had, the oldest first; never remove one";
    let own = format!("4:15: `previously` has \"reports\", which is its name now; {HELP}");
    let twice = format!("4:20: `previously` names \"a\" twice; {HELP}");
    let own_rule = format!("15:15: `previously` has \"ready\", which is its name now; {HELP}");
    let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    check(
        &[
            case(
                "empty",
                BODY,
                "previously = []\n",
                "4:14: `previously` is empty; write the names that it had, the oldest first, or leave `previously` out",
            ),
            case("own", BODY, "previously = [\"reports\"]\n", leaked(&own)),
            case(
                "twice",
                BODY,
                "previously = [\"a\", \"a\"]\n",
                leaked(&twice),
            ),
            case(
                "no name",
                BODY,
                "previously = [\"A\"]\n",
                "4:15: a source's previous name: \"A\" is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit",
            ),
            case(
                "ours",
                BODY,
                "previously = [\"ackbox\"]\n",
                "4:14: `previously` has \"ackbox\", which is kept for ackbox's own notices; remove it",
            ),
            case(
                "own, of a rule",
                RULE,
                "previously = [\"ready\"]\n",
                leaked(&own_rule),
            ),
        ],
        mistakes,
    );
    let other =
        "\n[source.other]\nscheme = \"github\"\nsecrets = [\"env:O\"]\npreviously = [\"old\"]\n";
    let said = |previous: &str| {
        let text = edited(BODY, &format!("previously = [\"{previous}\"]\n"));
        mistakes(&format!("{text}{other}"))
    };
    assert_eq!(
        said("other"),
        "4:15: `previously` has \"other\", which is the name of [source.other]: both would make the same keys; a name belongs to one for ever: remove it from one of them, or rename the other"
    );
    assert!(
        said("old")
            .contains("`previously` has \"old\", which is a previous name of [source.reports]"),
        "{}",
        said("old")
    );
    assert_eq!(said("older"), "no mistake");

    let rules = |previous: &str| {
        let second = format!(
            "\n[[source.reports.rule]]\nname = \"second\"\nkey = [\"message:id\"]\ndestination = \"mailer\"\nprevious = []\npreviously = [\"{previous}\"]\n"
        );
        mistakes(
            &edited(RULE, &format!("previously = [\"first\"]\n{second}"))
                .replace("previous = []\n", ""),
        )
    };
    assert!(
        rules("ready").contains("which is the name of the rule \"ready\""),
        "{}",
        rules("ready")
    );
    assert!(
        rules("first").contains("which is a previous name of the rule \"ready\""),
        "{}",
        rules("first")
    );
    assert_eq!(rules("zeroth"), "no mistake");
}
