//! What is to happen to each action, and what is known of it: an entry as it was read comes in, a decision or
//! the reason why there is none goes out.

use ackbox_config::{Config, DestinationConfig};
use ackbox_domain::operator::{self, Doubt, Risk, Way};
use ackbox_domain::settlement::{Reason, Standing, Terms};
use ackbox_domain::{ActionKey, EntryState, Name, OutboxEntry, Settled, Timestamp};
use ackbox_store::{Store, StoreError};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};

use crate::commands::{deed, doubt};
use crate::output::{Entry, age, escaped, until};

/// How many entries are read at a time.
const READS: usize = 16;

/// On which terms actions are sent again.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) config: &'a Config,
    pub(super) to: Option<&'a Name>,
    pub(super) as_new: bool,
    pub(super) risk: Risk,
    pub(super) now: Timestamp,
}

/// What is to be written.
#[derive(Debug)]
pub(super) enum Decision {
    /// The same action again, to another destination where one is named.
    Again { settled: Settled, to: Option<Name> },
    /// A new one in its place, made with this nonce, and what becomes of this one.
    AsNew {
        settled: Option<Settled>,
        nonce: String,
    },
}

/// One action, and what is to happen to it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) key: ActionKey,
    /// As it was read; none: the table has no entry of it.
    pub(super) entry: Option<OutboxEntry>,
    pub(super) decision: Result<Decision, String>,
    /// What is known of earlier attempts, where it is known where it goes.
    doubt: Option<Doubt>,
}

/// Reads these actions, in this order.
pub(super) async fn of_keys(
    store: &Store,
    how: &How<'_>,
    keys: Vec<ActionKey>,
) -> Result<Vec<Planned>, StoreError> {
    let reads = keys.into_iter().map(|key| Planned::read(store, how, key));
    stream::iter(reads).buffered(READS).try_collect().await
}

impl How<'_> {
    /// The destination of an entry that is sent again.
    fn destination(&self, entry: &OutboxEntry) -> Option<&DestinationConfig> {
        let name = self.to.unwrap_or(&entry.destination);
        self.config.destinations.get(name)
    }

    fn again(&self, entry: &OutboxEntry) -> (Result<Decision, String>, Option<Doubt>) {
        let Some(destination) = self.destination(entry) else {
            return (Err(unknown_destination(entry)), None);
        };
        let standing = Standing::from(entry);
        let timing = &self.config.delivery.timing;
        let policy = &destination.policy;
        let way = Way {
            terms: Terms { policy, timing },
            origin: destination.origin(),
            is_other: destination.name != entry.destination,
        };
        let doubt = operator::doubt(&standing, &way, self.now);
        let settled = operator::redrive(&standing, &way, self.risk, self.now);
        let to = way.is_other.then(|| destination.name.clone());
        let decision = settled.map(|settled| Decision::Again { settled, to });
        let refused = |refusal| deed::refused(&refusal, &entry.key);
        (decision.map_err(refused), Some(doubt))
    }

    fn as_new(&self, entry: &OutboxEntry) -> Result<Decision, String> {
        let timing = &self.config.delivery.timing;
        let settled = operator::replace(&Standing::from(entry), timing, self.risk, self.now);
        let settled = settled.map_err(|refusal| deed::refused(&refusal, &entry.key))?;
        if self.destination(entry).is_none() {
            return Err(unknown_destination(entry));
        }
        // The number that this word takes: on one reading of the entry, one new action.
        let nonce = entry.fence.saturating_add(1).to_string();
        Ok(Decision::AsNew { settled, nonce })
    }
}

fn unknown_destination(entry: &OutboxEntry) -> String {
    let name = &entry.destination;
    format!("the configuration has no destination \"{name}\": --to names another")
}

