//! Actions become acceptances: one transaction each, side by side, all within the time budget.

use ackbox_config::OnConflict;
use ackbox_domain::{Acceptance, Action};
use ackbox_store::StoreError;
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::Receiver;
use crate::record::Record;
use crate::response::Outcome;

impl Receiver {
    /// Offers every action to the table; each answers for itself. What is accepted stays accepted,
    /// whatever becomes of its neighbours.
    pub(crate) async fn accept(
        &self,
        actions: Vec<Action>,
        on_conflict: OnConflict,
        deadline: Instant,
        record: &mut Record,
    ) -> Vec<Outcome> {
        /// How many transactions of one message run at once.
        const AT_ONCE: usize = 16;
        let timing = &self.0.config.delivery.timing;
        let store = &self.0.store;
        let mut accepted = stream::iter(actions)
            .map(|action| async move {
                let acceptance = store.accept(&action, timing, deadline).await;
                (action, acceptance)
            })
            .buffer_unordered(AT_ONCE)
            // Boxed, so that the compiler sees that the whole may run on any thread.
            .boxed();
        let mut outcomes = Vec::new();
        while let Some((action, acceptance)) = accepted.next().await {
            let outcome = outcome_of(&acceptance, on_conflict);
            record.accept(&action, &acceptance, &outcome);
            outcomes.push(outcome);
        }
        outcomes
    }
}

fn outcome_of(acceptance: &Result<Acceptance, StoreError>, on_conflict: OnConflict) -> Outcome {
    match acceptance {
        Ok(Acceptance::Accepted) => Outcome::Accepted,
        Ok(Acceptance::Duplicate { .. }) => Outcome::Duplicate,
        Ok(Acceptance::Conflict { .. }) => Outcome::Conflict {
            refuse: on_conflict == OnConflict::Refuse,
        },
        Err(StoreError::TooLarge { .. }) => Outcome::TooLarge,
        // Whatever the table says otherwise is our fault: the sender is to come again.
        Err(_) => Outcome::Unavailable,
    }
}
