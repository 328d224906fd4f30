//! `ackbox check`: a configuration comes in, every mistake and every doubt goes out, each with its place; and, where it
//! is compared with another one or with a table, every edit that changes identity. Secrets are read where they can be,
//! to judge their form; their values are never told.

mod compared;
mod remark;
mod secrets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ackbox_config::{Changes, Config, LoadError};
use serde_json::{Value, json};

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::commands::table::TableChoice;
use crate::output::{self, Terminal, Tone, escaped};
use remark::Remark;
use secrets::Findings;

const EXAMPLES: &str = "\
Examples:
  ackbox check                            ackbox.toml of this folder
  ackbox check --config prod.toml
  STRIPE_SECRET=whsec_.. ackbox check     env:STRIPE_SECRET is judged too
  git show HEAD:ackbox.toml > old.toml && ackbox check --against old.toml
  ackbox check --db .ackbox/dev.db        against what that table remembers
  ackbox check --table ackbox             the same, of an engine that the environment names
  ackbox check --aws --table orders       the same, of a table in AWS

With --against, --db, --table or --aws, an edit that gives what was accepted before another identity is a mistake: a source or rule renamed without `previously`, another `key`, namespace, job space or `ids`. Edits that matter to what is open are warned of. A table knows each rule since its first action, and counts what is open for destinations that are not in the configuration any more.

Mistakes and warnings go to standard error as file:line:column; what was checked goes to standard output.

Exit code: 0 where all is fine, also with warnings; 1 where there is a mistake; 2 where a file or the table cannot be read.";

/// The options of `ackbox check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The configuration that was in use before, to compare with
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigOption,
    #[command(flatten)]
    table: TableChoice,
}

/// What there is to say.
#[derive(Default)]
struct Said {
    mistakes: Vec<Remark>,
    warnings: Vec<Remark>,
}

/// Checks, and tells what was found.
///
/// # Errors
///
/// The file, the one to compare with or the table cannot be read.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let path = args.config.path();
    let mut said = Said::default();
    let config = match Config::load(&path) {
        Ok(config) => config,
        Err(LoadError::Mistakes(mistakes)) => {
            said.mistakes = mistakes.0.iter().map(Remark::of_mistake).collect();
            return tell(&args, &path, said, None, terminal);
        }
        Err(unreadable) => return Err(unreadable.into()),
    };
    let found = secrets::look(&config).await;
    // Only to find places: the file was read a moment ago.
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let place = |finding| Remark::of_finding(&path, &text, finding);
    said.mistakes.extend(found.mistakes.iter().map(place));
    let warnings = config.warnings.iter().map(Remark::of_mistake);
    said.warnings.extend(warnings);
    said.warnings.extend(found.warnings.iter().map(place));
    if let Some(old) = &args.against {
        said.add(&path, &compared::with_file(old, &config)?);
    }
    if args.table.is_given() {
        said.add(&path, &compared::with_table(&args.table, &config).await?);
    }
    tell(&args, &path, said, Some((&config, &found)), terminal)
}

impl Said {
    /// What two comparisons both say is said once.
    fn add(&mut self, path: &Path, changes: &Changes) {
        for (list, found) in [
            (&mut self.mistakes, &changes.mistakes),
            (&mut self.warnings, &changes.warnings),
        ] {
            for change in found {
                let remark = Remark::of_change(path, change);
                if !list.contains(&remark) {
                    list.push(remark);
                }
            }
        }
    }
}

fn tell(
    args: &Args,
    path: &Path,
    said: Said,
    read: Option<(&Config, &Findings)>,
    terminal: &Terminal,
) -> Result<ExitCode, CommandError> {
    let code = if said.mistakes.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    if args.json {
        terminal.line(object(path, &said, read).to_string())?;
        return Ok(code);
    }
    for warning in &said.warnings {
        output::note(&format!("warning: {}", warning.text()));
    }
    for mistake in &said.mistakes {
        output::note(&mistake.text());
    }
    match read {
        Some((config, found)) if said.mistakes.is_empty() => {
            fine(path, config, found, said.warnings.len(), terminal)?;
        }
        _ => {
            let file = escaped(&path.display().to_string());
            let count = counted(said.mistakes.len(), "mistake");
            output::note(&format!("{file}: {count}"));
        }
    }
    Ok(code)
}

fn object(path: &Path, said: &Said, read: Option<(&Config, &Findings)>) -> Value {
    let remarks = |list: &[Remark]| list.iter().map(Remark::json).collect::<Vec<_>>();
    let mut object = json!({
        "file": path.display().to_string(),
        "usable": said.mistakes.is_empty(),
        "mistakes": remarks(&said.mistakes),
        "warnings": remarks(&said.warnings),
    });
    if let Some((config, found)) = read {
        object["sources"] = json!(config.sources.len());
        object["rules"] = json!(rules(config));
        object["destinations"] = json!(config.destinations.len());
        object["secrets"] = json!(found.count);
        object["public_keys"] = json!(found.public_keys);
        object["unread"] = json!(found.unread);
    }
    object
}

fn rules(config: &Config) -> usize {
    config.sources.values().map(|s| s.source.rules.len()).sum()
}

fn fine(
    path: &Path,
    config: &Config,
    found: &Findings,
    warnings: usize,
    terminal: &Terminal,
) -> Result<(), CommandError> {
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
        counted(rules(config), "rule"),
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
