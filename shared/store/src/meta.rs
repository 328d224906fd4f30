//! META: every source, destination, job space and rule that the table has ever seen. It only grows, so that the
//! sweep finds the entries of a destination that the configuration does not know any more, and whoever compares
//! finds what an edit of the configuration would give other keys.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ackbox_domain::{Action, Name, RuleIdentity};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::error::failed;
use crate::expression::{Update, n, s};
use crate::retry::{read_deadline, within};
use crate::schema::{RULES_BYTES_MAX, RULES_MAX, SCHEMA_VERSION, attribute, kind};
use crate::{Deadline, ItemError, Store, StoreError};

const READ: &str = "reading META";
const REMEMBER: &str = "remembering the names in use";

/// What the table knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The schema version that the table was begun with; `None` where nothing was ever accepted.
    pub schema_version: Option<u32>,
    /// Every destination that ever had an entry, or was paused.
    pub destinations: BTreeSet<Name>,
    /// Every source of which an action was accepted, or an observation of a job kept.
    pub sources: BTreeSet<Name>,
    /// Every job space that ever had a job.
    pub spaces: BTreeSet<Name>,
    /// The rules that ever made an action, up to [`RULES_MAX`], as they were then.
    pub rules: BTreeSet<RuleIdentity>,
}

impl Meta {
    /// Whether no other rule is remembered.
    pub fn is_full_of_rules(&self) -> bool {
        let bytes: usize = self.rules.iter().map(|rule| rule.to_string().len()).sum();
        self.rules.len() >= RULES_MAX || bytes >= RULES_BYTES_MAX
    }
}

/// Names that are about to be used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used<'n> {
    pub(crate) source: Option<&'n Name>,
    pub(crate) destination: Option<&'n Name>,
    pub(crate) space: Option<&'n Name>,
    pub(crate) rule: Option<&'n RuleIdentity>,
}

impl<'n> Used<'n> {
    /// By an action, and the rule that made it, if one did.
    pub(crate) const fn by_action(action: &'n Action, rule: Option<&'n RuleIdentity>) -> Self {
        Self {
            source: Some(&action.source),
            destination: Some(&action.destination),
            space: None,
            rule,
        }
    }

    /// By a job.
    pub(crate) const fn by_job(space: &'n Name) -> Self {
        Self {
            source: None,
            destination: None,
            space: Some(space),
            rule: None,
        }
    }

    /// By an observation of a job.
    pub(crate) const fn by_observation(source: &'n Name, space: &'n Name) -> Self {
        Self {
            source: Some(source),
            destination: None,
            space: Some(space),
            rule: None,
        }
    }

    /// By an operator, who speaks of a destination.
    pub(crate) const fn by_operator(destination: &'n Name) -> Self {
        Self {
            source: None,
            destination: Some(destination),
            space: None,
            rule: None,
        }
    }

    fn are_in(self, meta: &Meta) -> bool {
        let has = |name: Option<&Name>, set: &BTreeSet<Name>| name.is_none_or(|n| set.contains(n));
        has(self.source, &meta.sources)
            && has(self.destination, &meta.destinations)
            && has(self.space, &meta.spaces)
            && self.rule.is_none_or(|rule| meta.rules.contains(rule))
    }

    fn alone(self) -> Meta {
        let set = |name: Option<&Name>| name.cloned().into_iter().collect();
        Meta {
            schema_version: None,
            sources: set(self.source),
            destinations: set(self.destination),
            spaces: set(self.space),
            rules: self.rule.cloned().into_iter().collect(),
        }
    }
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

    fn knows(&self, used: Used<'_>) -> bool {
        self.lock().as_ref().is_some_and(|meta| used.are_in(meta))
    }

    fn is_full_of_rules(&self) -> bool {
        self.lock().as_ref().is_some_and(Meta::is_full_of_rules)
    }

    fn learn(&self, meta: Meta) {
        let mut known = self.lock();
        let known = known.get_or_insert_default();
        known.sources.extend(meta.sources);
        known.destinations.extend(meta.destinations);
        known.spaces.extend(meta.spaces);
        known.rules.extend(meta.rules);
    }
}

#[derive(Deserialize)]
struct MetaItem {
    v: Option<u32>,
    #[serde(default)]
    destinations: BTreeSet<Name>,
    #[serde(default)]
    sources: BTreeSet<Name>,
    #[serde(default)]
    spaces: BTreeSet<Name>,
    #[serde(default)]
    rules: BTreeSet<String>,
}

impl Store {
    /// Reads META. A table that never accepted anything has none: empty sets.
    pub async fn meta(&self) -> Result<Meta, StoreError> {
        self.read_meta(read_deadline()).await
    }

    /// Makes sure that META has these names, before anything of theirs is accepted. One read in a
    /// process's life, a write only for a name that was never seen.
    pub(crate) async fn remember(
        &self,
        mut used: Used<'_>,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let known = &self.inner.known;
        if known.knows(used) {
            return Ok(());
        }
        if !known.has_read() {
            known.learn(self.read_meta(deadline).await?);
            if known.knows(used) {
                return Ok(());
            }
        }
        if known.is_full_of_rules() {
            used.rule = None;
            if known.knows(used) {
                return Ok(());
            }
        }
        within(deadline, REMEMBER, || async { self.add_names(used).await }).await?;
        known.learn(used.alone());
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
                spaces: item.spaces,
                // A line of another version says nothing to this one.
                rules: item
                    .rules
                    .iter()
                    .filter_map(|line| line.parse().ok())
                    .collect(),
            })
        })
        .await
    }

    async fn add_names(&self, used: Used<'_>) -> Result<(), StoreError> {
        let set = |text: String| AttributeValue::Ss(vec![text]);
        let mut update = Update::default();
        update.set_once(attribute::VERSION, n(u64::from(SCHEMA_VERSION)));
        for (attribute, name) in [
            (attribute::SOURCES, used.source),
            (attribute::DESTINATIONS, used.destination),
            (attribute::SPACES, used.space),
        ] {
            if let Some(name) = name {
                update.add(attribute, set(name.as_str().to_owned()));
            }
        }
        if let Some(rule) = used.rule {
            update.add(attribute::RULES, set(rule.to_string()));
        }
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
