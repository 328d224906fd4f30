//! A verified document is followed through its source's rules: in come the document and `now`, out
//! come its facts, each with the actions that the rules make of it. What must never happen: that one
//! part which cannot be used hides another, or is passed over in silence.

use crate::action::{Action, act};
use crate::document::Document;
use crate::freshness::fresh;
use crate::observation::{Malformed, Observation, Problem, observe};
use crate::source::{Payload, Source};
use crate::template::Template;
use crate::time::Timestamp;

/// One fact of a message, and what it leads to.
#[derive(Clone, Debug)]
pub struct Fact<'d> {
    /// The fact.
    pub observation: Observation<'d>,
    /// Its actions, each usable or not by itself. None where no rule wants it, or where the sender
    /// only tests the connection.
    pub actions: Vec<Result<Action, Malformed>>,
}

/// The facts of one document, in the order of its batch, each usable or not by itself. A batch that
/// cannot be read at all is one that is not usable; so is a fact that is older than its source allows.
pub fn follow<'d>(
    source: &Source,
    document: &'d Document<'d>,
    now: Timestamp,
) -> Vec<Result<Fact<'d>, Malformed>> {
    let mut room = Template::RENDERED_IN_ALL_MAX.max(2 * source.max_body);
    let mut fact = |observation| {
        let actions = act(source, &observation, now).into_iter();
        Fact {
            actions: actions
                .map(|action| bounded(source, action?, &mut room))
                .collect(),
            observation,
        }
    };
    observe(source, document)
        .unwrap_or_else(|malformed| vec![Err(malformed)])
        .into_iter()
        .map(|observation| {
            let observation = observation?;
            // What makes nothing may be as old as it is.
            if source.wants(observation.event.as_deref()) {
                fresh(source, &observation, now)?;
            }
            Ok(fact(observation))
        })
        .collect()
}

/// What templates render of one message is bounded in all: a batch may have many elements, and a template
/// may have the whole of the message in each of them. What comes as it came is as large as the message.
fn bounded(source: &Source, action: Action, room: &mut usize) -> Result<Action, Malformed> {
    let rule = source.rules.iter().find(|rule| rule.name == action.rule);
    let Some(Payload::Template(_)) = rule.map(|rule| &rule.payload) else {
        return Ok(action);
    };
    match room.checked_sub(action.body.bytes.len()) {
        Some(left) => {
            *room = left;
            Ok(action)
        }
        None => Err(Malformed {
            rule: Some(action.rule),
            what: "what is sent of this message".to_owned(),
            place: "in all".to_owned(),
            problem: Problem::Oversize(Template::RENDERED_IN_ALL_MAX.max(2 * source.max_body)),
        }),
    }
}
