//! The registrar: an application's own record of a job comes in, or what the application itself has heard of
//! one; out goes what became of it, as JSON.
//!
//! Who asks is the function URL's business, which is protected by IAM: whatever gets here is the
//! application's own, and nothing of who it is is read from a request. Behind an open URL this must never
//! stand: it takes anybody's word for the end of a job.
//!
//! What must never happen: that a record which changes a bound job is taken, that one is taken whose steps can
//! never happen as they are written, or that an end is accepted on other terms than a webhook's.
//!
//! | request | module | answers |
//! | --- | --- | --- |
//! | `POST /jobs` | `register`, [`bind_job`] | bound, same, other, and what was wrong with the record |
//! | `GET /jobs/{space}/{job_id}` | `look`, [`JobView`] | found, unbound |
//! | `POST /observations` | `hear` | accepted, duplicate, conflict, parked, progress, nothing, unbound |
//!
//! An application in Rust needs no HTTP: [`bind_job`] is what `POST /jobs` does.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::Timestamp;
use ackbox_edge::{Clock, http};
use ackbox_store::Store;
use futures_util::FutureExt as _;
use lambda_http::{Body, Request, Response};
use tokio::time::Instant;

mod answer;
mod bind;
mod check;
mod hear;
mod look;
mod record;
mod register;
mod route;
mod told;
mod view;

pub use bind::{Bind, NotRegistered, Registered, bind_job, checked, has_lookup};
pub use check::Refused;
pub use told::Told;
pub use view::{JobView, ObservedView, UnboundView, state};

use answer::Answer;
use record::Record;
use route::Route;

/// The largest body that is read, in bytes: more than the largest record that one item can hold.
pub const BODY_MAX: usize = 512 * 1024;

/// Everything one registrar needs, built once per process.
#[derive(Clone)]
pub struct Registrar(Arc<Inner>);

struct Inner {
    config: Config,
    store: Store,
    clock: Clock,
}

impl Registrar {
    /// A registrar for this configuration.
    pub fn new(config: Config, store: Store, clock: Clock) -> Self {
        let store = store
            .telling(config.notify.clone(), config.delivery.timing)
            .keeping(config.retentions());
        Self(Arc::new(Inner {
            config,
            store,
            clock,
        }))
    }

    /// Whether a path is the registrar's, where it shares a host with others.
    pub fn owns(path: &str) -> bool {
        let begins = |own: &str| {
            path.strip_prefix(own)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        begins("/jobs") || begins("/observations")
    }

    /// Answers one request. `remaining` is how long the environment lets it take, where it says so.
    ///
    /// Never fails: our own defects are answered with 500 and told in the log.
    pub async fn handle(&self, request: Request, remaining: Option<Duration>) -> Response<Body> {
        let started = Instant::now();
        let deadline = started + http::budget(self.0.config.delivery.accept_budget, remaining);
        let mut record = Record::default();
        // Erased, so that the compiler does not carry the whole way through every caller's type.
        let answered = self.answer(request, deadline, &mut record).boxed();
        let (Ok(answer) | Err(answer)) = AssertUnwindSafe(answered)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(Answer::defect()));
        record.log(&answer, started.elapsed());
        answer.respond()
    }

    /// `Err` where it ends early.
    async fn answer(
        &self,
        request: Request,
        deadline: Instant,
        record: &mut Record,
    ) -> Result<Answer, Answer> {
        let route = Route::of(&request)?;
        record.route = route.name();
        match route {
            Route::Register => {
                let body = route::body(request)?;
                self.register(&body, deadline, record).await
            }
            Route::Look { space, id, account } => self.look(space, id, account, record).await,
            Route::Hear => {
                let body = route::body(request)?;
                self.hear(&body, deadline, record).await
            }
        }
    }

    fn now(&self) -> Timestamp {
        (self.0.clock)()
    }
}
