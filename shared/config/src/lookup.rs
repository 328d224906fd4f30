//! How a source is asked about a job that stays silent: the question, and what its answers mean.

use std::time::Duration;

use ackbox_domain::Backoff;
use ackbox_domain::job::LookupMeaning;
use ackbox_domain::settlement::AnswerRule;

use crate::reconcile::UrlTemplate;
use crate::reference::SecretRef;

/// `[source.NAME.job.lookup]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Where to, with a place for the job's id.
    pub url: UrlTemplate,
    /// The question's own headers: lower-case names, in the order of the file.
    pub headers: Vec<(String, SecretRef)>,
    /// How long one question may take in all.
    pub timeout: Duration,
    /// How many questions are asked at a time.
    pub concurrency: usize,
    /// When a job that goes on is asked about again.
    pub backoff: Backoff,
    /// What answers mean; the first that fits counts, and one that none fits means nothing.
    pub answers: Vec<AnswerRule<LookupMeaning>>,
    /// Whether private addresses and plain `http` are allowed.
    pub allow_private: bool,
}
