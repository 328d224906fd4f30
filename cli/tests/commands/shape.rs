//! What every command has in common.

use crate::support::Place;

const COMMANDS: [&str; 14] = [
    "demo", "dev", "send", "check", "verify", "list", "stats", "show", "redrive", "resolve",
    "redact", "pause", "resume", "job",
];

#[test]
fn without_a_command_the_commands_are_told_and_the_exit_code_is_2() {
    let ended = Place::empty().run(&[]);
    assert_eq!(ended.code, Some(2));
    for command in COMMANDS {
        assert!(ended.err.contains(command), "{}", ended.err);
    }
}

#[test]
fn help_goes_to_standard_output_and_has_examples() {
    let place = Place::empty();
    for command in COMMANDS {
        let ended = place.run(&[command, "--help"]);
        assert_eq!(ended.code, Some(0), "{command}");
        assert!(ended.err.is_empty(), "{command}: {}", ended.err);
        let example = format!("ackbox {command}");
        assert!(ended.out.contains("Examples:"), "{command}: {}", ended.out);
        assert!(ended.out.contains(&example), "{command}: {}", ended.out);
    }
}

#[test]
fn under_the_heading_of_the_operator_stands_what_is_told_of_them_and_nothing_else() {
    let place = Place::empty();
    for command in ["redrive", "resolve", "redact", "pause", "resume"] {
        let help = place.run(&[command, "--help"]).out;
        let operator = help.split("\nOperator:\n").nth(1).unwrap();
        let operator = operator.split("\nExamples:").next().unwrap();
        let options: Vec<&str> = operator
            .lines()
            .filter_map(|line| line.trim().split(' ').next())
            .filter(|word| word.starts_with("--"))
            .collect();
        assert_eq!(
            options,
            ["--by", "--reason", "--dry-run", "--yes"],
            "{command}: {help}"
        );
        let before = help.split("\nOperator:").next().unwrap();
        assert!(before.contains("--db <FILE>"), "{command}: {help}");
    }
}

#[test]
fn a_wrong_command_line_is_told_on_standard_error_with_2() {
    let place = Place::configured();
    for wrong in [
        &["sned"][..],
        &["send"],
        &["send", "shop", "--bdy", "x"],
        &["send", "shop", "--url", "not a url"],
        &["send", "shop", "--url", "ftp://x/y"],
        &["send", "shop", "--secret", "3"],
        &["send", "shop", "--secret", "0"],
        &["send", "shop", "--body", "no-such-file"],
        &["send", "nobody"],
        &["verify", "shop", "--headers", "h"],
        &["verify", "shop", "--headers", "-", "--body", "-"],
        &["verify", "shop", "--headers", "no", "--body", "no"],
        &["check", "--config", "no-such.toml"],
        &["list", "--state", "lost"],
        &["list", "--limit", "0"],
        &["list", "--destination", "Not A Name"],
        &["list"],
        &["show", "act_short"],
        &["show"],
        &["job", "add"],
        &["job", "add", "no-such.json"],
        &["job", "show", "shop"],
        &["job", "show", "Shop", "j-1"],
        &["job", "show", "shop", " "],
        &["job", "list", "--limit", "0"],
        &["job", "list"],
    ] {
        let ended = place.run(wrong);
        assert_eq!(ended.code, Some(2), "{wrong:?}: {ended:?}");
        assert!(ended.out.is_empty(), "{wrong:?}: {ended:?}");
        assert!(
            ended.err.starts_with("error:") || wrong == ["show"] || ended.err.contains("error:"),
            "{wrong:?}: {ended:?}"
        );
    }
}

#[test]
fn a_secret_that_was_pasted_in_place_of_its_reference_is_not_repeated() {
    let place = Place::configured();
    let pasted = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    for command in [
        &["send", "shop", "--secret", pasted][..],
        &[
            "verify",
            "shop",
            "--headers",
            "x",
            "--body",
            "y",
            "--secret",
            pasted,
        ],
    ] {
        let ended = place.run(command);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("env:NAME"), "{ended:?}");
        assert!(!format!("{ended:?}").contains("MfKQ"), "{ended:?}");
    }
}

#[test]
fn a_pipe_is_never_coloured() {
    let place = Place::configured().with("TERM", "xterm-256color");
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'));
}

#[test]
fn a_configuration_that_is_missing_is_told_with_its_path() {
    let ended = Place::empty().run(&["send", "shop"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("ackbox.toml"), "{}", ended.err);
    let place = Place::empty().with("ACKBOX_CONFIG", "elsewhere/a\u{1b}[2Jb.toml");
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.err.contains("elsewhere/a\\u{1b}[2Jb.toml"),
        "{}",
        ended.err
    );
}
