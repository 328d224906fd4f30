//! Bound jobs of which nothing was heard: the source is asked about each, and what it says goes through the
//! same acceptance as a webhook. What must never happen: that a job which the source does not know yet, or
//! an answer that says nothing, is taken for an end.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ackbox_config::{Lookup, SourceConfig};
use ackbox_domain::causes::in_one_line;
use ackbox_domain::job::{
    self, JobObservation, JobRef, JobWord, Jobs, Known, LookupMeaning, Unbound,
};
use ackbox_domain::{Document, Name, Observation, Timestamp};
use ackbox_outbound::LookedUp;
use ackbox_signature::Headers;
use ackbox_store::{Class, JobAcceptance, JobRecord, ListedJob, Offer, StoreError};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::Reconciler;
use crate::count::{Became, Reconciled};
use crate::record;
use crate::time::Time;

/// How many jobs of a space are looked at at a time; of these, each source is asked about fewer.
const AT_ONCE: usize = 64;

/// A source that can be asked, and how it fares in this run.
struct Asker<'c> {
    source: &'c SourceConfig,
    jobs: &'c Jobs,
    lookup: &'c Lookup,
    places: Semaphore,
    /// Until when it wants to be left alone.
    quiet_until: Mutex<Option<Timestamp>>,
}

/// What was heard of a job.
struct Heard {
    end: Option<Box<JobObservation>>,
    told: String,
    retry_after: Option<Duration>,
}

impl Reconciler {
    /// Looks at the jobs of a space that have been silent for too long.
    pub(super) async fn silent(&self, space: &Name, time: Time) -> Reconciled {
        let mut reconciled = Reconciled::default();
        let askers = self.askers(space);
        let mut pages = self.0.store.due_jobs(Class::Job, space, self.now());
        loop {
            let found = match pages.next().await {
                Ok(Some(found)) => found,
                Ok(None) => return reconciled,
                Err(error) => return self.page_failed(space, &error, reconciled),
            };
            let became: Vec<Became> = stream::iter(found)
                .map(|listed| self.look_at(listed, &askers, time))
                .buffer_unordered(AT_ONCE)
                .collect()
                .await;
            became.iter().for_each(|became| reconciled.count(*became));
            if became.contains(&Became::Left) {
                return reconciled;
            }
        }
    }

