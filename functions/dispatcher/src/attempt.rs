//! One claimed attempt: the body is fetched, the request is sent while the claim covers it, and what
//! is known of it comes back. The request must never open when the lease no longer covers it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ackbox_config::DestinationConfig;
use ackbox_domain::causes::in_one_line;
use ackbox_domain::settlement::{self, Reason, Settlement, Standing};
use ackbox_domain::{
    AttemptOutcome, OutboxEntry, OutcomeKind, RenderedBody, StoredBody, Timestamp,
};
use ackbox_outbound::Delivery;
use tokio::time::Instant;

use crate::Dispatcher;
use crate::dispatch::Limits;

/// An attempt that has ended.
#[derive(Debug)]
pub(crate) struct Attempted {
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// What is known of it.
    pub outcome: AttemptOutcome,
    /// How long it took.
    pub took: Duration,
    /// Where the entry goes instead of where the policy would send it.
    pub instead: Option<Settlement>,
    /// Whether the outcome tells something of the destination: not where our own time or our own
    /// payload stood in the way.
    pub tells: bool,
}

impl Dispatcher {
    pub(crate) async fn deliver(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        limits: &Limits,
    ) -> Attempted {
        let started = Instant::now();
        let (Sent { outcome, tells }, instead) = match self.body(entry).await {
            Ok(body) => (self.send(entry, destination, &body, limits).await, None),
            Err(Absent::Gone) => (
                not_sent("the payload item is gone: there is nothing to send"),
                Some(Settlement::Held(Reason::PayloadMissing)),
            ),
            Err(Absent::Unreadable(why)) => (
                not_sent(&format!("the payload could not be read: {why}")),
                None,
            ),
        };
        Attempted {
            claimed_at: entry
                .claim
                .as_ref()
                .map_or(entry.accepted_at, |c| c.claimed_at),
            outcome,
            took: started.elapsed(),
            instead,
            tells,
        }
    }

    /// Sends, and once more where the first try never left and the claim still covers a second. What was
    /// answered has left, also where the answer says that nothing was done.
    async fn send(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        body: &RenderedBody,
        limits: &Limits,
    ) -> Sent {
        let first = self.send_once(entry, destination, body, limits).await;
        let AttemptOutcome { kind, status, .. } = first.outcome;
        if kind != OutcomeKind::NotSent || status.is_some() {
            return first;
        }
        tokio::time::sleep(Duration::from_millis(fastrand::u64(100..300))).await;
        if !self.begins(entry, destination, limits) {
            return first;
        }
        self.send_once(entry, destination, body, limits).await
    }

    async fn send_once(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        body: &RenderedBody,
        limits: &Limits,
    ) -> Sent {
        let out_of_time = AtomicBool::new(false);
        let delivery = Delivery {
            key: &entry.key,
            source: &entry.source,
            body,
            attempt: entry.fence,
            now: self.now(),
        };
        let outcome = self
            .0
            .outbound
            .deliver(destination, &delivery, || {
                let begins = self.begins(entry, destination, limits);
                out_of_time.store(!begins, Ordering::Relaxed);
                begins
            })
            .await;
        Sent {
            outcome,
            tells: !out_of_time.load(Ordering::Relaxed),
        }
    }

    /// Whether the claim, and what is left of the invocation, cover a request that opens now.
    fn begins(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        limits: &Limits,
    ) -> bool {
        let terms = self.terms(destination);
        let needed = terms.policy.timeout + terms.timing.settle_margin;
        let Some(claim) = &entry.claim else {
            return false;
        };
        if Instant::now() + needed > limits.deadline {
            return false;
        }
        let standing = Standing::from(entry);
        settlement::may_begin(&standing, claim.lease_until, terms, self.now())
    }

    async fn body(&self, entry: &OutboxEntry) -> Result<RenderedBody, Absent> {
        match &entry.body {
            StoredBody::Inline(body) => Ok(body.clone()),
            StoredBody::Payload => match self.0.store.payload(&entry.key).await {
                Ok(Some(body)) => Ok(body),
                Ok(None) => Err(Absent::Gone),
                Err(error) => Err(Absent::Unreadable(in_one_line(&error))),
            },
        }
    }
}

/// What came of a request, and whether it tells something of the destination.
struct Sent {
    outcome: AttemptOutcome,
    tells: bool,
}

enum Absent {
    Gone,
    Unreadable(String),
}

fn not_sent(detail: &str) -> Sent {
    Sent {
        outcome: AttemptOutcome::new(OutcomeKind::NotSent, None, detail),
        tells: false,
    }
}
