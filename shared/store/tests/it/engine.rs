//! A fresh table per test, on the embedded engine or on the one that the environment names.

use std::collections::HashMap;
use std::time::Duration;

use ackbox_domain::ActionKey;
use ackbox_store::schema::{self, attribute};
use ackbox_store::{Class, Deadline, Listed, Store};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_dynamodb::types::AttributeValue;
use dynoxide::Database;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::recorder::Recorder;

pub(crate) type Item = HashMap<String, AttributeValue>;

/// One test's table.
pub(crate) struct Engine {
    pub(crate) store: Store,
    pub(crate) client: Client,
}

/// An endpoint: the environment's, else an embedded engine of this test's own.
async fn endpoint() -> String {
    #[allow(clippy::disallowed_methods, reason = "the tests' edge: which engine")]
    if let Ok(url) = std::env::var("AWS_ENDPOINT_URL_DYNAMODB") {
        return url;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let database = Database::memory().unwrap();
    tokio::spawn(dynoxide::server::serve_on(listener, database));
    format!("http://{address}")
}

pub(crate) fn client(endpoint: &str) -> Client {
    let credentials = Credentials::new("test", "test", None, None, "test");
    let config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build();
    ackbox_store::client(&config)
}

impl Engine {
    /// A store whose table is not there yet.
    pub(crate) async fn empty() -> Self {
        let client = client(&endpoint().await);
        let suffix: String = (0..12).map(|_| fastrand::alphanumeric()).collect();
        let store = Store::new(client.clone(), format!("ackbox-test-{suffix}"));
        Self { store, client }
    }

    /// A store on a fresh table.
    pub(crate) async fn start() -> Self {
        let engine = Self::empty().await;
        engine.store.create_table().await.unwrap();
        engine
    }

    /// Another store on the same table, as another process has it, and what leaves it.
    pub(crate) fn recorded(&self) -> (Store, Recorder) {
        let recorder = Recorder::default();
        let config = self.client.config().to_builder();
        let config = config.interceptor(recorder.clone()).build();
        let store = Store::new(Client::from_conf(config), self.store.table());
        (store, recorder)
    }

    /// Every item of the table but META, by sort key and partition key.
    pub(crate) async fn items(&self) -> Vec<Item> {
        let pages = self.client.scan().table_name(self.store.table());
        let pages = pages.consistent_read(true).into_paginator().items().send();
        let mut items: Vec<Item> = pages.try_collect().await.unwrap();
        items.retain(|item| text(item, attribute::SK) != schema::kind::META);
        items.sort_by_key(|item| (text(item, attribute::PK), text(item, attribute::SK)));
        items
    }

    /// What the index lists of a class and name.
    pub(crate) async fn listed(&self, class: Class, name: &str) -> Vec<Listed> {
        let name = name.parse().unwrap();
        self.store.list(class, &name, 100).await.unwrap()
    }

    /// The sort keys of all items but META, in order.
    pub(crate) async fn kinds(&self) -> Vec<String> {
        let items = self.items().await;
        let mut kinds: Vec<_> = items.iter().map(|item| text(item, attribute::SK)).collect();
        kinds.sort();
        kinds
    }

    pub(crate) async fn item(&self, key: &ActionKey, kind: &str) -> Option<Item> {
        let get = self.client.get_item().table_name(self.store.table());
        let get = get
            .set_key(Some(primary_key(key, kind)))
            .consistent_read(true);
        get.send().await.unwrap().item
    }

    pub(crate) async fn delete(&self, key: &ActionKey, kind: &str) {
        let delete = self.client.delete_item().table_name(self.store.table());
        delete
            .set_key(Some(primary_key(key, kind)))
            .send()
            .await
            .unwrap();
    }

    pub(crate) async fn put(&self, item: Item) {
        let put = self.client.put_item().table_name(self.store.table());
        put.set_item(Some(item)).send().await.unwrap();
    }
}

fn primary_key(key: &ActionKey, kind: &str) -> Item {
    let s = |text: &str| AttributeValue::S(text.to_owned());
    Item::from([
        (attribute::PK.to_owned(), s(&schema::action_pk(key))),
        (attribute::SK.to_owned(), s(kind)),
    ])
}

pub(crate) fn text(item: &Item, name: &str) -> String {
    item[name].as_s().unwrap().clone()
}

/// A deadline that no test on a working engine reaches.
pub(crate) fn soon() -> Deadline {
    Instant::now() + Duration::from_secs(60)
}
