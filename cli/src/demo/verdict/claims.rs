//! What must hold of any run, one function each: it comes back with what speaks against it.

use std::ops::RangeInclusive;

use ackbox_domain::settlement::Word;
use ackbox_domain::{EntryState, OutcomeKind};

use super::actions::{self, Action, Fact};
use super::{Counts, Expected, jobs, pauses};
use crate::demo::evidence::{Attempt, Evidence, Question};

/// Something that must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// In words.
    pub holds: &'static str,
    /// What was looked at: `14 attempts`.
    pub over: String,
    /// What speaks against it; nothing, if it holds.
    pub against: Vec<String>,
}

pub(super) fn all(
    evidence: &Evidence,
    facts: &[Fact],
    actions: &[Action],
    counts: &Counts,
    expected: &Expected,
) -> Vec<Claim> {
    let mut claims = of_facts(evidence, facts, actions).to_vec();
    claims.extend(of_attempts(evidence, actions));
    claims.extend(jobs::claims(evidence, actions));
    claims.extend(of_ends(evidence, actions, counts, expected));
    claims
}

/// What was promised to the senders.
fn of_facts(evidence: &Evidence, facts: &[Fact], actions: &[Action]) -> [Claim; 5] {
    let promised = facts.iter().filter(|fact| fact.promised).count();
    [
        claim(
            "every sender was answered as it must be",
            (evidence.sent.len(), "answer"),
            answers(evidence),
        ),
        claim(
            "a fact was accepted once, however often it came",
            (promised, "fact"),
            once(facts),
        ),
        claim(
            "no accepted fact is lost",
            (promised, "fact"),
            lost(facts, actions),
        ),
        claim(
            "nothing else was delivered",
            (evidence.attempts.len(), "attempt"),
            strangers(evidence, actions),
        ),
        claim(
            "every fact kept one key",
            (promised, "fact"),
            keys(facts, actions),
        ),
    ]
}

/// What reached the destinations.
fn of_attempts(evidence: &Evidence, actions: &[Action]) -> [Claim; 5] {
    let attempts = &evidence.attempts;
    let seen = actions.iter().filter(|action| !action.answers.is_empty());
    let signed = attempts.iter().filter(|attempt| attempt.genuine.is_some());
    let pauses = pauses::of(evidence);
    [
        claim(
            "every attempt sent the same bytes",
            (attempts.len(), "attempt"),
            bytes(evidence, actions),
        ),
        claim(
            "every signed delivery verifies",
            (signed.count(), "signature"),
            signatures(evidence),
        ),
        claim(
            "every repetition has a reason",
            (attempts.len() - seen.count(), "repetition"),
            repeated(evidence, actions),
        ),
        claim(
            "a paused destination saw nothing but its probe",
            (pauses.count, "pause"),
            pauses.against,
        ),
        claim(
            "every reply has a request behind it",
            (evidence.questions.len(), "question"),
            replies(evidence, actions),
        ),
    ]
}

/// How it all ended.
fn of_ends(
    evidence: &Evidence,
    actions: &[Action],
    counts: &Counts,
    expected: &Expected,
) -> [Claim; 3] {
    let waiting = actions
        .iter()
        .filter(|action| action.state != Some(EntryState::Delivered));
    [
        claim(
            "whatever is not delivered has a reason",
            (waiting.count(), "action"),
            reasons(evidence, actions),
        ),
        claim(
            "the trouble took place as planned",
            (expected.trouble.len(), "place"),
            trouble(actions, expected),
        ),
        claim(
            "every count is as it must be",
            (Counts::NUMBERS, "number"),
            numbers(counts, expected),
        ),
    ]
}

pub(super) fn claim(
    holds: &'static str,
    (number, of): (usize, &str),
    against: Vec<String>,
) -> Claim {
    let plural = if number == 1 { "" } else { "s" };
    Claim {
        holds,
        over: format!("{number} {of}{plural}"),
        against,
    }
}

fn answers(evidence: &Evidence) -> Vec<String> {
    let wrong = evidence.sent.iter().filter_map(|sent| {
        let got = match &sent.answer {
            Ok(answer) if sent.kind.expects(answer) => return None,
            Ok(answer) => format!("{} {}", answer.status, answer.outcome),
            Err(broken) => format!("no answer: {broken}"),
        };
        Some(format!(
            "{} {} ({:?}) got {got}",
            sent.source, sent.fact, sent.kind
        ))
    });
    wrong.collect()
}

fn once(facts: &[Fact]) -> Vec<String> {
    let promised = facts.iter().filter(|fact| fact.promised);
    promised
        .filter(|fact| fact.taken_in() != 1)
        .map(|fact| format!("{} was accepted {} times", fact.name, fact.taken_in()))
        .collect()
}

fn lost(facts: &[Fact], actions: &[Action]) -> Vec<String> {
    let promised = facts.iter().filter(|fact| fact.promised);
    promised
        .filter(|fact| !fact.own(actions).any(|action| action.state.is_some()))
        .map(|fact| {
            format!(
                "{} was promised to {}, and is nowhere",
                fact.name, fact.source
            )
        })
        .collect()
}

fn strangers(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let unknown = actions.iter().filter(|action| action.fact.is_none());
    unknown
        .map(|action| {
            let at = action.destination.as_deref().unwrap_or("the table");
            let attempts = actions::attempts(evidence, &action.key).len();
            format!(
                "{at} has {} ({attempts} attempts), which nobody was promised",
                action.key
            )
        })
        .collect()
}

fn keys(facts: &[Fact], actions: &[Action]) -> Vec<String> {
    let mut against = Vec::new();
    for fact in facts {
        if fact.keys_too_many(actions) > 0 {
            let keys: Vec<&str> = fact.own(actions).map(|one| one.key.as_str()).collect();
            against.push(format!(
                "{} went out under {}",
                fact.name,
                keys.join(" and ")
            ));
        }
    }
    against
}

