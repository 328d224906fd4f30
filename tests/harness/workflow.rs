//! A world of jobs: two sources of one job space, each with its own secret (callbacks of each job, and an
//! organization's endpoint), a system that can be asked about its jobs, and an application that binds
//! them. Whoever observes does so through the real functions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ackbox_domain::Timestamp;
use ackbox_domain::job::{Binding, JobObservation, JobRef, binding, qualify};
use ackbox_outbound::Outbound;
use ackbox_reconciler::Reconciler;
use ackbox_registrar::Registrar;
use ackbox_store::{Bound, JobRecord, Store, StoreError};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::destination::{Behaviour, Destination, Received};
use crate::requests::{Host, Wire};
use crate::sender::{Answer, Webhook};
use crate::world::{World, name, secrets};

/// The one job space.
pub const SPACE: &str = "tornado";

/// How long after its registration a silent job is asked about.
pub const POLL_AFTER: Duration = Duration::from_secs(600);

/// What is said of which job; and for how long it wants to be left alone.
#[derive(Debug, Default)]
struct Known {
    answers: BTreeMap<String, (u16, Value)>,
    busy: Option<Duration>,
}

type Answers = Arc<Mutex<Known>>;

/// A system that runs jobs, as far as it can be asked.
#[derive(Debug)]
pub struct System {
    server: Destination,
    answers: Answers,
}

/// Everything.
#[derive(Debug)]
pub struct Workflow {
    /// Functions and table.
    pub world: World,
    /// Who is asked about jobs.
    pub system: System,
}

/// Who tells of the end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teller {
    /// The callback of the job itself.
    Callback,
    /// The organization's endpoint.
    Organization,
    /// The organization's endpoint, for another account.
    Stranger,
}

impl System {
    async fn start() -> Self {
        let answers = Answers::default();
        let known = Arc::clone(&answers);
        let script = move |asked: &Received| {
            let id = asked.path.trim_start_matches("/jobs/");
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(busy) = known.busy {
                let wait = ("retry-after".to_owned(), busy.as_secs().to_string());
                return Behaviour::Answer {
                    status: 429,
                    headers: vec![wait],
                    body: String::new(),
                };
            }
            let answer = known.answers.get(id).cloned();
            let (status, body) = answer.unwrap_or((404, Value::Null));
            Behaviour::Answer {
                status,
                headers: Vec::new(),
                body: body.to_string(),
            }
        };
        let server = Destination::start(script).await;
        Self {
            server: server.expect("a system starts"),
            answers,
        }
    }

    /// From now on it says this of a job.
    pub fn says(&self, id: &str, status: u16, body: Value) {
        let mut known = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        known.answers.insert(id.to_owned(), (status, body));
    }

    /// From now on it wants to be left alone for so long.
    pub fn is_busy(&self, wait: Duration) {
        let mut known = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        known.busy = Some(wait);
    }

    /// From now on it says that the job stands so, in the shape of its status lookups.
    pub fn has(&self, id: &str, status: &str) {
        let body = json!({"id": id, "url": source_url(id), "status": status, "step": "Finished"});
        self.says(id, 200, body);
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.server.received().len()
    }
}

impl Workflow {
    /// On a fresh table. `job` is what `[source.tornado-org]` says of its jobs beside its space.
    pub async fn with(job: &str) -> Self {
        let system = System::start().await;
        let config = config(&system.server.url("/jobs/{job_id}"), job);
        Self {
            world: World::new(&config).await,
            system,
        }
    }

    /// The usual one.
    pub async fn new() -> Self {
        Self::with("account = \"acme\"").await
    }

    /// A store past the faults, with a memory of its own, as another process would have.
    pub async fn store(&self) -> Store {
        self.world.store_at(self.world.engine_endpoint()).await
    }

    /// A webhook by which this teller says that a job has ended so.
    pub fn webhook(&self, teller: Teller, id: &str, outcome: &str) -> Webhook {
        let now = self.world.clock.now();
        let url = source_url(id);
        let event = format!("job_{outcome}");
        let (source, body) = match teller {
            Teller::Callback => (
                "tornado",
                json!({"type": event, "job_id": id, "status": outcome, "url": url}),
            ),
            Teller::Organization | Teller::Stranger => (
                "tornado-org",
                // Every delivery has another id, and so other bytes.
                json!({"delivery_id": now.unix_ms(), "event": event, "data": {"job_id": id, "status": outcome, "url": url}}),
            ),
        };
        let webhook = self.world.webhook(source, "", body.to_string());
        match teller {
            Teller::Stranger => webhook.signed_with("STRANGER"),
            Teller::Callback | Teller::Organization => webhook,
        }
    }

    /// A webhook that says that a job goes on.
    pub fn progress(&self, id: &str) -> Webhook {
        let body =
            json!({"type": "progress", "job_id": id, "stage": "muxing", "progress_percent": 33});
        self.world.webhook("tornado", "", body.to_string())
    }

