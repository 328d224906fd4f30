//! Plays one cell: disturbs where it says, lets the others repair, and hands what stands in the end to
//! the judge. A cell that never came to its step, as on a machine too busy for its short times, proves
//! nothing: it is played again, and is a violation where it never comes there.

use ackbox_domain::notice::SOURCE;
use ackbox_store::schema::kind;
use ackbox_tests::engine::Item;
use ackbox_tests::events;
use ackbox_tests::faults::{Fault, Injected, Rule};
use ackbox_tests::function::{Function, Invoked};
use serde_json::Value;

use super::case::{Case, FUNCTION_TIMEOUT, Machine};
use super::cell::{Cell, Disturbance, Order, Step, Taking, Woken};
use super::judge::{Row, Seen, judge};
use super::{paused, told};
use crate::destination::Stage;

/// The wanted message, large enough that its body is an item of its own.
pub(super) fn order(number: usize) -> String {
    let noise: String = (0..1500).map(|_| fastrand::alphanumeric()).collect();
    format!(r#"{{"type":"order.paid","order":{number},"noise":"{noise}"}}"#)
}

/// How often a cell is played until it comes to its step.
const TRIES: usize = 6;

/// Plays a cell to its end.
pub(crate) async fn play(machine: &Machine, cell: &Cell) -> Row {
    for _ in 1..TRIES {
        let seen = once(machine, cell).await;
        if seen.unplayed.is_none() {
            return judge(cell, &seen);
        }
    }
    let mut seen = once(machine, cell).await;
    seen.problems.extend(seen.unplayed.take());
    judge(cell, &seen)
}

async fn once(machine: &Machine, cell: &Cell) -> Seen {
    let case = match cell {
        Cell::Told { .. } => Case::telling(machine).await,
        Cell::Paused { write, .. } => Case::pausing(machine, paused::failures(*write)).await,
        _ => Case::new(machine, cell.keys()).await,
    };
    match case {
        Ok(case) => {
            let mut seen = Seen::default();
            let played = match cell {
                Cell::Receiver { call, disturbance } => {
                    taking(&case, *call, disturbance, &mut seen).await
                }
                Cell::Dispatcher {
                    step,
                    disturbance,
                    woken,
                    ..
                } => delivering(&case, *step, disturbance, *woken, &mut seen).await,
                Cell::Reconciler {
                    step,
                    disturbance,
                    had_arrived,
                } => asking(&case, *step, disturbance, *had_arrived, &mut seen).await,
                Cell::Told {
                    troubled,
                    disturbance,
                } => told::play(&case, *troubled, disturbance, &mut seen).await,
                Cell::Paused { write, disturbance } => {
                    paused::play(&case, *write, disturbance, &mut seen).await
                }
                Cell::Records { order, .. } => records(&case, *order, &mut seen).await,
            };
            if let Err(why) = played {
                seen.unplayed = Some(why);
            }
            seen.entries = case.entries().await;
            seen.conflicts = case.items(kind::CONFLICT).await.len();
            seen.requests = case.destination.received();
            seen
        }
        Err(why) => Seen::unplayed(why),
    }
}

/// The first acceptance, undisturbed.
pub(super) async fn accept(case: &Case, many: usize, seen: &mut Seen) -> Result<(), String> {
    let receiver = case.receiver().await?;
    for number in 0..many {
        let answer = case
            .send(&receiver, &format!("m{number}"), &order(number))
            .await;
        match answer {
            Some((200, outcome)) if outcome == "accepted" => seen.acknowledged += 1,
            other => return Err(format!("an undisturbed message was answered {other:?}")),
        }
    }
    Ok(())
}

async fn taking(
    case: &Case,
    call: Taking,
    disturbance: &Disturbance,
    seen: &mut Seen,
) -> Result<(), String> {
    let rule = match call {
        Taking::Names => Rule::operation("UpdateItem").containing("META"),
        Taking::Accept => Rule::operation("TransactWriteItems"),
        Taking::Conflict => {
            let write = Rule::operation("PutItem").containing("CONFLICT#");
            return conflicting(case, write, disturbance, seen).await;
        }
    };
    sent(case, rule, disturbance, "accepted", seen).await?;
    seen.acknowledged = 1;
    case.repair().await
}

/// Other content under a known key, whose write (the call of this rule) is disturbed.
pub(super) async fn conflicting(
    case: &Case,
    write: Rule,
    disturbance: &Disturbance,
    seen: &mut Seen,
) -> Result<(), String> {
    let receiver = case.receiver().await?;
    let answer = case.send(&receiver, "m0", &order(0)).await;
    if answer != Some((200, "accepted".to_owned())) {
        return Err(format!("the original was answered {answer:?}"));
    }
    seen.acknowledged = 1;
    let before = original(case).await;
    sent(case, write, disturbance, "conflict", seen).await?;
    if original(case).await != before {
        seen.problems
            .push("the conflict changed the original".to_owned());
    }
    case.repair().await
}

/// The items of the original, byte for byte; a notice stands in a partition of its own.
async fn original(case: &Case) -> Vec<Item> {
    let mut items = case.items("").await;
    let entries = case.entries().await;
    let notice = |item: &Item| {
        let of = entries
            .iter()
            .find(|entry| item.key().as_ref() == Some(&entry.key));
        of.is_none_or(|entry| entry.source.as_str() == SOURCE)
    };
    items.retain(|item| !notice(item) && !item.sk().starts_with(kind::CONFLICT));
    items
}

/// A message to a receiver whose call of this rule is disturbed; its sender repeats until it has a 2xx.
async fn sent(
    case: &Case,
    rule: Rule,
    disturbance: &Disturbance,
    wanted: &str,
    seen: &mut Seen,
) -> Result<(), String> {
    let body = order(1);
    let receiver = case.receiver().await?;
    let (injected, held) = inject(case, rule, disturbance);
    let sending = case.send(&receiver, "m0", &body);
    let answer = tokio::select! {
        answer = sending => answer,
        () = reached(held.as_ref()) => {
            receiver.kill().await;
            None
        }
    };
    after(case, &injected, disturbance);
    if injected.met() == 0 {
        return Err("the call was never made".to_owned());
    }
    let mut answers = vec![answer];
    let mut sender = case.receiver().await?;
    // As a sender does: again until it has a 2xx.
    while answers.last().is_none_or(|last| !is_taken(last)) && answers.len() < 6 {
        if sender.has_ended() {
            sender = case.receiver().await?;
        }
        answers.push(case.send(&sender, "m0", &body).await);
    }
    for answer in answers.iter().flatten() {
        match answer {
            (200, outcome) if outcome == wanted || outcome == "duplicate" => {}
            (503, outcome) if outcome == "unavailable" => {}
            other => seen.problems.push(format!("answered {other:?}")),
        }
    }
    if answers.last().is_none_or(|last| !is_taken(last)) {
        seen.problems.push("the sender never had a 2xx".to_owned());
    }
    Ok(())
}

fn is_taken(answer: &super::case::Answer) -> bool {
    matches!(answer, Some((200, _)))
}

async fn delivering(
    case: &Case,
    step: Step,
    disturbance: &Disturbance,
    woken: Woken,
    seen: &mut Seen,
) -> Result<(), String> {
    accept(case, 1, seen).await?;
    let event = match woken {
        Woken::Stream => case.batch().await,
        Woken::Sweep => {
            case.until_due().await;
            events::schedule()
        }
    };
    let dispatcher = case.dispatcher().await?;
    let reached_it = match step {
        Step::Send(stage) => sending(case, &dispatcher, &event, stage, disturbance).await?,
        _ => calling(case, &dispatcher, &event, step, disturbance).await?,
    };
    if !reached_it {
        return Err("it never came to this step".to_owned());
    }
    case.repair().await
}

/// An attempt that died leaves a doubt; the reconciler is disturbed while it asks.
async fn asking(
    case: &Case,
    step: Step,
    disturbance: &Disturbance,
    had_arrived: bool,
    seen: &mut Seen,
) -> Result<(), String> {
    accept(case, 1, seen).await?;
    let (dispatcher, batch) = (case.dispatcher().await?, case.batch().await);
    let killed = Disturbance::KilledAfter;
    let died = if had_arrived {
        sending(case, &dispatcher, &batch, Stage::Read, &killed).await?
    } else {
        calling(case, &dispatcher, &batch, Step::Claim, &killed).await?
    };
    if !died {
        return Err("the dispatcher left no doubt".to_owned());
    }
    case.until_unknown().await?;
    let reconciler = case.reconciler().await?;
    let schedule = events::schedule();
    let reached_it = match step {
        Step::Send(stage) => sending(case, &reconciler, &schedule, stage, disturbance).await?,
        _ => calling(case, &reconciler, &schedule, step, disturbance).await?,
    };
    if !reached_it {
        return Err("it never came to this step".to_owned());
    }
    case.repair().await
}

/// The call of a step.
fn rule(step: Step) -> Rule {
    match step {
        Step::Due => Rule::operation("Query"),
        Step::Entry => Rule::operation("GetItem").containing("OUTBOX"),
        // A claim writes the lease, a settlement the attempts.
        Step::Claim => Rule::operation("UpdateItem").containing("lease_until"),
        Step::Payload | Step::Send(_) => Rule::operation("GetItem").containing("PAYLOAD"),
        Step::Settle => Rule::operation("UpdateItem").containing("attempts"),
    }
}

/// Disturbs a call to the engine. Whether it was ever made.
async fn calling(
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
async fn sending(
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
fn inject(case: &Case, rule: Rule, disturbance: &Disturbance) -> (Injected, Option<Injected>) {
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
fn after(case: &Case, injected: &Injected, disturbance: &Disturbance) {
    case.world.faults.clear();
    if *disturbance != Disturbance::KilledBefore {
        injected.release();
    }
}

async fn reached(held: Option<&Injected>) {
    match held {
        Some(injected) => injected.hit().await,
        None => std::future::pending().await,
    }
}

async fn records(case: &Case, order: Order, seen: &mut Seen) -> Result<(), String> {
    accept(case, 4, seen).await?;
    let batch = case.batch().await;
    let dispatcher = case.dispatcher().await?;
    match order {
        Order::Doubled => {
            let twice = rearranged(&batch, |records| {
                records
                    .iter()
                    .flat_map(|r| [r.clone(), r.clone()])
                    .collect()
            });
            dispatcher.invoke(&twice, FUNCTION_TIMEOUT).await;
        }
        Order::Reversed => {
            let reversed = rearranged(&batch, |records| {
                let back = records.iter().rev().cloned();
                back.chain(records.iter().take(2).cloned()).collect()
            });
            dispatcher.invoke(&reversed, FUNCTION_TIMEOUT).await;
        }
        Order::TwoAtOnce => {
            let other = case.dispatcher().await?;
            tokio::join!(
                dispatcher.invoke(&batch, FUNCTION_TIMEOUT),
                other.invoke(&batch, FUNCTION_TIMEOUT)
            );
        }
        Order::Late => {
            dispatcher.invoke(&batch, FUNCTION_TIMEOUT).await;
            dispatcher.invoke(&batch, FUNCTION_TIMEOUT).await;
        }
        Order::AgainAfterDeath => {
            case.destination.hold_at(Stage::Read);
            tokio::select! {
                _ = dispatcher.invoke(&batch, FUNCTION_TIMEOUT) => {
                    return Err("it ended before it was killed".to_owned());
                }
                () = case.destination.has_held() => dispatcher.kill().await,
            }
            case.destination.release();
            let other = case.dispatcher().await?;
            other.invoke(&batch, FUNCTION_TIMEOUT).await;
        }
        Order::Never => {}
    }
    case.repair().await
}

fn rearranged(batch: &Value, change: impl FnOnce(&[Value]) -> Vec<Value>) -> Value {
    let records = batch["Records"].as_array();
    events::batch(change(records.map_or(&[], Vec::as_slice)))
}
