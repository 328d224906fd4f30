//! What of a rule is in the identity of its actions, as one line of text: so that an edit of it is seen by whoever
//! compares. What must never happen: that two rules whose actions have other keys give one line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::job;
use crate::name::Name;
use crate::notice;
use crate::source::{KeyPart, Rule, Source};

/// The identity of a rule: its namespace and the parts of its key; beside it who it is, and what its fingerprints
/// are made of.
///
/// ```
/// use ackbox_domain::RuleIdentity;
///
/// let line = r#"["stripe","paid","stripe/paid",["message:id"],"00112233aabbccdd"]"#;
/// let identity: RuleIdentity = line.parse().unwrap();
/// assert_eq!(identity.rule.as_str(), "paid");
/// assert_eq!(identity.to_string(), line);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleIdentity {
    /// The source, as it was called then.
    pub source: Name,
    /// The rule, as it was called then.
    pub rule: Name,
    /// The namespace of its keys.
    pub namespace: String,
    /// The parts of its keys, in order, by name; the part `source` with its value: `source=stripe`.
    pub parts: Vec<String>,
    /// The hash of its fingerprint's recipe, in hex.
    pub recipe: String,
}

/// A text that is no line of a rule.
#[derive(Debug, thiserror::Error)]
#[error("no line of a rule: {0}")]
pub struct RuleIdentityError(#[from] serde_json::Error);

/// As it is written: a JSON array, which no character of a pointer can break.
#[derive(Serialize, Deserialize)]
struct Line(Name, Name, String, Vec<String>, String);

impl RuleIdentity {
    /// That of a configured rule.
    pub fn of(source: &Source, rule: &Rule) -> Self {
        let part = |part: &KeyPart| part_of(&part.to_string(), source.identity().as_str());
        Self {
            source: source.name.clone(),
            rule: rule.name.clone(),
            namespace: rule.namespace.clone(),
            parts: rule.key.iter().map(part).collect(),
            recipe: hex(&rule.recipe()),
        }
    }

    /// That of the rule which made an action; `None` where no rule did: the steps of jobs and our own notices.
    pub fn of_action(action: &Action) -> Option<Self> {
        if action.namespace == job::NAMESPACE || notice::is_notice(&action.source) {
            return None;
        }
        let parts = action.parts.iter();
        Some(Self {
            source: action.source.clone(),
            rule: action.rule.clone(),
            namespace: action.namespace.clone(),
            parts: parts
                .map(|(name, value)| part_of(name, value.as_str()))
                .collect(),
            recipe: hex(&action.fingerprint.recipe),
        })
    }

    /// Whether the actions of both have the same keys.
    pub fn makes_the_keys_of(&self, other: &Self) -> bool {
        self.namespace == other.namespace && self.parts == other.parts
    }
}

/// Of the parts, only the source's name is fixed by the configuration.
fn part_of(name: &str, value: &str) -> String {
    if name == "source" {
        format!("{name}={value}")
    } else {
        name.to_owned()
    }
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

impl fmt::Display for RuleIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = Line(
            self.source.clone(),
            self.rule.clone(),
            self.namespace.clone(),
            self.parts.clone(),
            self.recipe.clone(),
        );
        f.write_str(&serde_json::to_string(&line).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for RuleIdentity {
    type Err = RuleIdentityError;

    fn from_str(text: &str) -> Result<Self, RuleIdentityError> {
        let Line(source, rule, namespace, parts, recipe) = serde_json::from_str(text)?;
        Ok(Self {
            source,
            rule,
            namespace,
            parts,
            recipe,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::tests::{made, rule, source};
    use crate::source::FingerprintPart;

    #[test]
    fn an_action_tells_the_line_of_its_rule() {
        let mut source = source();
        source.previously = vec!["exports".parse().unwrap()];
        source.rules = vec![rule("ready", &["source", "message:id", "/a b\"~1"])];
        source.rules[0].on = vec!["*".into()];
        source.rules[0].fingerprint = vec![FingerprintPart::Body];
        let actions = made(&source, &[], br#"{"a b\"/":1}"#);
        let action = actions[0].as_ref().unwrap();
        let line = RuleIdentity::of(&source, &source.rules[0]);
        assert_eq!(line.parts, ["source=exports", "message:id", "/a b\"~1"]);
        assert_eq!(RuleIdentity::of_action(action), Some(line.clone()));
        assert_eq!(line.to_string().parse::<RuleIdentity>().unwrap(), line);
    }

    #[test]
    fn what_no_rule_made_has_no_line() {
        let source = source();
        let actions = made(&source, &[], br#"{"type":"export.ready"}"#);
        let mut action = actions[0].clone().unwrap();
        action.namespace = job::NAMESPACE.to_owned();
        assert_eq!(RuleIdentity::of_action(&action), None);
        let mut notice = actions[0].clone().unwrap();
        notice.source = notice::SOURCE.parse().unwrap();
        assert_eq!(RuleIdentity::of_action(&notice), None);
    }

    #[test]
    fn a_text_that_is_no_line_is_told() {
        for text in ["", "{}", "[]", r#"["A b","r","n",[],""]"#] {
            assert!(text.parse::<RuleIdentity>().is_err(), "{text}");
        }
    }
}
