//! Timestamps: how far they may be off, what they may look like, and what they must never lend to what they touch.

use std::time::Duration;

use ackbox_signature::Scheme;

use crate::support::{
    HUGE, NOW_MS, STRIPE_SIGNATURE, builtin, code, headers, message, signed, signing_secrets,
    verify, with,
};

#[test]
fn the_tolerance_works_in_both_directions_to_the_millisecond() {
    for (scheme, secret) in signing_secrets() {
        let Some(tolerance) = scheme.facts().tolerance else {
            continue;
        };
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        let at = |now_ms: u64, own: Option<Duration>| {
            code(scheme.verify(&message(&lines, b"{}"), &secrets, now_ms, own))
        };
        let ms = u64::try_from(tolerance.as_millis()).unwrap();
        let outcomes = [
            at(NOW_MS - ms - 1, None),
            at(NOW_MS - ms, None),
            at(NOW_MS + ms, None),
            at(NOW_MS + ms + 1, None),
        ];
        assert_eq!(
            outcomes,
            ["too-new", "accepted", "accepted", "too-old"],
            "{}",
            scheme.slug()
        );
        let second = Some(Duration::from_secs(1));
        assert_eq!(
            [at(NOW_MS + 1_000, second), at(NOW_MS + 1_001, second)],
            ["accepted", "too-old"]
        );
        assert_eq!(
            [at(0, Some(HUGE)), at(u64::MAX, None)],
            ["accepted", "too-old"]
        );
        let zero = Some(Duration::ZERO);
        assert_eq!(
            [at(NOW_MS, zero), at(NOW_MS + 1, zero), at(NOW_MS - 1, zero)],
            ["accepted", "too-old", "too-new"]
        );
    }
}

#[test]
fn a_scheme_without_a_timestamp_has_no_age() {
    let scheme = builtin("github");
    let secret = scheme.secret("s", "a secret of some length").unwrap();
    let lines = signed(&scheme, &secret, b"{}");
    let secrets = [secret];
    let verified = scheme
        .verify(
            &message(&lines, b"{}"),
            &secrets,
            u64::MAX,
            Some(Duration::ZERO),
        )
        .unwrap();
    assert_eq!(
        (verified.signed_at_ms(), scheme.facts().tolerance),
        (None, None)
    );
}

#[test]
fn milliseconds_where_seconds_belong_are_recognised() {
    let scheme = builtin("stripe");
    let lines = headers(&[(
        STRIPE_SIGNATURE,
        &format!("t={NOW_MS},v1={}", "0".repeat(64)),
    )]);
    let refusal = verify(&scheme, &lines, b"{}", &[]).unwrap_err();
    assert_eq!(refusal.code(), "too-new");
    assert!(refusal.to_string().contains("milliseconds"), "{refusal}");
}

#[test]
fn no_digit_moves_between_a_timestamp_and_the_value_that_it_touches() {
    for (signed_bytes, original, moved) in [
        // The body gives its last digit away, or takes the timestamp's first.
        (
            "{body}{timestamp}",
            "#10",
            [("#1", "01735689600"), ("#101", "735689600")],
        ),
        (
            "{body}{timestamp}",
            "#1",
            [("#", "11735689600"), ("#11", "735689600")],
        ),
        // The same at the timestamp's end.
        (
            "{timestamp}{body}",
            "0#",
            [("#", "17356896000"), ("00#", "173568960")],
        ),
    ] {
        let scheme = Scheme::from_toml(
            "touching",
            &format!(
                "signed = \"{signed_bytes}\"\ntimestamp = {{ header = \"X-Time\" }}\n[[signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n"
            ),
        )
        .unwrap();
        let secrets = [scheme
            .secret("s", "an example secret, not a real one")
            .unwrap()];
        let lines = signed(&scheme, &secrets[0], original.as_bytes());
        let accepted = code(verify(&scheme, &lines, original.as_bytes(), &secrets));
        assert_eq!(accepted, "accepted", "{signed_bytes}");
        for (body, stamp) in moved {
            let lines = with(&lines, "X-Time", stamp);
            let reason = code(verify(&scheme, &lines, body.as_bytes(), &secrets));
            let expected = match stamp.len() {
                _ if stamp.starts_with('0') => "malformed-header",
                ..10 => "too-old",
                _ => "too-new",
            };
            assert_eq!(reason, expected, "{signed_bytes}: {body} {stamp}");
        }
    }
}
