//! Every reason, by the message that earns it; what the text tells an operator, and what it never tells.

use std::time::Duration;

use ackbox_signature::{Headers, Refusal, Scheme};

use crate::support::{
    HUGE, NOW_MS, builtin, code, headers, message, signed, signing_secrets, verify, with,
};

const STRIPE_SIGNATURE: &str = "Stripe-Signature";

#[test]
fn every_secret_is_tried_and_the_one_that_matched_is_named() {
    for (scheme, secret) in signing_secrets() {
        let other = match scheme.slug() {
            "standard-webhooks" | "svix" => "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            _ => "another example secret",
        };
        let secrets = [
            scheme.secret("ref/next", other).unwrap(),
            secret.clone(),
            scheme.secret("ref/old", other).unwrap(),
        ];
        let lines = signed(&scheme, &secret, b"{}");
        let verified = verify(&scheme, &lines, b"{}", &secrets).unwrap();
        assert_eq!(
            (verified.secret_index(), verified.secret_label()),
            (1, "current"),
            "{}",
            scheme.slug()
        );
        assert_eq!(verified.message().body, b"{}");
    }
}

#[test]
fn of_several_secrets_that_fit_the_first_is_named() {
    let scheme = builtin("github");
    let secrets = [
        scheme.secret("a", "same same same same").unwrap(),
        scheme.secret("b", "same same same same").unwrap(),
    ];
    let lines = signed(&scheme, &secrets[0], b"{}");
    assert_eq!(
        verify(&scheme, &lines, b"{}", &secrets)
            .unwrap()
            .secret_label(),
        "a"
    );
}

