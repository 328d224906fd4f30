//! Other content under a key: it counts, or it does not.

use ackbox_domain::ActionKey;
use ackbox_store::{ConflictKind, ConflictRecord};
use serde_json::json;

use super::Case;
use crate::commands::deed::{self, Agreed, Done, Intent};
use crate::commands::doubt::did;
use crate::commands::{CommandError, table};
use crate::edge;
use crate::output::escaped;

/// Closes one conflict.
pub(super) async fn resolve(
    case: &Case<'_>,
    key: &ActionKey,
    print: &str,
) -> Result<Done, CommandError> {
    let story = case.store.story(key).await.map_err(table::unread)?;
    let conflict = match found(&story.conflicts, print) {
        Ok(conflict) => conflict,
        Err(why) => return Ok(Done::refused(why)),
    };
    let short = conflict.fingerprint.short();
    if let Some((how, at)) = &conflict.resolved {
        let how = escaped(how);
        return Ok(Done::refused(format!("{short} was {how} at {at} already")));
    }
    if conflict.kind == ConflictKind::Uncompared {
        return Ok(Done::refused(format!(
            "{short} could not be compared, and waits for nobody; only a conflict is closed"
        )));
    }
    let now = edge::now();
    let new = if case.args.what.supersede {
        let Some(content) = conflict.content(key) else {
            return Ok(Done::refused(
                "its body is gone: there is nothing to make an action of",
            ));
        };
        if !case.config.destinations.contains_key(content.destination) {
            return Ok(Done::refused(format!(
                "the configuration has no destination \"{}\"",
                content.destination
            )));
        }
        Some(content.superseding(&conflict.fingerprint, now))
    } else {
        None
    };
    let about = format!(
        "{short} of {}, seen {} times, last at {}",
        conflict.source, conflict.count, conflict.last_seen
    );
    let (did, says) = match &new {
        None => (
            did::DISMISS,
            format!("The conflict {about}, is dismissed: nothing comes of it."),
        ),
        Some(new) => (
            did::SUPERSEDE,
            format!(
                "The conflict {about}, becomes a new action for {}, {}.",
                new.destination, new.key
            ),
        ),
    };
    let intent = Intent {
        says: says.clone(),
        json: json!({
            "key": key.as_str(),
            "conflict": short,
            "becomes": if new.is_some() { "superseded" } else { "dismissed" },
            "new_key": new.as_ref().map(|new| new.key.as_str()),
        }),
    };
    let by = match case.agreed(&intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let detail = match &new {
        None => format!("the conflict {short}"),
        Some(new) => format!("the conflict {short}; the new action is {}", new.key),
    };
    let record = case
        .args
        .operator
        .record(&by, did, Some(detail), edge::now());
    let timing = &case.config.delivery.timing;
    let new = new.as_ref().map(|new| (new, timing));
    let closed = case
        .store
        .close_conflict(key, conflict, new, &record, case.deadline());
    Ok(
        match deed::unheard(&closed.await.map_err(table::unwritten)?) {
            None => Done::written(says, intent.json),
            Some(why) => Done::refused(why),
        },
    )
}

fn found<'a>(conflicts: &'a [ConflictRecord], print: &str) -> Result<&'a ConflictRecord, String> {
    let fits = |conflict: &&ConflictRecord| conflict.fingerprint.short().starts_with(print);
    let mut fitting = conflicts.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(format!(
            "several conflicts begin with {print}: write more of it"
        )),
        (None, _) => {
            let known: Vec<String> = conflicts
                .iter()
                .map(|conflict| conflict.fingerprint.short())
                .collect();
            Err(match known.is_empty() {
                true => "no other content came under this key".to_owned(),
                false => format!(
                    "there is no conflict {print}; there is {}",
                    known.join(", ")
                ),
            })
        }
    }
}
