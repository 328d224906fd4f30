//! `POST /observations`: what the application itself has heard of a job comes in, in the source's own JSON or in
//! the normal form; it is read, offered and recorded as a webhook's would be, and what became of it goes out.

use ackbox_config::{OnConflict, SourceConfig};
use ackbox_domain::job::{
    JobObservation, JobWord, Jobs, Known, Unbound, identity, normal_form, word,
};
use ackbox_domain::json::Object;
use ackbox_domain::{Document, Malformed, Observation, Timestamp, fresh};
use ackbox_signature::Headers;
use ackbox_store::{JobAcceptance, Offer};
use lambda_http::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::Registrar;
use crate::answer::Answer;
use crate::check::{Refused, Vocabulary, check_normal_form};
use crate::record::Record;
use crate::told::Told;

/// An observation in a source's own JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BySource<'a> {
    source: String,
    job_id: String,
    account: Option<String>,
    /// Kept byte for byte.
    #[serde(borrow)]
    observation: &'a RawValue,
}

/// Tells the two forms apart.
#[derive(Deserialize)]
struct Form {
    source: Option<IgnoredAny>,
}

/// What was heard, and on whose terms it is offered.
struct Heard<'c> {
    source: &'c SourceConfig,
    jobs: &'c Jobs,
    word: JobWord,
}

impl Registrar {
    pub(crate) async fn hear(
        &self,
        body: &[u8],
        deadline: Instant,
        record: &mut Record,
    ) -> Result<Answer, Answer> {
        let now = self.now();
        let Object(form) = read::<Form>(body)?;
        let heard = match form.source {
            Some(_) => self.by_source(body, now)?,
            None => self.in_normal_form(body, now)?,
        };
        let end = match heard.word {
            JobWord::Nothing => return Ok(said("nothing")),
            JobWord::Progress => return Ok(said("progress")),
            JobWord::Ended(end) => end,
        };
        record.about(&end.job);
        let offer = Offer {
            unbound: heard.jobs.unbound,
            parked_for: heard.jobs.parked_for,
            timing: &self.0.config.delivery.timing,
            now,
            deadline,
        };
        let became = self.0.store.observe(&end, offer).await;
        let became = became.map_err(|error| record.failed(&error))?;
        let told = Told::of(&became);
        record.became(&told);
        let status = status(&became, &told, heard.jobs, heard.source);
        Ok(Answer::new(status, told.outcome, &told))
    }

    fn by_source(&self, body: &[u8], now: Timestamp) -> Result<Heard<'_>, Answer> {
        let Object(written) = read::<BySource<'_>>(body)?;
        let named = self.0.config.source_called(&written.source);
        let with_jobs = named.and_then(|source| Some((source, source.source.jobs.as_ref()?)));
        let Some((source, jobs)) = with_jobs else {
            let problem = "/source names no source whose facts are about jobs".to_owned();
            let all = self.0.config.sources.iter();
            let known = all.filter_map(|(name, source)| source.source.jobs.as_ref().map(|_| name));
            return Err(Answer::refused(&Refused::unknown(
                "unknown-source",
                problem,
                known,
            )));
        };
        let wrong = |error| Answer::unread(&error);
        let id = identity("/job_id", &written.job_id).map_err(wrong)?;
        let account = written.account.as_deref().unwrap_or(jobs.own_account());
        let account = identity("/account", account).map_err(wrong)?;
        let unusable = |error: Malformed| Answer::unusable(&error);
        let headers = Headers::default();
        let document = Document::vouched(
            &source.source,
            &headers,
            written.observation.get().as_bytes(),
        );
        let observation = Observation::whole(&source.source, &document).map_err(unusable)?;
        fresh(&source.source, &observation, now).map_err(unusable)?;
        let known = Known {
            secret: None,
            asked: Some((&id, &account)),
        };
        let word = word(jobs, &source.source, &observation, known, now).map_err(unusable)?;
        Ok(Heard { source, jobs, word })
    }

    fn in_normal_form(&self, body: &[u8], now: Timestamp) -> Result<Heard<'_>, Answer> {
        let told = normal_form(body).map_err(|error| Answer::unread(&error))?;
        let config = &self.0.config;
        let refused = |refused| Answer::refused(&refused);
        let vocabulary = Vocabulary::of(config, &told.space).map_err(refused)?;
        check_normal_form(&vocabulary, &told).map_err(refused)?;
        let (source, jobs) = config
            .source_of(&told.space, told.account())
            .ok_or_else(Answer::defect)?;
        let name = source.source.name.clone();
        let end: JobObservation = told.observation(jobs.ids, name, now);
        let word = JobWord::Ended(Box::new(end));
        Ok(Heard { source, jobs, word })
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<Object<T>, Answer> {
    serde_json::from_slice(body)
        .map_err(|error| Answer::malformed(&format!("this cannot be read: {error}")))
}

fn said(word: &'static str) -> Answer {
    Answer::new(
        StatusCode::OK,
        word,
        &serde_json::json!({ "outcome": word }),
    )
}

fn status(became: &JobAcceptance, told: &Told, jobs: &Jobs, source: &SourceConfig) -> StatusCode {
    let is_refused = match became {
        JobAcceptance::Unbound => jobs.unbound == Unbound::Refuse,
        _ => told.outcome == "conflict" && source.on_conflict == OnConflict::Refuse,
    };
    if is_refused {
        StatusCode::CONFLICT
    } else {
        StatusCode::OK
    }
}
