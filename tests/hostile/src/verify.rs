//! Headers and a body as a stranger sends them, against every provider's scheme. Nothing is accepted
//! that no holder of the secret signed, and no changed byte of what is covered is accepted.
//!
//! ```text
//! stripe                          the scheme
//! an example secret               the secret
//! 1735689600000                   now, in milliseconds since 1970
//! Stripe-Signature:t=1735689600,v1=6ffb..
//!
//! {"id":"evt_1"}
//! ```

use std::time::Duration;

use ackbox_signature::{Headers, Message, Refusal, Scheme, Secret, Verified};

use crate::says_something;
use crate::setting::NOW_MS;
use crate::text::{self, Text};

/// However old: it is the signature that is judged.
const ANY_AGE: Duration = Duration::from_secs(u32::MAX as u64);

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Text {
        first,
        headers,
        body,
    } = text::read::<3>(input);
    let [slug, secret, now] = first.map(|line| String::from_utf8_lossy(line).into_owned());
    let Some(scheme) = Scheme::builtin(&slug) else {
        return;
    };
    let case = Case {
        now_ms: now.parse().unwrap_or(NOW_MS),
        scheme: &scheme,
    };
    let secrets = match scheme.secret("env:HOSTILE", &secret) {
        Ok(usable) => [usable],
        Err(error) => {
            says_something(&error.to_string());
            let shown = error.to_string();
            assert!(
                secret.len() < 24 || !shown.contains(&secret),
                "shows the secret: {shown}"
            );
            return;
        }
    };
    for tolerance in [None, Some(ANY_AGE)] {
        let outcome = case.verify(&headers, body, &secrets, tolerance);
        let again = case.verify(&headers, body, &secrets, tolerance);
        assert_eq!(plain(&outcome), plain(&again), "two answers to one message");
        match outcome {
            Err(refusal) => speaks(&refusal, &secret, &headers),
            Ok(verified) => {
                let proven = crate::oracle::proves(&slug, &secret, &headers, body);
                assert!(
                    proven,
                    "{slug}: accepted what no holder of the secret signed"
                );
                case.every_covered_part_counts(&verified, &secrets, tolerance);
            }
        }
    }
}

struct Case<'s> {
    scheme: &'s Scheme,
    now_ms: u64,
}

impl Case<'_> {
    fn verify<'m>(
        &self,
        headers: &'m Headers,
        body: &'m [u8],
        secrets: &'m [Secret],
        tolerance: Option<Duration>,
    ) -> Result<Verified<'m>, Refusal> {
        let message = Message {
            method: "POST",
            url: "/hooks/hostile",
            headers,
            body,
        };
        self.scheme
            .verify(&message, secrets, self.now_ms, tolerance)
    }

    /// Changes one byte of the body, and one of each covered header, at a place that the input chose.
    fn every_covered_part_counts(
        &self,
        verified: &Verified<'_>,
        secrets: &[Secret],
        tolerance: Option<Duration>,
    ) {
        let &Message { headers, body, .. } = verified.message();
        if self.scheme.facts().covers_body {
            let mut changed = body.to_vec();
            change(&mut changed);
            let outcome = self.verify(headers, &changed, secrets, tolerance);
            assert!(outcome.is_err(), "a changed body was accepted");
        }
        for (name, value) in headers.iter().filter(|(name, _)| verified.covers(name)) {
            let mut changed = value.trim_ascii().to_vec();
            change(&mut changed);
            let others: Headers = headers
                .iter()
                .map(|(have, old)| (have, if have == name { &changed } else { old }))
                .collect();
            let outcome = self.verify(&others, body, secrets, tolerance);
            assert!(outcome.is_err(), "a changed {name} was accepted");
        }
    }
}

/// Another text, of the same length where there is any, with the same first and last byte or not.
fn change(bytes: &mut Vec<u8>) {
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    if bytes.is_empty() {
        bytes.push(b'0');
    } else {
        // Stays printable, and is no white space that would be trimmed away.
        let at = sum % bytes.len();
        bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
    }
}

fn plain(outcome: &Result<Verified<'_>, Refusal>) -> Result<(usize, Option<u64>), Refusal> {
    let facts = |verified: &Verified<'_>| (verified.secret_index(), verified.signed_at_ms());
    outcome.as_ref().map(facts).map_err(Clone::clone)
}

/// A refusal says why, and shows no secret (but where the message itself holds it).
fn speaks(refusal: &Refusal, secret: &str, headers: &Headers) {
    says_something(refusal.code());
    let shown = refusal.to_string();
    says_something(&shown);
    let came_with_it = headers
        .iter()
        .any(|(_, value)| String::from_utf8_lossy(value).contains(secret));
    assert!(
        secret.len() < 24 || came_with_it || !shown.contains(secret),
        "shows the secret: {shown}"
    );
}
