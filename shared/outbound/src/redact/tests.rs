use proptest::prelude::*;

use super::*;

fn scrubbed(values: &[&str], text: &str) -> String {
    let mut redactor = Redactor::default();
    values.iter().for_each(|value| redactor.hide(value));
    redactor.scrub(text)
}

#[test]
fn a_text_without_secrets_stays_as_it_is_but_for_white_space() {
    assert_eq!(scrubbed(&[], " no\n\n such\tuser "), "no such user");
    assert_eq!(
        scrubbed(&["Bearer abcdefghijklmnop"], "Bearer token required: é"),
        "Bearer token required: é"
    );
}

#[test]
fn a_value_is_replaced_whole_and_in_pieces() {
    let values = ["Bearer abcdefghijklmnop"];
    for (text, expected) in [
        ("got Bearer abcdefghijklmnop.", "got Bearer [redacted]."),
        ("got abcdefghijkl...", "got [redacted]..."),
        ("got ...ijklmnop", "got ...[redacted]"),
        ("ABCDEFGHIJKLMNOP", "[redacted]"),
        ("abcdefghijklmnopabcdefghijklmnop", "[redacted]"),
        ("abcdefgh ijklmnop", "[redacted] [redacted]"),
        ("abcdefg", "abcdefg"),
    ] {
        assert_eq!(scrubbed(&values, text), expected, "{text}");
    }
}

#[test]
fn short_values_are_replaced_too() {
    assert_eq!(
        scrubbed(&["x1"], "key x1 is wrong"),
        "key [redacted] is wrong"
    );
    assert_eq!(
        scrubbed(&["hunter2"], "key hunt.. is wrong"),
        "key [redacted].. is wrong"
    );
    assert_eq!(scrubbed(&[""], "fine"), "fine");
    assert_eq!(scrubbed(&[" "], "fine enough"), "fine enough");
}

#[test]
fn every_signature_of_a_header_is_replaced_alone() {
    let values = ["v1,AAAABBBBCCCCDDDD= v1a,EEEEFFFFGGGGHHHH="];
    assert_eq!(
        scrubbed(&values, "neither EEEEFFFFGGGGHHHH= nor AAAABBBBCCCCDDDD="),
        "neither [redacted] nor [redacted]"
    );
}

#[test]
fn a_secret_is_found_behind_characters_of_several_bytes() {
    assert_eq!(
        scrubbed(&["hünter2hünter2"], "é: hünter2hünter2é"),
        "é: [redacted]é"
    );
}

proptest! {
    #[test]
    fn no_value_survives_in_any_text(value in "[!-~]{1,40}", before in ".{0,40}", after in ".{0,40}") {
        let scrubbed = scrubbed(&[&value], &format!("{before}{value}{after}"));
        let mark_holds_it = MARK.contains(&value);
        prop_assert!(mark_holds_it || !scrubbed.contains(&value), "{scrubbed}");
    }
}
