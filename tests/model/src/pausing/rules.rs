//! The steps, and what the world is after each.

use ackbox_domain::breaker::{
    Breaker, Failures, Gate, OperatorPause, Pause, PauseRecord, Sign, probe_span,
};
use ackbox_domain::{AttemptOutcome, OutcomeKind};

use super::state::{End, Entry, Place, Probe, Process, World};
use super::{Bounds, Guards, Property, operator};
use crate::clock::{Steps, at, lasting, pass, steps_to};

const TIMEOUT: u8 = 1;
const MARGIN: u8 = 1;
const SKEW: u8 = 1;
/// Longer than timeout, margin and skew.
const LEASE: u8 = 4;
const PAUSE: u8 = 2;
const MAX_PAUSE: u8 = 4;

/// One thing that happens; the number is a process's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    TimePasses,
    /// It looks, where what it knows is old, and takes this entry where it may.
    Begin(usize, usize),
    /// Its change of the record, or its end of the attempt, comes to the table.
    Write(usize),
    Leave(usize),
    Ends(usize, End),
    GivesBack(usize),
    Dies(usize),
    OrphanEnds(usize),
    /// An operator pauses it: until they end it, or for so long.
    Pauses(Option<u8>),
    /// An operator ends what pauses it.
    Resumes,
}

/// The rules of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) bounds: Bounds,
    pub(super) guards: Guards,
}

impl Rules {
    /// One start for every way to set the clocks.
    pub(super) fn starts(&self) -> Vec<World> {
        let clocks = 0..1_u32 << self.bounds.processes;
        clocks.map(|clocks| self.start(clocks)).collect()
    }

    fn start(&self, clocks: u32) -> World {
        let process = |who| Process {
            at: Place::Idle,
            clock_off: Steps::from(clocks >> who & 1 == 1),
            failures: Failures::default(),
            known: PauseRecord::default(),
            is_old: true,
        };
        World {
            record: PauseRecord::default(),
            entries: vec![Entry::Free; self.bounds.entries],
            processes: (0..self.bounds.processes).map(process).collect(),
            failures: self.bounds.failures,
            silences: self.bounds.silences,
            deaths: self.bounds.deaths,
            operators: self.bounds.operators,
            paused_for: None,
            broken: None,
        }
    }

    fn breaker(&self) -> Breaker {
        Breaker {
            after: self.bounds.after,
            pause: lasting(PAUSE),
            max_pause: lasting(MAX_PAUSE),
        }
    }

    fn span(&self) -> u8 {
        let span = probe_span(lasting(LEASE), lasting(MARGIN), lasting(SKEW));
        match self.guards.span {
            true => u8::try_from(span.as_millis() / lasting(1).as_millis()).unwrap_or(u8::MAX),
            false => 1,
        }
    }

    /// Everything that may happen next.
    pub(super) fn steps(&self, world: &World) -> Vec<Step> {
        let mut steps = vec![Step::TimePasses];
        steps.extend(operator::steps(world));
        for (who, process) in world.processes.iter().enumerate() {
            match process.at {
                Place::Idle => {
                    // Entries differ in nothing: the first free one will do.
                    let free = world.entries.iter().position(|e| *e == Entry::Free);
                    steps.extend(free.map(|entry| Step::Begin(who, entry)));
                    continue;
                }
                Place::Taking(_) | Place::Heard(..) => steps.push(Step::Write(who)),
                Place::Holding(_, probe) => {
                    if self.may_leave(probe) {
                        steps.push(Step::Leave(who));
                    } else {
                        steps.push(Step::GivesBack(who));
                    }
                }
                Place::Sent(..) => {
                    steps.push(Step::Ends(who, End::Success));
                    if world.failures > 0 {
                        steps.push(Step::Ends(who, End::Failure));
                    }
                    if world.silences > 0 {
                        steps.push(Step::Ends(who, End::Silence));
                    }
                }
                Place::Orphan(..) => {
                    steps.push(Step::OrphanEnds(who));
                    continue;
                }
            }
            if world.deaths > 0 {
                steps.push(Step::Dies(who));
            }
        }
        steps
    }

    /// As the dispatcher's deadline for a probe: the request and its end fit before the skew.
    fn may_leave(&self, probe: Option<Probe>) -> bool {
        let fits = |probe: Probe| {
            let ends = probe.age.unsigned_abs() + TIMEOUT + MARGIN;
            ends <= self.span().saturating_sub(SKEW)
        };
        !self.guards.probe_time || probe.is_none_or(fits)
    }

    /// The world after a step; `None` where it cannot happen or changes nothing.
    pub(super) fn after(&self, before: &World, step: Step) -> Option<World> {
        let mut world = before.clone();
        world.broken = None;
        match step {
            Step::TimePasses => self.time_passes(&mut world)?,
            Step::Begin(who, entry) => self.begin(&mut world, who, entry),
            Step::Write(who) => self.write(&mut world, who),
            Step::Leave(who) => {
                if let Place::Holding(entry, probe) = world.processes[who].at {
                    world.processes[who].at = Place::Sent(entry, probe, 0);
                }
            }
            Step::Ends(who, end) => ends(&mut world, who, end),
            Step::GivesBack(who) => self.gives_back(&mut world, who),
            Step::Dies(who) => dies(&mut world, who),
            Step::OrphanEnds(who) => world.processes[who].at = Place::Idle,
            Step::Pauses(lasting) => operator::pauses(&mut world, lasting),
            Step::Resumes => operator::resumes(&mut world),
        }
        self.judge(before, &mut world);
        self.simplify(&mut world);
        (world != *before).then_some(world)
    }

