//! Every reason, by the message that earns it; what the text tells an operator, and what it never tells.

use ackbox_signature::{Headers, Refusal, Scheme};

use crate::support::{
    STRIPE_SIGNATURE, WHSEC, builtin, code, headers, signed, signing_secrets, verify,
};

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
fn secrets_of_another_kind_than_the_signature_are_told_apart_from_wrong_ones() {
    let scheme = builtin("standard-webhooks");
    let private = scheme
        .secret(
            "private",
            "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=",
        )
        .unwrap();
    let lines = signed(&scheme, &private, b"{}");
    let shared = [scheme.secret("shared", WHSEC).unwrap()];
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
