//! Finds by index what wants attention: what is due, in an order that keeps two sweeps apart, and what
//! an operator asks for, in the order of time. The index lags behind the table: whoever finds a key
//! here reads the entry before acting on it.

use std::collections::HashMap;

use ackbox_domain::job::JobRef;
use ackbox_domain::{ActionKey, Name, Timestamp};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::query::{QueryError, QueryOutput};
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::error::failed;
use crate::expression::{s, time};
use crate::retry::{read_deadline, within};
use crate::schema::{self, N_SHARDS, WORK_INDEX, attribute};
use crate::{Class, Store, StoreError};

const QUERY: &str = "querying the work index";

/// How many keys one page has at most; and how many items of jobs, which are asked about many at a time.
const PAGE: i32 = 25;
const PAGE_OF_JOBS: i32 = 100;

/// Where a query goes on.
pub(crate) type Start = Option<HashMap<String, AttributeValue>>;

/// The keys of what is due, a page at a time.
#[derive(Debug)]
pub struct DuePages(Pages<Listed>);

/// The jobs of which something is due, a page at a time.
#[derive(Debug)]
pub struct DueJobs(Pages<ListedJob>);

#[derive(Debug)]
struct Pages<T> {
    store: Store,
    class: Class,
    name: Name,
    now: Timestamp,
    /// The shards that are not at their end.
    left: Vec<(u8, Start)>,
    /// How many a page has at most.
    size: i32,
    read: fn(IndexItem) -> Option<T>,
}

/// One item of the index that belongs to an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The action.
    pub key: ActionKey,
    /// Its sort key: the entry, or which conflict.
    pub sk: String,
    /// When it was accepted; of a conflict: when the original was.
    pub accepted_at: Timestamp,
    /// When it wants attention; of what waits for an operator: since when.
    pub due_at: Timestamp,
}

/// One item of the index that belongs to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedJob {
    /// The job.
    pub job: JobRef,
    /// Its sort key: which item of the job.
    pub sk: String,
    /// When the job was registered, or the observation came.
    pub since: Timestamp,
    /// When it wants attention; of what waits for an operator: since when.
    pub due_at: Timestamp,
}

/// Between which times items of the index are wanted; each end where one is given, itself included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Accepted (of a job: registered, or observed) then or later.
    pub since: Option<Timestamp>,
    /// Then or before.
    pub until: Option<Timestamp>,
}

impl Between {
    /// How many items a page looks at: as many as are wanted where each is; else as many as one may.
    fn page(&self, limit: usize) -> i32 {
        const MAX: i32 = 1000;
        match *self == Self::default() {
            true => i32::try_from(limit).unwrap_or(MAX).clamp(1, MAX),
            false => MAX,
        }
    }

    fn on(&self, query: QueryFluentBuilder) -> QueryFluentBuilder {
        let ends = [(">=", ":since", self.since), ("<=", ":until", self.until)];
        let given = ends.into_iter().filter_map(|(sign, value, end)| {
            end.map(|end| (format!("#accepted_at {sign} {value}"), value, time(end)))
        });
        let (mut conditions, mut query) = (Vec::new(), query);
        for (condition, name, value) in given {
            conditions.push(condition);
            query = query.expression_attribute_values(name, value);
        }
        if conditions.is_empty() {
            return query;
        }
        query
            .filter_expression(conditions.join(" AND "))
            .expression_attribute_names("#accepted_at", attribute::ACCEPTED_AT)
    }
}

#[derive(Deserialize)]
struct IndexItem {
    pk: String,
    sk: String,
    accepted_at: Timestamp,
    due_at: Timestamp,
}

impl Store {
    /// What of this class and name is due at `now`.
    ///
    /// Each page comes from a shard picked at random, and is shuffled, so that two sweeps at once
    /// rarely meet at one entry. Inside a shard, what has waited longest comes first.
    pub fn due(&self, class: Class, name: &Name, now: Timestamp) -> DuePages {
        DuePages(self.pages(class, name, now, PAGE, listed))
    }

    /// As [`Store::due`], of a job space (or source): the items that belong to jobs.
    pub fn due_jobs(&self, class: Class, name: &Name, now: Timestamp) -> DueJobs {
        DueJobs(self.pages(class, name, now, PAGE_OF_JOBS, listed_job))
    }

    fn pages<T>(
        &self,
        class: Class,
        name: &Name,
        now: Timestamp,
        size: i32,
        read: fn(IndexItem) -> Option<T>,
    ) -> Pages<T> {
        Pages {
            store: self.clone(),
            class,
            name: name.clone(),
            now,
            left: (0..N_SHARDS).map(|n| (n, None)).collect(),
            size,
            read,
        }
    }

    /// Up to `limit` items of this class and name that belong to actions, due or not, what is due first
    /// first.
    pub async fn list(
        &self,
        class: Class,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.list_between(class, name, &Between::default(), limit)
            .await
    }

    /// As [`Store::list`], those between two times. All of the class and name may have to be looked at, but
    /// nothing else.
    pub async fn list_between(
        &self,
        class: Class,
        name: &Name,
        between: &Between,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let mut found = self.list_all(class, name, between, limit, listed).await?;
        found.sort_by(|a, b| (a.due_at, &a.key, &a.sk).cmp(&(b.due_at, &b.key, &b.sk)));
        found.truncate(limit);
        Ok(found)
    }

