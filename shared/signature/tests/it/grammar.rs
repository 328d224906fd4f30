//! The grammar: built-in files, a user's own scheme, and mistakes, all of them at once.

use std::collections::BTreeSet;
use std::time::Duration;

use ackbox_signature::{Locator, Redelivery, Scheme, SchemeSpec};

use crate::support::{builtin, code, headers, request, signed, verify};

fn mistakes(text: &str) -> Vec<String> {
    Scheme::from_toml("mine", text)
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

const SIGNATURE: &str =
    "[[signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n";

#[test]
fn every_file_of_the_folder_is_built_in_and_names_its_sources() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/providers");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let slugs: Vec<&str> = Scheme::builtin_slugs().collect();
    assert!(slugs.is_sorted());
    assert_eq!(files.iter().map(String::as_str).collect::<Vec<_>>(), slugs);
    for slug in slugs {
        let scheme = builtin(slug);
        assert_eq!(scheme.slug(), slug);
        let facts = scheme.facts();
        assert!(
            !facts.title.is_empty() && !facts.acknowledge.note.is_empty(),
            "{slug}"
        );
        assert!(
            !facts.docs.is_empty() && facts.docs.iter().all(|url| url.starts_with("https://")),
            "{slug}"
        );
    }
    assert!(Scheme::builtin("unknown").is_none());
}

#[test]
fn facts_say_what_is_covered() {
    let github = builtin("github");
    assert_eq!(
        github.facts().id,
        [Locator::Header {
            name: "X-GitHub-Delivery".into(),
            covered: false
        }]
    );
    assert!(github.facts().covers_body);
    assert_eq!(github.facts().form_field.as_deref(), Some("payload"));
    assert_eq!(github.facts().redelivery, Redelivery::SameBytes);
    assert_eq!(github.facts().test_events, ["ping"]);
    let standard = builtin("standard-webhooks");
    assert_eq!(
        standard.facts().id,
        [Locator::Header {
            name: "webhook-id".into(),
            covered: true
        }]
    );
    assert_eq!(standard.facts().tolerance, Some(Duration::from_secs(300)));
    assert!(!builtin("token").facts().covers_body);
    let stripe = builtin("stripe");
    let Redelivery::Pointers(pointers) = &stripe.facts().redelivery else {
        panic!("bytes")
    };
    assert!(
        !pointers
            .iter()
            .any(|pointer| pointer.contains("pending_webhooks"))
    );
}

#[test]
fn a_scheme_of_ones_own_is_a_few_lines() {
    let paddle = Scheme::from_toml(
        "paddle",
        r#"
        signed = "{timestamp}:{body}"
        timestamp = { key = "ts" }
        signature = [{ header = "Paddle-Signature", separator = ";", key_separator = "=", key = "h1", algorithm = "hmac-sha256", encoding = "hex" }]
        "#,
    )
    .unwrap();
    assert_eq!(paddle.facts().title, "paddle");
    let secret = paddle.secret("s", "pdl_ntfset_01_example").unwrap();
    let lines = signed(&paddle, &secret, b"{}");
    assert!(
        lines
            .first("paddle-signature")
            .unwrap()
            .starts_with(b"ts=1735689600;h1=")
    );
    assert_eq!(code(verify(&paddle, &lines, b"{}", &[secret])), "accepted");
}

