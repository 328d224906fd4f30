//! A run in words: a line a step, with the time, what happens, and how the entry stands afterwards.

use std::fmt::Write as _;

use crate::state::{Place, State};
use crate::step::Step;

/// The run as text: its states in order, each with the step that led to it.
pub(crate) fn story(path: &[(State, Option<Step>)]) -> String {
    let mut text = String::new();
    let mut now = 0;
    for (number, pair) in path.windows(2).enumerate() {
        let [(before, _), (after, Some(step))] = pair else {
            continue;
        };
        let step = *step;
        if step == Step::TimePasses {
            now += 1;
        }
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "{:>3}  t={now:<3} {:<52} {}",
            number + 1,
            words(before, step),
            standing(after, now)
        );
    }
    text
}

fn words(before: &State, step: Step) -> String {
    match step {
        Step::TimePasses => "time passes".to_owned(),
        Step::Record(who, off) => format!("#{who} gets the stream's record, clock {off:+}"),
        Step::Sweep(who, off) => format!("#{who} sweeps, reads and decides, clock {off:+}"),
        Step::Write(who) => match before.dispatchers[who].at {
            Place::Expiring { .. } => format!("#{who} settles the expired claim"),
            Place::Holding { .. } => format!("#{who} holds it without an attempt"),
            _ => format!("#{who} claims"),
        },
        Step::WriteUnanswered(who) => format!("#{who} claims, the answer is lost"),
        Step::WriteAgain(who) => format!("#{who} sends its claim again"),
        Step::Leave(who) => format!("#{who}'s request leaves"),
        Step::NotSent(who) => format!("#{who}'s request does not leave"),
        Step::End(who, end, executed) => {
            let executed = if executed {
                "carried out"
            } else {
                "not carried out"
            };
            format!("#{who}'s request ends: {end:?}, {executed}")
        }
        Step::OrphanEnds(who, true) => format!("dead #{who}'s request is carried out"),
        Step::OrphanEnds(who, false) => format!("dead #{who}'s request is dropped"),
        Step::Settle(who) => format!("#{who} settles"),
        Step::Crash(who) => format!("#{who} dies"),
        Step::Ask(who, off, said) => {
            format!(
                "reconciler {who} reads and asks, clock {off:+}: {}",
                said.as_str()
            )
        }
        Step::Answer(who) => {
            let said = before.reconcilers[who].map_or("nothing", |answer| answer.said.as_str());
            format!("reconciler {who} settles its answer: {said}")
        }
        Step::ReconcilerDies(who) => format!("reconciler {who} dies"),
        Step::Operator(word, off) => {
            format!("an operator reads and decides, clock {off:+}: {word:?}")
        }
        Step::OperatorWrites(who) => {
            let word = before.operators[who].map(|unwritten| unwritten.word);
            format!("an operator's word is written: {word:?}")
        }
    }
}

fn standing(state: &State, now: i32) -> String {
    let entry = &state.entry;
    let mut text = format!("{} fence {}", entry.state, entry.fence);
    if entry.state == ackbox_domain::EntryState::Claimed {
        let _ = write!(text, ", claimed at {}", now + i32::from(entry.claimed_at));
    }
    if let Some(first) = entry.first_uncertain_at {
        let _ = write!(text, ", mark at {}", now + i32::from(first));
    }
    if entry.cleared_fence > 0 {
        let _ = write!(text, ", cleared {}", entry.cleared_fence);
    }
    if let Some(redriven_at) = entry.redriven_at {
        let _ = write!(text, ", redriven at {}", now + i32::from(redriven_at));
    }
    if entry.is_vouched {
        text.push_str(", vouched for");
    }
    let _ = write!(text, "; carried out {}x", state.truth.effects);
    text
}
