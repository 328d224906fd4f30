//! Whether a destination may be spoken to: its name comes in, the answer goes out, by what the table said
//! a moment ago; attempts' ends come in, and begin, lengthen and end its pause there. What must never
//! happen: a request to a paused destination that is not the one probe, a pause of which the table
//! knows nothing, or a word of the breaker against an operator's pause, which also a destination without
//! a breaker has.
//!
//! Of one destination, one task at a time looks at the table or writes; the others wait for what it
//! learns. Between two looks passes [`FRESH`], so a pause that another process began is noticed by
//! then, and some attempts overshoot; a look before every attempt would not change that, for those under
//! way are under way.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_config::{Config, DestinationConfig};
use ackbox_domain::Name;
use ackbox_domain::breaker::{self, Failures, Gate, Pause, PauseRecord, Sign};
use ackbox_domain::causes::in_one_line;
use ackbox_store::{Deadline, PauseChange, StoreError, random_id};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::Dispatcher;
use crate::attempt::Attempted;
use crate::dispatch::Limits;
use crate::record;

/// How old what is known of a pause may be.
const FRESH: Duration = Duration::from_secs(1);

/// What this process knows of each destination.
pub(crate) struct Circuits(BTreeMap<Name, Mutex<Circuit>>);

impl Circuits {
    pub(crate) fn of(config: &Config) -> Self {
        // Also those whose breaker is off: an operator may pause any.
        let names = config.destinations.keys();
        Self(names.map(|name| (name.clone(), Mutex::default())).collect())
    }
}

/// What this process knows of one destination.
#[derive(Debug, Default)]
struct Circuit {
    failures: Failures,
    record: PauseRecord,
    read_at: Option<Instant>,
    /// When the table last gave no answer.
    failed_at: Option<Instant>,
}

impl Circuit {
    /// Takes up what the table says. Failures from before a change are none of what comes after it.
    fn learn(&mut self, record: PauseRecord) {
        if record.fence != self.record.fence {
            self.failures = Failures::default();
        }
        self.record = record;
        self.read_at = Some(Instant::now());
    }

    /// The same of a read, which may be behind what is known already.
    fn learn_by_read(&mut self, record: PauseRecord) {
        if record.fence >= self.record.fence {
            self.learn(record);
        } else {
            self.read_at = Some(Instant::now());
        }
    }

    /// Whether the table has given no answer since. Whoever has waited for one that did not come does not
    /// wait for another: one after the other, they would outstay the invocation.
    fn has_failed_since(&self, asked: Instant) -> bool {
        self.failed_at.is_some_and(|at| at >= asked)
    }

    fn is_fresh(&self) -> bool {
        self.read_at.is_some_and(|at| at.elapsed() < FRESH)
    }
}

/// By what right an attempt is made now.
pub(crate) enum Turn {
    /// The destination is not paused.
    Free,
    /// Its pause is over, and this attempt is the one that finds out.
    Probe(Probe),
    /// It is paused.
    Paused,
}

/// The right to make the probe.
pub(crate) struct Probe {
    /// The pause that was over.
    before: Pause,
    /// What stands now.
    taken: PauseRecord,
    /// The attempt must be over by then.
    pub(crate) deadline: Instant,
}

impl Dispatcher {
    /// Whether a destination may be spoken to. One that the configuration does not have always may: its entries
    /// are not sent anyway.
    pub(crate) async fn gate(&self, destination: &Name) -> Result<Gate, StoreError> {
        let Some(circuit) = self.0.circuits.0.get(destination) else {
            return Ok(Gate::Open);
        };
        let asked = Instant::now();
        let mut circuit = circuit.lock().await;
        if circuit.has_failed_since(asked) {
            return Err(unavailable());
        }
        if !circuit.is_fresh() {
            match self.0.store.pause(destination).await {
                Ok(record) => circuit.learn_by_read(record),
                // What cannot be understood is no reason to keep actions back.
                Err(error @ StoreError::Item(_)) => {
                    tracing::error!(destination = %destination, error = %in_one_line(&error), "breaker.item_unusable");
                    circuit.learn(PauseRecord::default());
                }
                Err(error) => {
                    circuit.failed_at = Some(Instant::now());
                    return Err(error);
                }
            }
        }
        Ok(circuit.record.gate(self.now()))
    }

