//! Judges a run: evidence comes in, counts and claims come out, each claim with what speaks against it.
//! Pure, so that a test can hand in a doctored log and see the right claim fail.
//!
//! What decides is what the senders were told against what the destinations saw. The table is asked only
//! about actions that no destination confirmed: a `delivered` that nobody received counts as lost. Of a
//! question, what decides is what the destination meant, not what was made of its reply. Of a job, what
//! decides is what the application said of it; the record in the table is asked only for what no destination
//! can show: how the job ended, and what does not agree with that.

use ackbox_domain::EntryState;
use ackbox_domain::settlement::Word;
use serde::Serialize;

use super::destination::Answered;
use super::evidence::Evidence;

mod actions;
mod claims;
mod jobs;
mod pauses;

pub use actions::{Action, Fact};
pub use claims::Claim;

/// The numbers of a run. `requests` is the sum of the next five; `accepted` of `delivered`, `unknown`,
/// `held` and `dead`, which are of what a message brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Messages sent.
    pub requests: usize,
    /// Answered with `accepted`, or with `parked`.
    pub accepted: usize,
    /// Answered with `duplicate`.
    pub duplicates: usize,
    /// Answered with `conflict`.
    pub conflicts: usize,
    /// Turned away: not signed rightly or in time (401), or too large (413).
    pub refused: usize,
    /// Acknowledged, and of no rule's interest.
    pub ignored: usize,
    /// Facts whose action a destination confirmed; of a job's end: of whose steps.
    pub delivered: usize,
    /// Facts whose action may have arrived, and whose destination is to be asked.
    pub unknown: usize,
    /// Facts whose action waits for a person.
    pub held: usize,
    /// Facts whose action was given up.
    pub dead: usize,
    /// Accepted facts whose action is nowhere.
    pub lost: usize,
    /// Keys beyond the first under which a fact, or a step of a job, was delivered.
    pub keys_changed: usize,
    /// Of the refused: too large.
    pub too_large: usize,
    /// Facts of whose action a destination was asked what became.
    pub asked: usize,
    /// Of the accepted: answered with `parked`, since the job was not bound yet.
    pub parked: usize,
    /// Jobs whose end no message brought, but an answer of their system.
    pub polled: usize,
    /// Actions that the ends of jobs made.
    pub workflow_actions: usize,
    /// Deliveries that the destinations read.
    pub attempts: usize,
    /// Questions that they read.
    pub questions: usize,
    /// Questions about jobs that their systems read.
    pub lookups: usize,
}

impl Counts {
    /// How many of them must be as expected: all but `attempts`, `questions` and `lookups`.
    pub(crate) const NUMBERS: usize = 17;
}

/// What a scenario must come to.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The numbers, but for `attempts`, `questions` and `lookups`: a repetition that a slow machine causes is no
    /// mistake.
    pub counts: Counts,
    /// Without it, the demo was about nothing.
    pub trouble: Vec<Trouble>,
}

/// What a destination must have done to a fact's first attempts, and to the first questions about it.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// The fact.
    pub fact: &'static str,
    /// What the attempts were answered.
    pub attempts: Vec<Answered>,
    /// What was meant by the replies to the questions.
    pub words: Vec<Word>,
}

/// What a run comes to.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The numbers.
    pub counts: Counts,
    /// The claims, each with what speaks against it.
    pub claims: Vec<Claim>,
    /// Every action that a destination saw, or that the table still holds.
    pub actions: Vec<Action>,
}

impl Verdict {
    /// Whether nothing speaks against any claim.
    pub fn is_good(&self) -> bool {
        self.claims.iter().all(|claim| claim.against.is_empty())
    }
}

/// Judges.
pub fn judge(evidence: &Evidence, expected: &Expected) -> Verdict {
    let facts = actions::facts(evidence);
    let actions = actions::actions(evidence, &facts);
    let counts = count(evidence, &facts, &actions);
    let claims = claims::all(evidence, &facts, &actions, &counts, expected);
    Verdict {
        counts,
        claims,
        actions,
    }
}

fn count(evidence: &Evidence, facts: &[Fact], actions: &[Action]) -> Counts {
    let mut counts = Counts {
        requests: evidence.sent.len(),
        attempts: evidence.attempts.len(),
        questions: evidence.questions.len(),
        lookups: evidence.lookups.len(),
        polled: facts.iter().filter(|fact| fact.polled).count(),
        workflow_actions: steps(actions),
        ..Counts::default()
    };
    for answer in evidence
        .sent
        .iter()
        .filter_map(|sent| sent.answer.as_ref().ok())
    {
        match answer.outcome.as_str() {
            "accepted" => counts.accepted += 1,
            "parked" => {
                counts.accepted += 1;
                counts.parked += 1;
            }
            "duplicate" => counts.duplicates += 1,
            "conflict" => counts.conflicts += 1,
            "ignored" => counts.ignored += 1,
            "refused" => counts.refused += 1,
            "too-large" => {
                counts.refused += 1;
                counts.too_large += 1;
            }
            _ => {}
        }
    }
    for fact in facts.iter().filter(|fact| fact.promised) {
        counts.keys_changed += fact.keys_too_many(actions);
        let was_asked = |action: &Action| !action.asked.is_empty();
        counts.asked += usize::from(fact.own(actions).any(was_asked));
        let states: Vec<_> = fact.own(actions).filter_map(|one| one.state).collect();
        if states.is_empty() {
            counts.lost += 1;
        }
        // No message brought it, so it is in no sum.
        if fact.polled {
            continue;
        }
        let stands = |state| states.contains(&state);
        if stands(EntryState::Delivered) {
            counts.delivered += 1;
        } else if stands(EntryState::Held) {
            counts.held += 1;
        } else if stands(EntryState::Unknown) {
            counts.unknown += 1;
        } else if stands(EntryState::Dead) {
            counts.dead += 1;
        }
    }
    counts
}

/// How many of the actions are steps of jobs.
fn steps(actions: &[Action]) -> usize {
    let known = actions.iter().filter(|action| action.fact.is_some());
    known.filter(|action| action.step.is_some()).count()
}

#[cfg(test)]
mod tests;
