//! The cells of the matrix: what is disturbed, at which network call, and how. Pure: the list is the
//! same on every machine, and the document of the results is checked against it.

use std::fmt;

use ackbox_tests::faults::Refusal;

use super::{paused, told};
use crate::destination::Stage;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// The receiver is disturbed; its sender repeats until it has a 2xx.
    Receiver {
        /// Which call.
        call: Taking,
        /// How.
        disturbance: Disturbance,
    },
    /// A dispatcher is disturbed; others sweep until nothing is open.
    Dispatcher {
        /// Where on its way.
        step: Step,
        /// How.
        disturbance: Disturbance,
        /// What woke it.
        woken: Woken,
        /// What the destination does with a key.
        keys: Keys,
    },
    /// A reconciler is disturbed while it asks about an action; others reconcile and sweep.
    Reconciler {
        /// Where on its way.
        step: Step,
        /// How.
        disturbance: Disturbance,
        /// Whether the destination had read the request in doubt.
        had_arrived: bool,
    },
    /// The write of trouble and its notice is disturbed.
    Told {
        /// Which trouble.
        troubled: Troubled,
        /// How.
        disturbance: Disturbance,
    },
    /// A write of a destination's pause is disturbed.
    Paused {
        /// Which.
        write: PauseWrite,
        /// How.
        disturbance: Disturbance,
    },
    /// The stream hands its records over in a way of its own.
    Records {
        /// How.
        order: Order,
        /// What the destination does with a key.
        keys: Keys,
    },
}

/// A call of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// The note of the source's and destination's names, before the first acceptance of a table.
    Names,
    /// The transaction that accepts.
    Accept,
    /// The write of a conflict.
    Conflict,
}

/// Trouble that somebody is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Troubled {
    /// An action that its destination refused for good: a dispatcher writes.
    Dead,
    /// Other content under a known key: a receiver writes.
    Conflict,
}

/// A write of a destination's pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseWrite {
    /// It begins, after enough failures.
    Begin,
    /// One of all takes the probe.
    Probe,
    /// The probe has failed.
    Lengthen,
    /// The probe has been answered.
    End,
}

/// A step of the dispatcher that touches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The query for what is due (a sweep's).
    Due,
    /// The read of one entry (a sweep's).
    Entry,
    /// The claim.
    Claim,
    /// The read of the payload item.
    Payload,
    /// The exchange with the destination, as far as this.
    Send(Stage),
    /// The settlement.
    Settle,
}

/// What happens to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Disturbance {
    /// The process is killed before the call reaches the engine; it never does.
    KilledBefore,
    /// The process is killed once the engine has carried the call out, before it has the answer.
    KilledAfter,
    /// The process is killed while the call is under way; the engine carries it out later.
    KilledInFlight,
    /// The process stands still from when the call was carried out until its lease is over, another
    /// sweeps meanwhile, and then it goes on.
    Frozen,
    /// The connection is closed before the call reaches the engine.
    CallDropped,
    /// The call is carried out, and the connection closed instead of an answer.
    AnswerDropped,
    /// No answer comes, and the call is carried out after the invocation is over.
    Stalled,
    /// The engine refuses the first calls so.
    RefusedTwice(Refusal),
    /// The engine refuses so for as long as the invocation lasts.
    Refused(Refusal),
}

/// What woke the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A batch of stream records.
    Stream,
    /// The schedule; there is no stream mapping at all.
    Sweep,
}

/// What the destination does with a key that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// It keeps keys: a repetition is not executed again.
    Kept,
    /// It keeps none: a repetition is executed again.
    None,
    /// It keeps none, and can be asked what became of a key.
    Asked,
}

/// How the stream hands records over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Every record twice in one batch.
    Doubled,
    /// In reverse order, some twice.
    Reversed,
    /// One batch to two dispatchers at once.
    TwoAtOnce,
    /// One batch again after its entries are delivered.
    Late,
    /// One batch again to another process, after the first was killed while it waited for answers.
    AgainAfterDeath,
    /// Never: the mapping is switched off, and the sweep works alone.
    Never,
}