    fn time_passes(&self, world: &mut World) -> Option<()> {
        let span = self.span();
        for process in &mut world.processes {
            process.is_old = true;
            match &mut process.at {
                Place::Sent(_, _, age) | Place::Orphan(_, age) if age.unsigned_abs() >= TIMEOUT => {
                    return None;
                }
                Place::Holding(entry, Some(probe)) => {
                    let (entry, mut later) = (*entry, *probe);
                    later.age = (later.age - 1).max(-i8::try_from(span).ok()?);
                    // To let its time pass is as rare as a death.
                    if self.may_leave(Some(*probe)) && !self.may_leave(Some(later)) {
                        world.deaths = world.deaths.checked_sub(1)?;
                    }
                    process.at = Place::Holding(entry, Some(later));
                }
                Place::Sent(_, _, age) | Place::Orphan(_, age) => *age -= 1,
                _ => {}
            }
            later(&mut process.known);
        }
        later(&mut world.record);
        if let Some(paused_for) = &mut world.paused_for {
            *paused_for = (*paused_for + 1).min(2);
        }
        Some(())
    }

    /// By what is known, or by a look where that is old.
    fn begin(&self, world: &mut World, who: usize, entry: usize) {
        let record = world.record.clone();
        let clock_off = world.processes[who].clock_off;
        // An operator's that is over, by this clock, is none.
        let is_over = |pause: &OperatorPause| !pause.stands(at(clock_off));
        let is_over = world.record.operator.as_ref().is_some_and(is_over);
        let has_stood = world.paused_for.filter(|_| !is_over);
        let process = &mut world.processes[who];
        if process.is_old && self.guards.look {
            learn(process, record);
            process.is_old = false;
        }
        match process.known.gate(at(process.clock_off)) {
            Gate::Open => {
                process.at = Place::Holding(entry, None);
                world.entries[entry] = Entry::UnderWay;
                if has_stood.is_some_and(|steps| steps > 0) {
                    world.broken = Some(Property::LeftAlone);
                }
            }
            // Without an end, to look again and again is to wait for the operator, and no step.
            Gate::Paused { until: None } => process.is_old = self.guards.look,
            Gate::Paused { .. } => {}
            Gate::Over if !self.guards.probe_ends && is_probing(&process.known) => {}
            Gate::Over => {
                process.at = Place::Taking(entry);
                world.entries[entry] = Entry::UnderWay;
            }
        }
    }

    fn write(&self, world: &mut World, who: usize) {
        match world.processes[who].at {
            Place::Taking(entry) => self.take(world, who, entry),
            Place::Heard(probe, end) => self.heard(world, who, probe, end),
            _ => {}
        }
    }

    fn take(&self, world: &mut World, who: usize, entry: usize) {
        let process = &world.processes[who];
        let until = process.clock_off + Steps::try_from(self.span()).unwrap_or(Steps::MAX);
        let Some(next) = process
            .known
            .pause
            .as_ref()
            .map(|pause| pause.probed(at(until)))
        else {
            return;
        };
        let seen = process.known.fence;
        if self.change(world, who, seen, Some(next)) {
            let fence = world.record.fence;
            let probe = Probe {
                fence,
                age: 0,
                is_overtaken: false,
            };
            world.processes[who].at = Place::Holding(entry, Some(probe));
        } else {
            world.processes[who].at = Place::Idle;
            world.entries[entry] = Entry::Free;
        }
    }

    fn heard(&self, world: &mut World, who: usize, probe: Option<Probe>, end: End) {
        let outcome = outcome(end);
        let process = &mut world.processes[who];
        process.at = Place::Idle;
        let now = at(process.clock_off);
        let breaker = self.breaker();
        let Some(probe) = probe else {
            process.failures = process.failures.and(Sign::of(&outcome));
            let is_free = match self.guards.spares {
                true => process.known.is_free(now, lasting(SKEW)),
                false => process.known.pause.is_none(),
            };
            if process.failures.are_enough(&breaker) && is_free {
                let (seen, pause) = (process.known.fence, Pause::begin(&breaker, &outcome, now));
                self.change(world, who, seen, Some(plain(pause)));
            }
            return;
        };
        let before = Pause {
            number: number(&process.known),
            ..Pause::begin(&breaker, &outcome, now)
        };
        let next = before.after_probe(&breaker, &outcome, now).map(plain);
        let next = next.filter(|_| self.guards.proof || end == End::Failure);
        let proves = Sign::of(&outcome) == Sign::Answer && world.record.fence == probe.fence;
        let had_one = world.record.pause.is_some();
        let is_end = next.is_none();
        let written = self.change(world, who, probe.fence, next);
        if written && is_end && had_one && !proves {
            world.broken = Some(Property::EndedByProof);
        }
    }

