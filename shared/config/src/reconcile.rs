//! How a destination is asked what became of an action: the question, and what its answers mean.

use std::fmt;
use std::time::Duration;

use ackbox_domain::json::find;
use ackbox_domain::settlement::AnswerRule;
use ackbox_domain::{Pointer, Scalar};
use url::Url;

use crate::reference::SecretRef;

/// `[destination.NAME.reconcile]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconcile {
    /// Where to.
    pub url: UrlTemplate,
    /// How.
    pub method: AskMethod,
    /// The question's own headers: lower-case names, in the order of the file.
    pub headers: Vec<(String, SecretRef)>,
    /// How long one question may take in all.
    pub timeout: Duration,
    /// For how long after the first attempt that may have arrived it is asked.
    pub give_up_after: Duration,
    /// What answers mean; the first that fits counts.
    pub answers: Vec<AnswerRule>,
    /// Whether private addresses and plain `http` are allowed: as for the destination itself.
    pub allow_private: bool,
}

/// The method of a question. None of them may change anything at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskMethod {
    /// Without a body.
    Get,
    /// With an empty body, for destinations that look up by POST.
    Post,
}

fn scalar_at(body: &[u8], pointer: &Pointer) -> Option<Scalar> {
    let raw = find(body, pointer).ok()??;
    Scalar::from_raw(raw).ok()
}

/// A URL with places for the action's key (`{key}`) and for values of the body that was sent
/// (`{/pointer}`). A place stands only behind the host, so that no value chooses who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTemplate(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Key,
    Value(Pointer),
}

impl UrlTemplate {
    /// Reads a template; the error continues "the URL ..".
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, behind) = after
                .split_once('}')
                .ok_or("has a { without its }; write {key} or {/pointer}")?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(match place {
                "key" => Piece::Key,
                pointer if pointer.starts_with('/') => {
                    let pointer = pointer.parse().map_err(|why| {
                        format!("has {{{pointer}}}, which is no JSON pointer: {why}")
                    })?;
                    Piece::Value(pointer)
                }
                other => {
                    let other = other.escape_debug().take(40).collect::<String>();
                    return Err(format!(
                        "has {{{other}}}; only {{key}} and {{/pointer}} are known"
                    ));
                }
            });
            rest = behind;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        let template = Self(pieces);
        template.places_stand_behind_the_host()?;
        Ok(template)
    }

    fn places_stand_behind_the_host(&self) -> Result<(), String> {
        if self.0.len() == 1 {
            return Err("names no action: it has neither {key} nor a {/pointer}".to_owned());
        }
        let Some(Piece::Text(first)) = self.0.first() else {
            return Err("does not begin with https://".to_owned());
        };
        let host = first.split_once("://").map(|(_, rest)| rest);
        let has_path = host.is_some_and(|rest| rest.contains(['/', '?']));
        has_path.then_some(()).ok_or_else(|| {
            "has a place before its path; a value must not choose the host".to_owned()
        })
    }

    /// The URL with every place filled by a letter: for checks of its form.
    pub(crate) fn example(&self) -> String {
        self.filled(|_| Some("k".to_owned())).unwrap_or_default()
    }

    /// The URL for an action. `None` where the body that was sent does not have a value that it needs.
    pub fn url(&self, key: &str, body: &[u8]) -> Option<Url> {
        let text = self.filled(|piece| match piece {
            Piece::Value(pointer) => Some(scalar_at(body, pointer)?.as_str().to_owned()),
            _ => Some(key.to_owned()),
        })?;
        Url::parse(&text).ok()
    }

    fn filled(&self, value: impl Fn(&Piece) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(own) => text.push_str(own),
                place => text.push_str(&encoded(&value(place)?)),
            }
        }
        Some(text)
    }
}

/// Percent-encoded but for letters, digits, `-`, `_` and `~` (RFC 3986, section 2.3, without the dot:
/// a segment of dots would climb up the path).
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

impl fmt::Display for UrlTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Key => f.write_str("{key}")?,
                Piece::Value(pointer) => write!(f, "{{{}}}", pointer.as_str())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_place() {
        let template = UrlTemplate::parse("https://a.example/x/{/id}/y?k={key}").unwrap();
        let url = template
            .url("act_1", br#"{"id":"../..//evil?a=b#c%00"}"#)
            .unwrap();
        assert_eq!(url.host_str(), Some("a.example"));
        assert_eq!(
            url.path(),
            "/x/%2E%2E%2F%2E%2E%2F%2Fevil%3Fa%3Db%23c%2500/y"
        );
        assert_eq!(url.query(), Some("k=act_1"));
    }

    #[test]
    fn a_body_without_the_value_cannot_be_asked_about() {
        let template = UrlTemplate::parse("https://a.example/{/id}").unwrap();
        for body in ["{}", r#"{"id":null}"#, r#"{"id":{}}"#, "no json"] {
            assert_eq!(template.url("act_1", body.as_bytes()), None, "{body}");
        }
        let url = template
            .url("act_1", br#"{"id":10000000000000000001}"#)
            .unwrap();
        assert_eq!(url.path(), "/10000000000000000001");
    }

    #[test]
    fn a_template_names_the_action_and_not_the_host() {
        for bad in [
            "https://a.example/x",
            "https://{key}.example/x",
            "{key}",
            "https://a.example/{key",
            "https://a.example/{id}",
        ] {
            assert!(UrlTemplate::parse(bad).is_err(), "{bad}");
        }
        let text = "https://a.example/{/a~1b}?key={key}";
        assert_eq!(UrlTemplate::parse(text).unwrap().to_string(), text);
    }
}
