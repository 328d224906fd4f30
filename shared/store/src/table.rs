//! Creates the table that [`crate::schema`] describes, for engines that may be written to so. A table of
//! the same name that is something else is refused, never changed.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, IndexStatus, KeySchemaElement, KeyType,
    Projection, ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
    TableDescription, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use tokio::time::{Instant, sleep};

use crate::error::failed;
use crate::retry::within;
use crate::schema::{WORK_INDEX, attribute};
use crate::{Deadline, Store, StoreError};

const CREATE: &str = "creating the table";
const DESCRIBE: &str = "describing the table";
const EXPIRE: &str = "enabling expiry";

/// How long a table may take to become active. AWS creates one within seconds.
const ACTIVE_WITHIN: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Whether a table had to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It was created now.
    New,
    /// It was there.
    AlreadyThere,
}

impl Store {
    /// Creates the table where it is not there, waits until it and its index are active, and enables
    /// expiry. May be called again, and by several processes at once.
    ///
    /// # Errors
    /// [`StoreError::ForeignTable`] where a table of this name has other keys, no `work` index, or
    /// no stream of new images.
    pub async fn create_table(&self) -> Result<Created, StoreError> {
        let deadline = Instant::now() + ACTIVE_WITHIN;
        let created = within(deadline, CREATE, || async {
            match self.definition().send().await {
                Ok(_) => Ok(Created::New),
                Err(error) => self.create_failed(error),
            }
        })
        .await?;
        let table = self.active(deadline).await?;
        if let Some(problem) = foreign(&table) {
            let table = self.inner.table.clone();
            return Err(StoreError::ForeignTable { table, problem });
        }
        self.enable_expiry(deadline).await?;
        Ok(created)
    }

    fn definition(&self) -> CreateTableFluentBuilder {
        self.inner
            .client
            .create_table()
            .table_name(&self.inner.table)
            .billing_mode(BillingMode::PayPerRequest)
            .attribute_definitions(defined(attribute::PK, ScalarAttributeType::S))
            .attribute_definitions(defined(attribute::SK, ScalarAttributeType::S))
            .attribute_definitions(defined(attribute::WORK_SHARD, ScalarAttributeType::S))
            .attribute_definitions(defined(attribute::DUE_AT, ScalarAttributeType::N))
            .key_schema(key(attribute::PK, KeyType::Hash))
            .key_schema(key(attribute::SK, KeyType::Range))
            .global_secondary_indexes(work_index())
            .stream_specification(
                StreamSpecification::builder()
                    .stream_enabled(true)
                    .stream_view_type(StreamViewType::NewImage)
                    .build()
                    .expect("a stream specification says whether it is enabled"),
            )
    }

    fn create_failed(&self, error: SdkError<CreateTableError>) -> Result<Created, StoreError> {
        match error.as_service_error() {
            Some(CreateTableError::ResourceInUseException(_)) => Ok(Created::AlreadyThere),
            _ => Err(failed(CREATE, &self.inner.table, error)),
        }
    }

    async fn active(&self, deadline: Deadline) -> Result<TableDescription, StoreError> {
        loop {
            let described = within(deadline, DESCRIBE, || async {
                let describe = self.inner.client.describe_table();
                let describe = describe.table_name(&self.inner.table).send().await;
                describe.map_err(|e| failed(DESCRIBE, &self.inner.table, e))
            })
            .await?;
            match described.table {
                Some(table) if is_active(&table) => return Ok(table),
                _ if Instant::now() > deadline => {
                    return Err(StoreError::Unavailable {
                        operation: DESCRIBE,
                        source: None,
                    });
                }
                _ => sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Enables expiry where it is not. Enabling it twice is refused by the service, so that of two
    /// processes at once one is: it looks again.
    async fn enable_expiry(&self, deadline: Deadline) -> Result<(), StoreError> {
        within(deadline, EXPIRE, || async {
            if self.expires().await? {
                return Ok(());
            }
            let expires_at = TimeToLiveSpecification::builder()
                .attribute_name(attribute::EXPIRES_AT)
                .enabled(true)
                .build()
                .expect("a time to live has an attribute and says whether it is enabled");
            let update = self.inner.client.update_time_to_live();
            let update = update
                .table_name(&self.inner.table)
                .time_to_live_specification(expires_at);
            match update.send().await {
                Ok(_) => Ok(()),
                Err(_) if self.expires().await? => Ok(()),
                Err(error) => Err(failed(EXPIRE, &self.inner.table, error)),
            }
        })
        .await
    }

    async fn expires(&self) -> Result<bool, StoreError> {
        let describe = self.inner.client.describe_time_to_live();
        let answer = describe.table_name(&self.inner.table).send().await;
        let answer = answer.map_err(|e| failed(EXPIRE, &self.inner.table, e))?;
        let status = answer
            .time_to_live_description
            .and_then(|d| d.time_to_live_status);
        Ok(matches!(
            status,
            Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)
        ))
    }
}

fn defined(name: &str, scalar: ScalarAttributeType) -> AttributeDefinition {
    AttributeDefinition::builder()
        .attribute_name(name)
        .attribute_type(scalar)
        .build()
        .expect("an attribute definition has a name and a type")
}

fn key(name: &str, key_type: KeyType) -> KeySchemaElement {
    KeySchemaElement::builder()
        .attribute_name(name)
        .key_type(key_type)
        .build()
        .expect("a key has a name and a type")
}

fn work_index() -> GlobalSecondaryIndex {
    let projection = Projection::builder()
        .projection_type(ProjectionType::Include)
        .non_key_attributes(attribute::ACCEPTED_AT)
        .build();
    GlobalSecondaryIndex::builder()
        .index_name(WORK_INDEX)
        .key_schema(key(attribute::WORK_SHARD, KeyType::Hash))
        .key_schema(key(attribute::DUE_AT, KeyType::Range))
        .projection(projection)
        .build()
        .expect("an index has a name, keys and a projection")
}

fn is_active(table: &TableDescription) -> bool {
    let indexes = table.global_secondary_indexes();
    table.table_status() == Some(&TableStatus::Active)
        && indexes.iter().all(|index| {
            index
                .index_status()
                .is_none_or(|s| *s == IndexStatus::Active)
        })
}

/// What makes a table another's than ours; `None` where nothing does.
fn foreign(table: &TableDescription) -> Option<String> {
    if names(table.key_schema()) != [attribute::PK, attribute::SK] {
        return Some("its keys are not `pk` and `sk`".to_owned());
    }
    let indexes = table.global_secondary_indexes();
    let work = indexes.iter().find(|i| i.index_name() == Some(WORK_INDEX));
    let keys = work.map(|index| names(index.key_schema()));
    if keys.as_deref() != Some(&[attribute::WORK_SHARD, attribute::DUE_AT]) {
        return Some("it has no index `work` on `work_shard` and `due_at`".to_owned());
    }
    let stream = table
        .stream_specification()
        .and_then(|s| s.stream_view_type());
    if stream != Some(&StreamViewType::NewImage) {
        return Some("it has no stream of new images".to_owned());
    }
    None
}

fn names(keys: &[KeySchemaElement]) -> Vec<&str> {
    let mut keys: Vec<_> = keys.iter().collect();
    keys.sort_by_key(|key| *key.key_type() != KeyType::Hash);
    keys.into_iter()
        .map(KeySchemaElement::attribute_name)
        .collect()
}
