//! The application's own record of a job: what it submitted, for whom, and what is to happen when the
//! job has ended. In comes the record, and with it every observation of that job is judged. What must
//! never happen: that an action's identity, or the input of a step, comes from whoever observes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::acceptance::Hash;
use crate::json::{Pointer, Scalar};
use crate::name::Name;

mod facts;
mod normal;
mod read;
mod steps;

pub use facts::{Ids, JobWord, Jobs, Known, LookupMeaning, Unbound, word};
pub use normal::{NormalForm, normal_form};
pub use read::{NotABinding, binding, identity};
pub use steps::{JobObservation, Mismatch, agree, give_up, qualify};

/// The namespace of the actions that a binding's steps make.
pub const NAMESPACE: &str = "workflow";
/// The account where nobody names one.
pub const DEFAULT_ACCOUNT: &str = "default";

/// What a step that is to happen when a job was given up says in `on`. No source's outcome has this name.
pub const SILENT: &str = "silent";

/// Which job: an id, in the space (and, where the space says so, the account) in which it is unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobRef {
    /// The job space: a source's name, or one that several sources share.
    pub space: Name,
    /// The id, as its system writes it; 1 to [`JobRef::ID_MAX`] bytes, not blank.
    pub id: String,
    /// The account, where ids are unique only within one ([`Ids::PerAccount`]).
    pub account: Option<String>,
}

impl JobRef {
    /// The longest job id, in bytes.
    pub const ID_MAX: usize = 256;

    /// The job of this id and account, in a space with such ids.
    pub fn new(space: Name, id: String, account: &str, ids: Ids) -> Self {
        let account = match ids {
            Ids::Shared => None,
            Ids::PerAccount => Some(account.to_owned()),
        };
        Self { space, id, account }
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.space, self.id)?;
        match &self.account {
            Some(account) => write!(f, " of {account}"),
            None => Ok(()),
        }
    }
}

/// The application's record of a job. It never changes: an intentional new attempt is another job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Which job.
    pub job: JobRef,
    /// The account to which the job belongs; another account's observation of the same id is none of it.
    pub account: String,
    /// For whom: the first part of every step's key.
    pub tenant: String,
    /// The how many-th try of the same work, or its name: the second part.
    pub attempt: Scalar,
    /// What is to happen when the job has ended; 1 to [`Binding::STEPS_MAX`], each of another name.
    pub steps: Vec<Step>,
    /// What an observation must say, where it says anything of it.
    pub expected: BTreeMap<Expected, Scalar>,
    /// How long after it was registered the job's system is asked, where nothing was heard.
    pub poll_after: Option<Duration>,
    /// How long after it was registered nobody waits for it any more.
    pub give_up_after: Option<Duration>,
}

/// What is to happen when a job has ended in some way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name with its version, as in `analyze-v1`: the third part of its key.
    pub name: Name,
    /// Which terminal outcomes qualify; at least one.
    pub on: BTreeSet<Name>,
    /// Where its action goes.
    pub destination: Name,
    /// What the destination gets from the application: JSON, as it was written.
    pub input: Option<String>,
    /// Which of the source's named values the destination gets from the observation.
    pub values: BTreeSet<Name>,
}

/// Where an expected value is looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// Under one of the source's names for values: for every shape in which the source tells it.
    Value(Name),
    /// In the observation as it came.
    Pointer(Pointer),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(name) => write!(f, "{name}"),
            Self::Pointer(pointer) => write!(f, "{pointer}"),
        }
    }
}

impl Binding {
    /// The same, in a space whose ids are unique so.
    #[must_use]
    pub fn within(mut self, ids: Ids) -> Self {
        self.job = JobRef::new(self.job.space, self.job.id, &self.account, ids);
        self
    }

    /// How long nobody waits longer, where the application does not say: a week.
    pub const GIVE_UP_DEFAULT: Duration = Duration::from_secs(7 * 24 * 3600);

    /// After which time from its registration the job is first looked at, if nothing was heard; none: never.
    pub fn first_look(&self) -> Option<Duration> {
        self.poll_after.or(self.give_up_after)
    }

    /// After which time nobody waits any more; none: the job is never looked at.
    pub fn end_of_waiting(&self) -> Option<Duration> {
        let default = self.poll_after.map(|first| first + Self::GIVE_UP_DEFAULT);
        self.give_up_after.or(default)
    }

    /// The most steps of one job: what their actions write fits one transaction (100 items, 4 MB).
    pub const STEPS_MAX: usize = 16;
    /// The longest tenant, account or attempt, in bytes.
    pub const TEXT_MAX: usize = 256;
    /// The largest input of one step, in bytes.
    pub const INPUT_MAX: usize = 64 * 1024;
    /// The most expected values.
    pub const EXPECTED_MAX: usize = 32;
    /// The longest expected value, in bytes.
    pub const EXPECTED_VALUE_MAX: usize = 1024;
    /// The most values that one step delivers. With the bounds of inputs and of what a source tells, everything that the
    /// end of a job writes fits one transaction of 4 MB.
    pub const VALUES_MAX: usize = 8;

    /// What makes two records the same: SHA-256 over everything in them, length-prefixed.
    pub fn print(&self) -> Hash {
        let mut print = Print(Sha256::new());
        print.text("ackbox job binding 1");
        print.text(self.job.space.as_str());
        print.text(&self.job.id);
        print.text(&self.account);
        print.text(&self.tenant);
        print.scalar(&self.attempt);
        print.count(self.steps.len());
        for step in &self.steps {
            print.text(step.name.as_str());
            print.all(step.on.iter().map(Name::as_str));
            print.text(step.destination.as_str());
            print.all(step.input.as_deref());
            print.all(step.values.iter().map(Name::as_str));
        }
        print.count(self.expected.len());
        for (place, value) in &self.expected {
            print.text(&place.to_string());
            print.scalar(value);
        }
        for time in [self.poll_after, self.give_up_after] {
            let text = time.map(|time| time.as_millis().to_string());
            print.all(text.as_deref());
        }
        print.0.finalize().into()
    }
}

/// A hash of parts that cannot run into each other.
struct Print(Sha256);

impl Print {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn scalar(&mut self, scalar: &Scalar) {
        self.0.update([scalar.tag()]);
        self.text(scalar.as_str());
    }

    fn all<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let texts: Vec<&str> = texts.into_iter().collect();
        self.count(texts.len());
        for text in texts {
            self.text(text);
        }
    }
}

#[cfg(test)]
mod tests;
