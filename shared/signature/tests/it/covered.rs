//! Provider by provider, byte by byte: what a signature covers cannot be changed, cut, lengthened or
//! moved, and the signature itself can only be spelled otherwise.

use ackbox_signature::{Headers, Scheme, Secret};

use crate::support::{HUGE, NOW_MS, code, message, signed, signing_secrets, with};

const BODY: &[u8] = br#"{"id":"evt_1","at":17}"#;

/// Whatever its age: it is the signature that must not fit.
fn outcome(scheme: &Scheme, secret: &Secret, headers: &Headers, body: &[u8]) -> &'static str {
    let secrets = [secret.clone()];
    code(scheme.verify(&message(headers, body), &secrets, NOW_MS, Some(HUGE)))
}

/// Texts that differ from `bytes` by one bit (the lowest, that of the case, the highest) or byte more or
/// less, at every place.
fn one_change(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..bytes.len() {
        for bit in [0, 5, 7] {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1 << bit;
            all.push(changed);
        }
        let mut shorter = bytes.to_vec();
        shorter.remove(at);
        all.push(shorter);
    }
    for at in 0..=bytes.len() {
        let mut longer = bytes.to_vec();
        longer.insert(at, b'0');
        all.push(longer);
    }
    // Taking one of two equal neighbours away, or doubling one, gives one text twice; never the same.
    all.retain(|changed| changed != bytes);
    all
}

#[test]
fn every_byte_of_a_covered_body_counts_for_every_provider() {
    for (scheme, secret) in signing_secrets() {
        let headers = signed(&scheme, &secret, BODY);
        assert_eq!(outcome(&scheme, &secret, &headers, BODY), "accepted");
        if !scheme.facts().covers_body {
            let is_token = matches!(scheme.slug(), "token" | "tornado-key");
            assert!(is_token, "only a token covers nothing");
            continue;
        }
        for changed in one_change(BODY) {
            let outcome = outcome(&scheme, &secret, &headers, &changed);
            assert_eq!(
                outcome,
                "no-secret-matched",
                "{} {changed:?}",
                scheme.slug()
            );
        }
    }
}

#[test]
fn every_byte_of_every_covered_header_counts_for_every_provider() {
    let mut covered = Vec::new();
    for (scheme, secret) in signing_secrets() {
        let headers = signed(&scheme, &secret, BODY);
        let secrets = [secret.clone()];
        let arrived = message(&headers, BODY);
        let verified = scheme.verify(&arrived, &secrets, NOW_MS, None).unwrap();
        for (name, value) in headers.iter().filter(|(name, _)| verified.covers(name)) {
            covered.push(format!("{} {name}", scheme.slug()));
            for changed in one_change(value) {
                // White space around a value is not part of it.
                if changed.trim_ascii() == value {
                    continue;
                }
                let edited = with(&headers, name, &changed);
                let outcome = outcome(&scheme, &secret, &edited, BODY);
                assert_ne!(outcome, "accepted", "{} {name}: {changed:?}", scheme.slug());
            }
        }
    }
    covered.dedup();
    let expected = [
        "slack X-Slack-Request-Timestamp",
        "standard-webhooks webhook-id",
        "standard-webhooks webhook-timestamp",
        "standard-webhooks webhook-id",
        "standard-webhooks webhook-timestamp",
        "sume X-Sume-Timestamp",
        "svix svix-id",
        "svix svix-timestamp",
        "svix svix-id",
        "svix svix-timestamp",
    ];
    assert_eq!(covered, expected, "the headers that providers sign");
}

#[test]
fn every_byte_of_a_signature_header_counts_but_for_the_case_of_hexadecimal() {
    for (scheme, secret) in signing_secrets() {
        let headers = signed(&scheme, &secret, BODY);
        let (name, value) = headers.iter().last().unwrap();
        let in_hex = matches!(
            scheme.slug(),
            "github" | "openrouter" | "slack" | "stripe" | "sume" | "tornado"
        );
        for changed in one_change(value) {
            let is_spelling = changed.trim_ascii() == value
                || in_hex && changed.eq_ignore_ascii_case(value)
                // Padding may be left out.
                || !in_hex && changed == value.strip_suffix(b"=").unwrap_or(value);
            let edited = with(&headers, name, &changed);
            if outcome(&scheme, &secret, &edited, BODY) == "accepted" {
                let text = String::from_utf8_lossy(&changed).into_owned();
                assert!(is_spelling, "{} {name}: {text}", scheme.slug());
            }
        }
    }
}

/// A header's end moved into the body, the body's begin moved into the header: another message.
#[test]
fn nothing_moves_between_a_header_and_the_body() {
    for (scheme, secret) in signing_secrets() {
        if !scheme.facts().covers_body {
            continue;
        }
        for body in [BODY, b"17356896000.1735689600.x", b".a.b", b",1,2"] {
            let headers = signed(&scheme, &secret, body);
            for (name, value) in headers.iter() {
                for cut in 1..value.len().min(8) {
                    let (kept, moved) = value.split_at(value.len() - cut);
                    let back = with(&headers, name, kept);
                    let longer = [moved, body].concat();
                    let outcome_of =
                        |headers, body: &[u8]| outcome(&scheme, &secret, headers, body);
                    assert_ne!(outcome_of(&back, &longer), "accepted", "{}", scheme.slug());
                    let (taken, left) = body.split_at(cut.min(body.len()));
                    let forth = with(&headers, name, [value, taken].concat());
                    assert_ne!(outcome_of(&forth, left), "accepted", "{}", scheme.slug());
                }
            }
        }
    }
}
