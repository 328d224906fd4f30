//! What a sender says of jobs, as written in, checked: pointers, words in lower case, names of outcomes, and a
//! question that names the job.

use std::collections::{BTreeMap, BTreeSet};

use super::Compiler;
use crate::facts::{JobFacts, LookupAnswer, LookupFacts, LookupMeans};
use crate::spec::{JobSpec, LookupAnswerSpec, LookupSpec};

/// Stands for a job that nobody told of; no sender says it.
const SILENT: &str = "silent";
const NAME_MAX: usize = 64;

impl Compiler {
    pub(super) fn job(&mut self, spec: &JobSpec) -> JobFacts {
        for (n, pointer) in spec.status.iter().enumerate() {
            self.pointer(format!("job.status[{n}]"), pointer);
        }
        let outcomes = self.outcomes(&spec.outcomes);
        let progress = self.progress(&spec.progress, &outcomes);
        for (name, pointers) in &spec.values {
            self.name("job.values", name);
            if pointers.is_empty() {
                self.wrong(
                    "job.values",
                    format!(
                        "`{}` stands nowhere: name its JSON pointers",
                        name.escape_debug()
                    ),
                );
            }
            for pointer in pointers {
                self.pointer("job.values".into(), pointer);
            }
        }
        JobFacts {
            status: spec.status.clone(),
            outcomes,
            progress,
            values: spec.values.clone(),
            lookup: spec.lookup.as_ref().map(|lookup| self.lookup(lookup)),
        }
    }

    fn outcomes(&mut self, written: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        if written.is_empty() {
            self.wrong(
                "job.outcomes",
                "is missing: say what ends a job, as outcomes = { completed = \"completed\" }",
            );
        }
        let mut outcomes = BTreeMap::new();
        for (word, outcome) in written {
            self.outcome("job.outcomes", outcome);
            let word = self.word("job.outcomes", word);
            if outcomes.insert(word.clone(), outcome.clone()).is_some() {
                self.wrong(
                    "job.outcomes",
                    format!("`{word}` stands twice: case makes no difference"),
                );
            }
        }
        outcomes
    }

    fn progress(
        &mut self,
        written: &[String],
        outcomes: &BTreeMap<String, String>,
    ) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for word in written {
            let word = self.word("job.progress", word);
            if outcomes.contains_key(&word) {
                self.wrong(
                    "job.progress",
                    format!("`{word}` is an outcome too: write it in one of the two"),
                );
            }
            words.insert(word);
        }
        words
    }

    fn word(&mut self, field: &str, word: &str) -> String {
        let word = word.trim().to_lowercase();
        if word.is_empty() {
            self.wrong(
                field,
                "has an empty word: write a status or an event's type",
            );
        }
        word
    }

    fn outcome(&mut self, field: &str, outcome: &str) {
        self.name(field, outcome);
        if outcome == SILENT {
            self.wrong(
                field,
                "`silent` is the word for a job that was given up: use another name",
            );
        }
    }

    fn name(&mut self, field: &str, name: &str) {
        let fits = (1..=NAME_MAX).contains(&name.len())
            && !name.starts_with('-')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !fits {
            self.wrong(field, format!("`{}` is no name: use 1 to {NAME_MAX} lower-case letters, digits and hyphens, starting with a letter or digit", name.escape_debug()));
        }
    }

    fn lookup(&mut self, spec: &LookupSpec) -> LookupFacts {
        let (before, _) = spec.url.split_once('{').unwrap_or_default();
        if !spec.url.contains("{job_id}") || !before.starts_with("https://") {
            self.wrong("job.lookup.url", "is no https URL with a {job_id} in it: write one as \"https://api.example.com/jobs/{job_id}\"");
        }
        for (n, header) in spec.headers.iter().enumerate() {
            self.header(format!("job.lookup.headers[{n}]"), header);
        }
        if spec.answers.is_empty() {
            self.wrong(
                "job.lookup.answers",
                "is missing: say what answers mean, as [{ status = 200, means = \"status\" }]",
            );
        }
        let answers = spec.answers.iter().enumerate();
        LookupFacts {
            url: spec.url.clone(),
            headers: spec.headers.clone(),
            answers: answers.map(|(n, answer)| self.answer(n, answer)).collect(),
        }
    }

    fn answer(&mut self, n: usize, spec: &LookupAnswerSpec) -> LookupAnswer {
        let field = |name: &str| format!("job.lookup.answers[{n}].{name}");
        if !(200..600).contains(&spec.status) {
            self.wrong(
                field("status"),
                "is no status of a final answer: write a number from 200 to 599",
            );
        }
        for pointer in spec.r#where.keys() {
            self.pointer(field("where"), pointer);
        }
        let means = match (spec.means.as_deref(), &spec.outcome) {
            (Some("status"), None) => LookupMeans::Status,
            (Some("not_yet"), None) => LookupMeans::NotYet,
            (None, Some(outcome)) => {
                self.outcome(&field("outcome"), outcome);
                LookupMeans::Outcome(outcome.clone())
            }
            _ => {
                self.wrong(field("means"), "needs exactly one of `means` (\"status\" or \"not_yet\") and `outcome` (how the job ended)");
                LookupMeans::NotYet
            }
        };
        LookupAnswer {
            status: spec.status,
            conditions: spec.r#where.clone().into_iter().collect(),
            means,
        }
    }
}
