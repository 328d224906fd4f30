//! Everything that leaves: an action and its destination come in, what is known of one attempt goes
//! out. An attempt must never look as if it had not been sent when its request may have left.
//!
//! One attempt is one fresh connection and one HTTP/1.1 request on it, by these stages:
//!
//! ```text
//! prepare -> resolve -> guard -> connect -> TLS -> may_begin -> send -> answer
//! |---------------- not_sent ------------------------------|  | unknown |  status decides
//! ```
//!
//! Queues, state machines and functions are spoken to by the same stages: the SDK writes and signs the
//! request, and its connection is ours. Nothing of the SDK is built before an attempt needs it.
//!
//! There is no pool, no redirect, no retry and no proxy from the environment: each of them would
//! send a request, or send it elsewhere, without anyone knowing. An idle connection that a frozen
//! process takes up again is the usual source of requests that may or may not have left.
//!
//! The guard refuses addresses that are not public, unless the destination allows them, on the very
//! address that is connected to, so that a name cannot resolve to another one in between.
//!
//! Whatever is kept of an answer is short, printable, and free of the destination's own header
//! values and of our signatures as they were sent. An answer that encodes them anew (percent,
//! base64) is not recognised.

mod ask;
mod aws;
mod connect;
mod deadline;
mod exchange;
mod http;
mod lambda;
mod lookup;
mod redact;
mod sqs;
mod step_functions;
mod tls;

use std::fmt;
use std::sync::Arc;

use ackbox_config::{DestinationConfig, Kind, Lookup, Reconcile};
use ackbox_domain::settlement::Word;
use ackbox_domain::{ActionKey, AttemptOutcome, Name, OutcomeKind, RenderedBody, Timestamp};
use ackbox_secrets::Secrets;
use aws_config::SdkConfig;

use crate::aws::Aws;
use crate::tls::Tls;

pub use lookup::LookedUp;

/// Sends actions to their destinations. Cloning shares the secrets, the TLS sessions and the SDK's
/// clients; connections are never shared.
#[derive(Clone)]
pub struct Outbound(Arc<Shared>);

struct Shared {
    secrets: Secrets,
    tls: Arc<Tls>,
    aws: Option<Aws>,
}

/// What one attempt sends.
#[derive(Clone, Copy)]
pub struct Delivery<'a> {
    /// The action's key: the same on every attempt.
    pub key: &'a ActionKey,
    /// The source whose message was accepted.
    pub source: &'a Name,
    /// The body, byte for byte as it was stored at acceptance.
    pub body: &'a RenderedBody,
    /// The attempt's number, from 1.
    pub attempt: u64,
    /// The time of the attempt, for outgoing signatures and for a `Retry-After` that is a date.
    pub now: Timestamp,
}

impl Outbound {
    /// A sender that has spoken to nobody yet. Costs nothing: the trusted roots (those of the
    /// system, or of `SSL_CERT_FILE`) are read at the first TLS connection.
    ///
    /// It speaks HTTP alone: attempts of destinations that AWS answers end `not_sent`.
    pub fn new(secrets: Secrets) -> Self {
        Self::over(secrets, None)
    }

    /// The same, and `aws` says how AWS is spoken to: region, credentials, endpoints. Nothing of it is
    /// used before the first attempt of a destination that AWS answers. Of its HTTP client only its own
    /// credentials make use; its retries and timeouts are not used.
    pub fn with_aws(secrets: Secrets, aws: SdkConfig) -> Self {
        Self::over(secrets, Some(aws))
    }

    fn over(secrets: Secrets, aws: Option<SdkConfig>) -> Self {
        Self(Arc::new(Shared {
            secrets,
            tls: Arc::new(Tls::system()),
            aws: aws.map(Aws::new),
        }))
    }

    /// Makes one attempt, and says what is known of it. Never an error: what fails is data.
    ///
    /// `may_begin` is asked once, when the connection stands and right before the first byte of the
    /// request; if it says no, nothing is sent. The attempt takes at most `destination.policy.timeout`;
    /// dropping the future ends it too, and closes the connection.
    ///
    /// | outcome | when |
    /// | --- | --- |
    /// | `succeeded` | a 2xx head came, whatever became of the body |
    /// | `not_sent` | a secret, the name, the address, the connection, TLS or `may_begin` stood in the way, or the time was up before |
    /// | `busy` | 429; 503 (without `Retry-After` only where the destination keeps idempotency keys) |
    /// | `rejected` | 3xx, and any other 4xx |
    /// | `unknown` | the request may have left, and no answer came that says more: timeout, lost connection, unreadable answer, other statuses |
    ///
    /// That is HTTP. What the answers of the other kinds mean is said where each of them is sent.
    pub async fn deliver(
        &self,
        destination: &DestinationConfig,
        delivery: &Delivery<'_>,
        may_begin: impl FnOnce() -> bool + Send,
    ) -> AttemptOutcome {
        let shared = &self.0;
        match &destination.to {
            Kind::Http(http) => http::deliver(shared, destination, http, delivery, may_begin).await,
            Kind::Sqs(sqs) => sqs::deliver(shared, destination, sqs, delivery, may_begin).await,
            Kind::StepFunctions(machine) => {
                step_functions::deliver(shared, destination, machine, delivery, may_begin).await
            }
            Kind::Lambda(lambda) => {
                lambda::deliver(shared, destination, lambda, delivery, may_begin).await
            }
        }
    }
}

impl Outbound {
    /// Asks a destination what became of an action, and says what it answered. Never an error: a
    /// destination that cannot be asked leaves it still unknown.
    ///
    /// A question is one request on a connection of its own, as an attempt is, with the same guard of
    /// addresses; it takes at most `reconcile.timeout`, and at most 64 KiB of the answer are read.
    pub async fn ask(&self, reconcile: &Reconcile, question: &Question<'_>) -> Asked {
        ask::ask(&self.0, reconcile, question).await
    }
}

impl Outbound {
    /// Asks a source about a job, and says what its answer means. Never an error, with the same bounds as
    /// [`Outbound::ask`]. `now` is for a `Retry-After` that is a date.
    pub async fn look_up(&self, lookup: &Lookup, job_id: &str, now: Timestamp) -> LookedUp {
        lookup::look_up(&self.0, lookup, job_id, now).await
    }
}

/// What a destination is asked about.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The action's key.
    pub key: &'a ActionKey,
    /// The body that was sent.
    pub body: &'a RenderedBody,
}

/// What it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What that means.
    pub word: Word,
    /// The answer's status, if one came.
    pub status: Option<u16>,
    /// What it said, or why it said nothing: up to 120 printable characters, without a secret.
    pub detail: String,
}

/// Shows how long the body is, and nothing of it.
impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("key", self.key)
            .field("body_bytes", &self.body.bytes.len())
            .finish()
    }
}

/// Shows how long the body is, and nothing of it.
impl fmt::Debug for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("key", self.key)
            .field("source", self.source)
            .field("body_bytes", &self.body.bytes.len())
            .field("attempt", &self.attempt)
            .field("now", &self.now)
            .finish()
    }
}

/// Shows nothing of what it knows: it knows secrets.
impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound").finish_non_exhaustive()
    }
}

/// Why an attempt ended before any byte of its request left. Holds no secret.
#[derive(Debug)]
struct NotSent(String);

impl From<NotSent> for AttemptOutcome {
    fn from(NotSent(why): NotSent) -> Self {
        AttemptOutcome::new(OutcomeKind::NotSent, None, &why)
    }
}

#[cfg(test)]
mod tests;
