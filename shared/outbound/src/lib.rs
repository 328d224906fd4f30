//! Everything that leaves.

use std::sync::Arc;

use ackbox_config::DestinationConfig;
use ackbox_domain::{ActionKey, AttemptOutcome, OutcomeKind, RenderedBody, Timestamp};
use ackbox_secrets::Secrets;

/// Sends actions to their destinations. Cloning shares the TLS session cache and the secrets.
#[derive(Clone)]
pub struct Outbound(Arc<Shared>);

struct Shared {
    _secrets: Secrets,
}

/// What one attempt sends.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The action's key: the same on every attempt.
    pub key: &'a ActionKey,
    /// The body, byte for byte as it was stored at acceptance.
    pub body: &'a RenderedBody,
    /// The attempt's number, from 1.
    pub attempt: u64,
    /// The time, for outgoing signatures and for a `Retry-After` that is a date.
    pub now: Timestamp,
}

impl Outbound {
    /// A sender that has spoken to nobody yet. Cheap: trusted roots are read at the first TLS connection.
    pub fn new(secrets: Secrets) -> Self {
        Self(Arc::new(Shared { _secrets: secrets }))
    }

    /// One attempt; never an error: what is known of it.
    pub async fn deliver(
        &self,
        destination: &DestinationConfig,
        delivery: &Delivery<'_>,
        may_begin: impl FnOnce() -> bool + Send,
    ) -> AttemptOutcome {
        let _ = (destination, delivery, may_begin);
        AttemptOutcome::new(OutcomeKind::NotSent, None, "not built yet")
    }
}
