//! The receiver: a signed webhook comes in, its actions are committed, and only then an answer goes out.
//!
//! [`Receiver::receive`] is the way of one message, a line per stage. What must never happen: a 2xx
//! for a fact that a rule wants and that the table does not hold.
//!
//! | stage | module | may end the message as |
//! | --- | --- | --- |
//! | receive | [`message`] | unknown-source, method, too-large |
//! | verify | [`verify`] | refused, unavailable |
//! | observe, act | `ackbox_domain` | malformed, ignored |
//! | accept | [`accept`] | accepted, duplicate, conflict, too-large, unavailable |
//! | respond | [`response`] | |

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::{Document, Name, act, observe};
use ackbox_edge::Clock;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use futures_util::FutureExt as _;
use lambda_http::{Body, Request, Response};
use tokio::time::Instant;

pub mod accept;
pub mod message;
pub mod record;
pub mod response;
pub mod verify;

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
    ignored: Mutex<BTreeMap<(Name, String), u64>>,
}

impl Receiver {
    /// A receiver for this configuration.
    pub fn new(config: Config, store: Store, secrets: Secrets, clock: Clock) -> Self {
        let ignored = Mutex::default();
        Self(Arc::new(Inner {
            config,
            store,
            secrets,
            clock,
            ignored,
        }))
    }

    /// Answers one request. `remaining` is how long the environment lets it take, where it says so.
    ///
    /// Never fails: our own defects are answered with 500 and told in the log.
    pub async fn receive(&self, request: Request, remaining: Option<Duration>) -> Response<Body> {
        let started = Instant::now();
        let deadline = started + self.budget(remaining);
        let mut record = Record::default();
        let stages = AssertUnwindSafe(self.stages(request, deadline, &mut record));
        let outcome = stages.catch_unwind().await.unwrap_or(Outcome::Defect);
        record.log(&outcome, started.elapsed());
        response::respond(&outcome)
    }

    /// The way of one message.
    async fn stages(&self, request: Request, deadline: Instant, record: &mut Record) -> Outcome {
        let now = (self.0.clock)();
        let named = match Inbound::source_of(&request, &self.0.config) {
            Ok(named) => named,
            Err(outcome) => return outcome,
        };
        let source = &named.source;
        record.source = Some(source.name.clone());
        let inbound = match Inbound::from_request(request, named) {
            Ok(inbound) => inbound,
            Err(outcome) => return outcome,
        };
        let mut keyring = Keyring::default();
        let verified = match self.verify(&inbound, &mut keyring, now, record).await {
            Ok(verified) => verified,
            Err(outcome) => return outcome,
        };
        let document = Document::read(source, &verified);
        let observations = match observe(source, &document) {
            Ok(observations) => observations,
            Err(malformed) => return record.malformed(malformed),
        };
        let mut outcomes = vec![Outcome::Ignored];
        let mut actions = Vec::new();
        for observation in observations {
            match observation {
                Err(malformed) => outcomes.push(record.malformed(malformed)),
                Ok(observation) => {
                    record.observe(source, &observation);
                    let made = act(source, &observation, now);
                    if made.is_empty() {
                        record.ignored_so_far = Some(self.count_ignored(source, &observation));
                    }
                    for action in made {
                        match action {
                            Ok(action) => actions.push(action),
                            Err(malformed) => outcomes.push(record.malformed(malformed)),
                        }
                    }
                }
            }
        }
        outcomes.extend(
            self.accept(actions, inbound.source.on_conflict, deadline, record)
                .await,
        );
        response::worst(outcomes)
    }

    fn budget(&self, remaining: Option<Duration>) -> Duration {
        // Half a second is kept for the answer itself, so that it is ours and not a gateway's timeout.
        const KEPT: Duration = Duration::from_millis(500);
        let own = self.0.config.delivery.accept_budget;
        remaining.map_or(own, |left| own.min(left.saturating_sub(KEPT)))
    }

    fn count_ignored(
        &self,
        source: &ackbox_domain::Source,
        observation: &ackbox_domain::Observation<'_>,
    ) -> u64 {
        /// More types than this are counted together: a sender must not fill our memory.
        const TYPES: usize = 1000;
        let event = observation.event.clone().unwrap_or_default();
        let event: String = event.chars().take(100).collect();
        let mut counts = self
            .0
            .ignored
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let key = (source.name.clone(), event);
        let key = if counts.len() < TYPES || counts.contains_key(&key) {
            key
        } else {
            (source.name.clone(), "(other)".to_owned())
        };
        let count = counts.entry(key).or_default();
        *count += 1;
        *count
    }

    /// How many events of each type no rule wanted, by source and type, in this process. A type that
    /// was meant to be wanted shows here.
    pub fn ignored(&self) -> Vec<(Name, String, u64)> {
        let counts = self
            .0
            .ignored
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        counts
            .iter()
            .map(|((source, event), count)| (source.clone(), event.clone(), *count))
            .collect()
    }

    /// The configuration that this receiver answers by.
    pub fn config(&self) -> &Config {
        &self.0.config
    }
}
