//! Items as typed values: how each is encoded, and how what stands in the table is read. An item of a
//! newer schema version is never read, so that it cannot be misread.

use std::fmt::Display;

use ackbox_domain::{Fingerprint, RenderedBody};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use crate::body::BodyAttributes;
use crate::schema::{SCHEMA_VERSION, attribute, kind};
use crate::size::Attributes;
use crate::{ItemError, StoreError};

pub(crate) mod accepted;
pub(crate) mod conflict;
pub(crate) mod job;
pub(crate) mod observed;
pub(crate) mod outbox;

pub use outbox::outbox_from_item;

/// A fingerprint as attributes; part of the accepted, outbox and conflict items.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrintAttributes {
    print: ByteArray<32>,
    recipe: ByteArray<8>,
    digest: ByteArray<32>,
}

impl From<&Fingerprint> for PrintAttributes {
    fn from(fingerprint: &Fingerprint) -> Self {
        Self {
            print: ByteArray::new(fingerprint.hash),
            recipe: ByteArray::new(fingerprint.recipe),
            digest: ByteArray::new(fingerprint.digest),
        }
    }
}

impl From<PrintAttributes> for Fingerprint {
    fn from(attributes: PrintAttributes) -> Self {
        Self {
            hash: attributes.print.into_array(),
            recipe: attributes.recipe.into_array(),
            digest: attributes.digest.into_array(),
        }
    }
}

/// The payload item: a body that does not fit the outbox item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PayloadItem {
    pub(crate) pk: String,
    pub(crate) sk: String,
    pub(crate) v: u32,
    #[serde(flatten)]
    pub(crate) body: BodyAttributes,
}

impl PayloadItem {
    pub(crate) fn new(pk: String, body: BodyAttributes) -> Self {
        Self {
            pk,
            sk: kind::PAYLOAD.to_owned(),
            v: SCHEMA_VERSION,
            body,
        }
    }

    /// `None` where nothing is left of it but its expiry.
    pub(crate) fn into_body(self) -> Result<Option<RenderedBody>, ItemError> {
        unpacked(self.body)
    }
}

/// An item's attributes for the SDK.
pub(crate) fn encode<T: Serialize>(item: &T) -> Result<Attributes, StoreError> {
    serde_dynamo::aws_sdk_dynamodb_1::to_item(item).map_err(StoreError::Encode)
}

/// Reads an item whose kind is known to be `T`'s.
pub(crate) fn decode<T: DeserializeOwned>(
    item: impl Into<serde_dynamo::Item>,
) -> Result<T, ItemError> {
    let item = item.into();
    readable(&item)?;
    serde_dynamo::from_item(item).map_err(broken)
}

/// Whether this version of the code may read the item at all.
fn readable(item: &serde_dynamo::Item) -> Result<(), ItemError> {
    let Some(serde_dynamo::AttributeValue::N(version)) = item.get(attribute::VERSION) else {
        return Err(broken("it has no schema version"));
    };
    match version.parse::<u32>() {
        Ok(found) if found > SCHEMA_VERSION => Err(ItemError::NewerSchema { found }),
        Ok(_) => Ok(()),
        Err(_) => Err(broken(format!("schema version {version:?}"))),
    }
}

pub(crate) fn unpacked(body: BodyAttributes) -> Result<Option<RenderedBody>, ItemError> {
    body.unpack().map_err(broken)
}

pub(crate) fn broken(what: impl Display) -> ItemError {
    ItemError::Broken {
        what: what.to_string(),
    }
}
