//! Secrets that cannot be had: references come in, what is wanting and what to do comes out, a line
//! each. Never a value.

use std::collections::BTreeMap;

use ackbox_config::{Config, SecretRef, SourceConfig};
use ackbox_domain::causes::in_one_line;
use ackbox_secrets::Secrets;

/// What is wanting, in words: for each reference why, for whom, and what to do.
pub(super) async fn secrets(config: &Config, secrets: &Secrets) -> Vec<String> {
    let mut wanting: BTreeMap<SecretRef, (String, Vec<String>)> = BTreeMap::new();
    for (reference, user) in uses(config) {
        let problem = match secrets.resolve_one(&reference).await {
            Err(error) => Some(in_one_line(&error)),
            Ok(value) => match user {
                User::Source(source) => form(source, &reference, value.expose()),
                User::Lookup(_) | User::Destination(_) => None,
            },
        };
        if let Some(problem) = problem {
            let (_, users) = wanting
                .entry(reference)
                .or_insert_with(|| (problem, Vec::new()));
            let user = user.to_string();
            if !users.contains(&user) {
                users.push(user);
            }
        }
    }
    wanting
        .into_iter()
        .map(|(reference, (problem, users))| {
            format!("{problem} (for {}){}", users.join(", "), remedy(&reference))
        })
        .collect()
}

/// Who uses a secret.
#[derive(Clone, Copy)]
enum User<'c> {
    Source(&'c SourceConfig),
    Lookup(&'c str),
    Destination(&'c str),
}

impl std::fmt::Display for User<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Source(source) => write!(f, "source {}", source.source.name),
            Self::Lookup(name) => write!(f, "asking source {name} about jobs"),
            Self::Destination(name) => write!(f, "destination {name}"),
        }
    }
}

fn uses(config: &Config) -> Vec<(SecretRef, User<'_>)> {
    let sources = config.sources.values().flat_map(|source| {
        let of = move |reference: &SecretRef| (reference.clone(), User::Source(source));
        let name = source.source.name.as_str();
        let lookup = source.lookup.iter().flat_map(|lookup| &lookup.headers);
        let asking = lookup.map(move |(_, reference)| (reference.clone(), User::Lookup(name)));
        source.secrets.iter().map(of).chain(asking)
    });
    let destinations = config.destinations.values().flat_map(|destination| {
        let name = destination.name.as_str();
        let question = destination.reconcile.iter().flat_map(|ask| &ask.headers);
        let asking = question.map(|(_, reference)| reference);
        destination
            .to
            .secrets()
            .chain(asking)
            .map(move |reference| (reference.clone(), User::Destination(name)))
    });
    sources.chain(destinations).collect()
}

/// What is wrong with the form of a source's secret.
fn form(source: &SourceConfig, reference: &SecretRef, text: &str) -> Option<String> {
    let label = reference.to_string();
    source
        .scheme
        .secret(&label, text)
        .err()
        .map(|error| in_one_line(&error))
}

fn remedy(reference: &SecretRef) -> String {
    match reference {
        SecretRef::Env(name) => format!("\n  export {name}='...' and start again"),
        // What is in a file is read again every few minutes.
        SecretRef::File(_) | SecretRef::Ssm(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
        [source.reports]
        scheme  = "standard-webhooks"
        secrets = ["env:GOOD", "env:SHORT", "env:ABSENT"]

        [[source.reports.rule]]
        name        = "inbox"
        key         = ["message:id"]
        destination = "mailer"

        [destination.mailer]
        url         = "https://mail.example/actions"
        headers     = { Authorization = "env:ABSENT" }
        idempotency = "none"
        on_unknown  = "reconcile"

        [destination.mailer.reconcile]
        url     = "https://mail.example/actions/{key}"
        headers = { Authorization = "env:ASKING" }
        answers = [{ status = 200, means = "applied" }]

        [source.tornado]
        scheme  = "tornado"
        secrets = ["env:GOOD"]
        job     = { lookup = { headers = { x-api-key = "env:API_KEY" } } }
    "#;

    #[tokio::test]
    async fn what_is_wanting_is_said_once_with_who_needs_it_and_never_with_a_value() {
        let config = Config::parse("ackbox.toml", CONFIG).unwrap();
        let environment = |name: &str| match name {
            "GOOD" => Some("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()),
            "SHORT" => Some("whsec_not base64 at all".to_owned()),
            _ => None,
        };
        let told = secrets(&config, &Secrets::new(environment)).await;
        assert_eq!(told.len(), 4, "{told:?}");
        let with = |name: &str| told.iter().find(|line| line.contains(name)).unwrap();
        let asking = with("env:ASKING");
        assert!(asking.contains("(for destination mailer)"), "{asking}");
        let api_key = with("env:API_KEY");
        assert!(
            api_key.contains("(for asking source tornado about jobs)"),
            "{api_key}"
        );
        let absent = with("ABSENT");
        assert!(
            absent.contains("source reports, destination mailer"),
            "{absent}"
        );
        assert!(absent.contains("export ABSENT="), "{absent}");
        assert!(!told.concat().contains("not base64 at all"), "{told:?}");
    }
}