fn bytes(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let changed = actions.iter().filter(|action| {
        let attempts = actions::attempts(evidence, &action.key);
        attempts.windows(2).any(|pair| pair[0].body != pair[1].body)
    });
    changed
        .map(|action| format!("{} came with different bodies", action.key))
        .collect()
}

fn signatures(evidence: &Evidence) -> Vec<String> {
    let forged = evidence
        .attempts
        .iter()
        .filter(|attempt| attempt.genuine == Some(false));
    forged
        .map(|attempt| format!("{} at {} does not", attempt.key, attempt.destination))
        .collect()
}

/// A repetition is explained by the attempt before it where that one surely did not arrive. Where it may
/// have arrived: by a destination that keeps keys, or that has said since that it was not applied.
fn repeated(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let mut against = Vec::new();
    for action in actions {
        let attempts = actions::attempts(evidence, &action.key);
        for (at, pair) in attempts.windows(2).enumerate() {
            let number = at + 1;
            let by_answer = attempts[..number].iter().any(|attempt| attempt.confirms());
            let said = |word, when: &RangeInclusive<usize>| {
                let mut asked = action.asked.iter();
                asked.any(|one| one.means() == word && when.contains(&one.after))
            };
            let by_word = said(Word::Applied, &(0..=number));
            let is_free = explains(pair[0]) || said(Word::NotApplied, &(number..=number));
            if by_answer || by_word || !is_free {
                let (key, at) = (&action.key, &pair[1].destination);
                let answered = pair[0].answered;
                let words = words(action, number);
                against.push(format!(
                    "{key} came again to {at} after attempt {number} ({answered:?}{words})"
                ));
            }
        }
    }
    against
}

/// What the destination said after this attempt and before the next: `, asked: Applied`.
fn words(action: &Action, number: usize) -> String {
    let asked = action.asked.iter().filter(|one| one.after == number);
    let words = asked.map(|one| format!(", asked: {:?}", one.means()));
    words.collect()
}

fn explains(earlier: &Attempt) -> bool {
    match earlier.outcome() {
        OutcomeKind::NotSent | OutcomeKind::Busy => true,
        OutcomeKind::Unknown => earlier.keeps_keys,
        OutcomeKind::Succeeded | OutcomeKind::Rejected => false,
    }
}

/// A destination can speak only of what it was sent; and it cannot have applied what it has said that it
/// did not, unless it was sent that again.
fn replies(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let mut against = Vec::new();
    for action in actions {
        for (at, one) in action.asked.iter().enumerate() {
            if !actions::is_behind_a_request(&action.asked, at) {
                against.push(format!(
                    "{} said {:?} of {} after {} requests",
                    one.destination,
                    one.means(),
                    one.key,
                    one.after
                ));
            }
        }
    }
    let is_known = |key: &str| actions.iter().any(|action| action.key == key);
    let strangers = evidence.questions.iter().filter(|one| !is_known(&one.key));
    against.extend(strangers.map(|one| {
        let (at, key) = (&one.destination, &one.key);
        format!("{at} was asked about {key:?}, which nobody has")
    }));
    against
}

fn reasons(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let mut against = Vec::new();
    for action in actions {
        let attempts = actions::attempts(evidence, &action.key);
        let any = |kind| attempts.iter().any(|attempt| attempt.outcome() == kind);
        // A doubt that the destination has ended is no reason to wait.
        let last = action.asked.last();
        let is_denied = last
            .is_some_and(|last| last.means() == Word::NotApplied && last.after == attempts.len());
        let is_right = match action.state {
            None | Some(EntryState::Delivered) => true,
            Some(EntryState::Held | EntryState::Unknown) => any(OutcomeKind::Unknown) && !is_denied,
            Some(EntryState::Dead) => any(OutcomeKind::Rejected) && !any(OutcomeKind::Unknown),
            Some(EntryState::Pending | EntryState::Claimed) => false,
        };
        if let Some(state) = action.state
            && !is_right
        {
            let answers = attempts.iter().map(|attempt| attempt.answered);
            let answers: Vec<_> = answers.collect();
            against.push(format!("{} is {state} after {answers:?}", action.key));
        }
    }
    against
}

fn trouble(actions: &[Action], expected: &Expected) -> Vec<String> {
    let mut against = Vec::new();
    for planned in &expected.trouble {
        let fact = planned.fact;
        let action = actions.iter().find(|action| action.fact == Some(fact));
        let answers = action.map(|action| action.answers.clone());
        let answers = answers.unwrap_or_default();
        let asked = action.map(|action| action.asked.iter().map(Question::means));
        let words: Vec<Word> = asked.into_iter().flatten().collect();
        if !answers.starts_with(&planned.attempts) {
            let planned = &planned.attempts;
            against.push(format!("{fact} met {answers:?}, not {planned:?}"));
        }
        if !words.starts_with(&planned.words) {
            let planned = &planned.words;
            against.push(format!("of {fact} was said {words:?}, not {planned:?}"));
        }
    }
    against
}

fn numbers(counts: &Counts, expected: &Expected) -> Vec<String> {
    let mut against = Vec::new();
    let comparable = Counts {
        attempts: expected.counts.attempts,
        questions: expected.counts.questions,
        lookups: expected.counts.lookups,
        ..*counts
    };
    if comparable != expected.counts {
        against.push(format!("{comparable:?}, not {:?}", expected.counts));
    }
    let ends = counts.delivered + counts.unknown + counts.held + counts.dead;
    if counts.accepted != ends {
        against.push(format!(
            "{} accepted, {ends} accounted for",
            counts.accepted
        ));
    }
    against
}
