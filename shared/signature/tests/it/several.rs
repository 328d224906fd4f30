//! Header values: several signatures in one, values that no sender sends, and more than are tried.

use crate::support::{
    STRIPE_SIGNATURE, WHSEC, builtin, code, signed, signing_secrets, verify, with,
};

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
        let secrets = [scheme.secret("s", WHSEC).unwrap()];
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
    let secret = scheme.secret("s", WHSEC).unwrap();
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
