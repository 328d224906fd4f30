//! Reads one action's items, consistently: its entry, its payload, or everything, as an operator wants
//! to see it. Nothing here decides anything.

use std::time::Duration;

use ackbox_domain::job::JobRef;
use ackbox_domain::{ActionKey, Fingerprint, Name, OutboxEntry, RenderedBody, Scalar, Timestamp};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::query::QueryError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use tokio::time::sleep;

use crate::error::failed;
use crate::expression::s;
use crate::item::accepted::AcceptedItem;
use crate::item::conflict::ConflictItem;
use crate::item::{PayloadItem, decode};
use crate::retry::{read_deadline, within};
use crate::schema::{action_pk, attribute, job_pk, kind};
use crate::size::Attributes;
use crate::{Deadline, ItemError, OperatorRecord, Store, StoreError, operator, outbox_from_item};

const GET: &str = "reading an item";
const QUERY: &str = "reading the items of a partition";

/// How often an absent payload is looked for again, and after how long.
const PAYLOAD_LOOKS: u32 = 3;
const PAYLOAD_WAIT: Duration = Duration::from_millis(50);

/// Everything that the table holds about one action.
#[derive(Debug, Default)]
pub struct Story {
    /// What was accepted.
    pub accepted: Option<AcceptedRecord>,
    /// The promise to deliver it.
    pub outbox: Option<OutboxEntry>,
    /// Its body, where that is an item of its own.
    pub payload: Option<RenderedBody>,
    /// Other content that came under the same key.
    pub conflicts: Vec<ConflictRecord>,
    /// What operators did about it, in the order of time.
    pub operators: Vec<OperatorRecord>,
    /// Items that this version cannot read: sort key and reason.
    pub unreadable: Vec<(String, ItemError)>,
}

/// The accepted item: what was accepted, from whom, and how its key came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedRecord {
    /// The key's namespace.
    pub namespace: String,
    /// The key's parts: how the rule names each, and its value.
    pub parts: Vec<(String, Scalar)>,
    /// What must be the same on every repetition.
    pub fingerprint: Fingerprint,
    /// The source.
    pub source: Name,
    /// The rule.
    pub rule: Name,
    /// The account, where the source tells.
    pub account: Option<String>,
    /// What the fact is about, where the source tells.
    pub subject: Option<String>,
    /// The event's type.
    pub event: Option<String>,
    /// The message's own id, where the source tells.
    pub message_id: Option<String>,
    /// Where it goes.
    pub destination: Name,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

/// Why other content stands beside an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// The same fingerprint recipe says that it differs.
    Conflict,
    /// The recipe changed in between and the raw bytes differ, so nothing can be said.
    Uncompared,
}

impl ConflictKind {
    /// What a sort key says; `None`: it is no conflict's.
    fn of(sk: &str) -> Option<Self> {
        if sk.starts_with(kind::CONFLICT) {
            Some(Self::Conflict)
        } else if sk.starts_with(kind::UNCOMPARED) {
            Some(Self::Uncompared)
        } else {
            None
        }
    }
}

/// Other content that came under a known key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictRecord {
    /// Whether it differs, or cannot be compared.
    pub kind: ConflictKind,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its source.
    pub source: Name,
    /// Its rule.
    pub rule: Name,
    /// Its destination.
    pub destination: Name,
    /// Its account, where the source tells.
    pub account: Option<String>,
    /// What it is about, where the source tells.
    pub subject: Option<String>,
    /// Its event's type.
    pub event: Option<String>,
    /// Its message's id, where the source tells.
    pub message_id: Option<String>,
    /// The body that would have been sent; none: redacted.
    pub body: Option<RenderedBody>,
    /// What an operator made of it, and when.
    pub resolved: Option<(String, Timestamp)>,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// How often it was seen: at least so often, for a repeated write whose answer was lost counts twice.
    pub count: u64,
}
impl Store {
    /// The entry of an action, read consistently.
    ///
    /// # Errors
    /// [`StoreError::Item`] for an entry of a newer schema version.
    pub async fn entry(&self, key: &ActionKey) -> Result<Option<OutboxEntry>, StoreError> {
        let Some(item) = self.get(key, kind::OUTBOX).await? else {
            return Ok(None);
        };
        let entry = outbox_from_item(item.into()).map_err(StoreError::Item)?;
        Ok(Some(entry))
    }

    /// The payload item's body, read consistently, and looked for again where it is absent: the
    /// items of one transaction may show up at different times.
    pub async fn payload(&self, key: &ActionKey) -> Result<Option<RenderedBody>, StoreError> {
        for look in 1..=PAYLOAD_LOOKS {
            if let Some(item) = self.get(key, kind::PAYLOAD).await? {
                let body = decode::<PayloadItem>(item).and_then(PayloadItem::into_body);
                return body.map_err(StoreError::Item);
            }
            if look < PAYLOAD_LOOKS {
                sleep(PAYLOAD_WAIT).await;
            }
        }
        Ok(None)
    }

