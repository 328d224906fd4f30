//! How a cell is called in the document: a cell comes in, the words of its first two columns go out. They
//! tell cells apart, and the document of the results is checked against them.

use std::fmt;

use ackbox_tests::faults::Refusal;

use super::cell::{Cell, Disturbance, Order, PauseWrite, Step, Taking, Troubled, Woken};
use crate::destination::Stage;

impl Cell {
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
