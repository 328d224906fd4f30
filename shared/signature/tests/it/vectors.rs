//! Every vector of every provider, from the provider's documentation or tests where it publishes any.

use std::path::Path;
use std::time::Duration;

use ackbox_signature::{Headers, Message, Scheme};
use serde_json::Value;

use crate::support::{HUGE, builtin};

struct Vector {
    slug: String,
    note: String,
    secret: String,
    headers: Headers,
    body: Vec<u8>,
    now_ms: u64,
    valid: bool,
    fresh: bool,
}

impl Vector {
    fn outcome(&self, tolerance: Option<Duration>) -> String {
        let scheme = builtin(&self.slug);
        let secrets = [scheme.secret("vector", &self.secret).unwrap()];
        let message = Message {
            method: "POST",
            url: "/",
            headers: &self.headers,
            body: &self.body,
        };
        match scheme.verify(&message, &secrets, self.now_ms, tolerance) {
            Ok(_) => "accepted".into(),
            Err(refusal) => refusal.code().into(),
        }
    }
}

fn vectors(slug: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/vectors")
        .join(format!("{slug}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["provider"], slug);
    let vectors = file["vectors"].as_array().unwrap();
    vectors.iter().map(|vector| read(slug, vector)).collect()
}

fn read(slug: &str, vector: &Value) -> Vector {
    assert!(
        !vector["source"].as_str().unwrap().is_empty(),
        "{slug}: a vector without its source"
    );
    let text = |name: &str| vector[name].as_str().unwrap_or_default().to_owned();
    let public_key = text("public_key");
    Vector {
        slug: slug.to_owned(),
        note: text("note"),
        secret: if public_key.is_empty() {
            text("secret")
        } else {
            public_key
        },
        headers: vector["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name, value.as_str().unwrap()))
            .collect(),
        body: data_encoding::BASE64
            .decode(text("body_base64").as_bytes())
            .unwrap(),
        now_ms: vector["now"].as_u64().unwrap_or(1_735_689_600) * 1000,
        valid: vector["valid"].as_bool().unwrap(),
        fresh: vector["fresh"].as_bool().unwrap_or(true),
    }
}

#[test]
fn every_vector_of_every_provider_has_its_outcome() {
    let (mut accepted, mut refused, mut stale) = (0, 0, 0);
    for slug in Scheme::builtin_slugs() {
        let (mut good, mut bad) = (0, 0);
        for vector in vectors(slug) {
            let context = format!("{slug}: {}", vector.note);
            let outcome = vector.outcome(None);
            match (vector.valid, vector.fresh) {
                (true, true) => {
                    assert_eq!(outcome, "accepted", "{context}");
                    good += 1;
                }
                (true, false) => {
                    assert_eq!(outcome, "too-old", "{context}");
                    assert_eq!(
                        vector.outcome(Some(HUGE)),
                        "accepted",
                        "the signature is right; {context}"
                    );
                    stale += 1;
                }
                (false, _) => {
                    assert_ne!(outcome, "accepted", "{context}");
                    let whatever_its_age = vector.outcome(Some(HUGE));
                    assert_ne!(whatever_its_age, "accepted", "{context}");
                    bad += 1;
                }
            }
        }
        assert!(
            good > 0 && bad > 0,
            "{slug} has {good} accepted and {bad} refused vectors; it needs both"
        );
        accepted += good;
        refused += bad;
    }
    let providers = Scheme::builtin_slugs().count();
    println!(
        "{} vectors of {providers} providers: {accepted} accepted, {refused} refused, {stale} refused for their age alone",
        accepted + refused + stale
    );
    // As many as there are files' worth of; a file that stops being read shows here.
    assert_eq!(
        (providers, accepted + refused + stale),
        (11, EXPECTED_VECTORS)
    );
}

const EXPECTED_VECTORS: usize = 38;

#[test]
fn the_reason_fits_what_is_wrong() {
    let reasons: Vec<_> = vectors("tornado")
        .iter()
        .filter(|vector| !vector.valid)
        .map(|vector| vector.outcome(None))
        .collect();
    assert_eq!(
        reasons,
        [
            "no-secret-matched",
            "malformed-header",
            "malformed-header",
            "malformed-header",
            "no-secret-matched"
        ]
    );
    let only_v0 = vectors("stripe")
        .into_iter()
        .find(|vector| !vector.valid)
        .unwrap();
    assert_eq!(only_v0.outcome(None), "unknown-version");
}
