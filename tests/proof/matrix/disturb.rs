//! Brings a disturbance about: a process on its way and the point that is disturbed come in, whether it came
//! there goes out. Deaths and freezes are the process's, everything else the proxy's or the destination's.

use ackbox_tests::faults::{Fault, Injected, Rule};
use ackbox_tests::function::{Function, Invoked};
use serde_json::Value;

use super::case::{Case, FUNCTION_TIMEOUT};
use super::cell::{Disturbance, Step};
use crate::destination::Stage;

/// The call of a step.
fn rule(step: Step) -> Rule {
    match step {
        Step::Due => Rule::operation("Query"),
        Step::Entry => Rule::operation("GetItem").containing("OUTBOX"),
        // A claim writes the lease, a settlement the attempts.
        Step::Claim => Rule::operation("UpdateItem").containing("lease_until"),
        Step::Payload | Step::Send(_) => Rule::operation("GetItem").containing("PAYLOAD"),
        // One call, or with the payload's expiry a transaction.
        Step::Settle => Rule::any().containing("attempts"),
    }
}

/// Disturbs a call to the engine. Whether it was ever made.
pub(super) async fn calling(
    case: &Case,
    dispatcher: &Function,
    event: &Value,
    step: Step,
    disturbance: &Disturbance,
) -> Result<bool, String> {
    if *disturbance != Disturbance::Frozen {
        return disturbed(case, dispatcher, event, rule(step), disturbance).await;
    }
    let (injected, held) = match step {
        // Its call is under way while it stands still, and arrives when the lease is over.
        Step::Settle => {
            let injected = case.world.faults.inject(rule(step).once(), Fault::Stall);
            (injected.clone(), Some(injected))
        }
        _ => inject(case, rule(step), disturbance),
    };
    let release = || after(case, &injected, disturbance);
    frozen(case, dispatcher, event, reached(held.as_ref()), release).await?;
    Ok(injected.met() > 0)
}

/// Disturbs the calls of a rule, by anything but a freeze. Whether one was ever made.
pub(super) async fn disturbed(
    case: &Case,
    dispatcher: &Function,
    event: &Value,
    rule: Rule,
    disturbance: &Disturbance,
) -> Result<bool, String> {
    let (injected, held) = inject(case, rule, disturbance);
    let invoked = tokio::select! {
        invoked = dispatcher.invoke(event, FUNCTION_TIMEOUT) => Some(invoked),
        () = reached(held.as_ref()) => {
            dispatcher.kill().await;
            None
        }
    };
    after(case, &injected, disturbance);
    if let Some(Invoked::Answered(answer)) = invoked {
        // The mapping repeats what the function says has failed.
        let failed = answer["batchItemFailures"].as_array();
        if failed.is_some_and(|failed| !failed.is_empty()) {
            dispatcher.invoke(event, FUNCTION_TIMEOUT).await;
        }
    }
    Ok(injected.met() > 0)
}

/// Kills or freezes while the exchange with the destination is at this stage.
pub(super) async fn sending(
    case: &Case,
    dispatcher: &Function,
    event: &Value,
    stage: Stage,
    disturbance: &Disturbance,
) -> Result<bool, String> {
    case.destination.hold_at(stage);
    let held = case.destination.has_held();
    let release = || case.destination.release();
    if *disturbance == Disturbance::Frozen {
        frozen(case, dispatcher, event, held, release).await?;
        return Ok(true);
    }
    let is_held = tokio::select! {
        _ = dispatcher.invoke(event, FUNCTION_TIMEOUT) => false,
        () = held => {
            dispatcher.kill().await;
            true
        }
    };
    release();
    Ok(is_held)
}

/// Freezes at a point, lets another one repair what seems to be left, and then lets the first one and
/// what it waited for go on.
async fn frozen(
    case: &Case,
    dispatcher: &Function,
    event: &Value,
    reached: impl Future<Output = ()>,
    release: impl Fn(),
) -> Result<(), String> {
    // A frozen machine's invocation does not end while it is frozen.
    let invocation = dispatcher.invoke(event, 4 * FUNCTION_TIMEOUT);
    let meanwhile = async {
        reached.await;
        dispatcher.freeze();
        let repaired = case.repair().await;
        release();
        dispatcher.thaw();
        repaired
    };
    let (_, repaired) = tokio::join!(invocation, meanwhile);
    repaired
}

/// Brings the disturbance about. The second is what a death or a freeze waits for.
pub(super) fn inject(
    case: &Case,
    rule: Rule,
    disturbance: &Disturbance,
) -> (Injected, Option<Injected>) {
    let faults = &case.world.faults;
    let (injected, waits) = match disturbance {
        Disturbance::KilledBefore | Disturbance::KilledInFlight => {
            (faults.inject(rule.once(), Fault::Stall), true)
        }
        Disturbance::KilledAfter | Disturbance::Frozen => {
            (faults.inject(rule.once(), Fault::StallAnswer), true)
        }
        Disturbance::CallDropped => (faults.inject(rule.once(), Fault::Drop), false),
        Disturbance::AnswerDropped => (faults.inject(rule.once(), Fault::DropAnswer), false),
        Disturbance::Stalled => (faults.inject(rule, Fault::Stall), false),
        Disturbance::RefusedTwice(refusal) => {
            let fault = Fault::Refuse(refusal.clone());
            (faults.inject(rule.calls(1..=2), fault), false)
        }
        Disturbance::Refused(refusal) => {
            (faults.inject(rule, Fault::Refuse(refusal.clone())), false)
        }
    };
    let held = waits.then(|| injected.clone());
    (injected, held)
}

/// Ends the disturbance: what was under way arrives now, unless it was never to.
pub(super) fn after(case: &Case, injected: &Injected, disturbance: &Disturbance) {
    case.world.faults.clear();
    if *disturbance != Disturbance::KilledBefore {
        injected.release();
    }
}

pub(super) async fn reached(held: Option<&Injected>) {
    match held {
        Some(injected) => injected.hit().await,
        None => std::future::pending().await,
    }
}