    /// The sources of a space that can be asked, by the account of whom they speak.
    fn askers(&self, space: &Name) -> BTreeMap<String, Asker<'_>> {
        let mut askers = BTreeMap::new();
        for (source, jobs) in self.0.config.sources_of(space) {
            if let Some(lookup) = &source.lookup {
                let account = jobs.own_account().to_owned();
                askers.entry(account).or_insert_with(|| Asker {
                    source,
                    jobs,
                    lookup,
                    places: Semaphore::new(lookup.concurrency),
                    quiet_until: Mutex::default(),
                });
            }
        }
        askers
    }

    async fn look_at(
        &self,
        listed: ListedJob,
        askers: &BTreeMap<String, Asker<'_>>,
        time: Time,
    ) -> Became {
        let looked: BoxFuture<'_, _> = self.looked_at(&listed.job, askers, time).boxed();
        match looked.await {
            Ok(became) => became,
            Err(error) => {
                tracing::error!(job = %listed.job, error = %in_one_line(&error), "reconcile.table_failed");
                Became::Failed
            }
        }
    }

    async fn looked_at(
        &self,
        job: &JobRef,
        askers: &BTreeMap<String, Asker<'_>>,
        time: Time,
    ) -> Result<Became, StoreError> {
        // Read right before it is asked about: the index is behind.
        let Some(record) = self.0.store.job(job).await? else {
            return Ok(Became::PassedOver);
        };
        let is_due = record.due_at.is_some_and(|due| due <= self.now());
        if record.ended.is_some() || record.silent_at.is_some() || !is_due {
            return Ok(Became::PassedOver);
        }
        if record.asked == 0 {
            match self.has_taken_up(&record).await {
                Ok(true) => return Ok(Became::TakenUp),
                Ok(false) => {}
                Err(error) if error.is_retryable() => return Err(error),
                // What cannot be taken up must not keep the job from being asked about, or given up.
                Err(error) => {
                    tracing::error!(job = %job, error = %in_one_line(&error), "reconcile.table_failed");
                }
            }
        }
        match askers.get(&record.binding.account) {
            Some(asker) => self.ask_about(&record, asker, time).await,
            None => self.wait_or_give_up(&record, None, None, None).await,
        }
    }

    /// What is parked of the job and offered no more, where the application itself wrote the job.
    async fn has_taken_up(&self, record: &JobRecord) -> Result<bool, StoreError> {
        let timing = &self.0.config.delivery.timing;
        let deadline = Instant::now() + timing.settle_margin;
        let job = &record.binding.job;
        let taken = self
            .0
            .store
            .take_up(job, timing, self.now(), deadline)
            .await?;
        Ok(taken
            .iter()
            .any(|became| matches!(became, JobAcceptance::Ended(_))))
    }

    async fn ask_about(
        &self,
        record: &JobRecord,
        asker: &Asker<'_>,
        time: Time,
    ) -> Result<Became, StoreError> {
        let margin = self.0.config.delivery.timing.settle_margin;
        let needed = asker.lookup.timeout + margin;
        // Closed never: the semaphore lives as long as this.
        let _place = asker.places.acquire().await;
        if !time.is_enough_for(needed) {
            if time.was_enough_for(needed) {
                return Ok(Became::Left);
            }
            return self.wait_or_give_up(record, Some(asker), None, None).await;
        }
        if let Some(until) = asker.quiet_until(self.now()) {
            return self
                .wait_or_give_up(record, Some(asker), None, Some(until))
                .await;
        }
        let id = record.binding.job.id.as_str();
        let looked = self.0.outbound.look_up(asker.lookup, id, self.now()).await;
        let mut heard = self.heard(record, asker, looked);
        record::looked_up(record, asker.source, &heard.told, heard.end.as_deref());
        let until = heard.retry_after.map(|wait| self.now().plus(wait));
        asker.leave_alone_until(until);
        if let Some(end) = heard.end.take() {
            match self.is_on_record(&end, Instant::now() + margin).await {
                Ok(true) => return Ok(Became::JobEnded),
                Ok(false) => {}
                // What passes by itself is tried again by the next run. What does not must not be asked for ever.
                Err(error) if error.is_retryable() => return Err(error),
                Err(error) => {
                    heard.told = format!("its end cannot be written: {}", in_one_line(&error));
                    tracing::error!(job = %end.job, error = %heard.told, "reconcile.table_failed");
                }
            }
        }
        self.wait_or_give_up(record, Some(asker), Some(&heard.told), until)
            .await
    }

    /// What an answer says of the job.
    fn heard(&self, record: &JobRecord, asker: &Asker<'_>, looked: LookedUp) -> Heard {
        let asked = (
            record.binding.job.id.as_str(),
            record.binding.account.as_str(),
        );
        let source = &asker.source.source;
        let (mut end, flaw) = match looked.means {
            Some(LookupMeaning::Status) => match read(asker, asked, &looked.body, self.now()) {
                Ok(JobWord::Ended(end)) => (Some(end), None),
                Ok(JobWord::Progress | JobWord::Nothing) => (None, None),
                Err(malformed) => (None, Some(malformed.to_string())),
            },
            Some(LookupMeaning::Outcome(outcome)) => {
                let end = JobObservation::told(
                    asker.jobs,
                    source,
                    asked,
                    outcome,
                    &looked.body,
                    self.now(),
                );
                (Some(Box::new(end)), None)
            }
            Some(LookupMeaning::NotYet) | None => (None, None),
        };
        // The job that was asked about, wherever the configuration of today would look for its id.
        if let Some(end) = &mut end {
            end.job.clone_from(&record.binding.job);
        }
        Heard {
            end,
            told: flaw.unwrap_or(looked.detail),
            retry_after: looked.retry_after,
        }
    }

    /// Offers an end to the table; false where it does not agree with the job, which goes on waiting.
    async fn is_on_record(
        &self,
        end: &JobObservation,
        deadline: Instant,
    ) -> Result<bool, StoreError> {
        let offer = Offer {
            // A job that is gone meanwhile is asked about no more.
            unbound: Unbound::Ignore,
            parked_for: Duration::ZERO,
            timing: &self.0.config.delivery.timing,
            now: self.now(),
            deadline,
        };
        let became = self.0.store.observe(end, offer).await?;
        if let JobAcceptance::Disagrees(why) = &became {
            tracing::warn!(name: "job.disagrees", job = %end.job, why = %why.without_values(), "job.disagrees");
            return Ok(false);
        }
        Ok(became != JobAcceptance::Unbound)
    }

    /// `told`: what was heard, where it was asked; `not_before`: when it may be asked again at the earliest.
    async fn wait_or_give_up(
        &self,
        record: &JobRecord,
        asker: Option<&Asker<'_>>,
        told: Option<&str>,
        not_before: Option<Timestamp>,
    ) -> Result<Became, StoreError> {
        let now = self.now();
        let timing = &self.0.config.delivery.timing;
        let deadline = Instant::now() + timing.settle_margin;
        let end = record.binding.end_of_waiting();
        let end = end.map(|wait| record.registered_at.plus(wait));
        if end.is_some_and(|end| end <= now) {
            let space = &record.binding.job.space;
            let source = asker.map_or(space, |asker| &asker.source.source.name);
            let store = &self.0.store;
            let Some(actions) = store
                .give_up_job(record, source, timing, now, deadline)
                .await?
            else {
                return Ok(Became::Overtaken);
            };
            record::given_up(record, &actions);
            return Ok(Became::JobSilent);
        }
        let next = asker.map(|asker| {
            let backoff = asker.lookup.backoff.wait(record.asked + 1, fastrand::f64());
            let next = now.plus(backoff);
            not_before.map_or(next, |not_before| not_before.max(next))
        });
        let due_at = [next, end].into_iter().flatten().min();
        let due_at = due_at.unwrap_or_else(|| now.plus(Duration::from_secs(3600)));
        let waits = self.0.store.wait_for_job(record, told, due_at, deadline);
        Ok(if waits.await? {
            Became::JobWaits
        } else {
            Became::Overtaken
        })
    }
}

/// Reads the body of an answer as a fact of the source about the job that was asked for.
fn read(
    asker: &Asker<'_>,
    asked: (&str, &str),
    body: &[u8],
    now: Timestamp,
) -> Result<JobWord, ackbox_domain::Malformed> {
    let source = &asker.source.source;
    let headers = Headers::default();
    let document = Document::vouched(source, &headers, body);
    // However old the fact is, that it is told now is no replay: so `max_age` has no say in it.
    let observation = Observation::whole(source, &document)?;
    let known = Known {
        secret: None,
        asked: Some(asked),
    };
    job::word(asker.jobs, source, &observation, known, now)
}

impl Asker<'_> {
    /// Until when it wants to be left alone, where that is not over.
    fn quiet_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = *self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > now)
    }

    fn leave_alone_until(&self, until: Option<Timestamp>) {
        let mut quiet = self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *quiet = (*quiet).max(until);
    }
}