    /// By what right an attempt would be made now. A probe that is taken must be [heard
    /// of](Self::heard) or [given back](Self::give_back); else its time runs out.
    pub(crate) async fn turn(
        &self,
        destination: &DestinationConfig,
        limits: &Limits,
    ) -> Result<Turn, StoreError> {
        let name = &destination.name;
        let Some(circuit) = self.0.circuits.0.get(name) else {
            return Ok(Turn::Free);
        };
        let asked = Instant::now();
        let mut circuit = circuit.lock().await;
        if circuit.has_failed_since(asked) {
            return Err(unavailable());
        }
        let now = self.now();
        let before = match (circuit.record.gate(now), &circuit.record.pause) {
            (Gate::Open, _) | (_, None) => return Ok(Turn::Free),
            (Gate::Paused { .. }, _) => return Ok(Turn::Paused),
            (Gate::Over, Some(pause)) => pause.clone(),
        };
        let timing = &self.0.config.delivery.timing;
        let span = breaker::probe_span(timing.lease, timing.settle_margin, timing.clock_skew);
        // Over before anybody else could count it as never heard of.
        let deadline = Instant::now() + span.saturating_sub(timing.clock_skew);
        let next = before.probed(now.plus(span));
        let by = self.table_deadline(limits);
        match self.change(name, &mut circuit, Some(&next), by).await? {
            true => {
                record::probing(name, &next);
                Ok(Turn::Probe(Probe {
                    before,
                    taken: circuit.record.clone(),
                    deadline,
                }))
            }
            false => Ok(Turn::Paused),
        }
    }

    /// Takes note of how an attempt ended: counts it, or, where it was the probe, ends or lengthens
    /// the pause. Failing to is logged, and no more: the attempt itself is settled, the next failure
    /// is counted too, and a probe's time runs out.
    pub(crate) async fn heard(
        &self,
        destination: &DestinationConfig,
        attempted: &Attempted,
        probe: Option<Probe>,
    ) {
        let (name, outcome) = (&destination.name, &attempted.outcome);
        let (Some(circuit), Some(breaker)) =
            (self.0.circuits.0.get(name), destination.breaker.as_ref())
        else {
            return;
        };
        let Some(probe) = probe else {
            if attempted.tells {
                let asked = Instant::now();
                let mut circuit = circuit.lock().await;
                circuit.failures = circuit.failures.and(Sign::of(outcome));
                let skew = self.0.config.delivery.timing.clock_skew;
                let is_free = circuit.record.is_free(self.now(), skew);
                let is_due = circuit.failures.are_enough(breaker) && is_free;
                if is_due && !circuit.has_failed_since(asked) {
                    let pause = Pause::begin(breaker, outcome, self.now());
                    self.pause(name, &mut circuit, &pause).await;
                }
            }
            return;
        };
        if !attempted.tells {
            return self.give_back(destination, probe).await;
        }
        let mut circuit = circuit.lock().await;
        circuit.learn(probe.taken);
        match probe.before.after_probe(breaker, outcome, self.now()) {
            Some(longer) => self.pause(name, &mut circuit, &longer).await,
            None => {
                let ended = self.change(name, &mut circuit, None, self.settle_deadline());
                match ended.await {
                    Ok(true) => record::ended(name, &probe.before, self.now()),
                    Ok(false) => {}
                    Err(error) => record::pause_unwritten(name, &error),
                }
            }
        }
    }

    /// Leaves the probe to whoever comes next: no request was made.
    pub(crate) async fn give_back(&self, destination: &DestinationConfig, probe: Probe) {
        let name = &destination.name;
        let Some(circuit) = self.0.circuits.0.get(name) else {
            return;
        };
        let mut circuit = circuit.lock().await;
        circuit.learn(probe.taken);
        let by = self.settle_deadline();
        let given = self.change(name, &mut circuit, Some(&probe.before), by);
        if let Err(error) = given.await {
            record::pause_unwritten(name, &error);
        }
    }

    async fn pause(&self, name: &Name, circuit: &mut Circuit, pause: &Pause) {
        match self
            .change(name, circuit, Some(pause), self.settle_deadline())
            .await
        {
            Ok(true) => record::paused(name, pause),
            // Somebody else paused it, or found it working, meanwhile.
            Ok(false) => {}
            Err(error) => record::pause_unwritten(name, &error),
        }
    }

    /// Writes what is to stand instead of what is known. Whether it holds; what stands is known after.
    async fn change(
        &self,
        name: &Name,
        circuit: &mut Circuit,
        next: Option<&Pause>,
        by: Deadline,
    ) -> Result<bool, StoreError> {
        let id = random_id();
        let store = &self.0.store;
        let changed = store.change_pause(name, &circuit.record, next, &id, by);
        // Until it is known whether it was written, nothing is.
        circuit.read_at = None;
        let changed = changed.await;
        if changed.is_err() {
            circuit.failed_at = Some(Instant::now());
        }
        let (record, is_written) = match changed? {
            PauseChange::Written(record) => (record, true),
            PauseChange::Moved(record) => (record, false),
        };
        circuit.learn(record);
        Ok(is_written)
    }
}

/// What another one has met already.
const fn unavailable() -> StoreError {
    StoreError::Unavailable {
        operation: "looking at a destination's pause",
        source: None,
    }
}