const ALL_KEYS: [Keys; 3] = [Keys::Kept, Keys::None, Keys::Asked];
const BOTH_WAKINGS: [Woken; 2] = [Woken::Stream, Woken::Sweep];

/// Every cell, in the order of the document.
pub(crate) fn all() -> Vec<Cell> {
    let mut cells = receiver();
    for keys in ALL_KEYS {
        for woken in BOTH_WAKINGS {
            cells.extend(deaths(woken, keys));
        }
        cells.extend(refusals(keys));
        cells.extend(orders(keys));
    }
    cells.extend(reconciler());
    cells.extend(told());
    cells.extend(pauses());
    cells
}

/// A pause from its beginning to its end.
fn pauses() -> Vec<Cell> {
    let writes = [
        PauseWrite::Begin,
        PauseWrite::Probe,
        PauseWrite::Lengthen,
        PauseWrite::End,
    ];
    let cells = writes.into_iter().flat_map(|write| {
        let disturbances = paused::disturbances().into_iter();
        disturbances.map(move |disturbance| Cell::Paused { write, disturbance })
    });
    cells.collect()
}

/// Trouble and its notice.
fn told() -> Vec<Cell> {
    let both = [Troubled::Dead, Troubled::Conflict].into_iter();
    let cells = both.flat_map(|troubled| {
        let disturbances = told::disturbances().into_iter();
        disturbances.map(move |disturbance| Cell::Told {
            troubled,
            disturbance,
        })
    });
    cells.collect()
}

fn receiver() -> Vec<Cell> {
    use Disturbance::{
        AnswerDropped, CallDropped, KilledAfter, KilledBefore, KilledInFlight, Refused,
        RefusedTwice, Stalled,
    };
    let both = [
        KilledBefore,
        KilledAfter,
        KilledInFlight,
        CallDropped,
        AnswerDropped,
        Stalled,
        RefusedTwice(Refusal::Throttled),
        Refused(Refusal::Throttled),
        RefusedTwice(Refusal::Internal),
    ];
    let accept = [
        RefusedTwice(Refusal::Cancelled(&["TransactionConflict", "None", "None"])),
        Refused(Refusal::Cancelled(&["None", "TransactionConflict", "None"])),
        RefusedTwice(Refusal::Cancelled(&["None", "ThrottlingError", "None"])),
        RefusedTwice(Refusal::TransactionInProgress),
        Refused(Refusal::AccessDenied),
    ];
    let conflict = [
        RefusedTwice(Refusal::TransactionConflict),
        Refused(Refusal::TransactionConflict),
    ];
    let cell = |call| move |disturbance| Cell::Receiver { call, disturbance };
    let mut cells = Vec::new();
    cells.extend(both.clone().into_iter().map(cell(Taking::Names)));
    cells.extend(both.clone().into_iter().map(cell(Taking::Accept)));
    cells.extend(accept.into_iter().map(cell(Taking::Accept)));
    cells.extend(both.into_iter().map(cell(Taking::Conflict)));
    cells.extend(conflict.into_iter().map(cell(Taking::Conflict)));
    cells
}

/// Deaths and a freeze at every step.
fn deaths(woken: Woken, keys: Keys) -> Vec<Cell> {
    use Disturbance::{Frozen, KilledAfter, KilledBefore, KilledInFlight};
    let reads = [KilledBefore, KilledAfter].to_vec();
    let writes = [KilledBefore, KilledInFlight, KilledAfter].to_vec();
    let mut steps = Vec::new();
    if woken == Woken::Sweep {
        steps.extend([(Step::Due, reads.clone()), (Step::Entry, reads.clone())]);
    }
    steps.extend([(Step::Claim, writes.clone()), (Step::Payload, reads)]);
    steps.extend(STAGES.map(|stage| (Step::Send(stage), [KilledAfter].to_vec())));
    steps.push((Step::Settle, writes));
    if woken == Woken::Stream {
        let frozen = [Step::Claim, Step::Send(Stage::Read), Step::Settle];
        steps.extend(frozen.map(|step| (step, [Frozen].to_vec())));
    }
    let cells = steps.into_iter().flat_map(|(step, disturbances)| {
        disturbances
            .into_iter()
            .map(move |disturbance| Cell::Dispatcher {
                step,
                disturbance,
                woken,
                keys,
            })
    });
    cells.collect()
}

