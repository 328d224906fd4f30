//! An `ackbox.toml` as a user writes it. Any text gives a configuration or mistakes, each with its
//! place and in words; one text has one meaning.

use ackbox_config::{Config, Mistake};

use crate::says_something;

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let read = Config::parse("ackbox.toml", text);
    let again = Config::parse("ackbox.toml", text);
    match (read, again) {
        (Ok(config), Ok(again)) => {
            assert_eq!(
                format!("{config:?}"),
                format!("{again:?}"),
                "two readings of one text"
            );
            each_has_a_place(text, &config.warnings);
            is_within_bounds(&config);
        }
        (Err(mistakes), Err(again)) => {
            assert_eq!(mistakes, again, "two readings of one text");
            assert!(!mistakes.0.is_empty(), "refused without a reason");
            each_has_a_place(text, &mistakes.0);
        }
        _ => panic!("one text is read once and refused once"),
    }
}

fn each_has_a_place(text: &str, mistakes: &[Mistake]) {
    let lines = text.matches('\n').count() + 1;
    for mistake in mistakes {
        assert!((1..=lines).contains(&mistake.line), "{mistake}");
        assert!(mistake.column >= 1, "{mistake}");
        says_something(&mistake.message);
        says_something(&mistake.to_string());
    }
}

/// What every later stage relies on.
fn is_within_bounds(config: &Config) {
    let timing = &config.delivery.timing;
    for destination in config.destinations.values() {
        let policy = &destination.policy;
        assert!(
            timing.lease > policy.timeout + timing.settle_margin + timing.clock_skew,
            "a lease that an attempt can outlive"
        );
        assert!(!policy.timeout.is_zero() && !policy.backoff.first.is_zero());
        assert!(policy.backoff.first <= policy.backoff.max);
    }
    assert!(timing.first_due > timing.lease);
    for source in config.sources.values() {
        assert!(!source.secrets.is_empty(), "a source that nobody can prove");
        for rule in &source.source.rules {
            assert!(!rule.key.is_empty(), "a rule without a key");
            assert!(config.destinations.contains_key(&rule.destination));
        }
    }
}
