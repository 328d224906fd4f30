//! One entry on its way: claim, deliver, settle. In comes an entry as it was read, out comes what
//! became of it; every decision is the domain's, every write the store's.

use ackbox_config::DestinationConfig;
use ackbox_domain::breaker::Gate;
use ackbox_domain::causes::in_one_line;
use ackbox_domain::settlement::{
    self, ClaimDecision, EndedAttempt, Reason, Settled, Settlement, Standing, Terms,
};
use ackbox_domain::{
    AttemptOutcome, AttemptRecord, Claim, EntryState, OutboxEntry, OutcomeKind, Timestamp,
};
use ackbox_store::{Change, Claimed, SettleResult, StoreError, random_id};
use tokio::time::Instant;

use crate::Dispatcher;
use crate::attempt::Attempted;
use crate::breaker::{Probe, Turn};
use crate::record;

/// Until when what may be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// No attempt begins after this.
    pub(crate) begin_until: Instant,
    /// The invocation ends here.
    pub(crate) deadline: Instant,
}

/// What became of one entry in this invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dispatched {
    /// One attempt was made; this is how it was settled.
    Attempted(Settlement),
    /// Settled without an attempt.
    Settled(Settlement),
    /// Somebody else was there first.
    Refused,
    /// Nothing was to be done.
    PassedOver,
    /// No time for an attempt was left: the sweep takes it up.
    NoTime,
    /// Its destination is paused: nothing was written, and the sweep takes it up after the pause.
    Paused,
    /// Our own failure: the table could not be reached.
    OursFailed,
}

impl Dispatcher {
    /// Takes an entry as far as it goes now.
    pub(crate) async fn dispatch(&self, entry: OutboxEntry, limits: &Limits) -> Dispatched {
        let key = entry.key.clone();
        match self.step(entry, limits).await {
            Ok(dispatched) => dispatched,
            // An item that cannot be used is no better the next time: a repeated record would hold its
            // shard for nothing. The sweep meets it again, and says so again.
            Err(error @ StoreError::Item(_)) => {
                tracing::error!(action.key = %key, error = %in_one_line(&error), "dispatch.item_unusable");
                Dispatched::PassedOver
            }
            Err(error) => {
                tracing::error!(action.key = %key, error = %in_one_line(&error), "dispatch.table_failed");
                Dispatched::OursFailed
            }
        }
    }

    async fn step(&self, entry: OutboxEntry, limits: &Limits) -> Result<Dispatched, StoreError> {
        let Some(destination) = self.0.config.destinations.get(&entry.destination) else {
            return self.without_destination(&entry, limits).await;
        };
        // Before anything is decided: what a pause keeps back is decided when it is over.
        if let Gate::Paused { .. } = self.gate(&destination.name).await? {
            return Ok(Dispatched::Paused);
        }
        match self.decide(&entry, destination) {
            ClaimDecision::Attempt => self.attempt(entry, destination, limits).await,
            ClaimDecision::Expired { claimed_at } => {
                self.expire(entry, claimed_at, destination, limits).await
            }
            ClaimDecision::Settle(settled) => {
                self.settle_unattempted(&entry, &settled, limits).await
            }
            ClaimDecision::NotDue { .. }
            | ClaimDecision::InProgress { .. }
            | ClaimDecision::NotOpen(_) => Ok(Dispatched::PassedOver),
        }
    }

    fn decide(&self, entry: &OutboxEntry, destination: &DestinationConfig) -> ClaimDecision {
        settlement::may_claim(
            &Standing::from(entry),
            self.terms(destination),
            destination.origin(),
            self.now(),
        )
    }

    /// Claim, deliver, settle; as the probe, where the destination's pause is over.
    async fn attempt(
        &self,
        entry: OutboxEntry,
        destination: &DestinationConfig,
        limits: &Limits,
    ) -> Result<Dispatched, StoreError> {
        let timing = &self.0.config.delivery.timing;
        let needed = destination.policy.timeout + timing.settle_margin;
        let now = Instant::now();
        if now >= limits.begin_until || now + needed > limits.deadline {
            return Ok(Dispatched::NoTime);
        }
        match self.turn(destination, limits).await? {
            Turn::Free => {
                self.claim_and_deliver(entry, destination, None, limits)
                    .await
            }
            Turn::Paused => Ok(Dispatched::Paused),
            Turn::Probe(probe) => {
                let limits = Limits {
                    deadline: limits.deadline.min(probe.deadline),
                    ..*limits
                };
                self.claim_and_deliver(entry, destination, Some(probe), &limits)
                    .await
            }
        }
    }

    async fn claim_and_deliver(
        &self,
        entry: OutboxEntry,
        destination: &DestinationConfig,
        probe: Option<Probe>,
        limits: &Limits,
    ) -> Result<Dispatched, StoreError> {
        let timing = &self.0.config.delivery.timing;
        let claimed_at = self.now();
        let claim = Claim {
            id: random_id(),
            claimed_at,
            lease_until: claimed_at.plus(timing.lease),
        };
        let origin = destination.origin();
        let entry = match self
            .0
            .store
            .claim(&entry, claim, origin, self.table_deadline(limits))
            .await?
        {
            Claimed::Started(entry) => entry,
            Claimed::AlreadyClosed(_) | Claimed::InProgress { .. } | Claimed::Moved => {
                if let Some(probe) = probe {
                    self.give_back(destination, probe).await;
                }
                return Ok(Dispatched::Refused);
            }
        };
        let attempted = self.deliver(&entry, destination, limits).await;
        let settled = self.settle_attempt(&entry, destination, &attempted).await;
        // After its end is on the entry's record, which matters more.
        self.heard(destination, &attempted, probe).await;
        Ok(settled)
    }

