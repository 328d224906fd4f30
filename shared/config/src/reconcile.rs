//! How a destination is asked what became of an action: the question, and what its answers mean.

use std::time::Duration;

use ackbox_domain::settlement::AnswerRule;

use crate::reference::SecretRef;

mod template;

pub(crate) use template::{Places, Written};
pub use template::{Unaskable, UrlTemplate};

/// `[destination.NAME.reconcile]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconcile {
    /// Where to.
    pub url: UrlTemplate,
    /// How.
    pub method: AskMethod,
    /// The question's own headers: lower-case names, in the order of the file.
    pub headers: Vec<(String, SecretRef)>,
    /// How long one question may take in all.
    pub timeout: Duration,
    /// For how long after the first attempt that may have arrived it is asked.
    pub give_up_after: Duration,
    /// What answers mean; the first that fits counts.
    pub answers: Vec<AnswerRule>,
    /// Whether private addresses and plain `http` are allowed: as for the destination itself.
    pub allow_private: bool,
}

/// The method of a question. None of them may change anything at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskMethod {
    /// Without a body.
    Get,
    /// With an empty body, for destinations that look up by POST.
    Post,
}
