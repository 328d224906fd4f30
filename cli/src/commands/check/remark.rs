//! One thing that is said of a configuration: its place, what is wrong or doubtful, and what to do; as text for
//! people, and as JSON for programs.

use std::path::Path;

use ackbox_config::{Change, Mistake};
use serde_json::{Value, json};

use super::secrets::Finding;
use crate::output::{escaped, escaped_lines};

/// A remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    file: String,
    /// Line and column, from 1, where there is one place.
    at: Option<(usize, usize)>,
    /// The table that it is about, where the place alone does not say it.
    about: Option<String>,
    message: String,
    help: String,
}

impl Remark {
    /// Of a mistake or doubt in the file.
    pub(super) fn of_mistake(mistake: &Mistake) -> Self {
        Self {
            file: mistake.file.clone(),
            at: Some((mistake.line, mistake.column)),
            about: None,
            message: mistake.message.clone(),
            help: mistake.help.clone(),
        }
    }

    /// Of a difference to another configuration.
    pub(super) fn of_change(path: &Path, change: &Change) -> Self {
        Self {
            file: path.display().to_string(),
            at: None,
            about: Some(change.place.clone()),
            message: change.message.clone(),
            help: change.help.clone(),
        }
    }

    /// Of a secret, with the place where its reference stands: in its own table if it is there, else anywhere.
    pub(super) fn of_finding(path: &Path, text: &str, finding: &Finding) -> Self {
        let start = start(text, &finding.table);
        let quoted = [
            format!("\"{}\"", finding.reference),
            format!("'{}'", finding.reference),
        ];
        let in_table = quoted
            .iter()
            .filter_map(|quoted| text[start..].find(quoted).map(|at| start + at))
            .min();
        let place = in_table.or_else(|| quoted.iter().find_map(|quoted| text.find(quoted)));
        Self {
            file: path.display().to_string(),
            at: place.map(|at| line_and_column(&text[..at])),
            about: Some(format!("[{}]", finding.table)),
            message: finding.message.clone(),
            help: String::new(),
        }
    }

    /// `file:line:column: what`, and what to do on a line of its own.
    pub(super) fn text(&self) -> String {
        let mut text = escaped(&self.file);
        if let Some((line, column)) = self.at {
            text.push_str(&format!(":{line}:{column}"));
        }
        if let Some(about) = &self.about {
            text.push_str(&format!(": {}", escaped(about)));
        }
        text.push_str(&format!(": {}", escaped_lines(&self.message)));
        if !self.help.is_empty() {
            text.push_str("\n    ");
            text.push_str(&escaped_lines(&self.help).replace('\n', "\n    "));
        }
        text
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "file": self.file,
            "line": self.at.map(|(line, _)| line),
            "column": self.at.map(|(_, column)| column),
            "about": self.about,
            "message": self.message,
            "help": self.help,
        })
    }
}

fn line_and_column(before: &str) -> (usize, usize) {
    let line = before.matches('\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().count() + 1)
}

/// Where a table begins, or the nearest one around it that is written out: `lookup = {..}` has no line of its own.
fn start(text: &str, table: &str) -> usize {
    let around = std::iter::successors(Some(table), |table| Some(table.rsplit_once('.')?.0));
    around
        .filter_map(|table| text.find(&format!("[{table}]")))
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, table: &str) -> String {
        let finding = Finding {
            table: table.to_owned(),
            reference: "env:S".parse().unwrap(),
            message: "m".to_owned(),
        };
        Remark::of_finding(Path::new("x.toml"), text, &finding).text()
    }

    #[test]
    fn a_finding_is_placed_in_its_own_table() {
        let text =
            "[source.a]\nsecrets = [\"env:S\"]\n\n[source.b]\nsecrets = ['env:T', \"env:S\"]\n";
        assert_eq!(said(text, "source.a"), "x.toml:2:12: [source.a]: m");
        assert_eq!(said(text, "source.b"), "x.toml:5:21: [source.b]: m");
        assert_eq!(said("", "source.b"), "x.toml: [source.b]: m");
    }

    #[test]
    fn a_finding_of_a_table_within_another_is_placed_in_the_nearest_that_is_written_out() {
        let first = "[source.a]\nsecrets = [\"env:S\"]\n\n";
        for (own, line, column) in [
            ("[source.b]\njob = { lookup = \"env:S\" }\n", 5, 18),
            ("[source.b]\n\n[source.b.job]\nlookup = \"env:S\"\n", 7, 10),
            ("[source.b.job.lookup]\nheaders = \"env:S\"\n", 5, 11),
        ] {
            let placed = said(&format!("{first}{own}"), "source.b.job.lookup");
            let expected = format!("x.toml:{line}:{column}: [source.b.job.lookup]: m");
            assert_eq!(placed, expected);
        }
    }
}
