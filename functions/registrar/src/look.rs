//! `GET /jobs/{space}/{job_id}`: which job comes in; all that the table holds of it goes out.

use ackbox_domain::Name;
use ackbox_domain::job::{Ids, JobRef};
use ackbox_store::StoreError;
use ackbox_store::schema::kind;
use lambda_http::http::StatusCode;

use crate::Registrar;
use crate::answer::Answer;
use crate::record::Record;
use crate::view::{JobView, UnboundView};

impl Registrar {
    pub(crate) async fn look(
        &self,
        space: Name,
        id: String,
        account: Option<String>,
        record: &mut Record,
    ) -> Result<Answer, Answer> {
        // A space that the configuration does not know any more still has its jobs.
        let ids = self.0.config.ids_of(&space).unwrap_or(match account {
            Some(_) => Ids::PerAccount,
            None => Ids::Shared,
        });
        let account = match (ids, account) {
            (Ids::PerAccount, None) => {
                let error =
                    format!("ids of {space} are unique only within an account: say ?account=..");
                return Err(Answer::malformed(&error));
            }
            (_, account) => account.unwrap_or_default(),
        };
        let job = JobRef::new(space, id, &account, ids);
        record.about(&job);
        let story = self.0.store.job_story(&job).await;
        let mut story = story.map_err(|error| record.failed(&error))?;
        if let Some(view) = JobView::of(&story) {
            return Ok(Answer::new(StatusCode::OK, "found", &view));
        }
        // It is bound, to what cannot be read.
        if let Some(at) = story.unreadable.iter().position(|(sk, _)| sk == kind::JOB) {
            let (_, error) = story.unreadable.swap_remove(at);
            return Err(record.failed(&StoreError::Item(error)));
        }
        let unbound = UnboundView::of(&story);
        Ok(Answer::new(StatusCode::NOT_FOUND, "unbound", &unbound))
    }
}
