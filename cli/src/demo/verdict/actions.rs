//! Finds, by their bodies, which fact each delivery is about: the senders know no keys, and the
//! destinations know no facts. The end of a job is a fact, too, and each of its steps delivers something.

use std::collections::BTreeSet;
use std::time::Duration;

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Word;

use crate::demo::destination::Answered;
use crate::demo::evidence::{Attempt, Evidence, Question, StepOf};
use crate::demo::job::Job;
use crate::demo::status::Said;

/// One fact in its senders' eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The senders' name for it.
    pub name: &'static str,
    /// The source it was told to; of a job's end: the job space.
    pub source: &'static str,
    /// Whether any sender was promised that it is kept.
    pub promised: bool,
    /// The bodies that were answered with `accepted`: one, if all is well.
    pub accepted: Vec<Vec<u8>>,
    /// The job whose end it is.
    pub job: Option<&'static Job>,
    /// Whether the job's system told it when it was asked, and no message before.
    pub polled: bool,
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
    /// The step of the job whose end the fact is.
    pub step: Option<String>,
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

impl Fact {
    /// How often it was taken in: by a message, or because the job's system was asked.
    pub(super) fn taken_in(&self) -> usize {
        self.accepted.len() + usize::from(self.polled)
    }

    /// The actions that are about it.
    pub(super) fn own<'a>(&self, actions: &'a [Action]) -> impl Iterator<Item = &'a Action> {
        let name = self.name;
        actions
            .iter()
            .filter(move |action| action.fact == Some(name))
    }

    /// How many keys its actions have beyond the one that each step may have.
    pub(super) fn keys_too_many(&self, actions: &[Action]) -> usize {
        let steps: BTreeSet<_> = self.own(actions).map(|action| &action.step).collect();
        self.own(actions).count() - steps.len()
    }

    fn carried_by(&self, attempt: &Attempt, step: Option<&StepOf>) -> bool {
        match (self.job, step) {
            (Some(job), Some(step)) => self.promised && step.job.is(job),
            (None, None) => {
                let mut accepted = self.accepted.iter();
                accepted.any(|body| attempt.carries(body, self.source))
            }
            _ => false,
        }
    }
}

/// The facts, in the order in which they were first told; then the ends of jobs that nobody told.
pub(super) fn facts(evidence: &Evidence) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for sent in &evidence.sent {
        let at = match facts.iter().position(|fact| fact.name == sent.fact) {
            Some(at) => at,
            None => {
                facts.push(fact(evidence, sent.fact, sent.source));
                facts.len() - 1
            }
        };
        let Ok(answer) = &sent.answer else { continue };
        facts[at].promised |= answer.promises();
        if answer.accepts() {
            facts[at].accepted.push(sent.body.clone());
        }
    }
    for seen in &evidence.jobs {
        if facts.iter().all(|fact| fact.name != seen.job.fact) {
            facts.push(fact(evidence, seen.job.fact, seen.job.space));
        }
    }
    for fact in &mut facts {
        fact.polled = fact.accepted.is_empty() && fact.job.is_some_and(|job| told(evidence, job));
        fact.promised |= fact.polled;
    }
    facts
}

fn fact(evidence: &Evidence, name: &'static str, source: &'static str) -> Fact {
    let mut jobs = evidence.jobs.iter().map(|seen| seen.job);
    let job = jobs.find(|job| job.fact == name);
    Fact {
        name,
        source: job.map_or(source, |job| job.space),
        promised: false,
        accepted: Vec::new(),
        job,
        polled: false,
    }
}

/// Whether a job's system told its end when it was asked.
fn told(evidence: &Evidence, job: &Job) -> bool {
    let mut lookups = evidence.lookups.iter();
    lookups.any(|one| one.id == job.id && one.said == Said::Completed)
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
    let step = first.and_then(Attempt::step);
    let carried = |fact: &&Fact| first.is_some_and(|first| fact.carried_by(first, step.as_ref()));
    let fact = facts.iter().find(carried);
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
        step: step.map(|of| of.step),
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
