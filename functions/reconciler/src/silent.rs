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
        match askers.get(&record.binding.account) {
            Some(asker) => self.ask_about(&record, asker, time).await,
            None => self.wait_or_give_up(&record, None, None).await,
        }
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
            return self.wait_or_give_up(record, Some(asker), None).await;
        }
        if let Some(until) = asker.quiet_until() {
            self.0
                .store
                .wait_for_job(record, None, until, Instant::now() + margin)
                .await?;
            return Ok(Became::JobWaits);
        }
        let id = record.binding.job.id.as_str();
        let looked = self.0.outbound.look_up(asker.lookup, id, self.now()).await;
        let heard = self.heard(record, asker, looked);
        record::looked_up(record, asker.source, &heard.told, heard.end.as_deref());
        if let Some(wait) = heard.retry_after {
            asker.leave_alone_until(self.now().plus(wait));
        }
        if let Some(end) = &heard.end
            && self.is_on_record(end, Instant::now() + margin).await?
        {
            return Ok(Became::JobEnded);
        }
        self.wait_or_give_up(record, Some(asker), Some(&heard))
            .await
    }

    /// What an answer says of the job.
    fn heard(&self, record: &JobRecord, asker: &Asker<'_>, looked: LookedUp) -> Heard {
        let asked = (
            record.binding.job.id.as_str(),
            record.binding.account.as_str(),
        );
        let source = &asker.source.source;
        let (end, flaw) = match looked.means {
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
            tracing::warn!(name: "job.disagrees", job = %end.job, why = %why, "job.disagrees");
            return Ok(false);
        }
        Ok(true)
    }

    async fn wait_or_give_up(
        &self,
        record: &JobRecord,
        asker: Option<&Asker<'_>>,
        heard: Option<&Heard>,
    ) -> Result<Became, StoreError> {
        let now = self.now();
        let timing = &self.0.config.delivery.timing;
        let deadline = Instant::now() + timing.settle_margin;
        let end = record.binding.end_of_waiting();
        let end = end.map(|wait| record.registered_at.plus(wait));
        if end.is_some_and(|end| end <= now) {
            let space = &record.binding.job.space;
            let source = asker.map_or(space, |asker| &asker.source.source.name);
            let given_up = self
                .0
                .store
                .give_up_job(record, source, timing, now, deadline);
            let Some(actions) = given_up.await? else {
                return Ok(Became::Overtaken);
            };
            record::given_up(record, &actions);
            return Ok(Became::JobSilent);
        }
        let next = asker.map(|asker| {
            let backoff = asker.lookup.backoff.wait(record.asked + 1, fastrand::f64());
            let told = heard.and_then(|heard| heard.retry_after);
            now.plus(told.map_or(backoff, |told| told.max(backoff)))
        });
        let due_at = [next, end].into_iter().flatten().min();
        let due_at = due_at.unwrap_or_else(|| now.plus(Duration::from_secs(3600)));
        let told = heard.map(|heard| heard.told.as_str());
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
    let observation = Observation::whole(source, &document)?;
    let known = Known {
        secret: None,
        asked: Some(asked),
    };
    job::word(asker.jobs, source, &observation, known, now)
}

impl Asker<'_> {
    fn quiet_until(&self) -> Option<Timestamp> {
        *self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_alone_until(&self, until: Timestamp) {
        let mut quiet = self
            .quiet_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *quiet = Some(quiet.map_or(until, |known| known.max(until)));
    }
}
