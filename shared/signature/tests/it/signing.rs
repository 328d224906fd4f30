//! What is signed here is what the sender sends: the same headers, the same values, accepted by any of several secrets.

use ackbox_signature::{Headers, SignError};

use crate::support::{WHSEC, builtin, code, request, signed, signing_secrets, verify};

#[test]
fn every_sender_is_signed_for_and_accepted() {
    let mut schemes = 0;
    for (scheme, secret) in signing_secrets() {
        let lines = signed(&scheme, &secret, b"{\"type\":\"example.ready\"}");
        let outcome = code(verify(
            &scheme,
            &lines,
            b"{\"type\":\"example.ready\"}",
            std::slice::from_ref(&secret),
        ));
        assert_eq!(outcome, "accepted", "{}", scheme.slug());
        schemes += 1;
    }
    assert_eq!(schemes, 13, "eleven schemes, two of them in two ways");
}

#[test]
fn the_published_standard_webhooks_signatures_come_out_byte_for_byte() {
    let scheme = builtin("standard-webhooks");
    let secret = scheme.secret("s", WHSEC).unwrap();
    let mut request = request(br#"{"test": 2432232314}"#, "msg_p5jXN8AQM9LWM0D4loKWxJek");
    request.now_ms = 1_614_265_330_999;
    assert_eq!(
        scheme.sign(&request, &secret).unwrap(),
        [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            (
                "webhook-signature",
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

/// The key pair, the public key and the signature of Svix's server (`test_asymmetric_key_signing` in
/// server/svix-server/src/worker.rs). Ed25519 has one signature for a key and a message.
#[test]
fn the_published_asymmetric_signature_comes_out_byte_for_byte_of_a_pair_and_of_its_seed() {
    let scheme = builtin("standard-webhooks");
    let public = "1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let public_key = scheme
        .secret("p", &format!("whpk_{public}"))
        .unwrap()
        .public_key();
    for private in [
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=",
    ] {
        let secret = scheme.secret("s", private).unwrap();
        let mut request = request(br#"{"test": 2432232314}"#, "msg_p5jXN8AQM9LWM0D4loKWxJek");
        request.now_ms = 1_614_265_330_000;
        let lines = scheme.sign(&request, &secret).unwrap();
        assert_eq!(
            lines[2].1,
            "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
        );
        assert!(public_key.is_some());
        assert_eq!(secret.public_key(), public_key);
    }
    let shared = scheme.secret("s", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assert_eq!(shared.unwrap().public_key(), None);
}

#[test]
fn headers_have_the_senders_names_and_shapes() {
    let line = |slug: &str, name: &str| {
        let (scheme, secret) = signing_secrets()
            .into_iter()
            .find(|(scheme, _)| scheme.slug() == slug)
            .unwrap();
        String::from_utf8(
            signed(&scheme, &secret, b"{}")
                .first(name)
                .unwrap()
                .to_vec(),
        )
        .unwrap()
    };
    assert!(line("github", "X-Hub-Signature-256").starts_with("sha256="));
    assert_eq!(line("github", "X-GitHub-Event"), "example.ready");
    assert_eq!(line("github", "X-GitHub-Delivery"), "msg_1");
    assert!(line("stripe", "Stripe-Signature").starts_with("t=1735689600,v1="));
    assert!(line("slack", "X-Slack-Signature").starts_with("v0="));
    assert_eq!(line("sume", "X-Sume-Timestamp"), "1735689600");
    assert!(line("sume", "X-Sume-Signature").starts_with("v1="));
    assert_eq!(line("shopify", "X-Shopify-Hmac-SHA256").len(), 44);
    assert_eq!(
        line("token", "X-Webhook-Token"),
        "an example secret, not a real one"
    );
}

#[test]
fn several_secrets_sign_side_by_side_and_each_receiver_accepts() {
    let scheme = builtin("standard-webhooks");
    let secrets = [
        scheme
            .secret("next", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
            .unwrap(),
        scheme.secret("current", WHSEC).unwrap(),
        scheme
            .secret("pair", "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=")
            .unwrap(),
    ];
    let lines: Headers = scheme
        .sign_all(&request(b"{}", "msg_1"), &secrets)
        .unwrap()
        .into_iter()
        .collect();
    let value = std::str::from_utf8(lines.first("webhook-signature").unwrap()).unwrap();
    let versions: Vec<_> = value
        .split(' ')
        .map(|item| item.split_once(',').unwrap().0)
        .collect();
    assert_eq!(versions, ["v1", "v1", "v1a"]);
    for secret in &secrets {
        assert_eq!(
            code(verify(&scheme, &lines, b"{}", std::slice::from_ref(secret))),
            "accepted"
        );
    }
}

#[test]
fn what_cannot_be_signed_is_said() {
    let scheme = builtin("standard-webhooks");
    let shared = scheme.secret("shared", WHSEC).unwrap();
    let public = scheme
        .secret(
            "public",
            "whpk_PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        )
        .unwrap();
    let error = |secret, id| scheme.sign(&request(b"{}", id), secret).unwrap_err();
    assert!(matches!(
        error(&public, "msg_1"),
        SignError::PublicKey { .. }
    ));
    for id in ["", "a.b", "a.", "t\u{e4}", "a\r\nb: c", " a"] {
        assert!(
            matches!(error(&shared, id), SignError::Value { header, .. } if header == "webhook-id"),
            "{id:?}"
        );
    }
    assert_eq!(
        scheme.sign_all(&request(b"{}", "m"), &[]),
        Err(SignError::NoSecret)
    );

    let github = builtin("github");
    let two = [
        github.secret("a", "a secret of some length").unwrap(),
        github.secret("b", "a secret of some length").unwrap(),
    ];
    let many = github.sign_all(&request(b"{}", ""), &two).unwrap_err();
    assert!(matches!(
        many,
        SignError::TooManySecrets {
            secrets: 2,
            most: 1,
            ..
        }
    ));
    assert!(matches!(
        github.sign(&request(b"{}", ""), &public),
        Err(SignError::WrongKind { .. })
    ));
    // An id that is not signed may be absent.
    assert!(
        github
            .sign(&request(b"{}", ""), &two[0])
            .unwrap()
            .iter()
            .all(|(name, _)| name != "X-GitHub-Delivery")
    );
}

#[test]
fn a_token_that_cannot_travel_is_not_shown() {
    let scheme = builtin("token");
    let secret = scheme.secret("s", "t\u{f6}ken-of-some-length").unwrap();
    let error = scheme
        .sign(&request(b"{}", ""), &secret)
        .unwrap_err()
        .to_string();
    assert!(!error.contains("ken-of"), "{error}");
    let lines: Headers = [("X-Webhook-Token", "t\u{f6}ken-of-some-length")]
        .into_iter()
        .collect();
    assert_eq!(code(verify(&scheme, &lines, b"{}", &[secret])), "accepted");
}
