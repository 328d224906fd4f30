//! The accepted item: the tombstone of an action, and what a repetition is compared with.

use std::time::Duration;

use ackbox_domain::{Action, Fingerprint, Name, Scalar, Timestamp};
use serde::{Deserialize, Serialize};

use super::{PrintAttributes, broken};
use crate::schema::{self, SCHEMA_VERSION, kind};
use crate::{AcceptedRecord, ItemError};

/// The accepted item as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AcceptedItem {
    pk: String,
    sk: String,
    v: u32,
    #[serde(flatten)]
    print: PrintAttributes,
    accepted_at: Timestamp,
    source: Name,
    rule: Name,
    dest: Name,
    namespace: String,
    /// What the rule calls the part, the kind of its value, and the value's text.
    parts: Vec<(String, Kind, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// From then on a repetition would be a new action.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// The kind of a key part's value. The value is kept as text: a number's token must not be rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "text")]
    Text,
    #[serde(rename = "number")]
    Number,
    #[serde(rename = "bool")]
    Bool,
}

/// What either item of an accepted pair says of the first acceptance.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct First {
    #[serde(flatten)]
    print: PrintAttributes,
    pub(crate) accepted_at: Timestamp,
}

impl First {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.print.clone().into()
    }
}

impl AcceptedItem {
    /// The item, which is `kept` so long.
    pub(crate) fn new(action: &Action, kept: Duration) -> Self {
        Self {
            pk: schema::action_pk(&action.key),
            sk: kind::ACCEPTED.to_owned(),
            v: SCHEMA_VERSION,
            print: (&action.fingerprint).into(),
            accepted_at: action.accepted_at,
            source: action.source.clone(),
            rule: action.rule.clone(),
            dest: action.destination.clone(),
            namespace: action.namespace.clone(),
            parts: action.parts.iter().map(part).collect(),
            account: action.account.clone(),
            subject: action.subject.clone(),
            event: action.event.clone(),
            message_id: action.message_id.clone(),
            expires_at: Some(action.accepted_at.plus(kept).unix_s()),
        }
    }
}

fn part((name, value): &(String, Scalar)) -> (String, Kind, String) {
    let kind = match value {
        Scalar::Text(_) => Kind::Text,
        Scalar::Number(_) => Kind::Number,
        Scalar::Bool(_) => Kind::Bool,
    };
    (name.clone(), kind, value.as_str().to_owned())
}

fn scalar(kind: Kind, text: String) -> Result<Scalar, ItemError> {
    match (kind, text.as_str()) {
        (Kind::Text, _) => Ok(Scalar::Text(text)),
        (Kind::Number, _) => Ok(Scalar::Number(text)),
        (Kind::Bool, "true") => Ok(Scalar::Bool(true)),
        (Kind::Bool, "false") => Ok(Scalar::Bool(false)),
        (Kind::Bool, other) => Err(broken(format!("the boolean {other:?}"))),
    }
}

impl TryFrom<AcceptedItem> for AcceptedRecord {
    type Error = ItemError;

    fn try_from(item: AcceptedItem) -> Result<Self, ItemError> {
        let parts = item
            .parts
            .into_iter()
            .map(|(name, kind, text)| Ok((name, scalar(kind, text)?)))
            .collect::<Result<_, ItemError>>()?;
        Ok(Self {
            namespace: item.namespace,
            parts,
            fingerprint: item.print.into(),
            source: item.source,
            rule: item.rule,
            account: item.account,
            subject: item.subject,
            event: item.event,
            message_id: item.message_id,
            destination: item.dest,
            accepted_at: item.accepted_at,
        })
    }
}
