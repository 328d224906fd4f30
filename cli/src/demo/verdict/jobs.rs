//! What must hold of jobs: what the application said of each comes in, and what the senders, the systems
//! and the destinations had to do with it; what speaks against it comes out.

use ackbox_domain::EntryState;

use super::actions::Action;
use super::claims::{Claim, claim};
use crate::demo::evidence::{Attempt, Evidence, Filed, JobSeen, Lookup};
use crate::demo::job::{Job, Step};
use crate::demo::ledger::Sent;
use crate::demo::status::Said;

/// The claims about jobs.
pub(super) fn claims(evidence: &Evidence, actions: &[Action]) -> [Claim; 5] {
    let jobs = (evidence.jobs.len(), "job");
    let made = actions.iter().filter(|action| action.step.is_some());
    [
        claim(
            "every job was bound, and got what had waited",
            jobs,
            bound(evidence),
        ),
        claim(
            "a job's end did each step that waited, once",
            (made.count(), "action"),
            steps(evidence, actions),
        ),
        claim(
            "a step sends the same, whoever told the end",
            (attempts(evidence).count(), "attempt"),
            bytes(evidence),
        ),
        claim(
            "a job keeps its end, and what contradicts it",
            jobs,
            ends(evidence),
        ),
        claim(
            "a silent job was asked about until it ended",
            (evidence.lookups.len(), "question"),
            lookups(evidence),
        ),
    ]
}

/// Bound once, with a key for every step; and what was parked was taken up by that.
fn bound(evidence: &Evidence) -> Vec<String> {
    let mut against = Vec::new();
    for seen in &evidence.jobs {
        let job = seen.job;
        let filed = seen.filed.clone().unwrap_or_default();
        if (filed.status, filed.outcome.as_str()) != (201, "bound") {
            let (status, outcome) = (filed.status, &filed.outcome);
            against.push(format!("{} was answered {status} {outcome}", job.fact));
        }
        let parked = told(evidence, job.fact, "parked").count();
        let taken = &filed.taken_up;
        if taken.len() != parked || taken.iter().any(|word| word != "accepted") {
            against.push(format!(
                "of {}, {parked} waited, and was taken up: {taken:?}",
                job.fact
            ));
        }
    }
    against
}

/// The messages about a fact that were told this word.
fn told<'e>(
    evidence: &'e Evidence,
    fact: &'e str,
    word: &'e str,
) -> impl Iterator<Item = &'e Sent> {
    let sent = evidence.sent.iter().filter(move |sent| sent.fact == fact);
    sent.filter(move |sent| {
        let answer = sent.answer.as_ref();
        answer.is_ok_and(|answer| answer.outcome == word)
    })
}

/// Of every job, the steps that waited for its end, and no other: each at its destination, under the key
/// that was told beforehand.
fn steps(evidence: &Evidence, actions: &[Action]) -> Vec<String> {
    let mut against = Vec::new();
    for seen in &evidence.jobs {
        let job = seen.job;
        let own = || actions.iter().filter(|one| one.fact == Some(job.fact));
        for step in job.due() {
            let done = own().filter(|action| is_done(action, step, seen.filed.as_ref()));
            let times = done.count();
            if times != 1 {
                against.push(format!("{} did {} {times} times", job.fact, step.name));
            }
        }
        let is_due = |action: &&Action| {
            let name = action.step.as_deref();
            job.due().any(|step| Some(step.name) == name)
        };
        for action in own().filter(|action| !is_due(action)) {
            let what = action.step.as_deref().unwrap_or("no step");
            against.push(format!("{} did {what} ({})", job.fact, action.key));
        }
    }
    against
}

fn is_done(action: &Action, step: &Step, filed: Option<&Filed>) -> bool {
    let key = filed.and_then(|filed| filed.keys.get(step.name));
    action.step.as_deref() == Some(step.name)
        && action.destination.as_deref() == Some(step.destination)
        && action.state == Some(EntryState::Delivered)
        && key == Some(&action.key)
}

