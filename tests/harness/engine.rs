//! The engine under a test, and its table as any client sees it. A table is never shared by two tests.

use std::collections::HashMap;
use std::path::Path;

use ackbox::dev::{Clients, Engine as Embedded};
use ackbox_domain::ActionKey;
use ackbox_store::schema::{self, attribute, kind};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures_util::{StreamExt as _, stream};

mod item;

pub use item::Item;

/// Something that not every engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Its file can be closed and opened again by a test.
    Reopen,
}

/// A DynamoDB-compatible engine.
#[derive(Debug)]
pub struct Engine {
    endpoint: String,
    /// Where it is embedded; an engine elsewhere is not ours to stop.
    embedded: Option<Embedded>,
}

impl Engine {
    /// The engine of `AWS_ENDPOINT_URL_DYNAMODB`, else an embedded one in memory, on a port of its own.
    pub async fn start() -> Self {
        match elsewhere() {
            Some(endpoint) => Self {
                endpoint,
                embedded: None,
            },
            None => Self::of(Embedded::unguarded_memory().await),
        }
    }

    /// An engine that another process runs.
    pub fn at(endpoint: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            embedded: None,
        }
    }

    /// An embedded engine on a file. See [`Ability::Reopen`].
    pub async fn file(path: &Path) -> Self {
        Self::of(Embedded::unguarded_file(path).await)
    }

    fn of(started: Result<Embedded, ackbox::dev::EngineError>) -> Self {
        let embedded = started.expect("an embedded engine starts");
        Self {
            endpoint: embedded.endpoint().to_owned(),
            embedded: Some(embedded),
        }
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Whether a test may rely on this. A test that needs what the engine cannot do says so and ends.
    pub fn can(ability: Ability) -> bool {
        match ability {
            Ability::Reopen => elsewhere().is_none(),
        }
    }

    /// Stops an embedded engine and closes its file.
    pub async fn stop(self) {
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the suite's edge: which engine it runs on is said by the environment"
)]
fn elsewhere() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL_DYNAMODB")
        .ok()
        .filter(|endpoint| !endpoint.is_empty())
}

/// A client of this endpoint with the settings that the functions use, and credentials that mean nothing.
pub async fn client(endpoint: &str) -> Client {
    Clients::local(endpoint).await.dynamodb
}

/// A name that no other test has.
pub fn table_name() -> String {
    format!("ackbox-test-{:016x}", fastrand::u64(..))
}

/// One table as any client of the engine sees it.
#[derive(Clone, Debug)]
pub struct Table {
    client: Client,
    name: String,
}

impl Table {
    /// The table of this name at this endpoint.
    pub async fn new(endpoint: &str, name: &str) -> Self {
        let functions = client(endpoint).await;
        // A test looks and puts as a bystander: however slow the engine is beside everything else, it waits.
        let patient = functions.config().to_builder();
        let patient = patient.timeout_config(TimeoutConfig::disabled());
        Self {
            client: Client::from_conf(patient.build()),
            name: name.to_owned(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every item except META, ordered by key.
    pub async fn items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self
            .everything()
            .await
            .into_iter()
            .filter(|item| item.pk() != kind::META)
            .collect();
        items.sort_by_key(|item| (item.pk().to_owned(), item.sk().to_owned()));
        items
    }

    /// Every item of one kind: those whose sort key starts so.
    pub async fn of_kind(&self, kind: &str) -> Vec<Item> {
        let mut items = self.items().await;
        items.retain(|item| item.sk().starts_with(kind));
        items
    }

    async fn everything(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut from = None;
        loop {
            let page = self
                .client
                .scan()
                .table_name(&self.name)
                .consistent_read(true)
                .set_exclusive_start_key(from)
                .send()
                .await
                .expect("a test can scan its table");
            items.extend(page.items.unwrap_or_default().into_iter().map(Item::from));
            from = page.last_evaluated_key;
            if from.is_none() {
                return items;
            }
        }
    }

    /// One item of an action.
    pub async fn item(&self, key: &ActionKey, kind: &str) -> Option<Item> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(item_key(key, kind)))
            .consistent_read(true)
            .send()
            .await
            .expect("a test can read its table");
        answer.item.map(Item::from)
    }

    /// Removes one item of an action, as time to live does.
    pub async fn remove(&self, key: &ActionKey, kind: &str) {
        self.client
            .delete_item()
            .table_name(&self.name)
            .set_key(Some(item_key(key, kind)))
            .send()
            .await
            .expect("a test can delete in its table");
    }

    /// Puts items, whatever is there, many at a time.
    pub async fn put(&self, items: Vec<Item>) {
        /// The most that one call may write (BatchWriteItem's limit).
        const BATCH: usize = 25;
        let batches: Vec<Vec<Item>> = items.chunks(BATCH).map(<[Item]>::to_vec).collect();
        stream::iter(batches)
            .for_each_concurrent(4, |batch| self.put_batch(batch))
            .await;
    }

    async fn put_batch(&self, batch: Vec<Item>) {
        let write = |item: Item| {
            let put = PutRequest::builder()
                .set_item(Some(item.into()))
                .build()
                .expect("a put has an item");
            WriteRequest::builder().put_request(put).build()
        };
        let writes: Vec<WriteRequest> = batch.into_iter().map(write).collect();
        let answer = self
            .client
            .batch_write_item()
            .request_items(&self.name, writes)
            .send()
            .await
            .expect("a test can write to its table");
        let left = answer.unprocessed_items.unwrap_or_default();
        assert!(left.is_empty(), "the engine left writes undone");
    }
}

fn item_key(key: &ActionKey, kind: &str) -> HashMap<String, AttributeValue> {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let pairs = [
        (attribute::PK.to_owned(), text(&schema::action_pk(key))),
        (attribute::SK.to_owned(), text(kind)),
    ];
    HashMap::from(pairs)
}
