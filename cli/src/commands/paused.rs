//! Which destinations are paused: their names come in, what the table says of each goes out, in words and
//! as JSON. A pause that cannot be read hides nothing else.

use ackbox_domain::{Gate, Name, OperatorPause, Pause, PauseRecord, Timestamp};
use ackbox_store::{Store, StoreError};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::edge;
use crate::output::{age, escaped, until};

/// A destination that is paused.
#[derive(Debug)]
pub struct Paused {
    destination: Name,
    /// With a pause, of whichever kind.
    record: PauseRecord,
}

impl Paused {
    /// Those of these destinations that are paused.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn among(
        store: &Store,
        names: impl IntoIterator<Item = &Name>,
    ) -> Result<Vec<Self>, StoreError> {
        let reads = names.into_iter().map(|name| Self::read(store, name));
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    /// This destination's pause.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn read(store: &Store, name: &Name) -> Result<Option<Self>, StoreError> {
        let record = store.pause_as_told(name).await?;
        Ok(Self::of(name, &record, edge::now()))
    }

    /// What this record means now; `None`: it is not paused. An operator's pause that is over is none.
    pub fn of(name: &Name, record: &PauseRecord, now: Timestamp) -> Option<Self> {
        record.paused_since(now).map(|_| Self {
            destination: name.clone(),
            record: record.clone(),
        })
    }

    /// `mailer is paused until 2026-11-29T12:00:30.000Z (in 20s); since ..: busy (503)`.
    pub fn line(&self, now: Timestamp) -> String {
        format!("{} is {}", self.destination, self.words(now))
    }

    /// The same without the destination.
    pub fn words(&self, now: Timestamp) -> String {
        match (&self.record.operator, &self.record.pause) {
            (Some(pause), _) => by_operator(pause, now),
            (None, Some(pause)) => self.by_breaker(pause, now),
            (None, None) => "not paused".to_owned(),
        }
    }

    fn by_breaker(&self, pause: &Pause, now: Timestamp) -> String {
        let Pause { since, number, .. } = *pause;
        let end = pause.until;
        let what = match self.state(now) {
            "paused" => format!("paused until {end} ({})", until(end, now)),
            "probing" => format!("paused, and probed, which ends by {end}"),
            _ => "paused until the next attempt, which is the probe".to_owned(),
        };
        let times = match number {
            0 | 1 => String::new(),
            more => format!(", pause {more} in a row"),
        };
        let why = escaped(&pause.why);
        format!("{what}; since {since} ({}){times}: {why}", age(since, now))
    }

    /// For programs.
    pub fn json(&self, now: Timestamp) -> Value {
        let (breaker, operator) = (self.record.pause.as_ref(), self.record.operator.as_ref());
        let since = operator.map(|pause| pause.since);
        let until = match operator {
            Some(pause) => pause.until,
            None => breaker.map(|pause| pause.until),
        };
        let why = match operator {
            Some(pause) => pause.why.as_ref(),
            None => breaker.map(|pause| &pause.why),
        };
        json!({
            "destination": self.destination,
            "state": self.state(now),
            "until": until.map(|until| until.to_string()),
            "since": since.or(breaker.map(|pause| pause.since)).map(|since| since.to_string()),
            "number": breaker.map(|pause| pause.number),
            "reason": why,
            "by": operator.map(|pause| &pause.by),
        })
    }

    fn state(&self, now: Timestamp) -> &'static str {
        let is_probing = self.record.pause.as_ref().is_some_and(|p| p.is_probing);
        match self.record.gate(now) {
            Gate::Paused { .. } if is_probing => "probing",
            Gate::Paused { .. } => "paused",
            Gate::Open | Gate::Over => "to-be-probed",
        }
    }
}

fn by_operator(pause: &OperatorPause, now: Timestamp) -> String {
    let end = match pause.until {
        Some(end) => format!(" until {end} ({})", until(end, now)),
        None => ", until it is resumed".to_owned(),
    };
    let (since, by) = (pause.since, escaped(&pause.by));
    let why = match &pause.why {
        Some(why) => format!(": {}", escaped(why)),
        None => String::new(),
    };
    format!(
        "paused by {by}{end}; since {since} ({}){why}",
        age(since, now)
    )
}
