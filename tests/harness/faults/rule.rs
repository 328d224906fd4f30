//! Which calls fail, and how. A rule picks a call or not; an injected rule remembers what it picked,
//! and lets a test wait for it without asking again and again.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::answer::Refusal;

/// Picks calls.
#[derive(Clone, Debug)]
pub struct Rule {
    operation: Option<&'static str>,
    containing: Vec<String>,
    numbers: RangeInclusive<usize>,
}

impl Rule {
    /// Every call of one operation, e.g. `UpdateItem`.
    pub fn operation(operation: &'static str) -> Self {
        Self {
            operation: Some(operation),
            ..Self::any()
        }
    }

    /// Every call.
    pub fn any() -> Self {
        Self {
            operation: None,
            containing: Vec::new(),
            numbers: 1..=usize::MAX,
        }
    }

    /// Only those whose JSON body holds this text.
    #[must_use]
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.containing.push(text.into());
        self
    }

    /// Only these of them, counted from 1 from when the rule is injected.
    #[must_use]
    pub fn calls(mut self, numbers: RangeInclusive<usize>) -> Self {
        self.numbers = numbers;
        self
    }

    /// Only the first of them.
    #[must_use]
    pub fn once(self) -> Self {
        self.calls(1..=1)
    }

    fn describes(&self, operation: &str, body: &str) -> bool {
        self.operation.is_none_or(|wanted| wanted == operation)
            && self.containing.iter().all(|text| body.contains(text))
    }
}

/// What happens to a call.
#[derive(Clone)]
pub enum Fault {
    /// Answered with this refusal; the engine never hears of it.
    Refuse(Refusal),
    /// Answered with an HTTP status that no service of AWS wrote.
    Status(u16),
    /// Held before it is forwarded, until released; then it goes on, even where its caller is gone:
    /// a packet that was long under way.
    Stall,
    /// Forwarded, and its answer held until released.
    StallAnswer,
    /// The connection is closed before anything is forwarded.
    Drop,
    /// Forwarded and carried out, and then the connection is closed instead of an answer.
    DropAnswer,
    /// Forwarded after this change.
    Alter(Arc<dyn Fn(&mut Value) + Send + Sync>),
}

impl Fault {
    /// Forwarded after `change`.
    pub fn alter(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::Alter(Arc::new(change))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuse(refusal) => f.debug_tuple("Refuse").field(refusal).finish(),
            Self::Status(status) => f.debug_tuple("Status").field(status).finish(),
            Self::Stall => f.write_str("Stall"),
            Self::StallAnswer => f.write_str("StallAnswer"),
            Self::Drop => f.write_str("Drop"),
            Self::DropAnswer => f.write_str("DropAnswer"),
            Self::Alter(_) => f.write_str("Alter"),
        }
    }
}

/// A rule at work.
#[derive(Clone, Debug)]
pub struct Injected(Arc<AtWork>);

#[derive(Debug)]
struct AtWork {
    rule: Rule,
    fault: Fault,
    seen: Mutex<usize>,
    /// How many calls have met the fault. A stall counts when it begins, `StallAnswer` and
    /// `DropAnswer` when the engine has answered.
    met: watch::Sender<usize>,
    released: watch::Sender<bool>,
}

impl Injected {
    /// How many calls have met the fault so far.
    pub fn met(&self) -> usize {
        *self.0.met.borrow()
    }

    /// Waits until a call has met the fault: for those that wait for the engine's answer, until it came.
    pub async fn hit(&self) {
        self.hits(1).await;
    }

    /// Waits until so many calls have met the fault.
    pub async fn hits(&self, many: usize) {
        let mut met = self.0.met.subscribe();
        // The sender lives as long as `self`.
        let _ = met.wait_for(|met| *met >= many).await;
    }

    /// Lets go of what is stalled, now and from now on.
    pub fn release(&self) {
        self.0.released.send_replace(true);
    }

    pub(super) fn fault(&self) -> &Fault {
        &self.0.fault
    }

    pub(super) fn note(&self) {
        self.0.met.send_modify(|met| *met += 1);
    }

    pub(super) async fn until_released(&self) {
        let mut released = self.0.released.subscribe();
        let _ = released.wait_for(|released| *released).await;
    }

    fn picks(&self, operation: &str, body: &str) -> bool {
        if !self.0.rule.describes(operation, body) {
            return false;
        }
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen += 1;
        self.0.rule.numbers.contains(&seen)
    }
}

/// The rules of one proxy.
#[derive(Debug, Default)]
pub(super) struct Rules(Mutex<Vec<Injected>>);

impl Rules {
    pub(super) fn add(&self, rule: Rule, fault: Fault) -> Injected {
        let injected = Injected(Arc::new(AtWork {
            rule,
            fault,
            seen: Mutex::new(0),
            met: watch::Sender::new(0),
            released: watch::Sender::new(false),
        }));
        self.all().push(injected.clone());
        injected
    }

    pub(super) fn clear(&self) {
        self.all().clear();
    }

    /// The first rule that picks this call. Every rule that describes it counts it.
    pub(super) fn pick(&self, operation: &str, body: &str) -> Option<Injected> {
        let mut picked = None;
        for injected in self.all().iter() {
            if injected.picks(operation, body) && picked.is_none() {
                picked = Some(injected.clone());
            }
        }
        picked
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Injected>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