#[test]
fn other_ways_of_signing_fit_the_grammar() {
    let hex = "separator = \",\"\nkey_separator = \"=\"\nkey = \"v1\"\n";
    let box_like = "signed = \"{body}{timestamp}\"\ntimestamp = { header = \"X-Time\", unit = \"milliseconds\" }\n";
    for (name, text) in [
        (
            "sha1",
            SIGNATURE.replace("sha256", "sha1") + "\n[timestamp]\nheader = \"X-T\"\n",
        ),
        ("pagerduty", SIGNATURE.to_owned() + hex),
        (
            "sanity",
            SIGNATURE.replace("\"hex\"", "\"base64url\"")
                + hex
                + "[timestamp]\nkey = \"t\"\nunit = \"milliseconds\"\n",
        ),
        (
            "revolut",
            SIGNATURE.to_owned()
                + hex
                + "[timestamp]\nheader = \"X-Time\"\nunit = \"milliseconds\"\n",
        ),
        (
            "telnyx",
            SIGNATURE
                .replace("hmac-sha256", "ed25519")
                .replace("\"hex\"", "\"base64\"")
                + "[timestamp]\nheader = \"X-Time\"\n[[secret]]\ndecode = \"base64\"\nkey = \"ed25519-private\"\n",
        ),
        (
            "airtable",
            SIGNATURE.to_owned() + "prefix = \"hmac-sha256=\"\n[[secret]]\ndecode = \"base64\"\n",
        ),
        (
            "box",
            box_like.to_owned() + SIGNATURE + &SIGNATURE.replace("X-Sig", "X-Sig-Secondary"),
        ),
    ] {
        let signed_line = match name {
            "box" => "",
            "pagerduty" | "airtable" => "signed = \"{body}\"\n",
            "telnyx" => "signed = \"{timestamp}|{body}\"\n",
            _ => "signed = \"v1.{timestamp}.{body}\"\n",
        };
        let scheme = Scheme::from_toml(name, &format!("{signed_line}{text}"))
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let secret = scheme
            .secret("s", "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=")
            .unwrap();
        let lines = signed(&scheme, &secret, b"{}");
        let secrets = [secret];
        assert_eq!(
            code(verify(&scheme, &lines, b"{}", &secrets)),
            "accepted",
            "{name}"
        );
        assert_eq!(
            code(verify(&scheme, &lines, b"{} ", &secrets)),
            "no-secret-matched",
            "{name}"
        );
    }
}

#[test]
fn either_of_two_signature_headers_is_enough() {
    let text = format!(
        "signed = \"{{body}}\"\n{SIGNATURE}{}",
        SIGNATURE.replace("X-Sig", "X-Sig-Secondary")
    );
    let scheme = Scheme::from_toml("two", &text).unwrap();
    let secrets = [
        scheme.secret("old", "the old secret text").unwrap(),
        scheme.secret("new", "the new secret text").unwrap(),
    ];
    let first = |n: usize| {
        String::from_utf8(
            signed(&scheme, &secrets[n], b"{}")
                .first("X-Sig")
                .unwrap()
                .to_vec(),
        )
        .unwrap()
    };
    let both = headers(&[("X-Sig", &first(0)), ("X-Sig-Secondary", &first(1))]);
    assert_eq!(
        verify(&scheme, &both, b"{}", &secrets[1..])
            .unwrap()
            .secret_label(),
        "new"
    );
    let secondary = headers(&[("X-Sig-Secondary", &first(1))]);
    assert_eq!(
        code(verify(&scheme, &secondary, b"{}", &secrets)),
        "accepted"
    );
    assert_eq!(
        code(verify(
            &scheme,
            &headers(&[("Other", "x")]),
            b"{}",
            &secrets
        )),
        "missing-header"
    );
}

#[test]
fn a_token_in_a_header_of_ones_own() {
    let text =
        "[[signature]]\nheader = \"Authorization\"\nprefix = \"Bearer \"\nalgorithm = \"token\"\n";
    let scheme = Scheme::from_toml("mine", text).unwrap();
    let secrets = [scheme.secret("s", "example-token-0123456789").unwrap()];
    for (value, outcome) in [
        ("Bearer example-token-0123456789", "accepted"),
        ("Bearer example-token-012345678", "no-secret-matched"),
        ("example-token-0123456789", "malformed-header"),
        ("Bearer", "malformed-header"),
    ] {
        assert_eq!(
            code(verify(
                &scheme,
                &headers(&[("authorization", value)]),
                b"{}",
                &secrets
            )),
            outcome,
            "{value}"
        );
    }
}

