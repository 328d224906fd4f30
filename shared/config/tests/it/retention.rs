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
fn what_is_accepted_outlives_the_automatic_repeats_of_its_sender_and_the_longest_window() {
    assert_eq!(mistakes(&sent_by("stripe", "")), "no mistake");
    let short = sent_by("stripe", "retention = { accepted = \"5d\" }\n");
    assert_eq!(
        mistakes(&short),
        "3:26: what [source.reports] accepts is kept for 5d, and must be for 6d: \"stripe\" repeats a fact by itself for 3d, and an entry may be tried for 3d; a redelivery after that would make a new action; write retention = { accepted = \"6d\" } in [source.reports], or a max_age of at most 4d with the `time` of a fact"
    );
    assert_eq!(mistakes(&short.replace("5d", "6d")), "no mistake");
    // A max_age that refuses those repeats is no way out.
    let shorter = mistakes(&short.replace("5d", "3d"));
    assert!(
        shorter.ends_with("write retention = { accepted = \"6d\" } in [source.reports]"),
        "{shorter}"
    );
    // The longest of the times counts, also that of keys.
    let window = short
        .replace("5d", "12d")
        .replace("window = \"24h\"", "window = \"10d\"");
    assert!(
        mistakes(&window).contains("must be for 13d"),
        "{}",
        mistakes(&window)
    );
    // A destination that no rule names does not count; where jobs may name any, it does.
    let other = "\n[destination.other]\nurl = \"https://o.example.com\"\nidempotency = { window = \"10d\" }\n";
    assert_eq!(
        mistakes(&format!("{}{other}", short.replace("5d", "6d"))),
        "no mistake"
    );
    let jobs = short.replace("5d", "6d\", entry = \"30d").replace(
        "on_conflict",
        "subject = \"/job\"\njob = { status = \"/s\", outcomes = { done = \"completed\" } }\non_conflict",
    );
    let said = mistakes(&format!("{jobs}{other}"));
    assert!(said.contains("must be for 13d"), "{said}");
    // Without a word of its own, the source is the place.
    let long = sent_by("stripe", "").replace("retry_for = \"3d\"", "retry_for = \"90d\"");
    assert!(
        mistakes(&long)
            .starts_with("1:1: what [source.reports] accepts is kept for 90d, and must be for 93d"),
        "{}",
        mistakes(&long)
    );
}

#[test]
fn a_max_age_within_the_retention_makes_spans_irrelevant() {
    let fresh = "retention = { accepted = \"5d\" }\nmax_age = \"4d\"\ntime = \"/created\"\n";
    assert_eq!(mistakes(&sent_by("stripe", fresh)), "no mistake");
    assert_eq!(warnings(&sent_by("stripe", fresh)), "");
    // A fact may be dated five minutes ahead, and is fresh for so much longer.
    let older = fresh.replace("max_age = \"4d\"", "max_age = \"5d\"");
    let said = mistakes(&sent_by("stripe", &older));
    assert!(said.contains("must be for 6d"), "{said}");
    let exact = fresh.replace("\"4d\"", "\"7195m\"");
    assert_eq!(mistakes(&sent_by("stripe", &exact)), "no mistake");
}

#[test]
fn a_max_age_never_refuses_what_the_sender_repeats_by_itself() {
    let aged = |scheme, most: &str| {
        let more = format!("max_age = \"{most}\"\ntime = \"/created\"\n");
        sent_by(scheme, &more)
    };
    assert_eq!(
        mistakes(&aged("stripe", "71h")),
        "3:11: `max_age` of [source.reports] is 2d 23h, and \"stripe\" repeats a fact by itself for 3d: what could not be accepted for 2d 23h, as in an outage of ours, would be refused each time that it comes again, and lost; write max_age = \"4d\", or longer"
    );
    assert_eq!(mistakes(&aged("stripe", "72h")), "no mistake");
    assert_eq!(warnings(&aged("standard-webhooks", "1h")), "");
    assert_eq!(
        warnings(&aged("standard-webhooks", "59m")),
        "3:11: `max_age` of [source.reports] is 59m, and for how long \"standard-webhooks\" repeats a fact by itself is not known: what could not be accepted for so long is refused when it comes again, and lost; write at least max_age = \"1h\", or longer than the sender repeats itself"
    );
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
        "1:1: \"forever\" can have a fact delivered again at any time: a redelivery to [source.reports] after 90d makes a new action; write max_age = \"89d\" and the `time` of a fact, where the body has one that is signed; or a longer retention = { accepted = \"..\" }"
    );
    assert_eq!(
        warnings(&sent("max_age = \"89d\"\ntime = \"/created\"\n")),
        ""
    );
    let long = warnings(&sent("max_age = \"90d\"\ntime = \"/created\"\n"));
    assert!(
        long.ends_with("write a max_age of at most 89d in place of 90d; or a longer retention = { accepted = \"..\" }"),
        "{long}"
    );
}

#[test]
fn a_replay_that_somebody_asks_for_is_warned_of() {
    assert_eq!(warnings(&sent_by("svix", "")), "");
    let short = |days: u32| {
        sent_by(
            "svix",
            &format!("retention = {{ accepted = \"{days}d\" }}\n"),
        )
    };
    assert_eq!(
        warnings(&short(89)),
        "3:26: \"svix\" can have a fact delivered again for 90d: a redelivery to [source.reports] after 89d makes a new action; write max_age = \"88d\" and the `time` of a fact, where the body has one that is signed; or retention = { accepted = \"90d\" }"
    );
    assert_eq!(warnings(&short(90)), "");
    let aged = short(89).replace(
        "on_conflict",
        "max_age = \"30d\"\ntime = \"/at\"\non_conflict",
    );
    assert_eq!(warnings(&aged), "");
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
