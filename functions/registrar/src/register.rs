//! `POST /jobs`: a record of a job comes in; what became of it goes out, with the keys of the actions that the
//! job can make and what became of what was parked.

use lambda_http::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::Registrar;
use crate::answer::Answer;
use crate::bind::{Bind, NotRegistered, Registered, bind_job};
use crate::record::Record;
use crate::told::Told;
use crate::view::{JobName, StepKey};

/// What became of a record, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct BindView<'b> {
    outcome: &'static str,
    job: JobName<'b>,
    /// The binding that stands, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<&'b RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<StepKey<'b>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_up: Option<Vec<Told>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'static str>,
}

impl Bind {
    /// In one word: `bound`, `same` or `other`.
    pub fn word(&self) -> &'static str {
        match self.registered {
            Registered::New => "bound",
            Registered::Same => "same",
            Registered::Other(_) => "other",
        }
    }

    /// As JSON, as the registrar answers it.
    pub fn view(&self) -> impl Serialize {
        let Self { binding, .. } = self;
        let mut view = BindView {
            outcome: self.word(),
            job: JobName::of(&binding.job, &binding.account),
            bound: None,
            actions: None,
            asked: None,
            taken_up: None,
            left: None,
        };
        if let Registered::Other(standing) = &self.registered {
            view.bound = serde_json::from_str(standing.written()).ok();
            return view;
        }
        view.actions = Some(StepKey::all(binding));
        view.asked = self.is_asked;
        match &self.taken_up {
            Ok(taken) => view.taken_up = Some(taken.iter().map(Told::of).collect()),
            Err(_) => view.left = Some(LEFT),
        }
        view
    }
}

/// What is said where what is parked could not be taken up.
pub(crate) const LEFT: &str =
    "what is parked of the job could not be taken up now; the reconciler takes it up";

impl Registrar {
    pub(crate) async fn register(
        &self,
        body: &[u8],
        deadline: Instant,
        record: &mut Record,
    ) -> Result<Answer, Answer> {
        let inner = &self.0;
        let bound = bind_job(&inner.store, &inner.config, body, self.now(), deadline).await;
        let bound = bound.map_err(|error| match error {
            NotRegistered::NotABinding(wrong) => Answer::unread(&wrong),
            NotRegistered::Refused(refused) => Answer::refused(&refused),
            NotRegistered::Store(error) => record.failed(&error),
        })?;
        record.about(&bound.binding.job);
        match &bound.taken_up {
            Ok(taken) => taken.iter().for_each(|one| record.became(&Told::of(one))),
            Err(error) => {
                record.failed(error);
            }
        }
        let status = match bound.registered {
            Registered::New => StatusCode::CREATED,
            Registered::Same => StatusCode::OK,
            Registered::Other(_) => StatusCode::CONFLICT,
        };
        Ok(Answer::new(status, bound.word(), &bound.view()))
    }
}
