//! What became of an observation, in the words of the answers and of the command line.

use ackbox_domain::{Acceptance, ActionKey};
use ackbox_store::JobAcceptance;
use serde::Serialize;

/// What became of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// In one word: `accepted`, `duplicate`, `conflict`, `parked`, `unbound`.
    pub outcome: &'static str,
    /// The actions of the job's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<ToldAction>>,
    /// What it disagrees in.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The same for the log, without values.
    #[serde(skip)]
    logged: Option<String>,
    /// Of what is parked: whether it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ToldAction {
    key: String,
    became: &'static str,
}

impl Told {
    /// What became of it, told.
    pub fn of(became: &JobAcceptance) -> Self {
        let plain = |outcome| Self {
            outcome,
            actions: None,
            why: None,
            logged: None,
            again: None,
        };
        match became {
            JobAcceptance::Ended(actions) => Self::ended(actions),
            JobAcceptance::Duplicate => plain("duplicate"),
            JobAcceptance::Disagrees(why) => Self {
                why: Some(why.to_string()),
                logged: Some(why.without_values()),
                ..plain("conflict")
            },
            JobAcceptance::Parked { again } => Self {
                again: Some(*again),
                ..plain("parked")
            },
            JobAcceptance::Unbound => plain("unbound"),
        }
    }

    /// The end is on the record. An action that another job has made before is a conflict.
    fn ended(actions: &[(ActionKey, Acceptance)]) -> Self {
        let is_conflict =
            |(_, became): &&(ActionKey, Acceptance)| matches!(became, Acceptance::Conflict { .. });
        let conflict = actions.iter().find(is_conflict);
        let told = actions.iter().map(|(key, became)| ToldAction {
            key: key.to_string(),
            became: became.word(),
        });
        Self {
            outcome: if conflict.is_some() { "conflict" } else { "accepted" },
            actions: Some(told.collect()),
            logged: None,
            why: conflict.map(|(key, _)| {
                format!("the job has ended, and the action {key} is another job's, with the same tenant, attempt and step")
            }),
            again: None,
        }
    }

    /// The actions, and what became of each.
    pub fn actions(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let actions = self.actions.iter().flatten();
        actions.map(|action| (action.key.as_str(), action.became))
    }

    /// What it disagrees in.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// The same without values of a body.
    pub(crate) fn logged(&self) -> Option<&str> {
        self.logged.as_deref().or(self.why())
    }
}
