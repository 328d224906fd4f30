//! Plays one cell: disturbs where it says, lets the others repair, and hands what stands in the end to
//! the judge. A cell that never came to its step, as on a machine too busy for its short times, proves
//! nothing: it is played again, and is a violation where it never comes there.

use ackbox_domain::notice::SOURCE;
use ackbox_store::schema::kind;
use ackbox_tests::engine::Item;
use ackbox_tests::events;
use ackbox_tests::faults::Rule;
use serde_json::Value;

use super::case::{Case, FUNCTION_TIMEOUT, Machine};
use super::cell::{Cell, Disturbance, Order, Step, Taking, Woken};
use super::disturb::{after, calling, inject, reached, sending};
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
