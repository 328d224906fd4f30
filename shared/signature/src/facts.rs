//! What is known of a sender besides its signature: where its ids stand, how it repeats itself, what answer it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a scheme says of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The sender's name for people.
    pub title: String,
    /// Where the facts come from: URLs of documentation or source text.
    pub docs: Vec<String>,
    /// Where the id of the delivery or event stands.
    pub id: Vec<Locator>,
    /// Where the event's type stands.
    pub event: Vec<Locator>,
    /// Where the id of the thing that the event is about stands (a job, an order).
    pub subject: Vec<Locator>,
    /// Where the sender's account stands, for senders whose ids are unique only within one.
    pub account: Vec<Locator>,
    /// Event types that the sender uses to test an endpoint. They are about nothing real.
    pub test_events: Vec<String>,
    /// Event types that tell of progress, not of an end.
    pub progress_events: Vec<String>,
    /// Whether the signature covers the body. Where not, no value of the body is proven.
    pub covers_body: bool,
    /// How a redelivery of one event compares with the first delivery.
    pub redelivery: Redelivery,
    /// For how long after a fact the sender may deliver it again.
    pub repeats: Repeats,
    /// The field of a form-encoded body that holds the JSON, for senders that can send forms.
    pub form_field: Option<String>,
    /// The answer that the sender waits for.
    pub acknowledge: Acknowledge,
    /// How far the signed timestamp may be from now, in both directions. `None`: no timestamp is signed, and
    /// a source's own tolerance has nothing to act on.
    pub tolerance: Option<Duration>,
    /// JSON pointer to the array of events, for senders that batch.
    pub each: Option<String>,
    /// How the sender speaks of jobs; `None`: nothing is known of that.
    pub job: Option<JobFacts>,
}

/// How a sender speaks of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFacts {
    /// JSON pointers to the job's status, tried in order. A status says more than an event's type does.
    pub status: Vec<String>,
    /// What statuses and event types mean, in lower case: how the job ended.
    pub outcomes: BTreeMap<String, String>,
    /// Statuses and event types of a job that goes on, in lower case.
    pub progress: BTreeSet<String>,
    /// Values that the sender tells, and the JSON pointers to each in every shape.
    pub values: BTreeMap<String, Vec<String>>,
    /// How the sender is asked about a job.
    pub lookup: Option<LookupFacts>,
}

/// How a sender is asked about a job: by `GET`, with secrets in headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupFacts {
    /// Where to, with `{job_id}` in its place.
    pub url: String,
    /// The headers in which the sender wants a secret, in its spelling.
    pub headers: Vec<String>,
    /// What answers mean; the first that fits counts.
    pub answers: Vec<LookupAnswer>,
}

/// What an answer of one form means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupAnswer {
    /// The answer's status.
    pub status: u16,
    /// JSON pointers into its body, and the text of the value that must stand there.
    pub conditions: Vec<(String, String)>,
    /// What it means.
    pub means: LookupMeans,
}

/// What an answer about a job means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupMeans {
    /// Its body tells the status, as an event's does.
    Status,
    /// The sender does not know the job yet.
    NotYet,
    /// The job has ended so, whatever the body says.
    Outcome(String),
}

/// One place where a value may stand. Places are tried in order; the first that is there wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// The value of a header.
    Header {
        /// The header's name, in the sender's spelling.
        name: String,
        /// Whether the header is part of the signed bytes. If not, anyone on the way may change it.
        covered: bool,
    },
    /// A value in the body; covered exactly where [`Facts::covers_body`] says so.
    Body {
        /// JSON pointer (RFC 6901).
        pointer: String,
    },
}

/// How a redelivery of one event compares with the first delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redelivery {
    /// The body is the same, byte for byte.
    SameBytes,
    /// The body's bytes change; the values at these JSON pointers do not. A pointer that finds nothing counts
    /// as "absent" on both sides: a sender with two body shapes lists the pointers of both.
    Pointers(Vec<String>),
}

/// For how long a sender may deliver a fact again, from the first delivery. `None`: nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// By itself, while it is not acknowledged.
    pub automatic: Option<Duration>,
    /// Where a person or a program asks for it.
    pub manual: Option<Manual>,
}

/// For how long somebody can have a fact delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manual {
    /// For so long.
    For(Duration),
    /// For ever.
    Unbounded,
}

/// The answer that a sender waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledge {
    /// How long it waits, where it says so.
    pub within: Option<Duration>,
    /// Which statuses count, and what happens otherwise.
    pub note: String,
}
