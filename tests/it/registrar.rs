//! The registrar: an application's records of its jobs, and its own observations, through the real handler.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ackbox_config::{Lookup, OnConflict};
use ackbox_domain::job::{Ids, Jobs, Unbound};
use ackbox_domain::{Backoff, EventPattern, Locator, MaxAge};
use ackbox_registrar::Registrar;
use ackbox_tests::requests::{Host, Wire};
use ackbox_tests::sender::Answer;
use ackbox_tests::world::{World, answering, name, warehouse};
use serde_json::{Value, json};

mod bind;
mod hear;
mod hostile;
mod item;
mod look;

/// What sources say of their jobs.
fn jobs(space: &str) -> Jobs {
    let outcomes = [
        ("completed", "completed"),
        ("failed", "failed"),
        ("error", "failed"),
    ];
    let outcomes = outcomes.map(|(word, outcome)| (word.to_owned(), name(outcome)));
    Jobs {
        space: name(space),
        ids: Ids::Shared,
        on: vec![EventPattern::Any],
        account: None,
        accounts: BTreeMap::new(),
        status: vec!["/status".parse().unwrap()],
        outcomes: BTreeMap::from(outcomes),
        progress: BTreeSet::from(["processing".to_owned()]),
        values: BTreeMap::from([(name("key"), vec!["/key".parse().unwrap()])]),
        unbound: Unbound::Park,
        parked_for: Duration::from_secs(86_400),
    }
}

/// The sources `tornado` and `tornado-org` of the job space `tornado`, and `sume`, whose ids are of an account.
async fn world() -> World {
    changed(|_| {}).await
}

async fn changed(change: impl FnOnce(&mut ackbox_config::Config)) -> World {
    let destination = answering(200).await;
    let mut text = warehouse(&destination, "{ window = \"24h\" }", "retry");
    for source in ["tornado", "tornado-org", "sume", "plain"] {
        text.push_str(&format!(
            r#"
[source.{source}]
scheme = "standard-webhooks"
secrets = ["env:TORNADO"]

[[source.{source}.rule]]
name = "never"
on = ["never"]
key = ["message:id"]
destination = "warehouse"
"#
        ));
    }
    let mut world = World::new(&text).await;
    for (source, space) in [
        ("tornado", "tornado"),
        ("tornado-org", "tornado"),
        ("sume", "sume"),
    ] {
        let source = &mut world.config.sources.get_mut(source).unwrap().source;
        source.subject = vec![Locator::Body("/job_id".parse().unwrap())];
        source.jobs = Some(jobs(space));
    }
    jobs_of(&mut world.config, "sume").ids = Ids::PerAccount;
    jobs_of(&mut world.config, "tornado-org").account = Some("org".to_owned());
    change(&mut world.config);
    world
}

fn jobs_of<'c>(config: &'c mut ackbox_config::Config, source: &str) -> &'c mut Jobs {
    let source = config.sources.get_mut(source).unwrap();
    source.source.jobs.as_mut().unwrap()
}

fn refuse_conflicts(config: &mut ackbox_config::Config, source: &str) {
    config.sources.get_mut(source).unwrap().on_conflict = OnConflict::Refuse;
}

fn lookup() -> Lookup {
    let asked = r#"
[destination.asked]
url = "https://a.example/"
idempotency = "none"
on_unknown = "reconcile"

[destination.asked.reconcile]
url = "https://a.example/jobs/{key}"
answers = [{ status = 200, means = "applied" }]
"#;
    let mut asked = ackbox_tests::world::parsed(asked).destinations;
    let reconcile = asked.remove("asked").and_then(|asked| asked.reconcile);
    Lookup {
        url: reconcile.unwrap().url,
        headers: Vec::new(),
        timeout: Duration::from_secs(5),
        concurrency: 2,
        backoff: Backoff {
            first: Duration::from_secs(10),
            max: Duration::from_secs(600),
        },
        answers: Vec::new(),
        allow_private: false,
    }
}

/// A record of a job with a step for each end.
fn record(id: &str) -> Value {
    json!({
        "space": "tornado", "job_id": id, "tenant": "t-1", "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "warehouse", "input": {"n": 12345678901234567890123_u128.to_string()}},
            {"step": "refund-v1", "on": ["failed"], "destination": "warehouse"}
        ]
    })
}

fn completed(id: &str) -> Value {
    json!({"space": "tornado", "job_id": id, "outcome": "completed"})
}

/// A request, as a function URL hands it over.
async fn ask(registrar: &Registrar, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let wire = Wire {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.into(),
        base64: false,
    };
    let answer = Answer::of(
        registrar
            .handle(wire.request(Host::FunctionUrl), None)
            .await,
    );
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let word = said(&answer)["outcome"].clone();
    assert!(
        answer.outcome == "found" || word == answer.outcome.as_str(),
        "{answer:?}"
    );
    answer
}

fn said(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

async fn bind(registrar: &Registrar, record: &Value) -> Answer {
    ask(registrar, "POST", "/jobs", record.to_string()).await
}

async fn hear(registrar: &Registrar, observation: &Value) -> Answer {
    ask(registrar, "POST", "/observations", observation.to_string()).await
}

async fn look(registrar: &Registrar, path: &str) -> Answer {
    ask(registrar, "GET", path, "").await
}
