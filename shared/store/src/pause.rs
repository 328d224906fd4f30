//! The pause of a destination: what was read comes in with what is to stand instead, and one of all who
//! read it writes it. What must never happen: a change of a record that is not the one that was read, so
//! that two take one probe, or one that was overtaken ends another's pause.

mod operator;

use ackbox_domain::{Name, OperatorPause, Pause, PauseRecord, Timestamp};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use serde::Deserialize;

use crate::error::failed;
use crate::expression::{Update, n, s, time};
use crate::item::{broken, decode};
use crate::retry::{read_deadline, within};
use crate::schema::{SCHEMA_VERSION, attribute, destination_pk, kind};
use crate::size::Attributes;
use crate::{Deadline, ItemError, Store, StoreError};

const READ: &str = "reading a destination's pause";
const CHANGE: &str = "changing a destination's pause";

/// The states of a pause item. A version that does not know the last one leaves such an item alone.
const OPEN: &str = "open";
const PAUSED: &str = "paused";
const PROBING: &str = "probing";
const OPERATOR: &str = "operator";

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PauseChange {
    /// It stands so now.
    Written(PauseRecord),
    /// Somebody else changed it since it was read; it stands so.
    Moved(PauseRecord),
}

impl Store {
    /// What the table says of a destination's pause; the read is not a consistent one (half a read
    /// unit), for whoever acts on it changes it first, or overshoots by moments.
    ///
    /// # Errors
    /// [`StoreError::Item`] for an item that this version does not know.
    pub async fn pause(&self, destination: &Name) -> Result<PauseRecord, StoreError> {
        let get = self
            .inner
            .client
            .get_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(destination_pk(destination)))
            .key(attribute::SK, s(kind::PAUSE));
        let item = within(read_deadline(), READ, || async {
            match get.clone().send().await {
                Ok(answer) => Ok(answer.item),
                Err(error) => Err(self.read_pause_failed(error)),
            }
        })
        .await?;
        item.map_or(Ok(PauseRecord::default()), read)
    }

    /// As [`Store::pause`], for whoever only tells it: what cannot be understood pauses nothing.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn pause_as_told(&self, destination: &Name) -> Result<PauseRecord, StoreError> {
        match self.pause(destination).await {
            Err(StoreError::Item(_)) => Ok(PauseRecord::default()),
            read => read,
        }
    }

    /// Puts `next` in the place of the pause that was `seen` (`None` ends it): one conditional update
    /// of one write unit, which holds only where nobody has changed the record since.
    ///
    /// `id` must be new for every change; by it, one whose answer was lost is recognised.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `deadline` has passed: it may have been written.
    pub async fn change_pause(
        &self,
        destination: &Name,
        seen: &PauseRecord,
        next: Option<&Pause>,
        id: &str,
        deadline: Deadline,
    ) -> Result<PauseChange, StoreError> {
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(destination_pk(destination)))
            .key(attribute::SK, s(kind::PAUSE))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let stands = next.map_or(Next::Open, Next::Breaker);
        let request = change(seen, stands, id).on(request);
        within(deadline, CHANGE, || async {
            match request.clone().send().await {
                Ok(_) => Ok(PauseChange::Written(PauseRecord {
                    fence: seen.fence.saturating_add(1),
                    pause: next.cloned(),
                    operator: None,
                })),
                Err(error) => self.change_pause_failed(id, error),
            }
        })
        .await
    }

    /// What a refused change says: how it stands, or an error.
    fn change_pause_failed(
        &self,
        id: &str,
        error: SdkError<UpdateItemError>,
    ) -> Result<PauseChange, StoreError> {
        let Some(UpdateItemError::ConditionalCheckFailedException(refused)) =
            error.as_service_error()
        else {
            return Err(failed(CHANGE, &self.inner.table, error));
        };
        refused_change(id, refused.item())
    }

    fn read_pause_failed(&self, error: SdkError<GetItemError>) -> StoreError {
        failed(READ, &self.inner.table, error)
    }
}