    async fn settle_attempt(
        &self,
        entry: &OutboxEntry,
        destination: &DestinationConfig,
        attempted: &Attempted,
    ) -> Dispatched {
        let now = self.now();
        let terms = self.terms(destination);
        let settled = match attempted.instead {
            Some(settlement) => Settled::new(settlement, entry.first_uncertain_at),
            None => {
                let ended = EndedAttempt {
                    claimed_at: attempted.claimed_at,
                    outcome: &attempted.outcome,
                    jitter: fastrand::f64(),
                };
                let standing = Standing::from(entry);
                settlement::settle(&standing, &ended, terms, now)
            }
        };
        let AttemptOutcome { kind, status, .. } = attempted.outcome;
        let began_after = attempted.claimed_at.since(entry.accepted_at);
        let attempt = AttemptRecord::new(entry.fence, kind, status, began_after);
        // The settle has its own time, whatever the invocation has left: a delivery that is done
        // must not be done again for want of a note. What is lost all the same, the lease finds.
        let deadline = self.settle_deadline();
        let change = Change {
            settled: &settled,
            attempt: Some((&attempt, &attempted.outcome.detail)),
            told: None,
            now,
        };
        let result = self.0.store.settle(entry, change, deadline).await;
        // A settle that failed is not a failed delivery, and nothing that a repeated record could mend.
        record::attempted(entry, attempted, &settled, &result);
        Dispatched::Attempted(settled.settlement)
    }

    /// A claim ran out without an end on record: settles that, and goes on where it may.
    async fn expire(
        &self,
        entry: OutboxEntry,
        claimed_at: Timestamp,
        destination: &DestinationConfig,
        limits: &Limits,
    ) -> Result<Dispatched, StoreError> {
        let now = self.now();
        let settled = settlement::settle_expired(
            &Standing::from(&entry),
            claimed_at,
            self.terms(destination),
            now,
        );
        let settled_as = self.settle_unattempted(&entry, &settled, limits).await?;
        let Dispatched::Settled(Settlement::Retry { .. }) = settled_as else {
            return Ok(settled_as);
        };
        match self.0.store.entry(&entry.key).await? {
            Some(entry) if self.decide(&entry, destination) == ClaimDecision::Attempt => {
                self.attempt(entry, destination, limits).await
            }
            _ => Ok(settled_as),
        }
    }

    async fn without_destination(
        &self,
        entry: &OutboxEntry,
        limits: &Limits,
    ) -> Result<Dispatched, StoreError> {
        let unknown = Some(Reason::NoSuchDestination.as_str());
        let noticed_at = entry
            .settled_at
            .filter(|_| entry.reason.as_deref() == unknown);
        let timing = &self.0.config.delivery.timing;
        let standing = Standing::from(entry);
        match settlement::settle_no_destination(&standing, noticed_at, timing, self.now()) {
            Some(settled) => self.settle_unattempted(entry, &settled, limits).await,
            None => Ok(Dispatched::PassedOver),
        }
    }

    /// Settles without an attempt of ours. A claim that ran out on the way is put on the record as
    /// the attempt that it may have been.
    async fn settle_unattempted(
        &self,
        entry: &OutboxEntry,
        settled: &Settled,
        limits: &Limits,
    ) -> Result<Dispatched, StoreError> {
        let deadline = self.table_deadline(limits);
        let ran_out = ran_out(entry);
        let change = Change {
            settled,
            attempt: ran_out.as_ref().map(|attempt| (attempt, RAN_OUT)),
            told: None,
            now: self.now(),
        };
        let result = self.0.store.settle(entry, change, deadline).await?;
        record::unattempted(entry, settled, &result);
        Ok(match result {
            SettleResult::Settled => Dispatched::Settled(settled.settlement),
            SettleResult::Overtaken(_) => Dispatched::Refused,
        })
    }

    /// What is decided by, for entries of this destination.
    pub(crate) fn terms<'a>(&'a self, destination: &'a DestinationConfig) -> Terms<'a> {
        Terms {
            policy: &destination.policy,
            timing: &self.0.config.delivery.timing,
        }
    }

    /// How long a write after an attempt may take, whatever the invocation has left.
    pub(crate) fn settle_deadline(&self) -> Instant {
        Instant::now() + self.0.config.delivery.timing.settle_margin
    }

    /// How long a write before an attempt may take: no longer than the invocation has.
    pub(crate) fn table_deadline(&self, limits: &Limits) -> Instant {
        let margin = self.0.config.delivery.timing.settle_margin;
        (Instant::now() + margin).min(limits.deadline)
    }
}

const RAN_OUT: &str = "the claim ran out without an end on record: the attempt may have arrived";

/// The attempt that a claim without an end on record stands for.
fn ran_out(entry: &OutboxEntry) -> Option<AttemptRecord> {
    let claim = entry.claim.as_ref()?;
    let began_after = claim.claimed_at.since(entry.accepted_at);
    let is_claimed = entry.state == EntryState::Claimed;
    is_claimed.then(|| AttemptRecord::new(entry.fence, OutcomeKind::Unknown, None, began_after))
}