    /// As [`Store::list`], the items that belong to jobs.
    pub async fn list_jobs(
        &self,
        class: Class,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<ListedJob>, StoreError> {
        self.list_jobs_between(class, name, &Between::default(), limit)
            .await
    }

    /// As [`Store::list_between`], the items that belong to jobs.
    pub async fn list_jobs_between(
        &self,
        class: Class,
        name: &Name,
        between: &Between,
        limit: usize,
    ) -> Result<Vec<ListedJob>, StoreError> {
        let mut found = self
            .list_all(class, name, between, limit, listed_job)
            .await?;
        found.sort_by(|a, b| (a.due_at, &a.job, &a.sk).cmp(&(b.due_at, &b.job, &b.sk)));
        found.truncate(limit);
        Ok(found)
    }

    async fn list_all<T>(
        &self,
        class: Class,
        name: &Name,
        between: &Between,
        limit: usize,
        read: fn(IndexItem) -> Option<T>,
    ) -> Result<Vec<T>, StoreError> {
        let shards = (0..N_SHARDS).map(|n| {
            let query = between.on(self.shard_query(class, name, n));
            self.list_shard(query, limit, between.page(limit), read)
        });
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }

    async fn list_shard<T>(
        &self,
        query: QueryFluentBuilder,
        limit: usize,
        page: i32,
        read: fn(IndexItem) -> Option<T>,
    ) -> Result<Vec<T>, StoreError> {
        let query = query
            .limit(page)
            .key_condition_expression("#work_shard = :work_shard");
        let mut listed = Vec::new();
        let mut start = None;
        while listed.len() < limit {
            let (found, next) = self.page(query.clone(), start, read).await?;
            listed.extend(found);
            start = next;
            if start.is_none() {
                break;
            }
        }
        Ok(listed)
    }

    pub(crate) fn shard_query(&self, class: Class, name: &Name, n: u8) -> QueryFluentBuilder {
        self.inner
            .client
            .query()
            .table_name(&self.inner.table)
            .index_name(WORK_INDEX)
            .expression_attribute_names("#work_shard", attribute::WORK_SHARD)
            .expression_attribute_values(":work_shard", s(schema::numbered_shard(class, name, n)))
    }

    async fn page<T>(
        &self,
        query: QueryFluentBuilder,
        start: Start,
        read: fn(IndexItem) -> Option<T>,
    ) -> Result<(Vec<T>, Start), StoreError> {
        let query = query.set_exclusive_start_key(start);
        let answer: QueryOutput = within(read_deadline(), QUERY, || async {
            query.clone().send().await.map_err(|e| self.query_failed(e))
        })
        .await?;
        let found = answer.items.unwrap_or_default();
        // One that does not read is left alone, as another version's: it must not keep its neighbours
        // from being found.
        let items = found
            .into_iter()
            .filter_map(|item| serde_dynamo::from_item(item).ok());
        let listed = items.filter_map(read).collect();
        let next = answer.last_evaluated_key.filter(|key| !key.is_empty());
        Ok((listed, next))
    }

    fn query_failed(&self, error: SdkError<QueryError>) -> StoreError {
        failed(QUERY, &self.inner.table, error)
    }
}

fn listed(item: IndexItem) -> Option<Listed> {
    Some(Listed {
        key: schema::action_of(&item.pk)?,
        sk: item.sk,
        accepted_at: item.accepted_at,
        due_at: item.due_at,
    })
}

fn listed_job(item: IndexItem) -> Option<ListedJob> {
    Some(ListedJob {
        job: schema::job_of(&item.pk)?,
        sk: item.sk,
        since: item.accepted_at,
        due_at: item.due_at,
    })
}

impl DuePages {
    /// The next page, of 1 to 25 keys; `None` when every shard is at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<ActionKey>>, StoreError> {
        let page = self.0.next().await?;
        Ok(page.map(|found| found.into_iter().map(|listed| listed.key).collect()))
    }
}

impl DueJobs {
    /// The next page, of 1 to 100 items; `None` when every shard is at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<ListedJob>>, StoreError> {
        self.0.next().await
    }
}

impl<T> Pages<T> {
    async fn next(&mut self) -> Result<Option<Vec<T>>, StoreError> {
        while !self.left.is_empty() {
            let picked = fastrand::usize(..self.left.len());
            let (n, start) = self.left.swap_remove(picked);
            let query = self
                .store
                .shard_query(self.class, &self.name, n)
                .limit(self.size)
                .key_condition_expression("#work_shard = :work_shard AND #due_at <= :now")
                .expression_attribute_names("#due_at", attribute::DUE_AT)
                .expression_attribute_values(":now", time(self.now));
            let (mut found, next) = match self.store.page(query, start.clone(), self.read).await {
                Ok(page) => page,
                Err(error) => {
                    // The shard is tried again by the next call.
                    self.left.push((n, start));
                    return Err(error);
                }
            };
            if next.is_some() {
                self.left.push((n, next));
            }
            if !found.is_empty() {
                fastrand::shuffle(&mut found);
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
