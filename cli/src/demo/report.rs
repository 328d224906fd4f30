//! What a person reads: what came in, what every destination saw under which key, and the verdict. Fits
//! into 80 columns; wider terminals see whole keys.

use std::time::Duration;

use ackbox_domain::EntryState;

use super::evidence::Evidence;
use super::ledger::Sent;
use super::scenario::Step;
use super::setting::described;
use super::verdict::{Action, Claim, Verdict};
use crate::output::{Terminal, Tone, escaped};

mod course;
mod jobs;
mod layout;

use layout::{Column, fitted, row};

/// The width of a source's name, and the space behind it.
const SOURCE: usize = 11;

/// Who prints, and on what.
#[derive(Clone, Copy, Debug)]
pub struct Report<'t> {
    terminal: &'t Terminal,
    width: usize,
}

impl<'t> Report<'t> {
    /// For this terminal; `width` in columns.
    pub const fn new(terminal: &'t Terminal, width: usize) -> Self {
        Self { terminal, width }
    }

    /// The lines before anything has happened.
    pub fn opening(&self) -> Vec<String> {
        let what = "11 senders, 4 jobs, 1 table, 10 destinations; real HTTP on loopback";
        let title = self.terminal.paint(Tone::Bold, "ackbox demo");
        vec![format!("{title}  {}", self.dim(what)), String::new()]
    }

    /// One step that has ended.
    pub fn step(&self, step: &Step) -> String {
        let title = fitted(step.title, 44);
        format!("  {} {title}  {}", self.mark(true), escaped(&step.came))
    }

    /// Everything after the last step.
    pub fn closing(&self, evidence: &Evidence, verdict: &Verdict, took: Duration) -> Vec<String> {
        let mut lines = self.came_in(&evidence.sent);
        lines.extend(self.seen(&verdict.actions));
        lines.extend(self.legend());
        lines.extend(self.jobs(evidence, &verdict.actions));
        lines.extend(self.verdict(&verdict.claims));
        lines.push(self.sum(verdict, took));
        if verdict.is_good() {
            let next = "  Next: `ackbox dev` runs the same on your own ackbox.toml, and stays up.";
            lines.push(self.dim(next));
        }
        lines
    }

    fn came_in(&self, sent: &[Sent]) -> Vec<String> {
        const WORDS: [&str; 5] = ["accepted", "duplicate", "conflict", "refused", "ignored"];
        let mut lines = self.heading("What came in, and what the senders were told");
        let columns = [Column::Left(15), Column::Right(9)];
        let columns = [columns.as_slice(), &[Column::Right(10); 5]].concat();
        let titles = ["source", "requests"].iter().chain(&WORDS);
        let titles: Vec<String> = titles.map(|title| (*title).to_owned()).collect();
        lines.push(self.dim(&row(&columns, &titles)));
        let mut sources: Vec<&str> = sent.iter().map(|sent| sent.source).collect();
        sources.sort_unstable();
        sources.dedup();
        let count = |source: Option<&str>| {
            let own = sent
                .iter()
                .filter(|sent| source.is_none_or(|name| name == sent.source));
            let told: Vec<&str> = own.map(told).collect();
            let of = |word: &&str| match told.iter().filter(|told| *told == word).count() {
                0 => "·".to_owned(),
                some => some.to_string(),
            };
            let mut cells = vec![source.unwrap_or("all").to_owned(), told.len().to_string()];
            cells.extend(WORDS.iter().map(of));
            row(&columns, &cells)
        };
        lines.extend(sources.into_iter().map(|source| count(Some(source))));
        lines.push(self.terminal.paint(Tone::Bold, &count(None)));
        lines
    }

    fn seen(&self, actions: &[Action]) -> Vec<String> {
        let mut lines = self.heading("What the destinations saw, action by action");
        let mut destination = None;
        for action in actions {
            let at = action.destination.as_deref().unwrap_or("nowhere");
            if destination != Some(at) {
                let name = self
                    .terminal
                    .paint(Tone::Bold, &format!("{:<10}", escaped(at)));
                lines.push(format!("  {name}{}", self.dim(described(at))));
                destination = Some(at);
            }
            lines.push(self.action(action));
            lines.extend(self.asked(action));
        }
        lines
    }

