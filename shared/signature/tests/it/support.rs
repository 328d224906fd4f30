//! What the tests share: short ways to a scheme, a secret, headers, and each sender's own way of signing.

use std::sync::Arc;
use std::time::Duration;

use ackbox_signature::{Headers, Message, Refusal, Scheme, Secret, SignRequest, Verified};

/// Milliseconds since 1970 at which the tests sign.
pub(crate) const NOW_MS: u64 = 1_735_689_600_000;

/// A shared secret of Standard Webhooks, from its own documentation.
pub(crate) const WHSEC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub(crate) const STRIPE_SIGNATURE: &str = "Stripe-Signature";

pub(crate) fn builtin(slug: &str) -> Arc<Scheme> {
    Scheme::builtin(slug).unwrap_or_else(|| panic!("no built-in scheme {slug}"))
}

pub(crate) fn headers(lines: &[(&str, &str)]) -> Headers {
    lines.iter().copied().collect()
}

/// Secrets that sign, by scheme and form.
pub(crate) fn signing_secrets() -> Vec<(Arc<Scheme>, Secret)> {
    let mut all = Vec::new();
    for slug in Scheme::builtin_slugs() {
        let scheme = builtin(slug);
        let texts: &[&str] = match slug {
            "standard-webhooks" | "svix" => {
                &[WHSEC, "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs="]
            }
            _ => &["an example secret, not a real one"],
        };
        for text in texts {
            let secret = scheme.secret("current", text).unwrap();
            all.push((Arc::clone(&scheme), secret));
        }
    }
    all
}

pub(crate) fn request<'a>(body: &'a [u8], id: &'a str) -> SignRequest<'a> {
    SignRequest {
        method: "POST",
        url: "/hooks/test",
        body,
        now_ms: NOW_MS,
        id,
        event: Some("example.ready"),
    }
}

pub(crate) fn signed(scheme: &Scheme, secret: &Secret, body: &[u8]) -> Headers {
    scheme
        .sign(&request(body, "msg_1"), secret)
        .unwrap()
        .into_iter()
        .collect()
}

pub(crate) fn message<'a>(headers: &'a Headers, body: &'a [u8]) -> Message<'a> {
    Message {
        method: "POST",
        url: "/hooks/test",
        headers,
        body,
    }
}

pub(crate) fn verify<'a>(
    scheme: &Scheme,
    headers: &'a Headers,
    body: &'a [u8],
    secrets: &'a [Secret],
) -> Result<Verified<'a>, Refusal> {
    scheme.verify(&message(headers, body), secrets, NOW_MS, None)
}

pub(crate) fn code(result: Result<Verified<'_>, Refusal>) -> &'static str {
    result.map_or_else(|refusal| refusal.code(), |_| "accepted")
}

/// The same headers with one value replaced.
pub(crate) fn with(headers: &Headers, name: &str, value: impl AsRef<[u8]>) -> Headers {
    headers
        .iter()
        .map(|(have, old)| {
            let value = if have.eq_ignore_ascii_case(name) {
                value.as_ref()
            } else {
                old
            };
            (have.to_owned(), value.to_vec())
        })
        .collect()
}

pub(crate) const HUGE: Duration = Duration::from_secs(u32::MAX as u64);
