//! New actions that an operator has made of what the table holds: the same body to the same destination, under
//! a key that says what it comes from.

use crate::acceptance::Fingerprint;
use crate::action::{Action, ActionKey, RenderedBody};
use crate::json::Scalar;
use crate::name::Name;
use crate::time::Timestamp;

/// The namespaces of what is sent as a new action, and of what is made of a conflict.
const REDRIVE: &str = "ackbox/redrive";
const SUPERSEDE: &str = "ackbox/supersede";

/// What the table holds of an action, or of other content under its key.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// The key.
    pub key: &'a ActionKey,
    /// The content's fingerprint; none: its record has expired.
    pub fingerprint: Option<&'a Fingerprint>,
    /// The source.
    pub source: &'a Name,
    /// The rule; none: its record has expired.
    pub rule: Option<&'a Name>,
    /// The account, where the source told.
    pub account: Option<&'a str>,
    /// What the fact is about, where the source told.
    pub subject: Option<&'a str>,
    /// The event's type.
    pub event: Option<&'a str>,
    /// The message's own id, where the source told.
    pub message_id: Option<&'a str>,
    /// Where it goes.
    pub destination: &'a Name,
    /// What is sent.
    pub body: &'a RenderedBody,
}

impl Content<'_> {
    /// The action that is sent in the place of this one, for a destination that would ignore its key. Another
    /// `nonce` is another action. The body is the same, also where it has the old key in it.
    pub fn as_new(&self, nonce: &str, now: Timestamp) -> Action {
        self.action(REDRIVE, ("redrive", nonce), now)
    }

    /// The action that is made of other content under a known key. The same content makes the same action,
    /// whoever asks for it and however often.
    pub fn superseding(&self, fingerprint: &Fingerprint, now: Timestamp) -> Action {
        let print = data_encoding::HEXLOWER.encode(&fingerprint.hash);
        self.action(SUPERSEDE, ("fingerprint", &print), now)
    }

    fn action(&self, namespace: &str, (name, value): (&str, &str), now: Timestamp) -> Action {
        let part = |name: &str, value: &str| (name.to_owned(), Scalar::Text(value.to_owned()));
        let parts = vec![part("of", self.key.as_str()), part(name, value)];
        let key = ActionKey::new(namespace, parts.iter().map(|(_, value)| value));
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Action {
            fingerprint: self
                .fingerprint
                .copied()
                .unwrap_or_else(|| Fingerprint::of_our_own("redrive", &key)),
            key,
            namespace: namespace.to_owned(),
            parts,
            source: self.source.clone(),
            rule: self.rule.unwrap_or(self.source).clone(),
            account: owned(self.account),
            subject: owned(self.subject),
            event: owned(self.event),
            message_id: owned(self.message_id),
            destination: self.destination.clone(),
            body: self.body.clone(),
            accepted_at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);

    #[test]
    fn a_new_action_says_what_it_comes_from() {
        let (source, destination) = ("orders".parse().unwrap(), "mailer".parse().unwrap());
        let key = ActionKey::new("orders/paid", []);
        let body = RenderedBody {
            bytes: b"{}".to_vec(),
            content_type: None,
            content_encoding: None,
        };
        let held = Content {
            key: &key,
            fingerprint: None,
            source: &source,
            rule: None,
            account: None,
            subject: Some("order 7"),
            event: None,
            message_id: None,
            destination: &destination,
            body: &body,
        };
        let (one, two) = (held.as_new("n1", NOW), held.as_new("n2", NOW));
        assert_ne!(one.key, two.key);
        assert_eq!(
            one.key,
            held.as_new("n1", NOW.plus(Duration::from_secs(1))).key
        );
        assert_eq!(one.parts[0].1.as_str(), key.as_str());
        assert_eq!(
            (&one.body, one.subject.as_deref()),
            (&body, Some("order 7"))
        );
        let print = one.fingerprint;
        assert_eq!(
            held.superseding(&print, NOW).key,
            held.superseding(&print, NOW).key
        );
        assert_ne!(
            held.superseding(&print, NOW).key,
            held.superseding(&two.fingerprint, NOW).key
        );
    }
}
