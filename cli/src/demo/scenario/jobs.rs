//! What happens to the application's jobs.

use futures_util::future;

use super::{Came, send};
use crate::demo::job::{BOUND_LATE, CONTRADICTED, SILENT, TOLD_BY_TWO};
use crate::demo::parcel::{self, jobs};
use crate::demo::setting::STUDIO;
use crate::demo::stage::Stage;

/// How often each of two endpoints tells one end.
pub(super) const TELLINGS: usize = 3;

/// A job is bound, and nobody tells of it.
pub(super) async fn silent(stage: &Stage) -> Came {
    stage.application.bind(&SILENT).await;
    Ok(Some("bound; asked from 0.3 s on".to_owned()))
}

/// Both endpoints tell one job's end, several times and at once.
pub(super) async fn by_two_endpoints(stage: &Stage) -> Came {
    stage.application.bind(&TOLD_BY_TWO).await;
    let parcels = std::iter::repeat_n(jobs::by_two_endpoints(), TELLINGS).flatten();
    let sent = parcels.map(|parcel| stage.senders.send(parcel));
    future::join_all(sent).await;
    Ok(None)
}

/// The callback beats the application's own record.
pub(super) async fn bound_late(stage: &Stage) -> Came {
    stage.senders.send(jobs::early()).await;
    stage.application.bind(&BOUND_LATE).await;
    send(stage, jobs::early_again()).await
}

/// A job ends, and ends otherwise.
pub(super) async fn contradicted(stage: &Stage) -> Came {
    stage.application.bind(&CONTRADICTED).await;
    stage.senders.send(jobs::completed()).await;
    send(stage, jobs::then_failed()).await
}

/// One id, two renderings.
pub(super) async fn inbox(stage: &Stage) -> Came {
    stage.senders.send(parcel::inbox()).await;
    send(stage, parcel::inbox_spaced()).await
}

/// The silent job's system tells its end when it is asked; then the news comes.
pub(super) async fn asked(stage: &Stage) -> Came {
    let key = stage.application.filed(&SILENT);
    let key = key.and_then(|filed| filed.keys.into_values().next());
    if let (Some(key), Some(studio)) = (key, stage.destination(STUDIO)) {
        studio
            .until(|log| log.iter().any(|one| one.key == key))
            .await;
    }
    let said = stage.setting.status.asked().into_iter();
    let mut said: Vec<&str> = said.map(|(_, said)| said.word()).collect();
    said.dedup();
    stage.senders.send(jobs::late()).await;
    Ok(Some(said.join(", ")))
}
