//! The one table, and the only crate that knows DynamoDB: actions go in by one conditional
//! transaction, entries are claimed and settled by one conditional update each, and what is due is
//! found by index. Nothing is decided by a read before a write.
//!
//! [`schema`] is the table on one page.

pub mod schema;

mod accept;
mod body;
mod cancelled;
mod claim;
mod client;
mod count;
mod due;
mod error;
mod expression;
mod gauge;
mod item;
mod job;
mod meta;
mod notice;
mod once;
mod operator;
mod pause;
mod random;
mod retry;
mod scan;
mod settle;
mod size;
mod story;
mod table;

use std::sync::Arc;

use ackbox_domain::Retentions;

pub use claim::Claimed;
pub use client::{client, http_client};
pub use count::{COUNTED, Counted};
pub use due::{Between, DueJobs, DuePages, Listed, ListedJob};
pub use error::{ItemError, StoreError};
pub use gauge::{Figure, Gauge, Gauged};
pub use item::outbox_from_item;
pub use job::{
    Bound, Disagreement, Ended, JobAcceptance, JobRecord, JobStory, Observed, ObservedRecord,
    Offer, StillParked,
};
pub use meta::Meta;
pub use operator::{Decided, Heard, OperatorRecord, Redacted, Replacement, Superseded};
pub use pause::PauseChange;
pub use random::random_id;
pub use scan::{Delivered, DeliveredPage, DeliveredPages, TableSize};
pub use schema::Class;
pub use settle::{Change, SettleResult};
pub use story::{AcceptedRecord, ConflictKind, ConflictRecord, Story};
pub use table::Created;

/// Until when an operation may take.
pub type Deadline = tokio::time::Instant;

/// The table. Cheap to clone; clones share what they know of META.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
    notices: Option<Arc<notice::Notices>>,
    retentions: Arc<Retentions>,
}

#[derive(Debug)]
struct Inner {
    client: aws_sdk_dynamodb::Client,
    table: String,
    known: meta::Known,
}

impl Store {
    /// The table of this name, through this client ([`client`] makes one whose retries and timeouts
    /// leave the time budget to this crate).
    pub fn new(client: aws_sdk_dynamodb::Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let known = meta::Known::default();
        let inner = Arc::new(Inner {
            client,
            table,
            known,
        });
        Self {
            inner,
            notices: None,
            retentions: Arc::default(),
        }
    }

    /// The same table; for how long what is written from now on is kept once it is closed.
    #[must_use]
    pub fn keeping(mut self, retentions: Retentions) -> Self {
        self.retentions = Arc::new(retentions);
        self
    }

    /// The table's name.
    pub fn table(&self) -> &str {
        &self.inner.table
    }
}
