//! `ackbox check`: a configuration comes in, every mistake and every doubt goes out, each with its place.
//! Secrets are read where they can be, to judge their form; their values are never told.

mod secrets;

use std::path::Path;
use std::process::ExitCode;

use ackbox_config::{Config, LoadError, Mistake};

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::output::{self, Terminal, Tone, escaped, escaped_lines};
use secrets::{Finding, Findings};

const EXAMPLES: &str = "\
Examples:
  ackbox check                            ackbox.toml of this folder
  ackbox check --config prod.toml
  STRIPE_SECRET=whsec_.. ackbox check     env:STRIPE_SECRET is judged too

Mistakes and warnings go to standard error as file:line:column; what was checked goes to standard output.

Exit code: 0 where all is fine, also with warnings; 1 where there is a mistake; 2 where the file cannot be read.";

/// The options of `ackbox check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    config: ConfigOption,
}

/// Checks, and tells what was found.
///
/// # Errors
///
/// The file cannot be read.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let path = args.config.path();
    let config = match Config::load(&path) {
        Ok(config) => config,
        Err(LoadError::Mistakes(mistakes)) => {
            let found: Vec<String> = mistakes.0.iter().map(told).collect();
            return Ok(bad(&path, &found));
        }
        Err(unreadable) => return Err(unreadable.into()),
    };
    let found = secrets::look(&config).await;
    // Only to find places: the file was read a moment ago.
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let place = |finding: &Finding| at(&path, &text, finding);
    for warning in &config.warnings {
        output::note(&format!("warning: {}", told(warning)));
    }
    for warning in &found.warnings {
        output::note(&format!("warning: {}", place(warning)));
    }
    if !found.mistakes.is_empty() {
        let mistakes: Vec<String> = found.mistakes.iter().map(place).collect();
        return Ok(bad(&path, &mistakes));
    }
    let warnings = config.warnings.len() + found.warnings.len();
    fine(&path, &config, &found, warnings, terminal)?;
    Ok(ExitCode::SUCCESS)
}

fn told(mistake: &Mistake) -> String {
    let Mistake {
        file, line, column, ..
    } = mistake;
    let file = escaped(file);
    let message = escaped_lines(&mistake.message);
    let mut text = format!("{file}:{line}:{column}: {message}");
    if !mistake.help.is_empty() {
        text.push_str("\n    ");
        text.push_str(&escaped_lines(&mistake.help).replace('\n', "\n    "));
    }
    text
}

fn bad(path: &Path, mistakes: &[String]) -> ExitCode {
    for mistake in mistakes {
        output::note(mistake);
    }
    let file = escaped(&path.display().to_string());
    output::note(&format!("{file}: {}", counted(mistakes.len(), "mistake")));
    ExitCode::FAILURE
}

fn fine(
    path: &Path,
    config: &Config,
    found: &Findings,
    warnings: usize,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let rules = config.sources.values().map(|s| s.source.rules.len()).sum();
    let file = escaped(&path.display().to_string());
    let verdict = if warnings == 0 {
        terminal.paint(Tone::Good, "fine")
    } else {
        let doubts = format!("usable, with {}", counted(warnings, "warning"));
        terminal.paint(Tone::Warn, &doubts)
    };
    terminal.line(format!(
        "{file}: {}, {}, {}, {}: {verdict}",
        counted(config.sources.len(), "source"),
        counted(rules, "rule"),
        counted(config.destinations.len(), "destination"),
        counted(found.count, "secret"),
    ))?;
    for public_key in &found.public_keys {
        terminal.line(escaped(public_key))?;
    }
    if !found.unread.is_empty() {
        terminal.line(format!(
            "secrets that were not looked at: {}",
            escaped(&found.unread.join(", "))
        ))?;
    }
    Ok(())
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// A finding with the place where its reference stands: in its own table if it is there, else anywhere.
fn at(path: &Path, text: &str, finding: &Finding) -> String {
    let file = escaped(&path.display().to_string());
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
    let place = match place {
        Some(at) => {
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count()
                + 1;
            format!("{file}:{line}:{column}")
        }
        None => file,
    };
    let Finding { table, message, .. } = finding;
    format!("{place}: [{table}]: {}", escaped_lines(message))
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

    #[test]
    fn a_finding_is_placed_in_its_own_table() {
        let text =
            "[source.a]\nsecrets = [\"env:S\"]\n\n[source.b]\nsecrets = ['env:T', \"env:S\"]\n";
        let finding = |table: &str| Finding {
            table: table.to_owned(),
            reference: "env:S".parse().unwrap(),
            message: "m".to_owned(),
        };
        let path = Path::new("x.toml");
        assert_eq!(
            at(path, text, &finding("source.a")),
            "x.toml:2:12: [source.a]: m"
        );
        assert_eq!(
            at(path, text, &finding("source.b")),
            "x.toml:5:21: [source.b]: m"
        );
        assert_eq!(at(path, "", &finding("source.b")), "x.toml: [source.b]: m");
    }

    #[test]
    fn a_finding_of_a_table_within_another_is_placed_in_the_nearest_that_is_written_out() {
        let path = Path::new("x.toml");
        let first = "[source.a]\nsecrets = [\"env:S\"]\n\n";
        for (own, line, column) in [
            ("[source.b]\njob = { lookup = \"env:S\" }\n", 5, 18),
            ("[source.b]\n\n[source.b.job]\nlookup = \"env:S\"\n", 7, 10),
            ("[source.b.job.lookup]\nheaders = \"env:S\"\n", 5, 11),
        ] {
            let finding = Finding {
                table: "source.b.job.lookup".to_owned(),
                reference: "env:S".parse().unwrap(),
                message: "m".to_owned(),
            };
            let placed = at(path, &format!("{first}{own}"), &finding);
            let expected = format!("x.toml:{line}:{column}: [source.b.job.lookup]: m");
            assert_eq!(placed, expected);
        }
    }
}
