//! Whatever bytes come: a changed byte is refused, a mutated header means the same or gives a reason, nothing panics.

use ackbox_signature::{Headers, Scheme, Secret};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::{HUGE, NOW_MS, code, message, request, signing_secrets, verify, with};

fn any_signed() -> impl Strategy<Value = (std::sync::Arc<Scheme>, Secret)> {
    proptest::sample::select(signing_secrets())
}

fn sign(scheme: &Scheme, secret: &Secret, body: &[u8], id: &str) -> Headers {
    scheme
        .sign(&request(body, id), secret)
        .unwrap()
        .into_iter()
        .collect()
}

/// One edit of some bytes.
#[derive(Clone, Debug)]
enum Edit {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
    Swap(Index, Index),
    Repeat(Index),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match self {
            Self::Replace(at, byte) => bytes[at.index(len)] = *byte,
            Self::Insert(at, byte) => bytes.insert(at.index(len + 1), *byte),
            Self::Remove(at) => drop(bytes.remove(at.index(len))),
            Self::Cut(at) => bytes.truncate(at.index(len)),
            Self::Swap(one, other) => bytes.swap(one.index(len), other.index(len)),
            Self::Repeat(at) => bytes.extend_from_within(at.index(len)..),
        }
    }
}

fn any_edit() -> impl Strategy<Value = Edit> {
    // Bytes that mean something in headers come up often enough to matter.
    let byte = prop_oneof![
        any::<u8>(),
        proptest::sample::select(b"=,;. vt0aA+/-_".to_vec())
    ];
    prop_oneof![
        (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        (any::<Index>(), byte).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        any::<Index>().prop_map(Edit::Remove),
        any::<Index>().prop_map(Edit::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Edit::Swap(one, other)),
        any::<Index>().prop_map(Edit::Repeat),
    ]
}

/// The header's value as a sender would write it: items without white space around them, hexadecimal in lower case,
/// base64 without padding. Written apart from the crate's own reading.
fn items(scheme: &Scheme, value: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(value).into_owned();
    let separator = match scheme.slug() {
        "standard-webhooks" | "svix" => " ",
        "stripe" | "tornado" | "openrouter" => ",",
        _ => "\n",
    };
    text.split(separator)
        .map(|item| match scheme.slug() {
            "standard-webhooks" | "svix" | "shopify" => {
                item.trim().trim_end_matches('=').to_owned()
            }
            "token" => item.trim().to_owned(),
            _ => item.trim().to_ascii_lowercase(),
        })
        .map(|item| {
            item.split(['=', ','])
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("=")
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_signed_is_accepted((scheme, secret) in any_signed(), body in vec(any::<u8>(), 0..300), id in "[!-~&&[^.]]{1,40}") {
        let lines = sign(&scheme, &secret, &body, &id);
        prop_assert_eq!(code(verify(&scheme, &lines, &body, &[secret])), "accepted");
    }

    #[test]
    fn any_edit_of_a_covered_body_is_refused((scheme, secret) in any_signed(), body in vec(any::<u8>(), 1..300), edit in any_edit()) {
        prop_assume!(scheme.facts().covers_body);
        let lines = sign(&scheme, &secret, &body, "msg_1");
        let mut changed = body.clone();
        edit.apply(&mut changed);
        prop_assume!(changed != body);
        prop_assert_eq!(code(verify(&scheme, &lines, &changed, &[secret])), "no-secret-matched");
    }

    #[test]
    fn any_edit_of_a_covered_header_is_refused((scheme, secret) in any_signed(), edit in any_edit()) {
        let lines = sign(&scheme, &secret, b"{}", "msg_1");
        let secrets = [secret];
        let covered: Vec<(String, Vec<u8>)> = {
            let verified = verify(&scheme, &lines, b"{}", &secrets).unwrap();
            lines.iter().filter(|(name, _)| verified.covers(name)).map(|(name, value)| (name.to_owned(), value.to_vec())).collect()
        };
        for (name, value) in covered {
            let mut changed = value.clone();
            edit.apply(&mut changed);
            if changed.trim_ascii() == value.as_slice() {
                continue;
            }
            let lines = with(&lines, &name, &changed);
            // Whatever its age: it is the signature that must not fit.
            let outcome = code(scheme.verify(&message(&lines, b"{}"), &secrets, NOW_MS, Some(HUGE)));
            prop_assert_ne!(outcome, "accepted", "{} {}", scheme.slug(), name);
        }
    }

    #[test]
    fn an_edited_signature_header_gives_a_reason_or_means_the_same((scheme, secret) in any_signed(), edits in vec(any_edit(), 1..4)) {
        let lines = sign(&scheme, &secret, b"{}", "msg_1");
        let (name, value) = lines.iter().last().map(|(name, value)| (name.to_owned(), value.to_vec())).unwrap();
        let mut changed = value.clone();
        edits.iter().for_each(|edit| edit.apply(&mut changed));
        let edited = with(&lines, &name, &changed);
        if verify(&scheme, &edited, b"{}", &[secret]).is_ok() {
            let right = items(&scheme, &value);
            let found = items(&scheme, &changed);
            prop_assert!(right.iter().all(|item| found.contains(item)), "{:?} was accepted for {:?}", found, right);
        }
    }

    #[test]
    fn random_header_bytes_never_panic_and_never_verify((scheme, secret) in any_signed(), values in vec(vec(any::<u8>(), 0..200), 4)) {
        let names: Vec<String> = sign(&scheme, &secret, b"{}", "msg_1").iter().map(|(name, _)| name.to_owned()).collect();
        let lines: Headers = names.iter().zip(&values).collect();
        let refusal = verify(&scheme, &lines, b"{}", &[secret]).unwrap_err();
        prop_assert!(!refusal.to_string().is_empty());
    }

    #[test]
    fn another_secret_never_fits((scheme, secret) in any_signed(), key in vec(any::<u8>(), 24..64)) {
        let other = format!("whsec_{}", data_encoding::BASE64.encode(&key));
        let lines = sign(&scheme, &secret, b"{}", "msg_1");
        let outcome = code(verify(&scheme, &lines, b"{}", &[scheme.secret("other", &other).unwrap()]));
        prop_assert!(outcome == "no-secret-matched" || outcome == "no-usable-secret");
    }

    #[test]
    fn any_text_as_a_grammar_gives_a_scheme_or_mistakes(signed in ".{0,40}", header in ".{0,10}", key in ".{0,4}", separator in ".{0,2}") {
        let text = format!(
            "signed = {signed:?}\n[[signature]]\nheader = {header:?}\nkey = {key:?}\nkey_separator = {separator:?}\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n",
        );
        let _ = Scheme::from_toml("any", &text);
    }

    #[test]
    fn any_text_as_a_secret_gives_a_secret_or_a_reason((scheme, _) in any_signed(), text in "(whsec_|whpk_|whsk_|v1,whsec_)?.{0,80}") {
        if let Err(error) = scheme.secret("label", &text) {
            prop_assert!(text.len() < 12 || !error.to_string().contains(&text));
        }
    }
}
