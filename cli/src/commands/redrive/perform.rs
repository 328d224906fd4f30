//! Carries a plan out, several actions at a time, each in one transaction, and says how far it came. Ctrl-C
//! begins no further one, and waits for those under way.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use ackbox_domain::ActionKey;
use ackbox_store::{Decided, Replacement, Store, StoreError};
use futures_util::{StreamExt as _, stream};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use super::plan::{Decision, How, Planned};
use crate::commands::CommandError;
use crate::commands::deed;
use crate::commands::doubt::did;
use crate::commands::operator::Operator;
use crate::commands::watch::interrupted;
use crate::edge;
use crate::output::{self, Terminal, escaped};

/// How many transactions are under way at a time.
const AT_ONCE: usize = 8;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(20);

/// What became of one action.
#[derive(Debug)]
pub(super) enum Became {
    /// It is written; under this new key, where a new action was made.
    Done(Option<ActionKey>),
    /// Nothing was written, for this reason.
    Not(String),
    /// It may have been written, under this new key where a new action was to be made.
    Unknown(Option<ActionKey>),
}

impl Became {
    /// Whether it is written; none: nobody knows.
    pub(super) const fn is_done(&self) -> Option<bool> {
        match self {
            Self::Done(_) => Some(true),
            Self::Not(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }

    pub(super) fn problem(&self) -> Option<&str> {
        match self {
            Self::Done(_) => None,
            Self::Not(why) => Some(why),
            Self::Unknown(_) => Some(UNKNOWN),
        }
    }

    pub(super) const fn new_key(&self) -> Option<&ActionKey> {
        match self {
            Self::Done(key) | Self::Unknown(key) => key.as_ref(),
            Self::Not(_) => None,
        }
    }
}

const UNKNOWN: &str =
    "the table did not answer, and it may have been written: look at it with `ackbox show` first";

/// How far it came.
#[derive(Debug, Default)]
pub(super) struct Performed {
    pub(super) done: usize,
    became: BTreeMap<ActionKey, Became>,
    /// How many were not begun, since it was interrupted.
    left: usize,
}

/// Carries out what is decided.
pub(super) async fn perform(
    store: &Store,
    how: &How<'_>,
    planned: &[Planned],
    by: (&Operator, &str),
) -> Performed {
    let ready: Vec<&Planned> = planned.iter().filter(|one| one.decision.is_ok()).collect();
    let bar = progress(ready.len());
    let mut performed = Performed::default();
    let begun = stream::iter(&ready).take_until(interrupted());
    let mut ended = std::pin::pin!(
        begun
            .map(|one| async move { (one.key.clone(), one_of(store, how, one, by).await) })
            .buffer_unordered(AT_ONCE)
    );
    while let Some((key, became)) = ended.next().await {
        performed.done += usize::from(became.is_done() == Some(true));
        performed.became.insert(key, became);
        bar.inc(1);
    }
    bar.finish_and_clear();
    performed.left = ready.len() - performed.became.len();
    performed
}

async fn one_of(
    store: &Store,
    how: &How<'_>,
    one: &Planned,
    (operator, by): (&Operator, &str),
) -> Became {
    let (Ok(decision), Some(entry)) = (&one.decision, &one.entry) else {
        return Became::Not("nothing was decided".to_owned());
    };
    let before = format!("was {}", deed::standing(entry));
    let at = edge::now();
    let deadline = Instant::now() + WITHIN;
    let number = Some(entry.fence.saturating_add(1));
    let (heard, new) = match decision {
        Decision::Again { settled, to } => {
            let risk = if settled.is_vouched {
                ", whatever became of it before"
            } else {
                ""
            };
            let to_other = to.as_ref().map(|to| format!(", now to {to}"));
            let detail = format!("{before}{}{risk}", to_other.unwrap_or_default());
            let mut record = operator.record(by, did::REDRIVE, Some(detail), at);
            record.number = number;
            let decided = Decided {
                settled,
                to: to.as_ref(),
                record: &record,
            };
            (store.decide(entry, decided, deadline).await, None)
        }
        Decision::AsNew { settled, nonce } => {
            // Not before: the bodies of a whole plan would be much.
            let story = match store.story(&entry.key).await {
                Ok(story) => story,
                Err(error) => return Became::Not(escaped(&error.to_string())),
            };
            let Some(mut content) = story.content() else {
                return Became::Not(deed::NO_BODY.to_owned());
            };
            content.destination = how.to.unwrap_or(content.destination);
            let new = content.as_new(nonce, at);
            let detail = format!("{before}; the new action is {}", new.key);
            let mut record = operator.record(by, did::REDRIVE_AS_NEW, Some(detail), at);
            record.number = number;
            let replacement = Replacement {
                settled: settled.as_ref(),
                new: &new,
                timing: &how.config.delivery.timing,
                record: &record,
            };
            let replaced = store.replace(entry, replacement, deadline).await;
            (replaced, Some(new.key))
        }
    };
    match heard {
        Ok(heard) => match deed::unheard(&heard) {
            None => Became::Done(new),
            Some(why) => Became::Not(why),
        },
        Err(StoreError::Unavailable { .. }) => Became::Unknown(new),
        Err(error) => Became::Not(escaped(&error.to_string())),
    }
}

fn progress(many: usize) -> ProgressBar {
    if many < 2 * AT_ONCE || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(many as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}, {eta} to go") {
        bar.set_style(style);
    }
    bar
}

impl Performed {
    pub(super) fn of(&self, key: &ActionKey) -> Option<&Became> {
        self.became.get(key)
    }

    /// Says what became of it.
    pub(super) fn tell(&self, planned: usize, terminal: &Terminal) -> Result<(), CommandError> {
        for (key, became) in &self.became {
            match became {
                Became::Done(Some(new)) => {
                    terminal.line(format!("{key}: the new action is {new}"))?;
                }
                Became::Done(None) => {}
                Became::Not(why) => output::note(&format!("{key}: nothing was done: {why}")),
                Became::Unknown(None) => output::note(&format!("{key}: {UNKNOWN}")),
                Became::Unknown(Some(new)) => {
                    output::note(&format!("{key}: {UNKNOWN}; the new action would be {new}"));
                }
            }
        }
        let done = self.done;
        terminal.line(format!(
            "{done} of {planned} done; the next sweep sends what is due"
        ))?;
        if self.left > 0 {
            let left = self.left;
            output::note(&format!(
                "interrupted: {left} were not begun; the same command finds them again"
            ));
        }
        Ok(())
    }
}