#[test]
fn every_mistake_is_reported_at_once_with_its_field() {
    let found = mistakes(
        r#"
        signed = "{timestamp}.{url}"
        id = [{ header = "X-Id", body = "/id" }]
        event = [{ body = "type" }]
        redelivery = "sometimes"
        each = "events"
        [[signature]]
        header = "X Sig"
        key_separator = "="
        algorithm = "md5"
        encoding = "hex"
        [timestamp]
        unit = "minutes"
        tolerance = "soon"
        [[secret]]
        decode = "rot13"
        [acknowledge]
        within = "-1"
        "#,
    );
    for field in [
        "signed:",
        "id[0]:",
        "event[0].body:",
        "redelivery:",
        "each:",
        "signature[0].header:",
        "signature[0].key:",
        "signature[0].algorithm:",
        "timestamp:",
        "timestamp.unit:",
        "timestamp.tolerance:",
        "secret[0].decode:",
        "acknowledge.within:",
    ] {
        assert!(
            found.iter().any(|mistake| mistake.starts_with(field)),
            "{field} is not in {found:#?}"
        );
    }
}

#[test]
fn a_scheme_that_could_not_be_secure_does_not_compile() {
    let timestamp = "[timestamp]\nheader = \"X-Time\"\n";
    let token = "[[signature]]\nheader = \"X-Token\"\nalgorithm = \"token\"\n";
    for (text, word) in [
        (String::new(), "signature: is missing"),
        (SIGNATURE.to_owned(), "signed: is missing"),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}{timestamp}"),
            "proves nothing",
        ),
        (format!("{token}{timestamp}"), "proves nothing"),
        (
            format!("signed = \"{{timestamp}}.{{body}}\"\n{SIGNATURE}"),
            "timestamp: is missing",
        ),
        (
            format!(
                "signed = \"{{timestamp}}.{{body}}\"\n{SIGNATURE}{timestamp}tolerance = \"0s\"\n"
            ),
            "is zero",
        ),
        (
            format!("signed = \"{{header:X-A}}{{body}}\"\n{SIGNATURE}"),
            "touch",
        ),
        (
            format!("signed = \"{{header:X-A}}{{timestamp}}.{{body}}\"\n{SIGNATURE}{timestamp}"),
            "before {timestamp}",
        ),
        (
            format!(
                "signed = \"{{timestamp}}{{body}}\"\n{SIGNATURE}{timestamp}tolerance = \"2d\"\n"
            ),
            "at most \"1d\"",
        ),
        (format!("signed = \"v1\"\n{SIGNATURE}"), "signs nothing"),
        (
            format!("signed = \"{{body}}\"\n{token}"),
            "a token signs nothing",
        ),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}{token}"),
            "two schemes",
        ),
        (
            format!("{token}[[secret]]\ndecode = \"hex\"\n"),
            "as the text",
        ),
        (format!("{token}encoding = \"hex\"\n"), "a token has none"),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}{SIGNATURE}"),
            "no two the same",
        ),
        (
            format!("signed = \"{{body}}\"\nredelivery = []\n{SIGNATURE}"),
            "compares nothing",
        ),
        (
            format!(
                "signed = \"{{body}}\"\n{}",
                SIGNATURE.replace("hmac-sha256", "ed25519")
            ),
            "ed25519-public",
        ),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}[[secret]]\nkey = \"ed25519-public\"\n"),
            "no [[signature]] uses",
        ),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}[[secret]]\n[[secret]]\nprefix = \"a\"\n"),
            "put it last",
        ),
        (
            format!("signed = \"{{timestamp}}{{body}}\"\n{SIGNATURE}[timestamp]\nkey = \"t\"\n"),
            "`separator` and a `key_separator`",
        ),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}key = \"v1\"\n"),
            "key_separator: is missing",
        ),
    ] {
        let found = mistakes(&text);
        assert!(
            found.iter().any(|mistake| mistake.contains(word)),
            "`{word}` is not in {found:#?} for\n{text}"
        );
    }
}

#[test]
fn an_unknown_field_is_refused_with_its_line() {
    for text in [
        "titel = \"x\"\n",
        "[[signature]]\nheder = \"x\"\n",
        "redelivery = 3\n",
        "[timestamp]\nheader = 3\n",
    ] {
        assert!(toml::from_str::<SchemeSpec>(text).is_err(), "{text}");
        assert!(mistakes(text)[0].contains("line"), "{text}");
    }
}

