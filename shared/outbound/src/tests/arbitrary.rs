//! Whatever a server answers: no panic, and success only by a 2xx status line.

use ackbox_domain::OutcomeKind;
use proptest::prelude::*;

use super::answered;

/// The status of the first answer that is not an interim one, if the bytes begin with such.
fn status(answer: &[u8]) -> Option<u16> {
    let mut rest = answer;
    loop {
        // Empty lines before a status line are skipped (RFC 9112, section 2.2).
        while let [b'\r' | b'\n', more @ ..] = rest {
            rest = more;
        }
        let digits = rest
            .strip_prefix(b"HTTP/1.1 ")
            .or_else(|| rest.strip_prefix(b"HTTP/1.0 "))?
            .get(..3)?;
        let status: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        if !(100..200).contains(&status) {
            return Some(status);
        }
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n")?;
        rest = &rest[end + 4..];
    }
}

fn answers() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..200);
    let like_an_answer = (
        proptest::option::of(Just("HTTP/1.1 103 Hints\r\n\r\n")),
        prop_oneof!["HTTP/1.[01] [1-6][0-9]{2}", "HTTP/[0-9].[0-9] [0-9]{1,4}"],
        "( [ -~]{0,9})?\r\n",
        prop_oneof![
            "([a-z-]{1,12}: [ -~]{0,12}\r\n){0,3}",
            "content-length: [0-9]{1,20}\r\n"
        ],
        proptest::option::of(Just("\r\n")),
        bytes(),
    )
        .prop_map(|(interim, line, reason, headers, end, body)| {
            let mut answer = interim.unwrap_or_default().to_owned() + &line + &reason + &headers;
            answer += end.unwrap_or_default();
            let mut answer = answer.into_bytes();
            answer.extend(body);
            answer
        });
    prop_oneof![1 => bytes(), 4 => like_an_answer]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn success_needs_a_2xx_status_line(answer in answers()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(answered(&answer));
        if outcome.kind == OutcomeKind::Succeeded {
            let status = status(&answer);
            prop_assert!(matches!(status, Some(200..=299)), "{:?}", status);
            prop_assert_eq!(outcome.status, status);
        }
        prop_assert_ne!(outcome.kind, OutcomeKind::NotSent);
        prop_assert!(!outcome.detail.contains(|c: char| c.is_control()));
    }
}
