//! The list of cells. Pure: it is the same on every machine, and the document of the results is checked
//! against it.

use ackbox_tests::faults::Refusal;

use super::cell::{Cell, Disturbance, Keys, Order, PauseWrite, Step, Taking, Troubled, Woken};
use crate::destination::Stage;

const ALL_KEYS: [Keys; 3] = [Keys::Kept, Keys::None, Keys::Asked];
const BOTH_WAKINGS: [Woken; 2] = [Woken::Stream, Woken::Sweep];

/// Deaths around a write, and what the way to the engine and the engine do to it.
const OF_A_WRITE: [Disturbance; 8] = [
    Disturbance::KilledBefore,
    Disturbance::KilledInFlight,
    Disturbance::KilledAfter,
    Disturbance::CallDropped,
    Disturbance::AnswerDropped,
    Disturbance::Stalled,
    Disturbance::RefusedTwice(Refusal::Throttled),
    Disturbance::Refused(Refusal::Throttled),
];

/// A write's, and some more.
fn of_a_write(more: &[Disturbance]) -> Vec<Disturbance> {
    OF_A_WRITE.iter().chain(more).cloned().collect()
}

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
        let disturbances = of_a_write(&[]).into_iter();
        disturbances.map(move |disturbance| Cell::Paused { write, disturbance })
    });
    cells.collect()
}

/// Trouble and its notice.
fn told() -> Vec<Cell> {
    use Disturbance::{Refused, RefusedTwice};
    let more = [
        RefusedTwice(Refusal::Cancelled(&["TransactionConflict", "None", "None"])),
        Refused(Refusal::Cancelled(&["None", "None", "TransactionConflict"])),
        RefusedTwice(Refusal::TransactionInProgress),
    ];
    let both = [Troubled::Dead, Troubled::Conflict].into_iter();
    let cells = both.flat_map(|troubled| {
        let disturbances = of_a_write(&more).into_iter();
        disturbances.map(move |disturbance| Cell::Told {
            troubled,
            disturbance,
        })
    });
    cells.collect()
}

fn receiver() -> Vec<Cell> {
    use Disturbance::{Refused, RefusedTwice};
    let both = of_a_write(&[RefusedTwice(Refusal::Internal)]);
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
        AnswerDropped, CallDropped, KilledAfter, KilledBefore, RefusedTwice, Stalled,
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
    let writes = of_a_write(&[RefusedTwice(Refusal::TransactionConflict)]);
    let writes = writes.into_iter();
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
