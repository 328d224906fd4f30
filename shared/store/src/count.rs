//! Counts what waits for attention by index: a class and name come in, how many there are and since when the
//! oldest waits goes out; bounded, so that a backlog makes it no slower than it may be. Nothing is scanned.

use std::sync::atomic::{AtomicUsize, Ordering};

use ackbox_domain::{Name, Timestamp};
use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::error::failed;
use crate::expression::time;
use crate::retry::{read_deadline, within};
use crate::schema::{N_SHARDS, attribute};
use crate::{Class, Store, StoreError};

const COUNT: &str = "counting what is in the work index";

/// How many items of one class and name are counted one by one; above it, it is only said that there are more.
pub const COUNTED: usize = 10_000;

/// How many items a page has at most.
const PAGE: i32 = 1000;

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// So many, at most the limit.
    pub count: usize,
    /// Whether there are more.
    pub more: bool,
    /// When the oldest of those that were counted was accepted (of a job: registered, or observed).
    pub oldest: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Aged {
    accepted_at: Timestamp,
}

/// What all shards have counted together, and when to stop.
struct Tally {
    limit: usize,
    found: AtomicUsize,
}

impl Store {
    /// Counts what stands in the index under a class and name, due by `due_by` where that is given, up to
    /// `limit`. All parts of it are asked side by side.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn count(
        &self,
        class: Class,
        name: &Name,
        due_by: Option<Timestamp>,
        limit: usize,
    ) -> Result<Counted, StoreError> {
        let tally = Tally {
            limit,
            found: AtomicUsize::new(0),
        };
        let shards = (0..N_SHARDS).map(|n| self.count_shard(class, name, n, due_by, &tally));
        let oldest = try_join_all(shards).await?.into_iter().flatten().min();
        let found = tally.found.into_inner();
        Ok(Counted {
            count: found.min(limit),
            more: found > limit,
            oldest,
        })
    }

    /// When the oldest that this shard has was accepted; as far as it was looked at.
    async fn count_shard(
        &self,
        class: Class,
        name: &Name,
        n: u8,
        due_by: Option<Timestamp>,
        tally: &Tally,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut query = self
            .shard_query(class, name, n)
            .projection_expression("#accepted_at")
            .expression_attribute_names("#accepted_at", attribute::ACCEPTED_AT);
        query = match due_by {
            None => query.key_condition_expression("#work_shard = :work_shard"),
            Some(by) => query
                .key_condition_expression("#work_shard = :work_shard AND #due_at <= :by")
                .expression_attribute_names("#due_at", attribute::DUE_AT)
                .expression_attribute_values(":by", time(by)),
        };
        let (mut oldest, mut start) = (None, None);
        // One more than wanted tells that there are more.
        while let Some(page) = tally.page() {
            let query = query.clone().limit(page).set_exclusive_start_key(start);
            let answer = within(read_deadline(), COUNT, || async {
                let sent = query.clone().send().await;
                sent.map_err(|error| failed(COUNT, &self.inner.table, error))
            })
            .await?;
            let items = answer.items.unwrap_or_default();
            tally.found.fetch_add(items.len(), Ordering::Relaxed);
            let aged = items.into_iter().filter_map(|item| {
                let aged: Option<Aged> = serde_dynamo::from_item(item).ok();
                aged.map(|aged| aged.accepted_at)
            });
            oldest = oldest.into_iter().chain(aged).min();
            start = answer.last_evaluated_key.filter(|key| !key.is_empty());
            if start.is_none() {
                break;
            }
        }
        Ok(oldest)
    }
}

impl Tally {
    /// How many the next page may have; none where enough are found.
    fn page(&self) -> Option<i32> {
        let found = self.found.load(Ordering::Relaxed);
        let left = (self.limit + 1)
            .checked_sub(found)
            .filter(|left| *left > 0)?;
        Some(i32::try_from(left).unwrap_or(PAGE).min(PAGE))
    }
}
