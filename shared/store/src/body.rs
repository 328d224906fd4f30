//! A rendered body as attributes, and back: the same bytes. Deflated where the caller finds that it pays.

use std::io::Read;

use ackbox_domain::RenderedBody;
use flate2::Compression;
use flate2::bufread::{DeflateDecoder, DeflateEncoder};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::schema::attribute;

/// What a stored body may expand to, in bytes: a source lets in 6 MiB, and an envelope holds that in
/// base64. Nothing larger is ever deflated here, so whatever is larger was not written by this code.
const EXPANDED_MAX: usize = 16 * 1024 * 1024;

/// The attributes of a body; part of the outbox, payload and conflict items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BodyAttributes {
    #[serde(rename = "body", skip_serializing_if = "Option::is_none", default)]
    raw: Option<ByteBuf>,
    #[serde(rename = "body_z", skip_serializing_if = "Option::is_none", default)]
    deflated: Option<ByteBuf>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    content_type: Option<String>,
    #[serde(rename = "coding", skip_serializing_if = "Option::is_none", default)]
    content_encoding: Option<String>,
}

/// A body that does not unpack.
#[derive(Debug, thiserror::Error)]
#[error("the deflated body does not unpack")]
pub(crate) struct NotUnpacked;

impl BodyAttributes {
    /// The bytes as they are.
    pub(crate) fn plain(body: &RenderedBody) -> Self {
        Self {
            raw: Some(ByteBuf::from(body.bytes.clone())),
            deflated: None,
            content_type: body.content_type.clone(),
            content_encoding: body.content_encoding.clone(),
        }
    }

    /// The bytes deflated, where that is smaller. What came with a content encoding is compressed
    /// already and stays as it is, and so does what would not be unpacked again.
    pub(crate) fn smallest(body: &RenderedBody) -> Self {
        let mut attributes = Self::plain(body);
        if body.content_encoding.is_some() || body.bytes.len() > EXPANDED_MAX {
            return attributes;
        }
        let mut deflated = Vec::new();
        let done = DeflateEncoder::new(body.bytes.as_slice(), Compression::default())
            .read_to_end(&mut deflated);
        // The attribute's name is longer too.
        let saved = attribute::BODY_DEFLATED.len() - attribute::BODY.len();
        if done.is_ok() && deflated.len() + saved < body.bytes.len() {
            attributes.raw = None;
            attributes.deflated = Some(ByteBuf::from(deflated));
        }
        attributes
    }

    /// What these attributes add to an item.
    pub(crate) fn size(&self) -> usize {
        let named = |name: &str, length: Option<usize>| length.map_or(0, |l| name.len() + l);
        named(attribute::BODY, self.raw.as_ref().map(|b| b.len()))
            + named(
                attribute::BODY_DEFLATED,
                self.deflated.as_ref().map(|b| b.len()),
            )
            + named(
                attribute::CONTENT_TYPE,
                self.content_type.as_ref().map(String::len),
            )
            + named(
                attribute::CONTENT_ENCODING,
                self.content_encoding.as_ref().map(String::len),
            )
    }

    /// The body; `None` where the item has none.
    pub(crate) fn unpack(self) -> Result<Option<RenderedBody>, NotUnpacked> {
        let bytes = match (self.raw, self.deflated) {
            (Some(raw), _) => raw.into_vec(),
            (None, Some(deflated)) => inflate(&deflated, EXPANDED_MAX)?,
            (None, None) => return Ok(None),
        };
        Ok(Some(RenderedBody {
            bytes,
            content_type: self.content_type,
            content_encoding: self.content_encoding,
        }))
    }
}

fn inflate(deflated: &[u8], max: usize) -> Result<Vec<u8>, NotUnpacked> {
    let mut bytes = Vec::new();
    let mut limited = DeflateDecoder::new(deflated).take(max as u64 + 1);
    let read = limited.read_to_end(&mut bytes).map_err(|_| NotUnpacked)?;
    if read > max {
        return Err(NotUnpacked);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(bytes: &[u8], content_encoding: Option<&str>) -> RenderedBody {
        RenderedBody {
            bytes: bytes.to_vec(),
            content_type: Some("application/json".to_owned()),
            content_encoding: content_encoding.map(ToOwned::to_owned),
        }
    }

    proptest! {
        #[test]
        fn any_body_comes_back_byte_for_byte(bytes: Vec<u8>, times in 1_usize..200) {
            let body = body(&bytes.repeat(times), None);
            let smallest = BodyAttributes::smallest(&body);
            prop_assert!(smallest.size() <= BodyAttributes::plain(&body).size());
            prop_assert_eq!(smallest.unpack().unwrap(), Some(body.clone()));
            prop_assert_eq!(BodyAttributes::plain(&body).unpack().unwrap(), Some(body));
        }
    }

    #[test]
    fn a_body_is_deflated_only_where_that_is_smaller() {
        let long = body(&[b'a'; 1000], None);
        assert!(BodyAttributes::smallest(&long).size() < 100);
        let short = body(b"{}", None);
        assert_eq!(
            BodyAttributes::smallest(&short),
            BodyAttributes::plain(&short)
        );
        let encoded = body(&[b'a'; 1000], Some("gzip"));
        assert_eq!(
            BodyAttributes::smallest(&encoded),
            BodyAttributes::plain(&encoded)
        );
    }

    #[test]
    fn garbage_does_not_unpack() {
        let garbage = BodyAttributes {
            deflated: Some(ByteBuf::from(vec![0xff; 20])),
            ..BodyAttributes::default()
        };
        assert!(garbage.unpack().is_err());
    }

    #[test]
    fn what_expands_too_far_is_neither_unpacked_nor_written() {
        let deflated = BodyAttributes::smallest(&body(&[b'a'; 1000], None)).deflated;
        let deflated = deflated.unwrap();
        assert_eq!(inflate(&deflated, 1000).unwrap(), [b'a'; 1000]);
        assert!(inflate(&deflated, 999).is_err());
        let largest = body(&vec![b'a'; EXPANDED_MAX + 1], None);
        assert_eq!(
            BodyAttributes::smallest(&largest),
            BodyAttributes::plain(&largest)
        );
    }

    #[test]
    fn an_item_without_body_attributes_has_no_body() {
        assert_eq!(BodyAttributes::default().unpack().unwrap(), None);
    }
}
