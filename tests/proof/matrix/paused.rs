//! The cells of a destination that is paused: the write that begins, probes, lengthens or ends a pause is
//! disturbed, and in the end everything is delivered, and nobody is paused. One request at a time reaches
//! the destination, whoever died.

use ackbox_store::schema::kind;
use ackbox_tests::events;
use ackbox_tests::faults::Rule;
use ackbox_tests::function::Function;
use serde_json::Value;

use super::case::{Case, FUNCTION_TIMEOUT};
use super::cell::{Disturbance, PauseWrite};
use super::disturb::disturbed;
use super::judge::Seen;
use super::run;

/// How many failures in a row pause the destination, by the configuration of these cells.
pub(super) const AFTER: usize = 2;

/// How often the destination fails before it works.
pub(super) const fn failures(write: PauseWrite) -> usize {
    match write {
        PauseWrite::Begin | PauseWrite::Probe | PauseWrite::End => AFTER,
        PauseWrite::Lengthen => AFTER + 1,
    }
}

/// The call of a write, from when it can be the next of its kind.
fn rule(write: PauseWrite) -> Rule {
    let state = match write {
        PauseWrite::Begin | PauseWrite::Lengthen => "paused",
        PauseWrite::Probe => "probing",
        PauseWrite::End => "open",
    };
    Rule::operation("UpdateItem")
        .containing("DESTINATION#")
        .containing(format!("\"{state}\""))
}

/// Three actions, two of which fail; the pause that follows, and its end.
pub(super) async fn play(
    case: &Case,
    write: PauseWrite,
    disturbance: &Disturbance,
    seen: &mut Seen,
) -> Result<(), String> {
    run::accept(case, AFTER + 1, seen).await?;
    let (first, batch) = (case.dispatcher().await?, case.batch().await);
    if write == PauseWrite::Begin {
        reach(case, &first, &batch, write, disturbance).await?;
    } else {
        first.invoke(&batch, FUNCTION_TIMEOUT).await;
        case.until_over().await?;
        let sweeper = case.dispatcher().await?;
        reach(case, &sweeper, &events::schedule(), write, disturbance).await?;
    }
    case.repair().await?;
    let most = case.destination.most_at_once();
    if most > 1 {
        seen.problems.push(format!("{most} requests at once"));
    }
    let stands = case.items(kind::PAUSE).await;
    if stands.iter().any(|item| item.has("until")) {
        seen.problems.push("it is paused in the end".to_owned());
    }
    Ok(())
}

async fn reach(
    case: &Case,
    dispatcher: &Function,
    event: &Value,
    write: PauseWrite,
    disturbance: &Disturbance,
) -> Result<(), String> {
    match disturbed(case, dispatcher, event, rule(write), disturbance).await? {
        true => Ok(()),
        false => Err("it never came to this write".to_owned()),
    }
}
