//! The receiver: a signed webhook comes in, its actions are committed, and only then an answer goes out.
//!
//! [`Receiver::receive`] is the way of one message, a line per stage. What must never happen: a 2xx
//! for a fact that a rule wants and that the table does not hold.
//!
//! | stage | module | may end the message as |
//! | --- | --- | --- |
//! | receive | `message` | unknown-source, method, too-large |
//! | verify | `verify` | refused, unavailable |
//! | observe, act | [`ackbox_domain::follow()`] | malformed, too-old, ignored |
//! | observe a job | `job`, [`ackbox_domain::job`] | malformed, progress |
//! | accept | `accept`, `job` | accepted, duplicate, conflict, parked, unbound, too-large, unavailable |
//! | respond | `response` | |

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ackbox_config::{Config, SourceConfig};
use ackbox_domain::job::{JobObservation, JobWord};
use ackbox_domain::{Action, Document, Fact, Malformed, Name, follow};
use ackbox_edge::{Clock, http};
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use futures_util::FutureExt as _;
use lambda_http::{Body, Request, Response};
use tokio::time::Instant;

mod accept;
mod ignored;
mod job;
mod message;
mod record;
mod response;
mod verify;

use ignored::Ignored;
use message::Inbound;
use record::Record;
use response::Outcome;
use verify::Keyring;

/// Everything one receiver needs, built once per process.
#[derive(Clone)]
pub struct Receiver(Arc<Inner>);

struct Inner {
    config: Config,
    store: Store,
    secrets: Secrets,
    clock: Clock,
    ignored: Ignored,
}

/// What the facts of one message make.
#[derive(Default)]
struct Made {
    actions: Vec<Action>,
    ends: Vec<JobObservation>,
    /// Of those that make nothing.
    outcomes: Vec<Outcome>,
}

impl Receiver {
    /// A receiver for this configuration.
    pub fn new(config: Config, store: Store, secrets: Secrets, clock: Clock) -> Self {
        let store = store
            .telling(config.notify.clone(), config.delivery.timing)
            .keeping(config.retentions());
        Self(Arc::new(Inner {
            config,
            store,
            secrets,
            clock,
            ignored: Ignored::default(),
        }))
    }

    /// Answers one request. `remaining` is how long the environment lets it take, where it says so.
    ///
    /// Never fails: our own defects are answered with 500 and told in the log.
    pub async fn receive(&self, request: Request, remaining: Option<Duration>) -> Response<Body> {
        let started = Instant::now();
        let deadline = started + http::budget(self.0.config.delivery.accept_budget, remaining);
        let mut record = Record::default();
        let stages = AssertUnwindSafe(self.stages(request, deadline, &mut record));
        let (Ok(outcome) | Err(outcome)) =
            stages.catch_unwind().await.unwrap_or(Err(Outcome::Defect));
        record.log(&outcome, started.elapsed());
        response::respond(&outcome)
    }

    /// The way of one message. `Err` where a stage ends it.
    async fn stages(
        &self,
        request: Request,
        deadline: Instant,
        record: &mut Record,
    ) -> Result<Outcome, Outcome> {
        let now = (self.0.clock)();
        let configured = Inbound::source_of(&request, &self.0.config)?;
        record.source = Some(configured.source.name.clone());
        let inbound = Inbound::from_request(request, configured)?;
        let mut keyring = Keyring::default();
        let verified = self.verify(&inbound, &mut keyring, now, record).await?;
        let document = Document::read(&configured.source, &verified);
        let facts = follow(&configured.source, &document, now);
        let mut made = Made::default();
        for fact in facts {
            self.make(configured, verified.secret_label(), fact, &mut made, record);
        }
        let mut outcomes = made.outcomes;
        let accepted = self.accept(made.actions, configured.on_conflict, deadline, record);
        outcomes.extend(accepted.await);
        outcomes.extend(self.ends(configured, made.ends, deadline, record).await);
        Ok(response::worst(outcomes))
    }

    /// What one fact makes: actions of the rules that want it, and the end of a job. One that makes nothing
    /// is counted.
    fn make(
        &self,
        configured: &SourceConfig,
        secret: &str,
        fact: Result<Fact<'_>, Malformed>,
        made: &mut Made,
        record: &mut Record,
    ) {
        let Fact {
            observation,
            actions,
        } = match fact {
            Ok(fact) => fact,
            Err(malformed) => return made.outcomes.push(record.malformed(malformed)),
        };
        record.observe(&configured.source, &observation);
        let by_rules = !actions.is_empty();
        for action in actions {
            match action {
                Ok(action) => made.actions.push(action),
                Err(malformed) => made.outcomes.push(record.malformed(malformed)),
            }
        }
        let source = &configured.source;
        match job::word(configured, &observation, secret, (self.0.clock)()) {
            Ok(JobWord::Ended(end)) => return made.ends.push(*end),
            Ok(JobWord::Progress) => made.outcomes.push(Outcome::Progress),
            Ok(JobWord::Nothing) => {}
            Err(malformed) => return made.outcomes.push(record.malformed(malformed)),
        }
        if !by_rules {
            let event = observation.event.as_deref();
            record.ignored_so_far = Some(self.0.ignored.count(&source.name, event));
            made.outcomes.push(Outcome::Ignored);
        }
    }

    /// How many events of each type made nothing, by source and type, in this process: no rule wanted them, and
    /// they told of no job's end. A type that was meant to be wanted shows here.
    pub fn ignored(&self) -> Vec<(Name, String, u64)> {
        self.0.ignored.all()
    }
}
