//! What happened to an action, as an operator knows it.

use ackbox_domain::ActionKey;
use ackbox_domain::operator::{self, Resolution};
use ackbox_domain::settlement::Standing;
use ackbox_store::{Decided, StoreError};
use serde_json::json;

use super::Case;
use crate::commands::deed::{self, Agreed, Done, Intent};
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
    // The entry alone: what else stands under its key may be much.
    let entry = match case.store.entry(key).await {
        Err(StoreError::Item(error)) => {
            let why = escaped(&error.to_string());
            return Ok(Done::refused(format!(
                "{key}: its entry cannot be read: {why}"
            )));
        }
        read => read.map_err(table::unread)?,
    };
    let Some(entry) = &entry else {
        return Ok(Done::refused(format!("{key}: {}", deed::NO_ENTRY)));
    };
    let timing = &case.config.delivery.timing;
    let settled = match operator::resolve(&Standing::from(entry), resolution, timing, edge::now()) {
        Ok(settled) => settled,
        Err(refusal) => {
            let why = deed::refused(&refusal, key);
            return Ok(Done::refused(format!("{key}: {why}")));
        }
    };
    let (did, becomes) = match resolution {
        Resolution::Applied => (did::APPLIED, "is delivered, for it was applied"),
        Resolution::NotApplied => (
            did::NOT_APPLIED,
            "is sent again, once, for nothing of it was applied",
        ),
        Resolution::Dead => (did::DEAD, "is dead: it is not sent any more"),
    };
    let before = deed::standing(entry);
    let intent = Intent {
        says: format!("{key} of {}, {before}, {becomes}.", entry.destination),
        json: json!({"key": key.as_str(), "was": entry.state.as_str(), "becomes": settled.settlement.state().as_str()}),
    };
    let by = match case.agreed(&intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let operator = &case.args.operator;
    let mut record = operator.record(&by, did, Some(format!("was {before}")), edge::now());
    record.number = Some(entry.fence.saturating_add(1));
    let decided = Decided {
        settled: &settled,
        to: None,
        record: &record,
    };
    let heard = case.store.decide(entry, decided, case.deadline()).await;
    Ok(match deed::unheard(&heard.map_err(table::unwritten)?) {
        None => Done::written(format!("{key} {becomes}"), intent.json),
        Some(why) => Done::refused(format!("{key}: {why}")),
    })
}