    /// Binds a job through a registrar on this store.
    pub async fn bind(&self, store: Store, job: &Value) -> Answer {
        self.post(store, "/jobs", job.to_string()).await
    }

    /// Tells a registrar on this store of an end that the application itself has seen. It writes its texts
    /// otherwise than the system does.
    pub async fn observe(&self, store: Store, id: &str, outcome: &str) -> Answer {
        let url = source_url(id).replace('/', r"\/");
        let form = format!(
            r#"{{"space":"{SPACE}","job_id":"{id}","account":"acme","outcome":"{outcome}","values":{{"source-url":"{url}"}}}}"#
        );
        self.post(store, "/observations", form).await
    }

    async fn post(&self, store: Store, path: &str, body: String) -> Answer {
        let clock = self.world.clock.reader();
        let registrar = Registrar::new(self.world.config.clone(), store, clock);
        let wire = Wire {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.into_bytes(),
            base64: false,
        };
        let request = wire.request(Host::FunctionUrl);
        Answer::of(registrar.handle(request, None).await)
    }

    /// Binds a job as an application does that writes the item itself: nothing that is parked is taken up.
    ///
    /// # Errors
    /// The table's.
    pub async fn bind_alone(&self, store: &Store, job: &Value) -> Result<Bound, StoreError> {
        let (binding, text) = read(job);
        store
            .bind(&binding, &text, self.world.clock.now(), soon())
            .await
    }

    /// A run of the reconciler on this store.
    pub async fn reconcile(&self, store: Store) -> Value {
        let config = self.world.config.clone();
        let outbound = Outbound::new(secrets());
        let reconciler = Reconciler::new(config, store, outbound, self.world.clock.reader());
        reconciler.run(soon()).await
    }

    /// What the table says of a job.
    pub async fn job(&self, id: &str) -> Option<JobRecord> {
        let store = self.store().await;
        store.job(&job_ref(id)).await.expect("a job that reads")
    }
}

/// The bodies that the steps of a job deliver where it has ended so, whoever has seen it.
pub fn bodies(job: &Value, outcome: &str) -> Vec<Vec<u8>> {
    let (binding, _) = read(job);
    let id = binding.job.id.clone();
    let now = Timestamp::default();
    let seen = JobObservation {
        job: binding.job.clone(),
        source: name("anyone"),
        account: binding.account.clone(),
        outcome: name(outcome),
        event: None,
        message_id: None,
        values: BTreeMap::from([(name("source-url"), json!(source_url(&id)).to_string())]),
        body: ackbox_domain::RenderedBody {
            bytes: b"{}".to_vec(),
            content_type: None,
            content_encoding: None,
        },
        digest: [0; 32],
        seen_at: now,
    };
    let actions = qualify(&binding, &seen, now).expect("an end that agrees");
    let mut bodies: Vec<Vec<u8>> = actions
        .into_iter()
        .map(|action| action.body.bytes)
        .collect();
    bodies.sort();
    bodies
}

/// A job of the account `acme` with two steps for `completed`, of which one is for `failed` too.
pub fn job(id: &str) -> Value {
    json!({
        "space": SPACE,
        "job_id": id,
        "account": "acme",
        "tenant": "tenant-1",
        "attempt": format!("attempt-of-{id}"),
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "analyzer", "input": {"language": "de"}, "values": ["source-url"]},
            {"step": "report-v1", "on": ["completed", "failed"], "destination": "analyzer"}
        ],
        "expected": {"source-url": source_url(id)},
        "poll_after": "10m",
        "give_up_after": "6h"
    })
}

/// The job of this id.
pub fn job_ref(id: &str) -> JobRef {
    JobRef {
        space: name(SPACE),
        id: id.to_owned(),
        account: None,
    }
}

fn read(job: &Value) -> (Binding, String) {
    let text = job.to_string();
    let binding = binding(text.as_bytes());
    (binding.expect("a test's binding"), text)
}

fn source_url(id: &str) -> String {
    format!("https://videos.example.com/{id}.mp4")
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn config(lookup: &str, organization: &str) -> String {
    format!(
        r#"
[source.tornado]
scheme  = "tornado"
secrets = ["env:TORNADO"]

[source.tornado.job]
account = "acme"

[source.tornado.job.lookup]
url     = "{lookup}"
headers = {{ x-api-key = "env:TORNADO_API_KEY" }}
backoff = {{ first = "1m", max = "10m" }}
allow_private = true

[source.tornado-org]
scheme  = "tornado"
secrets = ["env:ORGANIZATION", "env:STRANGER"]

[source.tornado-org.job]
space    = "{SPACE}"
accounts = {{ "env:STRANGER" = "stranger" }}
{organization}

[destination.analyzer]
url         = "http://127.0.0.1:9/analyze"
idempotency = {{ window = "24h" }}
allow_private = true

"#
    )
}
