//! `retention`, `max_age` and `time` of a source, and what must agree with how its sender repeats itself.

use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::Retention;

use crate::{case, check, edited, mistakes, warnings};

const DAY: Duration = Duration::from_secs(24 * 3600);
const BODY: &str = "max_body = \"256 KiB\"\n";
const SCHEME: &str = "scheme = \"standard-webhooks\"\n";

#[test]
fn what_is_not_said_is_as_usual() {
    let text = edited(
        BODY,
        "retention = { accepted = \"120d\", payload = \"1h\" }\n",
    );
    let config = Config::parse("f", &text).unwrap();
    let expected = Retention {
        accepted: 120 * DAY,
        payload: DAY / 24,
        ..Retention::default()
    };
    assert_eq!(config.sources["reports"].retention, expected);
    assert_eq!(
        config.retentions().of(&"reports".parse().unwrap()),
        expected
    );
    let other = config.retentions().of(&"unknown".parse().unwrap());
    assert_eq!(other, Retention::default());
}

#[test]
fn a_retention_that_cannot_be_is_told_with_its_limits() {
    check(
        &[
            case(
                "no table",
                BODY,
                "retention = \"90d\"\n",
                "4:13: `retention` is a text, not a table; write retention = { accepted = \"90d\" }",
            ),
            case(
                "too short",
                BODY,
                "retention = { accepted = \"23h\" }\n",
                "4:26: `accepted` is 23h; write between \"1d\" and \"3650d\"",
            ),
            case(
                "too long",
                BODY,
                "retention = { conflict = \"3651d\" }\n",
                "4:26: `conflict` is 3651d; write between \"1h\" and \"3650d\"",
            ),
            case(
                "payload",
                BODY,
                "retention = { payload = \"59m\", entry = 3 }\n",
                "4:25: `payload` is 59m; write between \"1h\" and \"3650d\"\n4:40: `entry` is a number, not a text; write entry = \"30d\"",
            ),
            case(
                "a slip",
                BODY,
                "retention = { acepted = \"90d\" }\n",
                "4:15: `retention` of [source.reports] has no key \"acepted\"; did you mean `accepted`?",
            ),
        ],
        mistakes,
    );
}

fn sent_by(scheme: &str, more: &str) -> String {
    edited(SCHEME, &format!("scheme = \"{scheme}\"\n{more}")).replace("tolerance = \"5m\"\n", "")
}

#[test]
fn what_is_accepted_outlives_the_redeliveries_of_its_sender_and_the_longest_window() {
    assert_eq!(mistakes(&sent_by("stripe", "")), "no mistake");
    let short = sent_by("stripe", "retention = { accepted = \"32d\" }\n");
    assert_eq!(
        mistakes(&short),
        "3:26: what [source.reports] accepts is kept for 32d, and must be for 33d: \"stripe\" delivers a fact again for 30d, and an entry may be tried for 3d; a redelivery after that would make a new action; write retention = { accepted = \"33d\" } in [source.reports], or a max_age of at most 32d with the `time` of a fact"
    );
    assert_eq!(mistakes(&short.replace("32d", "33d")), "no mistake");
    // Without a word of its own, the source is the place.
    let svix = mistakes(&sent_by("svix", ""));
    assert!(
        svix.starts_with("1:1: what [source.reports] accepts is kept for 90d, and must be for 93d"),
        "{svix}"
    );
    // The longest of the times counts, also that of keys.
    let window = short
        .replace("32d", "39d")
        .replace("window = \"24h\"", "window = \"10d\"");
    assert!(
        mistakes(&window).contains("must be for 40d"),
        "{}",
        mistakes(&window)
    );
    // A destination that no rule names does not count; where jobs may name any, it does.
    let other = "\n[destination.other]\nurl = \"https://o.example.com\"\nidempotency = { window = \"10d\" }\n";
    assert_eq!(
        mistakes(&format!("{}{other}", short.replace("32d", "33d"))),
        "no mistake"
    );
    let jobs = short.replace("32d", "33d\", entry = \"30d").replace(
        "on_conflict",
        "subject = \"/job\"\njob = { status = \"/s\", outcomes = { done = \"completed\" } }\non_conflict",
    );
    let said = mistakes(&format!("{jobs}{other}"));
    assert!(said.contains("must be for 40d"), "{said}");
}