/// Deaths, lost answers and refusals of a reconciler.
fn reconciler() -> Vec<Cell> {
    use Disturbance::{
        AnswerDropped, CallDropped, KilledAfter, KilledBefore, KilledInFlight, Refused,
        RefusedTwice, Stalled,
    };
    let reads = [
        KilledBefore,
        KilledAfter,
        CallDropped,
        AnswerDropped,
        Stalled,
    ];
    let mut steps = Vec::new();
    for step in [Step::Due, Step::Entry] {
        steps.extend(reads.clone().map(|disturbance| (step, disturbance)));
    }
    for stage in STAGES {
        steps.push((Step::Send(stage), KilledAfter));
    }
    let writes = [
        KilledBefore,
        KilledInFlight,
        KilledAfter,
        CallDropped,
        AnswerDropped,
        Stalled,
        RefusedTwice(Refusal::Throttled),
        Refused(Refusal::Throttled),
        RefusedTwice(Refusal::TransactionConflict),
    ];
    steps.extend(writes.map(|disturbance| (Step::Settle, disturbance)));
    let mut cells = Vec::new();
    for had_arrived in [true, false] {
        let cell = |(step, disturbance): &(Step, Disturbance)| Cell::Reconciler {
            step: *step,
            disturbance: disturbance.clone(),
            had_arrived,
        };
        cells.extend(steps.iter().map(cell));
    }
    cells
}

const STAGES: [Stage; 5] = [
    Stage::Connected,
    Stage::HeadRead,
    Stage::Read,
    Stage::HalfAnswered,
    Stage::HeadAnswered,
];

/// What the engine and the way to it do to a dispatcher that lives.
fn refusals(keys: Keys) -> Vec<Cell> {
    use Disturbance::{AnswerDropped, CallDropped, Refused, RefusedTwice, Stalled};
    let every = [
        CallDropped,
        AnswerDropped,
        Stalled,
        RefusedTwice(Refusal::Throttled),
        Refused(Refusal::Throttled),
        RefusedTwice(Refusal::Internal),
    ];
    let writes = [
        RefusedTwice(Refusal::TransactionConflict),
        Refused(Refusal::TransactionConflict),
        RefusedTwice(Refusal::ThroughputExceeded),
    ];
    let mut cells = Vec::new();
    for step in [
        Step::Due,
        Step::Entry,
        Step::Claim,
        Step::Payload,
        Step::Settle,
    ] {
        let is_write = matches!(step, Step::Claim | Step::Settle);
        let woken = match step {
            Step::Due | Step::Entry => Woken::Sweep,
            _ => Woken::Stream,
        };
        let more = writes.iter().filter(|_| is_write);
        cells.extend(
            every
                .iter()
                .chain(more)
                .map(|disturbance| Cell::Dispatcher {
                    step,
                    disturbance: disturbance.clone(),
                    woken,
                    keys,
                }),
        );
    }
    cells
}

fn orders(keys: Keys) -> Vec<Cell> {
    let orders = [
        Order::Doubled,
        Order::Reversed,
        Order::TwoAtOnce,
        Order::Late,
        Order::AgainAfterDeath,
        Order::Never,
    ];
    orders.map(|order| Cell::Records { order, keys }).to_vec()
}

impl Cell {
    /// What the destination does with a key.
    pub(crate) fn keys(&self) -> Keys {
        match self {
            Self::Receiver { .. } | Self::Told { .. } | Self::Paused { .. } => Keys::Kept,
            Self::Reconciler { .. } => Keys::Asked,
            Self::Dispatcher { keys, .. } | Self::Records { keys, .. } => *keys,
        }
    }