impl Planned {
    /// What a row of the table shows.
    pub(super) const HEADINGS: &'static [&'static str] = &[
        "KEY",
        "STATE",
        "TRIES",
        "LAST",
        "AGE",
        "WINDOW",
        "WHAT HAPPENS",
    ];

    async fn read(store: &Store, how: &How<'_>, key: ActionKey) -> Result<Self, StoreError> {
        let entry = match store.entry(&key).await {
            Err(StoreError::Item(error)) => return Ok(Self::without(key, error.to_string())),
            read => read?,
        };
        let Some(entry) = entry else {
            return Ok(Self::without(key, deed::NO_ENTRY.to_owned()));
        };
        let (decision, doubt) = if how.as_new {
            let doubt = operator::doubt_of_new(&Standing::from(&entry));
            (how.as_new(&entry), doubt)
        } else {
            how.again(&entry)
        };
        Ok(Self {
            key,
            entry: Some(entry),
            decision,
            doubt,
        })
    }

    fn without(key: ActionKey, why: String) -> Self {
        Self {
            key,
            entry: None,
            decision: Err(why),
            doubt: None,
        }
    }

    /// Whether it may be carried out twice.
    const fn risks(&self) -> bool {
        matches!(
            self.doubt,
            Some(Doubt::Forgotten { .. } | Doubt::Elsewhere { .. })
        )
    }

    /// A row of the table.
    pub(super) fn cells(&self, how: &How<'_>) -> Vec<Entry> {
        let text = |text: String| Entry::new(text);
        let Some(entry) = &self.entry else {
            let mut cells = vec![text(self.key.to_string())];
            cells.extend((0..5).map(|_| text(String::new())));
            cells.push(text(self.what_happens()));
            return cells;
        };
        vec![
            text(self.key.to_string()),
            text(entry.state.to_string()),
            text(entry.fence.to_string()),
            text(last(entry)),
            text(age(entry.accepted_at, how.now)),
            text(self.window(how.now)),
            text(self.what_happens()),
        ]
    }

    fn window(&self, now: Timestamp) -> String {
        match self.doubt {
            None => String::new(),
            Some(Doubt::None) => "no doubt".to_owned(),
            Some(Doubt::Kept { until: end }) => format!("ends {}", until(end, now)),
            Some(Doubt::Forgotten { window: None, .. }) => "none is kept".to_owned(),
            Some(Doubt::Forgotten { .. }) => "has ended".to_owned(),
            Some(Doubt::Elsewhere { .. }) => "another address".to_owned(),
        }
    }

    fn what_happens(&self) -> String {
        match &self.decision {
            Err(why) => format!("refused: {why}"),
            Ok(Decision::AsNew { settled, .. }) => match (settled, self.risks()) {
                (Some(_), false) => "a new action is sent; this one is closed".to_owned(),
                (Some(_), true) => {
                    "a new action is sent, and this one is closed; it may be carried out twice"
                        .to_owned()
                }
                (None, _) => {
                    "a new action is sent, and carried out once more; this one stays delivered"
                        .to_owned()
                }
            },
            Ok(Decision::Again { to, .. }) => {
                let to = to.as_ref().map(|to| format!(" to {to}"));
                let to = to.unwrap_or_default();
                if self.risks() {
                    format!("sent again{to}; it may be carried out twice")
                } else {
                    format!("sent again{to}")
                }
            }
        }
    }

    /// For programs.
    pub(super) fn json(&self, how: &How<'_>) -> Value {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let entry = self.entry.as_ref();
        json!({
            "key": self.key.as_str(),
            "state": entry.map(|entry| entry.state.as_str()),
            "reason": entry.and_then(|entry| entry.reason.as_deref()),
            "destination": entry.map(|entry| how.to.unwrap_or(&entry.destination)),
            "attempts": entry.map(|entry| entry.fence),
            "last": entry.map(last),
            "accepted_at": time(entry.map(|entry| entry.accepted_at)),
            "first_uncertain_at": time(entry.and_then(|entry| entry.first_uncertain_at)),
            "window": self.window(how.now),
            "may_be_carried_out_twice": self.decision.is_ok() && self.risks(),
            "refused": self.decision.as_ref().err(),
        })
    }
}

/// The last evidence: the last attempt, and what was said of it.
fn last(entry: &OutboxEntry) -> String {
    let attempt = entry.attempts.last().map(|last| match last.status {
        Some(status) => format!("{} ({status})", last.kind),
        None => last.kind.to_string(),
    });
    let told = doubt::heard(entry).or(entry.last_detail.as_deref());
    let reason = entry
        .reason
        .as_deref()
        .filter(|_| matches!(entry.state, EntryState::Held | EntryState::Dead))
        // The attempt says that itself.
        .filter(|reason| *reason != Reason::Rejected.as_str());
    let parts = [reason.map(escaped), attempt, told.map(escaped)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}
