//! For how long the built-in senders deliver a fact again: `check` refuses to forget what was accepted before that.

use std::time::Duration;

use ackbox_signature::{Manual, Repeats, Scheme};

use crate::support::builtin;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

#[test]
fn what_is_known_of_each_sender_is_said_and_what_is_not_is_left_out() {
    let spans: Vec<(&str, Repeats)> = Scheme::builtin_slugs()
        .map(|slug| (slug, builtin(slug).facts().repeats))
        .filter(|(_, repeats)| *repeats != Repeats::default())
        .collect();
    let repeats = |automatic, manual: Option<Duration>| Repeats {
        automatic,
        manual: manual.map(Manual::For),
    };
    let expected = [
        ("github", repeats(None, Some(3 * DAY))),
        ("shopify", repeats(Some(4 * HOUR), None)),
        ("slack", repeats(Some(6 * MINUTE), None)),
        ("stripe", repeats(Some(3 * DAY), Some(30 * DAY))),
        ("sume", repeats(Some(7 * MINUTE), None)),
        ("svix", repeats(Some(28 * HOUR), Some(90 * DAY))),
    ];
    assert_eq!(spans, expected);
}

#[test]
fn a_scheme_that_is_like_another_repeats_as_it_does() {
    let own = "like = \"stripe\"\nsigned = \"{body}\"\n[[signature]]\nheader = \"X-S\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n";
    let like = Scheme::from_toml("own", own).unwrap();
    assert_eq!(like.facts().repeats, builtin("stripe").facts().repeats);
}
