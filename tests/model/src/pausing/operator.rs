//! What an operator does: the world comes in, and is paused or resumed by them. One step each, for a change of
//! what was read a while ago is refused and made anew.

use ackbox_domain::breaker::OperatorPause;

use super::rules::Step;
use super::state::{Place, World};
use crate::clock::{Steps, at};

/// How long a pause with an end lasts.
const LASTING: u8 = 2;

/// What an operator may do next. They always may end their own pause, so that no run ends with one.
pub(super) fn steps(world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    let record = &world.record;
    if world.operators > 0 {
        steps.extend([Step::Pauses(None), Step::Pauses(Some(LASTING))]);
    }
    if record.operator.is_some() || (world.operators > 0 && record.pause.is_some()) {
        steps.push(Step::Resumes);
    }
    steps
}

pub(super) fn pauses(world: &mut World, lasting: Option<u8>) {
    world.operators -= 1;
    let until = lasting.map(|steps| at(Steps::try_from(steps).unwrap_or(Steps::MAX)));
    world.paused_for = Some(world.paused_for.unwrap_or_default());
    overtake(world);
    world.record = world.record.operated(Some(OperatorPause {
        since: at(0),
        until,
        by: String::new(),
        why: None,
    }));
}

pub(super) fn resumes(world: &mut World) {
    if world.record.operator.is_none() {
        world.operators -= 1;
    }
    world.paused_for = None;
    overtake(world);
    world.record = world.record.operated(None);
}

/// A probe that is under way is one no more: the next may be made while it is.
fn overtake(world: &mut World) {
    for process in &mut world.processes {
        match &mut process.at {
            Place::Holding(_, Some(probe))
            | Place::Sent(_, Some(probe), _)
            | Place::Heard(Some(probe), _) => probe.is_overtaken = true,
            Place::Orphan(is_probe, _) => *is_probe = false,
            _ => {}
        }
    }
}