    fn action(&self, action: &Action) -> String {
        const WHOLE: usize = 36;
        const SHORT: usize = 11;
        /// The columns beside the key, with the spaces between them.
        const REST: usize = 4 + SOURCE + 26 + 2 + 16 + 9;
        let key = if self.width >= REST + WHOLE {
            WHOLE
        } else {
            SHORT
        };
        let course = fitted(&course::of(&action.answers, &action.asked), 15);
        let is_at_rest = matches!(action.state, Some(EntryState::Delivered));
        let state = action.state.map_or("nowhere", EntryState::as_str);
        let tone = if is_at_rest { Tone::Good } else { Tone::Warn };
        let mut line = format!(
            "    {}{}{}  {} {}",
            fitted(action.source.unwrap_or("?"), SOURCE),
            fitted(&what(action), 26),
            self.dim(&fitted(&escaped(&action.key), key)),
            course,
            self.terminal.paint(tone, state),
        );
        // The table's own opinion decides nothing; where it differs, it is worth a look.
        if let Some(table) = action.table
            && Some(table) != action.state
        {
            line.push_str(
                &self
                    .terminal
                    .paint(Tone::Bad, &format!(" (table: {table})")),
            );
        }
        line
    }

    /// What the destination replied when it was asked about the action; none, where it was not.
    fn asked(&self, action: &Action) -> Option<String> {
        let told = course::told(action.answers.len(), &action.asked)?;
        let told = format!("{:indent$}? {}", "", escaped(&told), indent = 4 + SOURCE);
        Some(self.dim(told.trim_end()))
    }

    fn legend(&self) -> Vec<String> {
        let lines = [
            "",
            "  →        tried again, under the same key and with the same bytes",
            "  cut      took the request and hung up: it may have acted on it, or not",
            "  ?        was asked whether it has the action; what it said stands below",
            "  stopped  the dispatcher went away before the answer",
            "  paused   left alone after a failure, until one request, the probe, is answered",
            "  held     may have arrived, and neither keys nor an answer make it safe to",
            "           repeat: it could be done twice, so it waits for a person",
        ];
        lines.iter().map(|line| self.dim(line)).collect()
    }

    fn verdict(&self, claims: &[Claim]) -> Vec<String> {
        let mut lines = self.heading("Verdict: the senders' ledger against the destinations' logs");
        for claim in claims {
            lines.push(format!(
                "  {} {} {}",
                self.mark(claim.against.is_empty()),
                fitted(claim.holds, 48),
                self.dim(&claim.over)
            ));
            let against = claim.against.iter();
            lines.extend(
                against
                    .map(|why| format!("      {}", self.terminal.paint(Tone::Bad, &escaped(why)))),
            );
        }
        lines.push(String::new());
        lines
    }

    fn sum(&self, verdict: &Verdict, took: Duration) -> String {
        let counts = &verdict.counts;
        let sum = format!(
            "{} accepted = {} delivered + {} unknown + {} held + {} dead; {} lost",
            counts.accepted,
            counts.delivered,
            counts.unknown,
            counts.held,
            counts.dead,
            counts.lost
        );
        let tone = if verdict.is_good() {
            Tone::Good
        } else {
            Tone::Bad
        };
        let took = self.dim(&format!("({:.1} s)", took.as_secs_f64()));
        format!("  {} {took}", self.terminal.paint(tone, &sum))
    }

    fn heading(&self, text: &str) -> Vec<String> {
        vec![String::new(), self.terminal.paint(Tone::Bold, text)]
    }

    fn mark(&self, good: bool) -> String {
        let (tone, mark) = if good {
            (Tone::Good, "✓")
        } else {
            (Tone::Bad, "✗")
        };
        self.terminal.paint(tone, mark)
    }

    fn dim(&self, text: &str) -> String {
        self.terminal.paint(Tone::Dim, text)
    }
}

/// The fact that an action is about; of a job's end, with the step.
fn what(action: &Action) -> String {
    match (action.fact, &action.step) {
        (Some(fact), Some(step)) => format!("{fact} {}", escaped(step)),
        (Some(fact), None) => fact.to_owned(),
        (None, _) => "nobody was promised this".to_owned(),
    }
}

fn told(sent: &Sent) -> &str {
    match &sent.answer {
        Ok(answer) if answer.outcome == "too-large" => "refused",
        Ok(answer) if answer.outcome == "parked" => "accepted",
        Ok(answer) => &answer.outcome,
        Err(_) => "unanswered",
    }
}

#[cfg(test)]
mod tests;
