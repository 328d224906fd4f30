//! Finds, by their bodies, which fact each delivery is about: the senders know no keys, and the
//! destinations know no facts.

use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Word;

use crate::demo::destination::Answered;
use crate::demo::evidence::{Attempt, Evidence, Question};

/// One fact in its senders' eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The senders' name for it.
    pub name: &'static str,
    /// The source it was told to.
    pub source: &'static str,
    /// Whether any sender was promised that it is kept.
    pub promised: bool,
    /// The bodies that were answered with `accepted`: one, if all is well.
    pub accepted: Vec<Vec<u8>>,
}

/// One action: everything that went out under one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its key.
    pub key: String,
    /// The fact it is about; none, where nobody was promised such a thing.
    pub fact: Option<&'static str>,
    /// The fact's source.
    pub source: Option<&'static str>,
    /// Where it went; none, where no destination saw it.
    pub destination: Option<String>,
    /// What its attempts were answered, in order.
    pub answers: Vec<Answered>,
    /// What its destination was asked about it, in order.
    pub asked: Vec<Question>,
    /// Delivered, where a destination confirmed it, by its answer or when it was asked; else where the table says that it stands. None:
    /// no destination confirmed it, and the table does not hold it (or says delivered all the same).
    pub state: Option<EntryState>,
    /// What the table says, whoever is right.
    pub table: Option<EntryState>,
}

/// The facts, in the order in which they were first told.
pub(super) fn facts(evidence: &Evidence) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for sent in &evidence.sent {
        let at = match facts.iter().position(|fact| fact.name == sent.fact) {
            Some(at) => at,
            None => {
                facts.push(Fact {
                    name: sent.fact,
                    source: sent.source,
                    promised: false,
                    accepted: Vec::new(),
                });
                facts.len() - 1
            }
        };
        let Ok(answer) = &sent.answer else { continue };
        facts[at].promised |= answer.promises();
        if answer.accepts() {
            facts[at].accepted.push(sent.body.clone());
        }
    }
    facts
}

/// The actions: those that the destinations saw, in the order of their logs, then those that only the
/// table knows.
pub(super) fn actions(evidence: &Evidence, facts: &[Fact]) -> Vec<Action> {
    let mut keys: Vec<&str> = Vec::new();
    let seen = evidence.attempts.iter().map(|attempt| attempt.key.as_str());
    let kept = evidence.standing.iter().map(|entry| entry.key.as_str());
    for key in seen.chain(kept) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|key| action(evidence, facts, key))
        .collect()
}

fn action(evidence: &Evidence, facts: &[Fact], key: &str) -> Action {
    let attempts = attempts(evidence, key);
    let standing = evidence.standing.iter().find(|entry| entry.key == key);
    let table = standing.map(|entry| entry.state);
    // A fact that only the table knows is found by the body that the table would send.
    let kept = standing.map(|entry| Attempt {
        destination: String::new(),
        at: Duration::ZERO,
        breaker: None,
        keeps_keys: false,
        key: key.to_owned(),
        body: entry.body.clone(),
        answered: Answered::Stalled,
        genuine: None,
    });
    let first = attempts.first().copied().or(kept.as_ref());
    let fact = facts.iter().find(|fact| {
        let own = |first: &Attempt, body: &Vec<u8>| first.carries(body, fact.source);
        let carries = |first: &Attempt| fact.accepted.iter().any(|body| own(first, body));
        first.is_some_and(carries)
    });
    let asked = asked(evidence, key);
    let confirms = (0..asked.len())
        .any(|at| asked[at].means() == Word::Applied && is_behind_a_request(&asked, at));
    let state = if confirms || attempts.iter().any(|attempt| attempt.confirms()) {
        Some(EntryState::Delivered)
    } else {
        table.filter(|state| *state != EntryState::Delivered)
    };
    Action {
        key: key.to_owned(),
        fact: fact.map(|fact| fact.name),
        source: fact.map(|fact| fact.source),
        destination: attempts.first().map(|attempt| attempt.destination.clone()),
        answers: attempts.iter().map(|attempt| attempt.answered).collect(),
        asked,
        state,
        table,
    }
}

/// The attempts under one key, in order.
pub(super) fn attempts<'e>(evidence: &'e Evidence, key: &str) -> Vec<&'e Attempt> {
    evidence
        .attempts
        .iter()
        .filter(|attempt| attempt.key == key)
        .collect()
}

/// The questions about one key, in order.
fn asked(evidence: &Evidence, key: &str) -> Vec<Question> {
    let questions = evidence.questions.iter();
    let own = questions.filter(|question| question.key == key);
    own.cloned().collect()
}

/// Whether, of the questions about one action, the reply to this one can be about a request that the
/// destination had read: an "applied" is about one that it has not called "not applied" before.
pub(super) fn is_behind_a_request(asked: &[Question], at: usize) -> bool {
    let (before, question) = (&asked[..at], &asked[at]);
    let denied = before.iter().filter(|one| one.means() == Word::NotApplied);
    let denied = denied.map(|one| one.after).max().unwrap_or_default();
    match question.means() {
        Word::Applied => question.after > denied,
        Word::NotApplied | Word::StillUnknown => question.after > 0,
    }
}
