//! Which destinations are paused: their names come in, what the table says of each goes out, in words and
//! as JSON. A pause that cannot be read hides nothing else.

use ackbox_domain::{Gate, Name, Pause, PauseRecord, Timestamp};
use ackbox_store::{Store, StoreError};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::output::{age, escaped, until};

/// A destination that is paused.
#[derive(Debug)]
pub struct Paused {
    destination: Name,
    pause: Pause,
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
        let PauseRecord { pause, .. } = match store.pause(name).await {
            Err(StoreError::Item(_)) => PauseRecord::default(),
            read => read?,
        };
        let destination = name.clone();
        Ok(pause.map(|pause| Self { destination, pause }))
    }

    /// `mailer is paused until 2026-11-29T12:00:30.000Z (in 20s); since ..: busy (503)`.
    pub fn line(&self, now: Timestamp) -> String {
        format!("{} is {}", self.destination, self.words(now))
    }

    /// The same without the destination.
    pub fn words(&self, now: Timestamp) -> String {
        let Pause { since, number, .. } = self.pause;
        let end = self.pause.until;
        let what = match self.state(now) {
            "paused" => format!("paused until {end} ({})", until(end, now)),
            "probing" => format!("paused, and probed, which ends by {end}"),
            _ => "paused until the next attempt, which is the probe".to_owned(),
        };
        let times = match number {
            0 | 1 => String::new(),
            more => format!(", pause {more} in a row"),
        };
        let why = escaped(&self.pause.why);
        format!("{what}; since {since} ({}){times}: {why}", age(since, now))
    }

    /// For programs.
    pub fn json(&self, now: Timestamp) -> Value {
        json!({
            "destination": self.destination,
            "state": self.state(now),
            "until": self.pause.until.to_string(),
            "since": self.pause.since.to_string(),
            "number": self.pause.number,
            "reason": self.pause.why,
        })
    }

    fn state(&self, now: Timestamp) -> &'static str {
        let record = PauseRecord {
            fence: 0,
            pause: Some(self.pause.clone()),
        };
        match record.gate(now) {
            Gate::Paused { .. } if self.pause.is_probing => "probing",
            Gate::Paused { .. } => "paused",
            Gate::Open | Gate::Over => "to-be-probed",
        }
    }
}
