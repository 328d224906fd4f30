//! The application that submits jobs: it tells the registrar of each, over real HTTP and with the token,
//! and keeps what it was answered. At the end it asks where each job stands.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use serde::Deserialize;
use url::Url;

use super::evidence::{Filed, Stands};
use super::job::Job;
use super::wire::{self, Reply};

/// The application.
pub struct Application {
    registrar: Url,
    token: String,
    filed: Mutex<BTreeMap<&'static str, Filed>>,
}

impl Application {
    /// Speaks to the registrar at this address, and shows it this token.
    ///
    /// # Errors
    ///
    /// `registrar` is no URL.
    pub fn new(registrar: &str, token: String) -> Result<Self, url::ParseError> {
        Ok(Self {
            registrar: registrar.parse()?,
            token,
            filed: Mutex::default(),
        })
    }

    /// `POST /jobs`. What was answered is kept; a broken exchange, too.
    pub async fn bind(&self, job: &Job) {
        let body = Bytes::from(job.record());
        let filed = match self.exchange("POST", "/jobs", body).await {
            Ok(reply) => filed(&reply),
            Err(why) => Filed {
                outcome: why,
                ..Filed::default()
            },
        };
        self.lock().insert(job.fact, filed);
    }

    /// What the registrar answered when it was told of a job; none, where it was not told.
    pub fn filed(&self, job: &Job) -> Option<Filed> {
        self.lock().get(job.fact).cloned()
    }

    /// `GET /jobs/{space}/{id}`: where a job stands; none, where it is not bound.
    pub async fn look(&self, job: &Job) -> Option<Stands> {
        let path = format!("/jobs/{}/{}", job.space, job.id);
        let reply = self.exchange("GET", &path, Bytes::new()).await.ok()?;
        let view: View = serde_json::from_slice(&reply.body).ok()?;
        let disagree = view.observations.iter().filter(|o| o.kind == "disagrees");
        Some(Stands {
            state: view.state,
            end: view.outcome,
            disagree: disagree.map(|one| one.outcome.clone()).collect(),
        })
    }

    async fn exchange(&self, method: &str, path: &str, body: Bytes) -> Result<Reply, String> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.registrar.authority())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body));
        let request = request.map_err(|error| format!("it makes no request: {error}"))?;
        let reply = wire::exchange(&self.registrar, request).await;
        reply.map_err(|broken| broken.to_string())
    }

    // Whole after every insertion, so a panic elsewhere does it no harm.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Filed>> {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a record, as far as it is of interest here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Bound {
    actions: Vec<StepKey>,
    taken_up: Vec<Taken>,
}

#[derive(Deserialize)]
struct StepKey {
    step: String,
    key: String,
}

#[derive(Deserialize)]
struct Taken {
    outcome: String,
}

/// The answer to where a job stands.
#[derive(Deserialize)]
struct View {
    state: String,
    outcome: Option<String>,
    observations: Vec<Kept>,
}

#[derive(Deserialize)]
struct Kept {
    kind: String,
    outcome: String,
}

fn filed(reply: &Reply) -> Filed {
    let bound: Bound = serde_json::from_slice(&reply.body).unwrap_or_default();
    let keys = bound.actions.into_iter().map(|one| (one.step, one.key));
    Filed {
        status: reply.status,
        outcome: reply.outcome.clone(),
        keys: keys.collect(),
        taken_up: bound.taken_up.into_iter().map(|one| one.outcome).collect(),
    }
}