/// The attempts that are steps of jobs.
fn attempts(evidence: &Evidence) -> impl Iterator<Item = &Attempt> {
    let attempts = evidence.attempts.iter();
    attempts.filter(|attempt| attempt.step().is_some())
}

/// Every byte is the application's own word, but for the outcome: nothing depends on who told it, and how.
fn bytes(evidence: &Evidence) -> Vec<String> {
    let mut against = Vec::new();
    for attempt in attempts(evidence) {
        let Some(of) = attempt.step() else { continue };
        let job = evidence.jobs.iter().map(|seen| seen.job);
        let job = job.clone().find(|job| of.job.is(job));
        let Some(step) = job.and_then(|job| job.steps.iter().find(|step| step.name == of.step))
        else {
            // Which is a stranger, and told as one.
            continue;
        };
        let must = job.map(|job| job.sends(step, &attempt.key));
        if must.as_deref().map(str::as_bytes) != Some(attempt.body.as_slice()) {
            let sent = String::from_utf8_lossy(&attempt.body);
            against.push(format!("{} of {} sent {sent}", of.step, of.job.id));
        }
    }
    against
}

/// The end that came first stands; another one is on the record, and nothing else is.
fn ends(evidence: &Evidence) -> Vec<String> {
    let mut against = Vec::new();
    for JobSeen { job, stands, .. } in &evidence.jobs {
        let Some(stands) = stands else {
            against.push(format!("{} is not known", job.fact));
            continue;
        };
        if (stands.state.as_str(), stands.end.as_deref()) != ("ended", Some(job.end)) {
            let (state, end) = (&stands.state, &stands.end);
            against.push(format!("{} is {state} ({end:?})", job.fact));
        }
        let conflicts = conflicts(evidence, job);
        let kept = stands.disagree.len();
        if kept != conflicts {
            against.push(format!(
                "{} was contradicted {conflicts} times, and {kept} are on its record",
                job.fact
            ));
        }
        if stands.disagree.iter().any(|end| end == job.end) {
            against.push(format!("{} does not agree with its own end", job.fact));
        }
    }
    against
}

fn conflicts(evidence: &Evidence, job: &Job) -> usize {
    let facts = [Some(job.fact), job.otherwise];
    let facts = facts.into_iter().flatten();
    facts
        .map(|fact| told(evidence, fact, "conflict").count())
        .sum()
}

/// A job that is to be asked about was unknown, then went on, then had ended, and was not asked about after
/// that; no other was asked about; and every question showed its secret.
fn lookups(evidence: &Evidence) -> Vec<String> {
    let mut against = Vec::new();
    for JobSeen { job, .. } in &evidence.jobs {
        let own = evidence.lookups.iter().filter(|one| one.id == job.id);
        let said: Vec<Said> = own.map(|one| one.said).collect();
        let is_right = match job.poll_after {
            None => said.is_empty(),
            Some(_) => is_whole(&said),
        };
        if !is_right {
            against.push(format!("of {} was said {said:?}", job.fact));
        }
    }
    let is_known = |lookup: &&Lookup| evidence.jobs.iter().any(|seen| seen.job.id == lookup.id);
    let strangers = evidence.lookups.iter().filter(|one| !is_known(one));
    against.extend(strangers.map(|one| format!("{:?} was asked about, which is no job", one.id)));
    let bare = evidence.lookups.iter().filter(|one| !one.shows_secret);
    against.extend(bare.map(|one| format!("a question about {} showed no secret", one.id)));
    against
}

/// Not found, then pending, then completed; pending may be said often.
fn is_whole(said: &[Said]) -> bool {
    match said {
        [Said::NotFound, middle @ .., Said::Completed] => {
            !middle.is_empty() && middle.iter().all(|said| *said == Said::Pending)
        }
        _ => false,
    }
}