#[test]
fn a_wrong_secret_and_an_altered_body_give_one_reason_that_says_so() {
    let scheme = builtin("stripe");
    let secrets = [
        scheme.secret("env:STRIPE_A", "whsec_aaaaaaaaaaaa").unwrap(),
        scheme.secret("env:STRIPE_B", "whsec_bbbbbbbbbbbb").unwrap(),
    ];
    let lines = signed(&scheme, &secrets[0], b"{}");
    let altered = verify(&scheme, &lines, b"{ }", &secrets).unwrap_err();
    let wrong = verify(&scheme, &lines, b"{}", &secrets[1..]).unwrap_err();
    assert_eq!(
        (altered.code(), wrong.code()),
        ("no-secret-matched", "no-secret-matched")
    );
    let text = altered.to_string();
    for word in [
        "altered body cannot be told",
        "env:STRIPE_A",
        "env:STRIPE_B",
        "Stripe-Signature",
        "{timestamp}.{body}",
        "1 signature (v1)",
    ] {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    let signature = std::str::from_utf8(lines.first(STRIPE_SIGNATURE).unwrap()).unwrap();
    let mac = signature.split_once("v1=").unwrap().1;
    assert!(
        !text.contains("whsec_") && !text.contains(&mac[..8]),
        "{text}"
    );
}

#[test]
fn a_missing_header_is_named() {
    for (scheme, secret) in signing_secrets() {
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        for (name, _) in lines.iter() {
            let without: Headers = lines
                .iter()
                .filter(|(other, _)| *other != name)
                .map(|(n, v)| (n.to_owned(), v.to_vec()))
                .collect();
            match verify(&scheme, &without, b"{}", &secrets) {
                Ok(verified) => assert!(
                    !verified.covers(name),
                    "{}: {name} is covered, and not missed",
                    scheme.slug()
                ),
                Err(refusal) => {
                    assert_eq!(
                        refusal.code(),
                        "missing-header",
                        "{}: {name}",
                        scheme.slug()
                    );
                    assert!(refusal.to_string().contains(name), "{refusal}");
                }
            }
        }
        assert_eq!(
            code(verify(&scheme, &Headers::new(), b"{}", &secrets)),
            "missing-header"
        );
    }
}

#[test]
fn a_repeated_header_that_is_read_is_refused_even_where_it_is_equal() {
    for (scheme, secret) in signing_secrets() {
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        for (name, value) in lines.iter() {
            let mut twice = lines.clone();
            twice.push(name.to_ascii_lowercase(), value);
            match verify(&scheme, &twice, b"{}", &secrets) {
                Ok(verified) => assert!(!verified.covers(name), "{}: {name}", scheme.slug()),
                Err(refusal) => assert_eq!(
                    refusal.code(),
                    "duplicate-header",
                    "{}: {name}",
                    scheme.slug()
                ),
            }
        }
    }
}

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
fn several_signatures_are_all_tried_and_unknown_versions_skipped() {
    let scheme = builtin("stripe");
    let secret = scheme.secret("s", "whsec_example_example").unwrap();
    let lines = signed(&scheme, &secret, b"{}");
    let right = String::from_utf8(lines.first(STRIPE_SIGNATURE).unwrap().to_vec()).unwrap();
    let wrong = "0".repeat(64);
    let (t, v1) = right.split_once(',').unwrap();
    let secrets = [secret];
    let outcome = |value: String| {
        code(verify(
            &scheme,
            &with(&lines, STRIPE_SIGNATURE, value),
            b"{}",
            &secrets,
        ))
    };
    for value in [
        format!("{t},v1={wrong},{v1}"),
        format!("{t},{v1},v1={wrong}"),
        format!("{v1},{t}"),
        format!(" {t} , {v1} , v0=odd, v9=, =,,garbage"),
        format!("{t},v1=short,v1=,{v1}"),
        right
            .to_uppercase()
            .replace("T=", "t=")
            .replace("V1=", "v1="),
    ] {
        assert_eq!(outcome(value.clone()), "accepted", "{value}");
    }
    for (value, reason) in [
        (format!("{t},v1={wrong}"), "no-secret-matched"),
        (format!("{t},v0={}", &v1[3..]), "unknown-version"),
        (format!("{t},V1={}", &v1[3..]), "unknown-version"),
        (format!("{t},{t},{v1}"), "malformed-header"),
        (v1.to_owned(), "malformed-header"),
        (t.to_owned(), "malformed-header"),
        (format!("{t};{v1}"), "malformed-header"),
        (format!("{t},{}", &v1[..v1.len() - 1]), "malformed-header"),
        (format!("{t},{v1}00"), "malformed-header"),
        (format!("{t}0,{v1}"), "too-new"),
        (format!("t=-1,{v1}"), "malformed-header"),
        (format!("t=,{v1}"), "malformed-header"),
        (format!("t=+1735689600,{v1}"), "malformed-header"),
        (format!("t=1735689600.0,{v1}"), "malformed-header"),
        (
            format!("t=99999999999999999999999,{v1}"),
            "malformed-header",
        ),
        (format!("t=18446744073709551615,{v1}"), "malformed-header"),
        (format!("t=01735689600,{v1}"), "malformed-header"),
        (format!("t=0,{v1}"), "malformed-header"),
    ] {
        assert_eq!(outcome(value.clone()), reason, "{value}");
    }
}

#[test]
fn odd_header_values_give_a_reason() {
    let kilobytes = "a".repeat(100_000);
    let many = format!(
        "t=1735689600{}",
        format!(",v1={}", "0".repeat(64)).repeat(33)
    );
    let odd: Vec<&[u8]> = vec![
        b"",
        b" ",
        b"=",
        b",",
        b",,,,",
        b"t",
        b"t=",
        b"=t=v1=",
        b"sha256=",
        b"v1,",
        b"v1a,",
        b"v0=",
        b"\0",
        b"\xff\xfe",
        "t=\u{661}\u{662}\u{663},v1=\u{e4}".as_bytes(),
        b"t=1\r\nv1=2",
        b"t=1735689600,v1=zz",
        kilobytes.as_bytes(),
        many.as_bytes(),
    ];
    for (scheme, secret) in signing_secrets() {
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        for (name, _) in lines.iter() {
            for value in &odd {
                match verify(&scheme, &with(&lines, name, value), b"{}", &secrets) {
                    Ok(verified) => assert!(!verified.covers(name), "{}: {name}", scheme.slug()),
                    Err(refusal) => {
                        let text = refusal.to_string();
                        assert!(
                            text.contains(name)
                                || ["too-old", "no-secret-matched"].contains(&refusal.code()),
                            "{}: {text}",
                            scheme.slug()
                        );
                        assert!(
                            text.len() < 1_000 && text.chars().all(|c| !c.is_control()),
                            "{text:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn more_signatures_than_any_sender_sends_are_not_tried() {
    for (slug, key, bytes, most) in [
        ("standard-webhooks", "v1", 32, 32),
        ("standard-webhooks", "v1a", 64, 8),
    ] {
        let scheme = builtin(slug);
        let secrets = [scheme
            .secret("s", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
            .unwrap()];
        let lines = signed(&scheme, &secrets[0], b"{}");
        let item = format!("{key},{}", data_encoding::BASE64.encode(&vec![7; bytes]));
        let at_most = vec![item.as_str(); most].join(" ");
        let one_more = format!("{at_most} {item}");
        let outcome = |value: &str| {
            code(verify(
                &scheme,
                &with(&lines, "webhook-signature", value),
                b"{}",
                &secrets,
            ))
        };
        let reason = if key == "v1" {
            "no-secret-matched"
        } else {
            "no-usable-secret"
        };
        assert_eq!(
            [outcome(&at_most), outcome(&one_more)],
            [reason, "malformed-header"]
        );
    }
}

#[test]
fn a_signed_id_that_holds_the_separator_is_refused() {
    let scheme = builtin("standard-webhooks");
    let secret = scheme
        .secret("s", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap();
    let lines = signed(&scheme, &secret, b"{}");
    let secrets = [secret];
    // "msg_1" + "." + stamp + "." + body: the same bytes, were the id allowed to reach into the timestamp.
    let reason = code(verify(
        &scheme,
        &with(&lines, "webhook-id", "msg_1.1735689600"),
        b"{}",
        &secrets,
    ));
    assert_eq!(reason, "malformed-header");
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

#[test]
fn secrets_of_another_kind_than_the_signature_are_told_apart_from_wrong_ones() {
    let scheme = builtin("standard-webhooks");
    let private = scheme
        .secret(
            "private",
            "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=",
        )
        .unwrap();
    let lines = signed(&scheme, &private, b"{}");
    let shared = [scheme
        .secret("shared", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap()];
    let refusal = verify(&scheme, &lines, b"{}", &shared).unwrap_err();
    assert_eq!(refusal.code(), "no-usable-secret");
    assert!(
        refusal.to_string().contains("v1a") && refusal.to_string().contains("whpk_"),
        "{refusal}"
    );
    assert_eq!(
        code(verify(&scheme, &lines, b"{}", &[])),
        "no-usable-secret"
    );
}

#[test]
fn what_the_signature_covers_is_told() {
    for (slug, covered, not) in [
        (
            "standard-webhooks",
            &["Webhook-Id", "webhook-timestamp"][..],
            &["webhook-signature"][..],
        ),
        (
            "slack",
            &["x-slack-request-timestamp"],
            &["x-slack-signature"],
        ),
        ("github", &[], &["X-GitHub-Delivery", "X-GitHub-Event"]),
        ("sume", &["X-Sume-Timestamp"], &["X-Sume-Event-Id"]),
        ("token", &[], &["X-Webhook-Token"]),
    ] {
        let (scheme, secret) = signing_secrets()
            .into_iter()
            .find(|(scheme, _)| scheme.slug() == slug)
            .unwrap();
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        let verified = verify(&scheme, &lines, b"{}", &secrets).unwrap();
        assert!(covered.iter().all(|name| verified.covers(name)), "{slug}");
        assert!(!not.iter().any(|name| verified.covers(name)), "{slug}");
    }
}

#[test]
fn bodies_are_bytes() {
    let bodies: [&[u8]; 5] = [
        b"",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf{}",
        b"a=1&b=%20",
        b"{}\r\n",
    ];
    for (scheme, secret) in signing_secrets() {
        for body in bodies {
            let lines = signed(&scheme, &secret, body);
            assert_eq!(
                code(verify(&scheme, &lines, body, std::slice::from_ref(&secret))),
                "accepted"
            );
        }
    }
}

#[test]
fn a_signature_split_in_the_wrong_place_is_not_shown() {
    // A bare base64 signature under a scheme of pairs: what stands before `=` is the signature.
    let scheme = Scheme::builtin("stripe").unwrap();
    let lines = headers(&[(
        STRIPE_SIGNATURE,
        "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    )]);
    let Err(refusal @ Refusal::UnknownVersion { .. }) = verify(&scheme, &lines, b"{}", &[]) else {
        panic!("not refused as an unknown version");
    };
    assert!(!refusal.to_string().contains("g0hM"), "{refusal}");
    let lines = headers(&[(STRIPE_SIGNATURE, &format!("t={0},v1={0}", "ab".repeat(32)))]);
    assert!(
        !verify(&scheme, &lines, b"{}", &[])
            .unwrap_err()
            .to_string()
            .contains("abab")
    );
}
