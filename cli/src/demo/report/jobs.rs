//! The jobs, a line for each: how its end became known, and how many actions that made.

use super::{Report, fitted};
use crate::demo::evidence::{Evidence, JobSeen};
use crate::demo::verdict::Action;
use crate::output::escaped;

/// The words that are told, in the order in which they come to pass.
const WORDS: [(&str, &str); 4] = [
    ("parked", "parked"),
    ("accepted", "accepted"),
    ("duplicate", "duplicates"),
    ("conflict", "conflicts"),
];

impl Report<'_> {
    /// A heading, and a line for each job; nothing, where there are none.
    pub(super) fn jobs(&self, evidence: &Evidence, actions: &[Action]) -> Vec<String> {
        if evidence.jobs.is_empty() {
            return Vec::new();
        }
        let mut lines =
            self.heading("Jobs: an action for each step, whoever told the end, and when");
        lines.extend(
            evidence
                .jobs
                .iter()
                .map(|seen| self.job(seen, evidence, actions)),
        );
        lines
    }

    fn job(&self, seen: &JobSeen, evidence: &Evidence, actions: &[Action]) -> String {
        let job = seen.job;
        let end = seen
            .stands
            .as_ref()
            .and_then(|stands| stands.end.as_deref());
        let own = actions.iter().filter(|one| one.fact == Some(job.fact));
        let made = match own.filter(|one| one.step.is_some()).count() {
            1 => "1 action".to_owned(),
            made => format!("{made} actions"),
        };
        format!(
            "  {} {} {} {} {}",
            fitted(job.space, 10),
            fitted(job.fact.trim_start_matches("job "), 10),
            fitted(&escaped(end.unwrap_or("no end")), 9),
            fitted(&escaped(&course(seen, evidence)), 36),
            self.dim(&made)
        )
    }
}

/// What its system said, what the registrar took up, and what the senders were told.
fn course(seen: &JobSeen, evidence: &Evidence) -> String {
    let job = seen.job;
    let lookups = evidence.lookups.iter().filter(|one| one.id == job.id);
    let mut words: Vec<&str> = lookups.map(|one| one.said.word()).collect();
    words.dedup();
    let mut course = Vec::new();
    if !words.is_empty() {
        course.push(words.join(" "));
    }
    for (word, plural) in WORDS {
        let facts = [Some(job.fact), job.otherwise];
        let told = evidence.sent.iter().filter(|sent| {
            facts.contains(&Some(sent.fact))
                && sent.answer.as_ref().is_ok_and(|one| one.outcome == word)
        });
        match told.count() {
            0 => {}
            1 => course.push(format!("1 {word}")),
            many => course.push(format!("{many} {plural}")),
        }
        let is_taken_up = |seen: &JobSeen| {
            let filed = seen.filed.as_ref();
            filed.is_some_and(|filed| !filed.taken_up.is_empty())
        };
        if word == "parked" && is_taken_up(seen) {
            course.push("taken up".to_owned());
        }
    }
    course.join(", ")
}