    /// One conflict of an action, by its sort key, read consistently; `None`: there is no such conflict.
    ///
    /// # Errors
    /// [`StoreError::Item`] for an item of a newer schema version.
    pub async fn conflict(
        &self,
        key: &ActionKey,
        sk: &str,
    ) -> Result<Option<ConflictRecord>, StoreError> {
        let Some(kind) = ConflictKind::of(sk) else {
            return Ok(None);
        };
        let Some(item) = self.get(key, sk).await? else {
            return Ok(None);
        };
        let record = decode::<ConflictItem>(item).and_then(|item| item.into_record(kind));
        record.map(Some).map_err(StoreError::Item)
    }

    /// Everything that the table holds about an action: one consistent query of its partition.
    pub async fn story(&self, key: &ActionKey) -> Result<Story, StoreError> {
        let mut story = Story::default();
        for item in self.partition(&action_pk(key), None).await? {
            story.add(item);
        }
        Ok(story)
    }

    /// Every item of a partition, in the order of the sort keys, read consistently.
    /// `deadline`: for all of it; none: each page has a read's own, however many there are.
    pub(crate) async fn partition(
        &self,
        pk: &str,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Attributes>, StoreError> {
        let query = self
            .query_partition(pk)
            .key_condition_expression("#pk = :pk");
        self.read_pages(query, usize::MAX, deadline).await
    }

    /// What is parked of a job, up to some pages of it: whoever takes these up comes again for the rest.
    pub(crate) async fn parked_of(
        &self,
        job: &JobRef,
        deadline: Deadline,
    ) -> Result<Vec<Attributes>, StoreError> {
        /// A page has at most 1 MB.
        const PAGES: usize = 2;
        let query = self
            .query_partition(&job_pk(job))
            .key_condition_expression("#pk = :pk AND begins_with(#sk, :sk)")
            .expression_attribute_names("#sk", attribute::SK)
            .expression_attribute_values(":sk", s(kind::PARKED));
        self.read_pages(query, PAGES, Some(deadline)).await
    }

    fn query_partition(&self, pk: &str) -> QueryFluentBuilder {
        self.inner
            .client
            .query()
            .table_name(&self.inner.table)
            .consistent_read(true)
            .expression_attribute_names("#pk", attribute::PK)
            .expression_attribute_values(":pk", s(pk))
    }

    async fn read_pages(
        &self,
        query: QueryFluentBuilder,
        pages: usize,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Attributes>, StoreError> {
        let mut items = Vec::new();
        let mut start = None;
        for _ in 0..pages {
            let query = query.clone().set_exclusive_start_key(start);
            let deadline = deadline.unwrap_or_else(read_deadline);
            let page = within(deadline, QUERY, || async {
                query
                    .clone()
                    .send()
                    .await
                    .map_err(|e| self.query_action_failed(e))
            })
            .await?;
            items.extend(page.items.unwrap_or_default());
            start = page.last_evaluated_key.filter(|key| !key.is_empty());
            if start.is_none() {
                break;
            }
        }
        Ok(items)
    }

    async fn get(&self, key: &ActionKey, kind: &str) -> Result<Option<Attributes>, StoreError> {
        self.item(&action_pk(key), kind, read_deadline()).await
    }

    /// One item, read consistently.
    pub(crate) async fn item(
        &self,
        pk: &str,
        sk: &str,
        deadline: Deadline,
    ) -> Result<Option<Attributes>, StoreError> {
        let get = self
            .inner
            .client
            .get_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(pk))
            .key(attribute::SK, s(sk))
            .consistent_read(true);
        within(deadline, GET, || async {
            match get.clone().send().await {
                Ok(answer) => Ok(answer.item),
                Err(error) => Err(self.get_failed(error)),
            }
        })
        .await
    }

    fn get_failed(&self, error: SdkError<GetItemError>) -> StoreError {
        failed(GET, &self.inner.table, error)
    }

    fn query_action_failed(&self, error: SdkError<QueryError>) -> StoreError {
        failed(QUERY, &self.inner.table, error)
    }
}

impl Story {
    /// Takes up an item by its kind. What does not read is named, and hides nothing else.
    fn add(&mut self, item: Attributes) {
        let sk = match item.get(attribute::SK).map(|sk| sk.as_s()) {
            Some(Ok(sk)) => sk.clone(),
            _ => String::new(),
        };
        let read = if sk == kind::ACCEPTED {
            let item = decode::<AcceptedItem>(item).and_then(AcceptedRecord::try_from);
            item.map(|record| self.accepted = Some(record))
        } else if sk == kind::OUTBOX {
            outbox_from_item(item.into()).map(|entry| self.outbox = Some(entry))
        } else if sk == kind::PAYLOAD {
            let body = decode::<PayloadItem>(item).and_then(PayloadItem::into_body);
            body.map(|body| self.payload = body)
        } else if let Some(kind) = ConflictKind::of(&sk) {
            let record = decode::<ConflictItem>(item).and_then(|item| item.into_record(kind));
            record.map(|record| self.conflicts.push(record))
        } else if sk.starts_with(kind::OPERATOR) {
            operator::read(item).map(|record| self.operators.push(record))
        } else {
            Err(ItemError::Broken {
                what: "a kind of item that this version does not know".to_owned(),
            })
        };
        if let Err(error) = read {
            self.unreadable.push((sk, error));
        }
    }
}