    /// The function that is disturbed.
    pub(crate) fn function(&self) -> &'static str {
        match self {
            Self::Receiver { .. } => "receiver",
            Self::Dispatcher {
                woken: Woken::Stream,
                ..
            } => "dispatcher, by the stream",
            Self::Dispatcher {
                woken: Woken::Sweep,
                ..
            } => "dispatcher, by the sweep",
            Self::Reconciler {
                had_arrived: true, ..
            } => "reconciler, it had arrived",
            Self::Reconciler {
                had_arrived: false, ..
            } => "reconciler, it had not",
            Self::Told {
                troubled: Troubled::Dead,
                ..
            } => "dispatcher, telling",
            Self::Told {
                troubled: Troubled::Conflict,
                ..
            } => "receiver, telling",
            Self::Paused { .. } => "dispatcher, pausing",
            Self::Records { .. } => "the stream",
        }
    }

    /// Where and how, in words.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Receiver { call, disturbance } => {
                let call = match call {
                    Taking::Names => "note of the names",
                    Taking::Accept => "acceptance",
                    Taking::Conflict => "conflict write",
                };
                format!("{call}: {disturbance}")
            }
            Self::Told {
                troubled,
                disturbance,
            } => match troubled {
                Troubled::Dead => format!("settle and its notice: {disturbance}"),
                Troubled::Conflict => format!("conflict write and its notice: {disturbance}"),
            },
            Self::Paused { write, disturbance } => {
                let write = match write {
                    PauseWrite::Begin => "begin of a pause",
                    PauseWrite::Probe => "the probe's turn",
                    PauseWrite::Lengthen => "longer pause after a probe",
                    PauseWrite::End => "end of a pause",
                };
                format!("{write}: {disturbance}")
            }
            Self::Reconciler {
                step, disturbance, ..
            } => match step {
                Step::Send(stage) => format!("question, {}: killed", stage_told(*stage)),
                _ => format!("{step}: {disturbance}"),
            },
            Self::Dispatcher {
                step, disturbance, ..
            } => match (step, disturbance) {
                (Step::Send(_), Disturbance::KilledAfter) => format!("{step}: killed"),
                _ => format!("{step}: {disturbance}"),
            },
            Self::Records { order, .. } => match order {
                Order::Doubled => "every record twice in one batch",
                Order::Reversed => "records in reverse order, some twice",
                Order::TwoAtOnce => "one batch to two processes at once",
                Order::Late => "a batch again after delivery",
                Order::AgainAfterDeath => "killed in mid-batch, the batch again at once",
                Order::Never => "no record at all",
            }
            .to_owned(),
        }
    }
}

const fn stage_told(stage: Stage) -> &'static str {
    match stage {
        Stage::Connected => "connected",
        Stage::HeadRead => "head read there",
        Stage::Read => "request read there",
        Stage::HalfAnswered => "half a status line back",
        Stage::HeadAnswered => "the answer's head back",
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Due => "query of what is due",
            Self::Entry => "read of the entry",
            Self::Claim => "claim",
            Self::Payload => "read of the payload",
            Self::Send(stage) => return write!(f, "send, {}", stage_told(*stage)),
            Self::Settle => "settle",
        })
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KilledBefore => f.write_str("killed before it"),
            Self::KilledAfter => f.write_str("killed after it"),
            Self::KilledInFlight => f.write_str("killed, carried out later"),
            Self::Frozen => f.write_str("frozen across the lease"),
            Self::CallDropped => f.write_str("connection lost before it"),
            Self::AnswerDropped => f.write_str("answer lost after it"),
            Self::Stalled => f.write_str("no answer, carried out later"),
            Self::RefusedTwice(refusal) => write!(f, "{} twice", named(refusal)),
            Self::Refused(refusal) => write!(f, "{} throughout", named(refusal)),
        }
    }
}

fn named(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Throttled => "ThrottlingException".to_owned(),
        Refusal::ThroughputExceeded => "ProvisionedThroughputExceededException".to_owned(),
        Refusal::Cancelled(codes) => {
            let code = codes.iter().find(|code| **code != "None");
            format!("cancelled by {}", code.copied().unwrap_or("nothing"))
        }
        Refusal::TransactionConflict => "TransactionConflictException".to_owned(),
        Refusal::TransactionInProgress => "TransactionInProgressException".to_owned(),
        Refusal::Internal => "InternalServerError".to_owned(),
        Refusal::AccessDenied => "AccessDeniedException".to_owned(),
        other => format!("{other:?}"),
    }
}
