//! The secrets of a configuration: whether each has the form that its use needs, as far as it can be read
//! here. Values are read and never told.

use std::collections::BTreeSet;

use ackbox_config::{Config, SecretRef};
use ackbox_secrets::{SecretError, SecretValue, Secrets};
use ackbox_signature::{Scheme, Secret, SignRequest};
use data_encoding::BASE64;

use crate::edge;

/// What was found out about the secrets.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What would not work.
    pub(super) mistakes: Vec<Finding>,
    /// What would work and is doubtful.
    pub(super) warnings: Vec<Finding>,
    /// The public keys by which deliveries are verified, a line each.
    pub(super) public_keys: Vec<String>,
    /// What could not be read here, and why.
    pub(super) unread: Vec<String>,
    /// How many different references there are.
    pub(super) count: usize,
}

/// Something about the secret of one table.
#[derive(Debug)]
pub(super) struct Finding {
    /// The table that uses it: `source.stripe`.
    pub(super) table: String,
    /// The reference.
    pub(super) reference: SecretRef,
    /// What there is to say, without the value.
    pub(super) message: String,
}

/// What a secret is for.
enum Use<'a> {
    Verifying(&'a Scheme),
    Header(&'a str),
    Signing,
}

/// Looks at every secret that the configuration names.
pub(super) async fn look(config: &Config) -> Findings {
    let secrets = Secrets::new(edge::environment);
    let mut findings = Findings::default();
    let mut seen = BTreeSet::new();
    for (table, reference, used) in uses(config) {
        let is_new = seen.insert(reference.clone());
        match secrets.resolve_one(&reference).await {
            Ok(value) => findings.judge(&table, &reference, &used, &value),
            Err(error @ SecretError::Unusable { .. }) => {
                let message = error.to_string();
                findings.mistakes.push(Finding {
                    table,
                    reference,
                    message,
                });
            }
            Err(error) if is_new => findings.unread.push(why_unread(&reference, &error)),
            Err(_) => {}
        }
    }
    findings.count = seen.len();
    findings
}

fn uses(config: &Config) -> Vec<(String, SecretRef, Use<'_>)> {
    let mut all = Vec::new();
    for (name, source) in &config.sources {
        for reference in &source.secrets {
            let used = Use::Verifying(&source.scheme);
            all.push((format!("source.{name}"), reference.clone(), used));
        }
        let lookup = source.lookup.iter().flat_map(|lookup| &lookup.headers);
        for (header, reference) in lookup {
            let table = format!("source.{name}.job.lookup");
            all.push((table, reference.clone(), Use::Header(header)));
        }
    }
    for (name, destination) in &config.destinations {
        let table = || format!("destination.{name}");
        let question = destination.reconcile.iter().flat_map(|ask| &ask.headers);
        for (header, reference) in question {
            let table = format!("{}.reconcile", table());
            all.push((table, reference.clone(), Use::Header(header)));
        }
        let Some(http) = destination.to.http() else {
            continue;
        };
        for (header, reference) in &http.headers {
            all.push((table(), reference.clone(), Use::Header(header)));
        }
        for reference in &http.signing {
            all.push((table(), reference.clone(), Use::Signing));
        }
    }
    all
}

fn why_unread(reference: &SecretRef, error: &SecretError) -> String {
    let why = match error {
        SecretError::NotSet { .. } => "not set here",
        SecretError::Unreadable { .. } => "no such file here, or it may not be read",
        _ => "read by the deployed functions only",
    };
    format!("{reference} ({why})")
}

impl Findings {
    fn judge(&mut self, table: &str, reference: &SecretRef, used: &Use<'_>, value: &SecretValue) {
        let finding = |message| Finding {
            table: table.to_owned(),
            reference: reference.clone(),
            message,
        };
        let label = reference.to_string();
        let judged = match used {
            Use::Verifying(scheme) => scheme
                .secret(&label, value.expose())
                .map(|secret| secret.warning())
                .map_err(|error| error.to_string()),
            Use::Signing => signing(&label, value.expose()).map(|signer| {
                let public = signer.public_key().map(|key| BASE64.encode(&key));
                self.public_keys.extend(public.map(|key| {
                    format!(
                        "deliveries to {table}, signed by {reference}, are verified with whpk_{key}"
                    )
                }));
                signer.warning()
            }),
            Use::Header(header) => header_value(header, &label, value.expose()),
        };
        match judged {
            Ok(None) => {}
            Ok(Some(doubt)) => self
                .warnings
                .push(finding(format!("secret {label}: {doubt}"))),
            Err(problem) => self.mistakes.push(finding(problem)),
        }
    }
}

/// Whether deliveries could be signed with it, tried on nothing.
fn signing(label: &str, text: &str) -> Result<Secret, String> {
    let scheme = Scheme::builtin("standard-webhooks").ok_or("no scheme to sign by")?;
    let secret = scheme
        .secret(label, text)
        .map_err(|error| error.to_string())?;
    let request = SignRequest {
        method: "POST",
        url: "/",
        body: b"",
        now_ms: 0,
        id: "id",
        event: None,
    };
    scheme
        .sign(&request, &secret)
        .map_err(|error| error.to_string())?;
    Ok(secret)
}

fn header_value(header: &str, label: &str, text: &str) -> Result<Option<String>, String> {
    if http::HeaderValue::from_str(text).is_err() {
        return Err(format!(
            "secret {label}: what it holds cannot be the value of the header {header}: printable characters of one line only"
        ));
    }
    let has_space = text.trim() != text;
    Ok(has_space.then(|| "begins or ends with white space: a pasted line end?".to_owned()))
}
