//! The seeds: what the fuzzer starts from, and what the stable tests replay. The providers' vectors
//! come in, with a few texts of ours for what no vector shows; small files go out, the same each time.

use std::path::{Path, PathBuf};
use std::{fs, io};

use ackbox_signature::{Locator, Scheme, SignRequest};
use data_encoding::BASE64;
use serde_json::Value;

use crate::setting::{CONFIG, NOW_MS, secret_of, signed};
use crate::text;

mod event;
mod ours;

/// One file.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Whose input it is.
    pub target: &'static str,
    /// Its name, unique for its target.
    pub name: String,
    /// What stands in it.
    pub bytes: Vec<u8>,
}

impl Seed {
    fn new(target: &'static str, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            target,
            name: name.into(),
            bytes: bytes.into(),
        }
    }
}

/// JSON whose names are in order, however `serde_json` was built: a seed is the same each time.
fn in_order(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(values) => values.iter().map(sorted).collect(),
            Value::Object(map) => {
                let mut names: Vec<_> = map.iter().collect();
                names.sort_by_key(|(name, _)| *name);
                let sorted = names
                    .into_iter()
                    .map(|(name, value)| (name.clone(), sorted(value)));
                Value::Object(sorted.collect())
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

/// One vector of a provider.
struct Vector {
    slug: &'static str,
    name: String,
    secret: String,
    now_ms: u64,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Every seed of every target, ordered by target and name.
///
/// # Errors
/// A vector, scheme or configuration of the repository that cannot be read.
pub fn make() -> io::Result<Vec<Seed>> {
    let mut vectors = Vec::new();
    let mut seeds = ours::texts();
    for slug in Scheme::builtin_slugs() {
        vectors.extend(vectors_of(slug)?);
        let path = format!("shared/signature/providers/{slug}.toml");
        seeds.push(Seed::new("grammar", slug, fs::read(root().join(path))?));
    }
    for (name, path) in [
        ("example", "ackbox.toml"),
        ("demo", "cli/src/demo/demo.toml"),
    ] {
        seeds.push(Seed::new("config", name, fs::read(root().join(path))?));
    }
    seeds.extend(vectors.iter().map(to_verify));
    seeds.extend(with_a_private_key());
    for vector in &vectors {
        seeds.extend(to_observe(vector));
        seeds.extend(to_point_into(vector));
    }
    seeds.extend(event::events(&bodies(&vectors))?);
    seeds.sort_by(|one, other| (one.target, &one.name).cmp(&(other.target, &other.name)));
    seeds.dedup_by(|one, other| (one.target, &one.name) == (other.target, &other.name));
    Ok(seeds)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(path: &str) -> io::Result<Value> {
    serde_json::from_slice(&fs::read(root().join(path))?).map_err(io::Error::other)
}

fn vectors_of(slug: &'static str) -> io::Result<Vec<Vector>> {
    let file = json(&format!("shared/signature/tests/vectors/{slug}.json"))?;
    let vectors = file["vectors"].as_array().cloned().unwrap_or_default();
    vectors
        .iter()
        .enumerate()
        .map(|(n, vector)| {
            let text = |name: &str| vector[name].as_str().unwrap_or_default().to_owned();
            let public = text("public_key");
            let body = BASE64.decode(text("body_base64").as_bytes());
            let lines = vector["headers"].as_object().into_iter().flatten();
            let mut headers: Vec<(String, String)> = lines
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect();
            headers.sort();
            Ok(Vector {
                slug,
                name: format!("{slug}-{n:02}"),
                secret: if public.is_empty() {
                    text("secret")
                } else {
                    public
                },
                now_ms: vector["now"]
                    .as_u64()
                    .map_or(NOW_MS, |seconds| seconds * 1000),
                headers,
                body: body.map_err(io::Error::other)?,
            })
        })
        .collect()
}

/// As it stands, and with the time that it was made for.
fn to_verify(vector: &Vector) -> Seed {
    let now = vector.now_ms.to_string();
    let headers = vector
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()));
    let first = [vector.slug, &vector.secret, &now];
    Seed::new(
        "verify",
        vector.name.clone(),
        text::write(&first, headers, &vector.body),
    )
}

/// Ed25519 by its private key, and two signatures side by side: no vector has them.
fn with_a_private_key() -> Vec<Seed> {
    const PRIVATE: &str = "whsk_TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=";
    let made = ["standard-webhooks", "svix"]
        .into_iter()
        .filter_map(|slug| {
            let scheme = Scheme::builtin(slug)?;
            let secret = scheme.secret("env:HOSTILE", PRIVATE).ok()?;
            let request = SignRequest {
                method: "POST",
                url: "/hooks/hostile",
                body: b"{}",
                now_ms: NOW_MS,
                id: "msg_1",
                event: None,
            };
            let headers = scheme.sign_all(&request, &[secret.clone(), secret]).ok()?;
            let lines = headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes()));
            let text = text::write(&[slug, PRIVATE, &NOW_MS.to_string()], lines, b"{}");
            Some(Seed::new("verify", format!("{slug}-private"), text))
        });
    made.collect()
}

/// The source of the hostile configuration that has this scheme.
fn source_of(slug: &str) -> Option<&'static ackbox_config::SourceConfig> {
    CONFIG
        .sources
        .values()
        .find(|source| source.scheme.slug() == slug)
}

fn to_observe(vector: &Vector) -> Option<Seed> {
    let source = source_of(vector.slug)?;
    let lines = [("content-type", &b"application/json"[..])];
    let first = [source.source.name.as_str(), "msg_1", "push"];
    // What cannot be signed is no message of a proven sender.
    signed(
        source,
        &secret_of(source),
        "msg_1",
        Some("push"),
        &vector.body,
    )?;
    Some(Seed::new(
        "observe",
        vector.name.clone(),
        text::write(&first, lines, &vector.body),
    ))
}

/// The body, and where its scheme says that its ids stand.
fn to_point_into(vector: &Vector) -> Option<Seed> {
    let scheme = Scheme::builtin(vector.slug)?;
    let facts = scheme.facts();
    let places = facts.subject.iter().chain(&facts.id).chain(&facts.event);
    let pointer = places.rev().find_map(|locator| match locator {
        Locator::Body { pointer } => Some(pointer.as_str()),
        Locator::Header { .. } => None,
    })?;
    let bytes = [pointer.as_bytes(), b"\n", &vector.body].concat();
    Some(Seed::new("pointer", vector.name.clone(), bytes))
}

/// One body of each provider: the first of its vectors.
fn bodies(vectors: &[Vector]) -> Vec<(&'static str, Vec<u8>)> {
    let mut bodies: Vec<(&'static str, Vec<u8>)> = Vec::new();
    for vector in vectors {
        if bodies.iter().all(|(slug, _)| *slug != vector.slug) {
            bodies.push((vector.slug, vector.body.clone()));
        }
    }
    bodies
}