    /// No request was made: the pause is over as it was.
    fn gives_back(&self, world: &mut World, who: usize) {
        let process = &mut world.processes[who];
        if let Place::Holding(entry, Some(probe)) = process.at {
            process.at = Place::Idle;
            world.entries[entry] = Entry::Free;
            let before = Pause {
                number: number(&process.known),
                ..Pause::begin(&self.breaker(), &outcome(End::Failure), at(0))
            };
            let over = plain(Pause {
                until: at(-Steps::from(true)),
                ..before
            });
            self.change(world, who, probe.fence, Some(over));
        }
    }

    /// The conditional write; whoever is refused learns what stands.
    fn change(&self, world: &mut World, who: usize, seen: u64, next: Option<Pause>) -> bool {
        let holds = world.record.fence == seen || !self.guards.fence;
        if holds && world.record.operator_pause(at(0)).is_some() {
            world.broken = Some(Property::OperatorsOwn);
        }
        if holds {
            // After an operator's that is over, it begins anew.
            let stood = world.paused_for.filter(|_| world.record.operator.is_none());
            world.paused_for = next.as_ref().map(|_| stood.unwrap_or_default());
            world.record = PauseRecord {
                fence: world.record.fence + 1,
                pause: next,
                operator: None,
            };
        }
        let record = world.record.clone();
        learn(&mut world.processes[who], record);
        world.processes[who].is_old = false;
        holds
    }

    fn judge(&self, before: &World, world: &mut World) {
        let is_probe = |process: &&Process| match process.at {
            Place::Sent(_, Some(probe), _) => !probe.is_overtaken,
            Place::Orphan(is_probe, _) => is_probe,
            _ => false,
        };
        if world.processes.iter().filter(is_probe).count() > 1 {
            world.broken = Some(Property::OneProbe);
        }
        let longest = Steps::try_from(self.span().max(MAX_PAUSE) + SKEW).unwrap_or(Steps::MAX);
        if let Some(pause) = &world.record.pause
            && world.record.fence != before.record.fence
            && steps_to(pause.until) > longest
        {
            world.broken = Some(Property::NeverLong);
        }
    }
}

fn ends(world: &mut World, who: usize, end: End) {
    let Place::Sent(entry, probe, _) = world.processes[who].at else {
        return;
    };
    world.processes[who].at = Place::Heard(probe, end);
    world.entries[entry] = match end {
        End::Success => Entry::Done,
        End::Failure | End::Silence => Entry::Free,
    };
    match end {
        End::Success => {}
        End::Failure => world.failures -= 1,
        End::Silence => world.silences -= 1,
    }
}

fn dies(world: &mut World, who: usize) {
    world.deaths -= 1;
    let process = &mut world.processes[who];
    let (at, held) = match process.at {
        Place::Sent(entry, probe, age) => (
            Place::Orphan(probe.is_some_and(|probe| !probe.is_overtaken), age),
            Some(entry),
        ),
        Place::Taking(entry) | Place::Holding(entry, _) => (Place::Idle, Some(entry)),
        _ => (Place::Idle, None),
    };
    *process = Process {
        at,
        clock_off: process.clock_off,
        failures: Failures::default(),
        known: PauseRecord::default(),
        is_old: true,
    };
    if let Some(entry) = held {
        world.entries[entry] = Entry::Free;
    }
}

fn learn(process: &mut Process, record: PauseRecord) {
    if record.fence != process.known.fence {
        process.failures = Failures::default();
    }
    process.known = record;
}

/// Times are told from now, and those so far back that no clock tells them apart are one.
fn later(record: &mut PauseRecord) {
    if let Some(pause) = &mut record.pause {
        let mut until = steps_to(pause.until);
        pass(&mut until, -1);
        pause.until = at(until);
    }
    let operator = record.operator.as_mut();
    if let Some(end) = operator.and_then(|pause| pause.until.as_mut()) {
        let mut until = steps_to(*end);
        pass(&mut until, -i8::try_from(SKEW).unwrap_or(1));
        *end = at(until);
    }
}

/// Without what no decision reads: since when, and why.
fn plain(pause: Pause) -> Pause {
    Pause {
        since: at(0),
        why: String::new(),
        // Where it does not get longer any more, the number means nothing.
        number: pause.number.min(3),
        ..pause
    }
}

fn number(record: &PauseRecord) -> u32 {
    record.pause.as_ref().map_or(1, |pause| pause.number)
}

fn is_probing(record: &PauseRecord) -> bool {
    record.pause.as_ref().is_some_and(|pause| pause.is_probing)
}

fn outcome(end: End) -> AttemptOutcome {
    let (kind, status) = match end {
        End::Success => (OutcomeKind::Succeeded, Some(200)),
        End::Failure => (OutcomeKind::Busy, Some(503)),
        End::Silence => (OutcomeKind::Unknown, None),
    };
    AttemptOutcome::new(kind, status, "")
}