/// What a change whose condition failed says: how it stands.
fn refused_change(id: &str, item: Option<&Attributes>) -> Result<PauseChange, StoreError> {
    let Some(item) = item else {
        return Ok(PauseChange::Moved(PauseRecord::default()));
    };
    let by = item.get(attribute::CLAIM).and_then(|by| by.as_s().ok());
    // The answer of an earlier try was lost: it is ours.
    let is_ours = by.is_some_and(|by| by == id);
    let stands = read(item.clone())?;
    Ok(if is_ours {
        PauseChange::Written(stands)
    } else {
        PauseChange::Moved(stands)
    })
}

/// What is to stand.
#[derive(Clone, Copy, Debug)]
enum Next<'n> {
    Open,
    Breaker(&'n Pause),
    Operator(&'n OperatorPause),
}

impl Next<'_> {
    const fn state(self) -> &'static str {
        match self {
            Self::Open => OPEN,
            Self::Breaker(pause) if pause.is_probing => PROBING,
            Self::Breaker(_) => PAUSED,
            Self::Operator(_) => OPERATOR,
        }
    }
}

fn change(seen: &PauseRecord, next: Next<'_>, id: &str) -> Update {
    let mut update = Update::default();
    // Exactly the record that the decision was made on: nobody had a hand in it since.
    match seen.fence {
        0 => update.require_presence(attribute::FENCE, false),
        fence => update.require(attribute::FENCE, n(fence)),
    }
    update.set(attribute::VERSION, n(u64::from(SCHEMA_VERSION)));
    update.set(attribute::FENCE, n(seen.fence.saturating_add(1)));
    update.set(attribute::CLAIM, s(id));
    update.set(attribute::STATE, s(next.state()));
    let (breaker, operator) = match next {
        Next::Open => (None, None),
        Next::Breaker(pause) => (Some(pause), None),
        Next::Operator(pause) => (None, Some(pause)),
    };
    let since = breaker.map(|pause| pause.since);
    let since = since.or(operator.map(|pause| pause.since));
    let until = breaker.map(|pause| pause.until);
    let until = until.or(operator.and_then(|pause| pause.until));
    let why = breaker.map(|pause| &pause.why);
    let why = why.or(operator.and_then(|pause| pause.why.as_ref()));
    update.set_or_remove(attribute::SINCE, since.map(time));
    update.set_or_remove(attribute::UNTIL, until.map(time));
    update.set_or_remove(
        attribute::COUNT,
        breaker.map(|pause| n(pause.number.into())),
    );
    update.set_or_remove(attribute::REASON, why.map(s));
    update.set_or_remove(attribute::BY, operator.map(|pause| s(&pause.by)));
    update
}

/// The pause item as it stands in the table.
#[derive(Deserialize)]
struct PauseItem {
    fence: u64,
    state: String,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    count: Option<u32>,
    reason: Option<String>,
    by: Option<String>,
}

fn read(item: Attributes) -> Result<PauseRecord, StoreError> {
    let item: PauseItem = decode(item).map_err(StoreError::Item)?;
    item.into_record().map_err(StoreError::Item)
}

impl PauseItem {
    fn into_record(self) -> Result<PauseRecord, ItemError> {
        let (pause, operator) = match self.state.as_str() {
            OPEN => (None, None),
            PAUSED => (Some((false, self.since, self.until)), None),
            PROBING => (Some((true, self.since, self.until)), None),
            OPERATOR => (None, Some((self.since, self.by))),
            state => return Err(broken(format!("state {state:?} of a pause"))),
        };
        let times = || broken("a pause without its times");
        let why = self.reason;
        let operator = match operator {
            Some((since, by)) => Some(OperatorPause {
                since: since.ok_or_else(times)?,
                until: self.until,
                by: by.ok_or_else(|| broken("an operator's pause without its operator"))?,
                why: why.clone(),
            }),
            None => None,
        };
        let pause = match pause {
            Some((is_probing, since, until)) => Some(Pause {
                since: since.ok_or_else(times)?,
                until: until.ok_or_else(times)?,
                number: self.count.unwrap_or(1),
                is_probing,
                why: why.unwrap_or_default(),
            }),
            None => None,
        };
        Ok(PauseRecord {
            fence: self.fence,
            pause,
            operator,
        })
    }
}