/// A scheme that compiles accepts what it signs: what would hide a right signature is a mistake.
#[test]
fn what_a_scheme_could_not_read_back_does_not_compile() {
    let item = |separator: &str, between: &str, key: &str, encoding: &str| {
        format!(
            "signed = \"{{body}}\"\n[[signature]]\nheader = \"X-Sig\"\nseparator = {separator:?}\nkey_separator = {between:?}\n\
             key = {key:?}\nalgorithm = \"hmac-sha256\"\nencoding = {encoding:?}\n"
        )
    };
    for (text, wrong) in [
        (item("a", "=", "v1", "hex"), "signature[0].separator"),
        (item("+", "=", "v1", "base64"), "signature[0].separator"),
        (item("=", "=", "v1", "hex"), "signature[0].separator"),
        (item("1", "=", "v1", "hex"), "signature[0].separator"),
        (item("-_", "=", "v1", "base64url"), "signature[0].separator"),
        (item(",", "=", "v=", "hex"), "signature[0].key"),
        (item(",", "==", "v=", "hex"), "signature[0].key"),
        (item(",", "=", " v1", "hex"), "signature[0].key"),
        (
            item(",", "\u{e4}", "v1", "hex"),
            "signature[0].key_separator",
        ),
        (item("\n", "=", "v1", "hex"), "signature[0].separator"),
        (
            format!("signed = \"{{body}}\"\n{SIGNATURE}prefix = \" v=\"\n"),
            "signature[0].prefix",
        ),
        (
            item(",", "=", "v1", "hex").replace("{body}", "{timestamp}.{body}")
                + "[timestamp]\nkey = \"t=\"\n",
            "timestamp.key",
        ),
        (
            format!(
                "signed = \"{{timestamp}}.{{body}}\"\n{SIGNATURE}[timestamp]\nheader = \"x-sig\"\n"
            ),
            "timestamp.header",
        ),
        (
            format!("signed = \"{{body}}\"\nid = [{{ header = \"x-sig\" }}]\n{SIGNATURE}"),
            "id[0].header",
        ),
        (
            format!(
                "signed = \"{{id}}.{{body}}\"\nid = [{{ header = \"X-Id\" }}, {{ header = \"x-id\" }}]\n{SIGNATURE}"
            ),
            "id[1].header",
        ),
        (
            format!(
                "signed = \"{{id}}.{{body}}\"\nid = [{{ header = \"X-Id\" }}]\nevent = [{{ header = \"X-ID\" }}]\n{SIGNATURE}"
            ),
            "event[0].header",
        ),
        (
            format!("signed = \"{{header:X-SIG}}.{{body}}\"\n{SIGNATURE}"),
            "signed",
        ),
    ] {
        let found = mistakes(&text);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{wrong}: ")),
            "{text}\n{found:?}"
        );
    }
}

#[test]
fn a_separator_that_holds_a_character_of_no_item_is_read_back() {
    for (separator, between) in [
        (", ", "="),
        ("a,", "="),
        ("=;", "="),
        (" ", ","),
        ("~", "  "),
    ] {
        let text = format!(
            "signed = \"{{timestamp}}{{body}}\"\n[[signature]]\nheader = \"X-Sig\"\nseparator = {separator:?}\nkey_separator = {between:?}\n\
             key = \"v1\"\nprefix = \"p:\"\nalgorithm = \"hmac-sha256\"\nencoding = \"base64\"\n[timestamp]\nkey = \"t\"\n"
        );
        let scheme = Scheme::from_toml("mine", &text).unwrap();
        let secret = scheme
            .secret("env:S", "an example secret, not a real one")
            .unwrap();
        let lines = signed(&scheme, &secret, b"{}");
        assert_eq!(
            code(verify(&scheme, &lines, b"{}", &[secret])),
            "accepted",
            "{text}"
        );
    }
}

#[test]
fn a_token_that_holds_the_separator_is_not_signed() {
    let text = "[[signature]]\nheader = \"X-Tokens\"\nseparator = \",\"\nalgorithm = \"token\"\n";
    let scheme = Scheme::from_toml("mine", text).unwrap();
    for (token, is_signed) in [
        ("a token of twenty characters", true),
        ("a token, with a comma in it", false),
    ] {
        let secret = scheme.secret("env:S", token).unwrap();
        assert_eq!(
            scheme.sign(&request(b"{}", ""), &secret).is_ok(),
            is_signed,
            "{token}"
        );
    }
}
