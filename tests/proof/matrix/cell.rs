//! A cell of the matrix: what is disturbed, at which network call, and how.

use ackbox_tests::faults::Refusal;

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

impl Cell {
    /// What the destination does with a key.
    pub(crate) fn keys(&self) -> Keys {
        match self {
            Self::Receiver { .. } | Self::Told { .. } | Self::Paused { .. } => Keys::Kept,
            Self::Reconciler { .. } => Keys::Asked,
            Self::Dispatcher { keys, .. } | Self::Records { keys, .. } => *keys,
        }
    }
}
