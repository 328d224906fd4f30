//! The envelope: what a destination receives where the rule says `payload = "envelope"`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Action, RenderedBody};
use crate::observation::Observation;

/// The fields, in the order in which they are sent.
#[derive(Serialize)]
struct Envelope<'a> {
    /// The action key.
    key: &'a str,
    source: &'a str,
    event: Option<&'a str>,
    subject: Option<&'a str>,
    /// RFC 3339, UTC, milliseconds.
    accepted_at: String,
    /// The fact as the sender wrote it, where it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    /// The fact's bytes in standard base64, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_base64: Option<String>,
}

/// Renders the envelope of an action whose identity is complete.
pub(super) fn render(action: &Action, observation: &Observation<'_>) -> RenderedBody {
    let data = readable(observation);
    let data_base64 = data
        .is_none()
        .then(|| data_encoding::BASE64.encode(observation.raw()));
    sealed(action, data, data_base64)
}

/// The envelope of an action whose fact is of our own making.
pub(crate) fn of_our_own(action: &Action, data: &RawValue) -> RenderedBody {
    sealed(action, Some(data), None)
}

fn sealed(action: &Action, data: Option<&RawValue>, data_base64: Option<String>) -> RenderedBody {
    let envelope = Envelope {
        key: action.key.as_str(),
        source: action.source.as_str(),
        event: action.event.as_deref(),
        subject: action.subject.as_deref(),
        accepted_at: action.accepted_at.to_string(),
        data,
        data_base64,
    };
    RenderedBody {
        bytes: serde_json::to_vec(&envelope).expect("texts and raw JSON always serialise"),
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
    }
}

/// The fact as raw JSON, where all of it is JSON.
fn readable<'a>(observation: &'a Observation<'_>) -> Option<&'a RawValue> {
    match observation.element {
        Some(element) => serde_json::from_str(element).ok(),
        None => {
            let text = observation.document.text().ok()?;
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            serde_json::from_slice(text).ok()
        }
    }
}
