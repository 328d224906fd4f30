//! What happened to an action, as an operator knows it.

use ackbox_domain::operator::{self, Resolution};
use ackbox_domain::settlement::{Reason, Standing};
use ackbox_domain::{ActionKey, StoredBody};
use ackbox_store::{Decided, Heard};
use serde_json::json;

use super::{Case, Done, Intent};
use crate::commands::doubt::did;
use crate::commands::{CommandError, table};
use crate::edge;
use crate::output::escaped;

/// Resolves one entry.
pub(super) async fn resolve(
    case: &Case<'_>,
    key: &ActionKey,
    resolution: Resolution,
) -> Result<Done, CommandError> {
    let story = case.store.story(key).await.map_err(table::unread)?;
    let Some(entry) = &story.outbox else {
        return Ok(Done::refused(format!(
            "the table has no entry of {key}: a closed one expires"
        )));
    };
    let now = edge::now();
    let timing = &case.config.delivery.timing;
    if entry.reason.as_deref() == Some(Reason::Replaced.as_str()) {
        return Ok(Done::refused(operator::Refusal::Replaced.to_string()));
    }
    let settled = match operator::resolve(&Standing::from(entry), resolution, timing, now) {
        Ok(settled) => settled,
        Err(refusal) => return Ok(Done::refused(refusal.to_string())),
    };
    let (did, becomes) = match resolution {
        Resolution::Applied => (did::APPLIED, "is delivered, for it was applied"),
        Resolution::NotApplied => (
            did::NOT_APPLIED,
            "is sent again, once, for nothing of it was applied",
        ),
        Resolution::Dead => (did::DEAD, "is dead: it is not sent any more"),
    };
    if resolution == Resolution::NotApplied
        && entry.body == StoredBody::Payload
        && story.payload.is_none()
    {
        return Ok(Done::refused("its body is gone: there is nothing to send"));
    }
    let before = match &entry.reason {
        Some(reason) => format!("{} ({})", entry.state, escaped(reason)),
        None => entry.state.to_string(),
    };
    let intent = Intent {
        says: format!("{key} of {}, {before}, {becomes}.", entry.destination),
        json: json!({"key": key.as_str(), "was": entry.state.as_str(), "becomes": settled.settlement.state().as_str()}),
    };
    let by = match case.agreed(&intent).await? {
        Ok(by) => by,
        Err(done) => return Ok(done),
    };
    let operator = &case.args.operator;
    let mut record = operator.record(&by, did, Some(format!("was {before}")), now);
    record.number = Some(entry.fence.saturating_add(1));
    let decided = Decided {
        settled: &settled,
        to: None,
        record: &record,
    };
    let heard = case.store.decide(entry, decided, case.deadline()).await;
    Ok(match heard.map_err(table::unwritten)? {
        Heard::Written => Done::written(format!("{key} {becomes}"), intent.json),
        Heard::Moved(Some(stands)) => {
            Done::refused(format!("somebody was faster: it is {} now", stands.state))
        }
        Heard::Moved(None) | Heard::There => Done::refused("its entry is gone"),
        Heard::NoBody => Done::refused("its body is gone: there is nothing to send"),
    })
}
