//! Two destinations that fail at random: one keeps keys, the other does not. In come requests, out
//! comes what each key has seen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackbox_tests::destination::Received;

use crate::destination::{Destination, Reply};

/// The requests of one destination, by key.
pub(crate) type Log = HashMap<String, Vec<Request>>;

/// What is kept of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// What it was answered with; `None`: nothing.
    pub status: Option<u16>,
}

/// Both.
#[derive(Debug)]
pub(crate) struct Destinations {
    keeps_keys: One,
    keeps_none: One,
}

#[derive(Debug)]
struct One {
    server: Destination,
    log: Arc<Mutex<Log>>,
}

impl Destinations {
    pub(crate) async fn start() -> Result<Self, String> {
        Ok(Self {
            keeps_keys: One::start().await?,
            keeps_none: One::start().await?,
        })
    }

    /// What the one that keeps keys has seen.
    pub(crate) fn keeps_keys(&self) -> Log {
        locked(&self.keeps_keys.log).clone()
    }

    /// What the one that keeps none has seen.
    pub(crate) fn keeps_none(&self) -> Log {
        locked(&self.keeps_none.log).clone()
    }
}

impl One {
    async fn start() -> Result<Self, String> {
        let log: Arc<Mutex<Log>> = Arc::default();
        let of_script = Arc::clone(&log);
        let server = Destination::unlogged(move |request| {
            let reply = at_random();
            note(&of_script, request, reply);
            reply
        });
        let server = server
            .await
            .map_err(|error| format!("a destination: {error}"))?;
        Ok(Self { server, log })
    }
}

fn note(log: &Mutex<Log>, request: &Received, reply: Reply) {
    let status = match reply {
        Reply::Status(status) => Some(status),
        Reply::Dropped => None,
    };
    let body = request.body.clone();
    let mut log = locked(log);
    let requests = log.entry(request.key.clone()).or_default();
    requests.push(Request { body, status });
}

/// Four of five go well.
fn at_random() -> Reply {
    match fastrand::u8(..100) {
        0..80 => Reply::Status(200),
        80..85 => Reply::Status(500),
        85..90 => Reply::Status(429),
        90..94 => Reply::Status(503),
        94 => Reply::Status(422),
        _ => Reply::Dropped,
    }
}

/// A configuration whose events go to the one or the other.
pub(crate) fn config(destinations: &Destinations) -> String {
    let destination = |name: &str, one: &One, policy: &str| {
        format!(
            r#"
[[source.orders.rule]]
name = "{name}"
on = ["order.{name}"]
key = ["message:id"]
destination = "{name}"

[destination.{name}]
url = "{}"
{policy}
timeout = "2s"
backoff = {{ first = "100ms", max = "2s" }}
allow_private = true
"#,
            one.server.url()
        )
    };
    let keeps = "idempotency = { window = \"24h\" }\non_unknown = \"retry\"";
    let none = "idempotency = \"none\"\non_unknown = \"hold\"";
    format!(
        r#"
[source.orders]
scheme = "standard-webhooks"
secrets = ["env:ORDERS"]
{}{}
[delivery]
lease = "4s"
settle_margin = "1500ms"
clock_skew = "300ms"
first_due = "5s"
stream_budget = "2s"
function_timeout = "30s"
accept_budget = "5s"
"#,
        destination("warehouse", &destinations.keeps_keys, keeps),
        destination("printer", &destinations.keeps_none, none)
    )
}

fn locked(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
