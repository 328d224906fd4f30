//! The TOML of a scheme as a user writes it. Any text gives a scheme or mistakes; a scheme that
//! compiles accepts what it signed, and nothing whose covered parts were changed or shifted.

use std::time::Duration;

use ackbox_signature::{GrammarError, Headers, Message, Scheme, Secret, SignRequest};

use crate::setting::NOW_MS;

/// Texts that are secrets in one form or another; a scheme takes some of them.
const SECRETS: [&str; 4] = [
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=",
    "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "4d7f2a9b4d7f2a9b4d7f2a9b4d7f2a9b4d7f2a9b4d7f2a9b4d7f2a9b4d7f2a9b",
];
/// One as senders send, and one that begins and ends as a time or an id could.
const BODIES: [&[u8]; 2] = [
    br#"{"type":"a.b","id":"1735689600"}"#,
    b"17356896001735689600000",
];
const ID: &str = "1735689600";

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Scheme::from_toml("hostile", text) {
        Err(mistakes) => are_named(&mistakes),
        Ok(scheme) => {
            let again = Scheme::from_toml("hostile", text);
            let again = again.map(|scheme| format!("{scheme:?}"));
            assert_eq!(again, Ok(format!("{scheme:?}")), "two readings of one text");
            for text in SECRETS {
                if let Ok(secret) = scheme.secret("env:HOSTILE", text) {
                    for body in BODIES {
                        is_sound(&scheme, std::slice::from_ref(&secret), body);
                    }
                }
            }
        }
    }
}

fn are_named(mistakes: &[GrammarError]) {
    assert!(!mistakes.is_empty(), "refused without a reason");
    for mistake in mistakes {
        assert!(
            !mistake.field.is_empty(),
            "a mistake without a place: {mistake}"
        );
        assert!(
            !mistake.message.trim().is_empty(),
            "a mistake without words: {mistake}"
        );
    }
}

/// What is signed is accepted; the same signature for anything else is not.
fn is_sound(scheme: &Scheme, secrets: &[Secret], body: &[u8]) {
    let request = SignRequest {
        method: "POST",
        url: "/hooks/hostile",
        body,
        now_ms: NOW_MS,
        id: ID,
        event: None,
    };
    // What cannot stand in a header is not signed; everything else is.
    let Ok(lines) = scheme.sign(&request, &secrets[0]) else {
        return;
    };
    let headers: Headers = lines.into_iter().collect();
    let accepted = |headers: &Headers, body: &[u8]| {
        let message = Message {
            method: "POST",
            url: "/hooks/hostile",
            headers,
            body,
        };
        scheme.verify(&message, secrets, NOW_MS, None).is_ok()
    };
    assert!(
        accepted(&headers, body),
        "refuses what it signed: {headers:?}"
    );
    if scheme.facts().covers_body {
        for changed in [
            &body[1..],
            &body[..body.len() - 1],
            b"",
            &[body, b" "].concat(),
        ] {
            assert!(!accepted(&headers, changed), "a changed body was accepted");
        }
        nothing_shifts(scheme, &headers, body, accepted);
    }
    let none = Some(Duration::ZERO);
    let message = Message {
        method: "POST",
        url: "/hooks/hostile",
        headers: &Headers::new(),
        body,
    };
    let unsigned = scheme.verify(&message, secrets, NOW_MS, none);
    assert!(unsigned.is_err(), "accepts what nobody signed");
}

/// Bytes moved from the end of a header to the start of the body, and back, are another message.
fn nothing_shifts(
    scheme: &Scheme,
    headers: &Headers,
    body: &[u8],
    accepted: impl Fn(&Headers, &[u8]) -> bool,
) {
    let names: Vec<String> = headers.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let value = headers.first(&name).unwrap_or_default().to_vec();
        for cut in 1..=4_usize.min(value.len()) {
            let (kept, moved) = value.split_at(value.len() - cut);
            let (taken, left) = body.split_at(cut);
            let shifted = [
                (kept.to_vec(), [moved, body].concat()),
                ([&value, taken].concat(), left.to_vec()),
                // With the separator that many schemes have between the two.
                (
                    [&value, &b"."[..], taken].concat(),
                    left.get(1..).unwrap_or_default().to_vec(),
                ),
            ];
            for (value, body) in shifted {
                let others: Headers = headers
                    .iter()
                    .map(|(have, old)| (have, if have == name { &value[..] } else { old }))
                    .collect();
                assert!(
                    !accepted(&others, &body),
                    "{}: bytes of `{name}` and of the body change places",
                    scheme.slug()
                );
            }
        }
    }
}
