//! A sample body for a sender that was given none: a small one per scheme, kept as data, made to fit the
//! source's rules. The same id and event give the same bytes, so that sending it again is a duplicate.

use ackbox_domain::{EventPattern, Source};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fit::fit;

/// One sample: what a sender would send. In its texts `$id`, `$event` and `$status` (what stands behind
/// the last dot, slash or underscore of the event) are replaced.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Sample {
    /// The event that it is about.
    event: String,
    /// What the sender's ids begin with.
    #[serde(default)]
    id_prefix: String,
    /// The id in the header, where it is not the id itself.
    #[serde(default)]
    header_id: Option<String>,
    body: Box<RawValue>,
}

macro_rules! samples {
    ($($slug:literal),* $(,)?) => {
        &[$(($slug, include_str!(concat!("../../../samples/", $slug, ".json")))),*]
    };
}

/// The samples by scheme; every other sender gets that of `token`.
const SAMPLES: &[(&str, &str)] = samples![
    "github",
    "openrouter",
    "shopify",
    "slack",
    "standard-webhooks",
    "stripe",
    "sume",
    "svix",
    "token",
    "tornado",
    "tornado-key",
];

const FALLBACK: &str = "token";

impl Sample {
    /// The sample of a scheme.
    pub(super) fn of(slug: &str) -> Self {
        let text = |wanted: &str| {
            SAMPLES
                .iter()
                .find(|(have, _)| *have == wanted)
                .map(|(_, text)| *text)
        };
        let text = text(slug).or_else(|| text(FALLBACK)).unwrap_or_default();
        serde_json::from_str(text).expect("every sample is read by a test")
    }

    /// An event that one of the source's rules wants: the sample's own if one does, else the first that a
    /// rule names.
    pub(super) fn event_for(&self, source: Option<&Source>) -> String {
        let rules = source.map_or(&[][..], |source| &source.rules);
        if rules.is_empty() || rules.iter().any(|rule| rule.wants(Some(&self.event))) {
            return self.event.clone();
        }
        let patterns = rules.iter().flat_map(|rule| &rule.on);
        patterns
            .filter_map(|pattern| match pattern {
                EventPattern::Any => None,
                EventPattern::Exact(event) => Some(event.clone()),
                EventPattern::Prefix(prefix) => Some(format!("{prefix}sample")),
            })
            .next()
            .unwrap_or_else(|| self.event.clone())
    }

    /// An id that nobody has used.
    pub(super) fn fresh_id(&self) -> String {
        let mut id = self.id_prefix.clone();
        id.extend(std::iter::repeat_with(fastrand::alphanumeric).take(20));
        id
    }

    /// The id in the header, for senders that have one there.
    pub(super) fn header_id(&self, id: &str, event: &str) -> String {
        match &self.header_id {
            Some(template) => fill(template, id, event),
            None => id.to_owned(),
        }
    }

    /// The body: with every value that the source's rules read for their keys.
    pub(super) fn body(&self, id: &str, event: &str, source: Option<&Source>) -> Vec<u8> {
        let text = fill(self.body.get(), &inner(id), &inner(event));
        let Some(source) = source else {
            return text.into_bytes();
        };
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            return text.into_bytes();
        };
        let fitted = fit(value.clone(), source, id, event);
        // Only what had to be changed is written anew: the sender's own order of names is kept else.
        if fitted == value {
            text.into_bytes()
        } else {
            fitted.to_string().into_bytes()
        }
    }
}

/// A text as it stands inside the quotes of a JSON string.
fn inner(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn fill(template: &str, id: &str, event: &str) -> String {
    let status = event.rsplit(['.', '/', '_']).next().unwrap_or(event);
    // One pass, so that a `$` in a value is left alone.
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let values = [("id", id), ("event", event), ("status", status)];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len()..];
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scheme_has_a_sample_that_can_be_read() {
        for slug in ackbox_signature::Scheme::builtin_slugs() {
            assert!(SAMPLES.iter().any(|(have, _)| *have == slug), "{slug}");
            let sample = Sample::of(slug);
            let body = sample.body(&sample.fresh_id(), &sample.event, None);
            let value: Value = serde_json::from_slice(&body).unwrap();
            assert!(!value.to_string().contains('$'), "{slug}: {value}");
        }
    }

    #[test]
    fn one_id_and_event_give_one_body() {
        let sample = Sample::of("stripe");
        let body = |id| sample.body(id, "invoice.paid", None);
        assert_eq!(body("evt_1"), body("evt_1"));
        assert_ne!(body("evt_1"), body("evt_2"));
        assert_ne!(sample.fresh_id(), sample.fresh_id());
    }

    #[test]
    fn values_that_are_no_json_text_are_escaped() {
        let body = Sample::of("stripe").body("a\"b$event\\", "x\n", None);
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["id"], "a\"b$event\\");
        assert_eq!(value["type"], "x\n");
    }
}
