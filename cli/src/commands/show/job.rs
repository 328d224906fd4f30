//! The job of a workflow's action, as the body says that is sent: nothing else has the job's space. A body that
//! is gone says nothing.

use ackbox_domain::RenderedBody;
use ackbox_domain::job::{Ids, JobRef, NAMESPACE};
use ackbox_domain::json::find;
use ackbox_store::{Store, StoreError, Story};
use serde_json::{Value, json};

/// The job, where the action is a workflow's.
pub(super) async fn of(
    store: &Store,
    story: &Story,
    body: Option<&RenderedBody>,
) -> Result<Option<JobRef>, StoreError> {
    let is_workflow = |accepted: &ackbox_store::AcceptedRecord| accepted.namespace == NAMESPACE;
    if !story.accepted.as_ref().is_some_and(is_workflow) {
        return Ok(None);
    }
    let told = |pointer: &str| {
        let raw = find(&body?.bytes, &pointer.parse().ok()?).ok()??;
        serde_json::from_str::<String>(raw).ok()
    };
    let (Some(space), Some(id), Some(account)) =
        (told("/job/space"), told("/job/id"), told("/job/account"))
    else {
        return Ok(None);
    };
    let Ok(space) = space.parse() else {
        return Ok(None);
    };
    let job = JobRef::new(space, id, &account, Ids::Shared);
    // Which of the two it is, the table knows.
    match store.job(&job).await {
        Ok(None) => {}
        Ok(Some(_)) | Err(StoreError::Item(_)) => return Ok(Some(job)),
        Err(error) => return Err(error),
    }
    Ok(Some(JobRef::new(
        job.space,
        job.id,
        &account,
        Ids::PerAccount,
    )))
}

/// The job for programs.
pub(super) fn json(job: &JobRef) -> Value {
    json!({"space": job.space, "id": job.id, "account": job.account})
}
