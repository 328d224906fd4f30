//! A second opinion on signatures, written apart from the crate that verifies: the provider's own
//! recipe, word by word. It says whether a header holds a MAC that was made with the secret.

use ackbox_signature::Headers;
use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER};
use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use hmac::digest::KeyInit as _;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// Whether a holder of the secret made the signature of this message, by the built-in scheme `slug`.
///
/// Says yes to some messages that the scheme refuses for other reasons (their age, a repeated item).
pub(crate) fn proves(slug: &str, secret: &str, headers: &Headers, body: &[u8]) -> bool {
    let key = secret.as_bytes();
    let one = |name: &str| {
        headers
            .first(name)
            .unwrap_or_default()
            .trim_ascii()
            .to_vec()
    };
    let hex = |name: &str, signed: &[&[u8]]| {
        let mac = HEXLOWER.encode(&mac(key, signed));
        holds(&one(name).to_ascii_lowercase(), mac.as_bytes())
    };
    match slug {
        "token" => one("X-Webhook-Token") == key,
        "tornado-key" => one("X-Tornado-Signature") == key,
        "github" => hex("X-Hub-Signature-256", &[body]),
        "shopify" => holds_base64(&one("X-Shopify-Hmac-SHA256"), &mac(key, &[body])),
        "slack" => {
            let time = one("X-Slack-Request-Timestamp");
            hex("X-Slack-Signature", &[b"v0:", &time, b":", body])
        }
        "sume" => {
            let time = one("X-Sume-Timestamp");
            hex("X-Sume-Signature", &[&time, b".", body])
        }
        "stripe" => hex(
            "Stripe-Signature",
            &[&item(&one("Stripe-Signature")), b".", body],
        ),
        "tornado" => {
            let time = item(&one("X-Tornado-Signature"));
            hex("X-Tornado-Signature", &[&time, b".", body])
        }
        "openrouter" => {
            let time = item(&one("X-OpenRouter-Signature"));
            hex("X-OpenRouter-Signature", &[&time, b",", body])
        }
        "standard-webhooks" => standard("webhook", secret, headers, body),
        "svix" => standard("svix", secret, headers, body),
        other => panic!("a scheme without a second opinion: {other}"),
    }
}

/// Standard Webhooks and Svix: an HMAC or Ed25519 over `id.timestamp.body`, by the secret's prefix.
fn standard(prefix: &str, secret: &str, headers: &Headers, body: &[u8]) -> bool {
    let one = |name: &str| {
        let value = headers.first(&format!("{prefix}-{name}"));
        value.unwrap_or_default().trim_ascii().to_vec()
    };
    let signed = [&one("id")[..], b".", &one("timestamp"), b".", body].concat();
    let found = one("signature");
    if let Some(public) = secret.strip_prefix("whpk_") {
        let key: [u8; 32] = decoded(public).try_into().unwrap_or_default();
        let key = VerifyingKey::from_bytes(&key);
        return key
            .is_ok_and(|key| signatures(&found).any(|sig| key.verify(&signed, &sig).is_ok()));
    }
    if let Some(private) = secret.strip_prefix("whsk_") {
        let seed: [u8; 32] = decoded(private)
            .get(..32)
            .and_then(|seed| seed.try_into().ok())
            .unwrap_or_default();
        let made = SigningKey::from_bytes(&seed).sign(&signed);
        return holds_base64(&found, &made.to_bytes());
    }
    let shared = secret
        .strip_prefix("v1,whsec_")
        .filter(|_| prefix == "webhook")
        .or_else(|| secret.strip_prefix("whsec_"))
        .unwrap_or(secret);
    holds_base64(&found, &mac(&decoded(shared), &[&signed]))
}

/// Every Ed25519 signature in a header of `v1a,...` items.
fn signatures(value: &[u8]) -> impl Iterator<Item = Signature> {
    value.split(|byte| *byte == b' ').filter_map(|item| {
        let at = item.iter().position(|byte| *byte == b',')?;
        let text = std::str::from_utf8(item[at + 1..].trim_ascii()).ok()?;
        Signature::from_slice(&decoded(text)).ok()
    })
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn decoded(text: &str) -> Vec<u8> {
    let text = text.trim_end_matches('=');
    BASE64_NOPAD.decode(text.as_bytes()).unwrap_or_default()
}

/// The value of the one item `t` of a header such as `t=1735689600,v1=..`.
fn item(value: &[u8]) -> Vec<u8> {
    value
        .split(|byte| *byte == b',')
        .filter_map(|item| {
            let at = item.iter().position(|byte| *byte == b'=')?;
            (item[..at].trim_ascii() == b"t").then(|| item[at + 1..].trim_ascii().to_vec())
        })
        .next()
        .unwrap_or_default()
}

fn holds_base64(value: &[u8], bytes: &[u8]) -> bool {
    let text = BASE64.encode(bytes);
    holds(value, text.trim_end_matches('=').as_bytes())
}

fn holds(value: &[u8], wanted: &[u8]) -> bool {
    value.windows(wanted.len()).any(|window| window == wanted)
}
