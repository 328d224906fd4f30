//! A verified document is followed through its source's rules: in come the document and `now`, out
//! come its facts, each with the actions that the rules make of it. What must never happen: that one
//! part which cannot be used hides another, or is passed over in silence.

use crate::action::{Action, act};
use crate::document::Document;
use crate::observation::{Malformed, Observation, observe};
use crate::source::Source;
use crate::time::Timestamp;

/// One fact of a message, and what it leads to.
#[derive(Clone, Debug)]
pub struct Fact<'d> {
    /// The fact.
    pub observation: Observation<'d>,
    /// Its actions, each usable or not by itself. None where no rule wants it, or where the sender
    /// only tests the connection.
    pub actions: Vec<Result<Action, Malformed>>,
}

/// The facts of one document, in the order of its batch, each usable or not by itself. A batch that
/// cannot be read at all is one that is not usable.
pub fn follow<'d>(
    source: &Source,
    document: &'d Document<'d>,
    now: Timestamp,
) -> Vec<Result<Fact<'d>, Malformed>> {
    let fact = |observation| Fact {
        actions: act(source, &observation, now),
        observation,
    };
    observe(source, document)
        .unwrap_or_else(|malformed| vec![Err(malformed)])
        .into_iter()
        .map(|observation| observation.map(fact))
        .collect()
}
