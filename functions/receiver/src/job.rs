//! The observed ends of jobs become acceptances: one transaction each, within the time budget.

use ackbox_config::{OnConflict, SourceConfig};
use ackbox_domain::job::{self, JobObservation, JobWord, Known, Unbound};
use ackbox_domain::{Acceptance, Malformed, Observation, Timestamp};
use ackbox_store::{JobAcceptance, Offer, StoreError};
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::Receiver;
use crate::record::Record;
use crate::response::{Outcome, worst};

/// What a fact says of a job, where the source's facts speak of any. `secret` proved it.
pub(crate) fn word(
    source: &SourceConfig,
    observation: &Observation<'_>,
    secret: &str,
    now: Timestamp,
) -> Result<JobWord, Malformed> {
    let Some(jobs) = &source.source.jobs else {
        return Ok(JobWord::Nothing);
    };
    let known = Known {
        secret: Some(secret),
        asked: None,
    };
    job::word(jobs, &source.source, observation, known, now)
}

impl Receiver {
    /// Offers every end to the table; each answers for itself.
    pub(crate) async fn ends(
        &self,
        source: &SourceConfig,
        ends: Vec<JobObservation>,
        deadline: Instant,
        record: &mut Record,
    ) -> Vec<Outcome> {
        /// How many transactions of one message run at once.
        const AT_ONCE: usize = 8;
        let Some(jobs) = &source.source.jobs else {
            return Vec::new();
        };
        let offer = Offer {
            unbound: jobs.unbound,
            parked_for: jobs.parked_for,
            timing: &self.0.config.delivery.timing,
            now: (self.0.clock)(),
            deadline,
        };
        let store = &self.0.store;
        let mut offered = stream::iter(ends)
            .map(|end| async move {
                let became = store.observe(&end, offer).await;
                (end, became)
            })
            .buffer_unordered(AT_ONCE)
            // Boxed, so that the compiler sees that the whole may run on any thread.
            .boxed();
        let mut outcomes = Vec::new();
        while let Some((end, became)) = offered.next().await {
            let outcome = outcome_of(&became, jobs.unbound, source.on_conflict);
            record.end(&end, &became, &outcome);
            outcomes.push(outcome);
        }
        outcomes
    }
}

fn outcome_of(
    became: &Result<JobAcceptance, StoreError>,
    unbound: Unbound,
    on_conflict: OnConflict,
) -> Outcome {
    let conflict = Outcome::Conflict {
        refuse: on_conflict == OnConflict::Refuse,
    };
    match became {
        // The end is new, whatever became of its actions; one of another job under their key is a conflict.
        Ok(JobAcceptance::Ended(actions)) => worst(
            actions
                .iter()
                .map(|(_, became)| match became {
                    Acceptance::Conflict { .. } => conflict.clone(),
                    Acceptance::Accepted | Acceptance::Duplicate { .. } => Outcome::Accepted,
                })
                .chain([Outcome::Accepted]),
        ),
        Ok(JobAcceptance::Duplicate) => Outcome::Duplicate,
        Ok(JobAcceptance::Disagrees(_)) => conflict,
        Ok(JobAcceptance::Parked { .. }) => Outcome::Parked,
        Ok(JobAcceptance::Unbound) => Outcome::Unbound {
            refuse: unbound == Unbound::Refuse,
        },
        Err(StoreError::TooLarge { .. }) => Outcome::TooLarge,
        // Whatever the table says otherwise is our fault: the sender is to come again.
        Err(_) => Outcome::Unavailable,
    }
}
