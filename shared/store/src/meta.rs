//! META: every source and destination that the table has ever seen. It only grows, so that the sweep
//! finds the entries of a destination that the configuration does not know any more.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ackbox_domain::Name;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::error::failed;
use crate::expression::{Update, n, s};
use crate::retry::{read_deadline, within};
use crate::schema::{SCHEMA_VERSION, attribute, kind};
use crate::{Deadline, ItemError, Store, StoreError};

const READ: &str = "reading META";
const REMEMBER: &str = "remembering a source and a destination";

/// What the table knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The schema version that the table was begun with; `None` where nothing was ever accepted.
    pub schema_version: Option<u32>,
    /// Every destination that ever had an entry.
    pub destinations: BTreeSet<Name>,
    /// Every source that ever had an action accepted.
    pub sources: BTreeSet<Name>,
}

/// What this process knows of META: what it has read or written.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<Meta>>);

impl Known {
    fn lock(&self) -> MutexGuard<'_, Option<Meta>> {
        // Nothing panics while it is locked, and a set of names is never half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_read(&self) -> bool {
        self.lock().is_some()
    }

    fn knows(&self, source: &Name, destination: &Name) -> bool {
        self.lock().as_ref().is_some_and(|meta| {
            meta.sources.contains(source) && meta.destinations.contains(destination)
        })
    }

    fn learn(&self, meta: Meta) {
        let mut known = self.lock();
        let known = known.get_or_insert_default();
        known.sources.extend(meta.sources);
        known.destinations.extend(meta.destinations);
    }
}

#[derive(Deserialize)]
struct MetaItem {
    v: Option<u32>,
    #[serde(default)]
    destinations: BTreeSet<Name>,
    #[serde(default)]
    sources: BTreeSet<Name>,
}

impl Store {
    /// Reads META. A table that never accepted anything has none: empty sets.
    pub async fn meta(&self) -> Result<Meta, StoreError> {
        self.read_meta(read_deadline()).await
    }

    /// Makes sure that META names this source and destination, before anything of theirs is
    /// accepted. One read in a process's life, a write only for a name that was never seen.
    pub(crate) async fn remember(
        &self,
        source: &Name,
        destination: &Name,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let known = &self.inner.known;
        if known.knows(source, destination) {
            return Ok(());
        }
        if !known.has_read() {
            known.learn(self.read_meta(deadline).await?);
            if known.knows(source, destination) {
                return Ok(());
            }
        }
        within(deadline, REMEMBER, || async {
            self.add_names(source, destination).await
        })
        .await?;
        known.learn(Meta {
            schema_version: None,
            sources: BTreeSet::from([source.clone()]),
            destinations: BTreeSet::from([destination.clone()]),
        });
        Ok(())
    }

    async fn read_meta(&self, deadline: Deadline) -> Result<Meta, StoreError> {
        within(deadline, READ, || async {
            let request = self
                .inner
                .client
                .get_item()
                .table_name(&self.inner.table)
                .key(attribute::PK, s(kind::META))
                .key(attribute::SK, s(kind::META));
            let answer = request.send().await.map_err(|e| self.read_meta_failed(e))?;
            let Some(item) = answer.item else {
                return Ok(Meta::default());
            };
            // Read whatever its version: the sets of names keep their meaning.
            let item: MetaItem = serde_dynamo::from_item(item).map_err(|e| {
                StoreError::Item(ItemError::Broken {
                    what: format!("META: {e}"),
                })
            })?;
            Ok(Meta {
                schema_version: item.v,
                destinations: item.destinations,
                sources: item.sources,
            })
        })
        .await
    }

    async fn add_names(&self, source: &Name, destination: &Name) -> Result<(), StoreError> {
        let set = |name: &Name| AttributeValue::Ss(vec![name.as_str().to_owned()]);
        let mut update = Update::default();
        update.set_once(attribute::VERSION, n(u64::from(SCHEMA_VERSION)));
        update.add(attribute::SOURCES, set(source));
        update.add(attribute::DESTINATIONS, set(destination));
        let request = self
            .inner
            .client
            .update_item()
            .table_name(&self.inner.table)
            .key(attribute::PK, s(kind::META))
            .key(attribute::SK, s(kind::META));
        match update.on(request).send().await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.add_names_failed(error)),
        }
    }

    fn read_meta_failed(&self, error: SdkError<GetItemError>) -> StoreError {
        failed(READ, &self.inner.table, error)
    }

    fn add_names_failed(&self, error: SdkError<UpdateItemError>) -> StoreError {
        failed(REMEMBER, &self.inner.table, error)
    }
}