#[test]
fn a_max_age_within_the_retention_makes_spans_irrelevant() {
    let fresh = "retention = { accepted = \"2d\" }\nmax_age = \"2d\"\ntime = \"/created\"\n";
    assert_eq!(mistakes(&sent_by("stripe", fresh)), "no mistake");
    let older = fresh.replace("max_age = \"2d\"", "max_age = \"3d\"");
    let said = mistakes(&sent_by("stripe", &older));
    assert!(said.contains("must be for 6d"), "{said}");
}

const FOREVER: &str = "\n[scheme.forever]\nsigned = \"{body}\"\nevent = [{ body = \"/type\" }]\n[[scheme.forever.signature]]\nheader = \"X-S\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n[scheme.forever.repeats]\nmanual = \"unbounded\"\n";

#[test]
fn a_sender_that_repeats_for_ever_is_warned_of_unless_old_facts_are_refused() {
    let sent = |more: &str| {
        let text = sent_by("forever", more).replace("[\"message:id\"]", "[\"/id\"]");
        format!("{text}{FOREVER}")
    };
    assert_eq!(
        warnings(&sent("")),
        "1:1: \"forever\" can have a fact delivered again at any time: a redelivery to [source.reports] after 90d makes a new action; write max_age = \"90d\" and the `time` of a fact, where the body has one that is signed; or a longer retention = { accepted = \"..\" }"
    );
    assert_eq!(
        warnings(&sent("max_age = \"90d\"\ntime = \"/created\"\n")),
        ""
    );
    let long = warnings(&sent("max_age = \"91d\"\ntime = \"/created\"\n"));
    assert!(
        long.ends_with("write a max_age of at most 90d in place of 91d"),
        "{long}"
    );
}

#[test]
fn what_a_scheme_says_of_repeats_is_judged() {
    let wrong = |repeats: &str| {
        let text = sent_by("forever", "").replace("[\"message:id\"]", "[\"/id\"]");
        mistakes(&format!("{text}{FOREVER}").replace("manual = \"unbounded\"", repeats))
    };
    for (repeats, part) in [
        ("", "`repeats`: says nothing"),
        (
            "manual = \"for ever\"",
            "`repeats.manual`: `for ever` is not a length of time",
        ),
        (
            "automatic = \"unbounded\"",
            "`repeats.automatic`: `unbounded` is not a length of time",
        ),
        ("often = true", "no key \"often\""),
    ] {
        assert!(
            wrong(repeats).contains(part),
            "{repeats}: {}",
            wrong(repeats)
        );
    }
}

#[test]
fn a_max_age_needs_a_time_that_is_signed() {
    check(
        &[
            case(
                "no time",
                BODY,
                "max_age = \"30d\"\n",
                "4:11: `max_age` does not say where the time of a fact stands; write time = \"/pointer\", to a value that the signature covers and that stays when the fact is delivered again",
            ),
            case(
                "no age",
                BODY,
                "time = \"/created\"\n",
                "4:8: `time` is read for `max_age` alone, and this source has none; write max_age = \"30d\", or remove `time`",
            ),
            case(
                "an age",
                BODY,
                "max_age = \"1s\"\ntime = [\"/a\", \"/b\"]\n",
                "4:11: `max_age` is 1s; write between \"1m\" and \"3650d\"",
            ),
            case(
                "a header",
                BODY,
                "max_age = \"1d\"\ntime = [\"/a\", \"header:X-Time\"]\ntrust_unsigned_id = true\n",
                "5:8: `time` stands in the header x-time, which the signature of \"standard-webhooks\" does not cover: whoever replays an old message can make it young; name a value that is signed, or remove `time` and `max_age`; trust_unsigned_id and trust_body do not help here",
            ),
        ],
        mistakes,
    );
    let token = sent_by(
        "token",
        "max_age = \"1d\"\ntime = \"/created\"\ntrust_body = true\n",
    );
    let said = mistakes(&token);
    assert!(
        said.starts_with(
            "4:8: `time` stands in the body, which the signature of \"token\" does not cover"
        ),
        "{said}"
    );
    assert_eq!(
        mistakes(&edited(BODY, "max_age = \"1d\"\ntime = [\"/a\", \"/b\"]\n")),
        "no mistake"
    );
}
