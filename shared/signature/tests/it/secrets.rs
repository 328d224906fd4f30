//! Secrets as operators paste them in: what is read, what is refused, what is warned of, and that nothing is shown.

use crate::support::{WHSEC, builtin, code, signed, verify};

#[test]
fn standard_webhooks_secrets_are_read_in_every_form_they_are_shown_in() {
    let scheme = builtin("standard-webhooks");
    let plain = scheme.secret("s", WHSEC).unwrap();
    let lines = signed(&scheme, &plain, b"{}");
    for text in [
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ] {
        let secrets = [scheme.secret("s", text).unwrap()];
        assert_eq!(
            code(verify(&scheme, &lines, b"{}", &secrets)),
            "accepted",
            "{text}"
        );
    }
}

#[test]
fn an_ed25519_pair_signs_and_its_public_half_verifies() {
    let scheme = builtin("standard-webhooks");
    // RFC 8032, section 7.1, test 2: the seed, the seed with the public half, and the public half.
    let seed = "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=";
    let pair = "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs9QBfD6EOJWpK3CqdNG368nJgszy7ElozAzVXxKvRmDA==";
    let public = [scheme
        .secret(
            "public",
            "whpk_PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        )
        .unwrap()];
    for text in [seed, pair] {
        let private = scheme.secret("private", text).unwrap();
        let lines = signed(&scheme, &private, b"{}");
        assert_eq!(code(verify(&scheme, &lines, b"{}", &public)), "accepted");
    }
}

#[test]
fn a_secret_of_the_wrong_form_is_refused_without_being_shown() {
    for (slug, text, words) in [
        ("standard-webhooks", "", &["is empty", "whsec_"][..]),
        ("standard-webhooks", "whsec_", &["empty behind"]),
        (
            "standard-webhooks",
            "whsec_horse battery staple",
            &["not base64", "white space"],
        ),
        (
            "standard-webhooks",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
            &["white space"],
        ),
        (
            "standard-webhooks",
            "correct-horse-battery",
            &["not base64"],
        ),
        ("standard-webhooks", "whpk_TWF1", &["3 bytes", "32"]),
        ("standard-webhooks", "whsk_TWF1", &["3 bytes", "32 or 64"]),
        // Order 4, and the identity: anyone can sign for them.
        (
            "svix",
            "whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            &["weak"],
        ),
        (
            "svix",
            "whpk_AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            &["weak"],
        ),
        (
            "svix",
            "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvsAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            &["public half"],
        ),
        ("stripe", "", &["is empty"]),
        ("token", "", &["is empty"]),
    ] {
        let error = builtin(slug).secret("ssm:/a/b", text).unwrap_err();
        let shown = error.to_string();
        for word in words.iter().chain(&["ssm:/a/b", slug]) {
            assert!(shown.contains(word), "`{word}` is not in: {shown}");
        }
        let value = text
            .trim_start_matches(|c: char| c != '_')
            .trim_start_matches('_');
        assert!(value.len() < 5 || !shown.contains(value), "{shown}");
    }
}

#[test]
fn the_literal_text_is_the_key_where_the_sender_says_so() {
    // The same prefix, and not base64: Stripe and Tornado sign with the whole text.
    for slug in ["stripe", "tornado"] {
        let scheme = builtin(slug);
        let whole = scheme.secret("s", WHSEC).unwrap();
        let stripped = [scheme
            .secret("s", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
            .unwrap()];
        let lines = signed(&scheme, &whole, b"{}");
        assert_eq!(
            code(verify(&scheme, &lines, b"{}", &stripped)),
            "no-secret-matched"
        );
    }
}

#[test]
fn a_doubtful_secret_is_warned_of() {
    let bytes = |count: usize| format!("whsec_{}", data_encoding::BASE64.encode(&vec![1; count]));
    let (short, least, most, long) = (bytes(23), bytes(24), bytes(64), bytes(65));
    for (slug, text, word) in [
        ("standard-webhooks", short.as_str(), Some("23 bytes")),
        ("standard-webhooks", &least, None),
        ("standard-webhooks", &most, None),
        ("standard-webhooks", &long, Some("65 bytes")),
        (
            "standard-webhooks",
            "whpk_PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
            None,
        ),
        ("github", "fifteen letters", Some("15 bytes")),
        ("github", "sixteen letters!", None),
        ("github", "a secret with a line end\n", Some("white space")),
        ("token", "abc12", Some("5 bytes")),
    ] {
        let warning = builtin(slug).secret("s", text).unwrap().warning();
        match word {
            None => assert_eq!(warning, None, "{slug}"),
            Some(word) => {
                let warning = warning.unwrap();
                assert!(
                    warning.contains(word) && !warning.contains(text),
                    "{slug}: {warning}"
                );
            }
        }
    }
}

#[test]
fn debug_output_shows_no_secret_and_no_header_value() {
    let scheme = builtin("token");
    let secret = scheme
        .secret("env:TOKEN", "very-secret-token-value")
        .unwrap();
    let lines = signed(&scheme, &secret, b"body text");
    let secrets = [secret];
    let verified = verify(&scheme, &lines, b"body text", &secrets).unwrap();
    let shown = format!("{secrets:?} {verified:?} {lines:?}");
    assert!(shown.contains("env:TOKEN"), "{shown}");
    assert!(
        !shown.contains("very-secret") && !shown.contains("body text"),
        "{shown}"
    );
}
