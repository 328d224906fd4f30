//! `ackbox list`: what waits for attention comes from the table's index, by class and name, oldest first;
//! nothing is scanned, but for delivered entries on request. Of what is shown, each entry is read once more, for
//! its state and reason. Which destinations are paused is said beside them, and what of jobs waits.

mod delivered;
mod filter;
mod find;
mod job;
mod row;

use std::process::ExitCode;

use ackbox_domain::Name;
use serde_json::json;

use crate::commands::CommandError;
use crate::commands::filter::Times;
use crate::commands::table::{self, Opened, TableChoice};
use crate::commands::watch::Watch;
use crate::edge;
use crate::output::{self, Terminal, Tone};
use filter::{Filter, State};
use find::{Found, find};
use job::JobRow;
use row::Row;

const EXAMPLES: &str = "\
Examples:
  ackbox list                             all that is not delivered
  ackbox list --state held                what waits for an operator
  ackbox list --state unknown             what a destination is to be asked about; DUE says when
  ackbox list --state overdue             what should have been taken up two minutes ago
  ackbox list --destination mailer --json
  ackbox list --state conflict --source stripe --since 2h
  ackbox list --state parked              ends of jobs that are not bound yet
  ackbox list --watch                     the same every 2 seconds, on a terminal
  ackbox list --state delivered --scan --since 1d
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 ackbox list
  AWS_PROFILE=production ackbox list --aws

Oldest due first; then what belongs to jobs, and the destinations that are paused, by whom, until when and why. Delivered entries stand in no index: `ackbox show KEY` shows one, and --state delivered --scan reads the whole table for them, after it has said what that costs.

Exit code: 0, also where nothing waits; 1 where the table cannot be read; 2 for a wrong command line; 130 where Ctrl-C ended a scan.";

/// The options of `ackbox list`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only entries in this state
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only entries of this destination
    #[arg(long, value_name = "NAME")]
    destination: Option<Name>,
    /// Only entries of this source
    #[arg(long, value_name = "NAME")]
    source: Option<Name>,
    #[command(flatten)]
    times: Times,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Read the whole table, for delivered entries
    #[arg(long, conflicts_with = "watch")]
    scan: bool,
    /// Do not ask before a scan
    #[arg(long, requires = "scan")]
    yes: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    table: TableChoice,
}

impl Args {
    fn filter(&self) -> Result<Filter, CommandError> {
        let now = edge::now();
        Ok(Filter {
            state: self.state,
            destination: self.destination.clone(),
            source: self.source.clone(),
            between: self.times.between(now)?,
            now,
        })
    }

    fn check(&self) -> Result<(), CommandError> {
        let wrong = match (self.state == Some(State::Delivered), self.scan) {
            (true, false) => {
                "delivered entries are in no index: `ackbox show KEY` shows one, and --scan reads the whole table for them"
            }
            (false, true) => "only delivered entries need --scan: say --state delivered",
            _ => return self.filter().map(drop),
        };
        Err(CommandError::Usage(wrong.to_owned()))
    }
}

/// Lists.
///
/// # Errors
///
/// The table cannot be opened or read; delivered entries are asked for without a scan.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    args.check()?;
    if args.watch.is_wanted()? {
        let draw = async || {
            let opened = args.table.open().await?;
            let found = found(&args, opened).await?;
            let mut lines = text(&found, terminal);
            lines.extend(found.notes());
            Ok(lines.join("\n"))
        };
        return args.watch.draw(terminal, draw).await;
    }
    let opened = args.table.open().await?;
    if args.scan {
        return delivered::run(&args, opened, terminal).await;
    }
    let found = found(&args, opened).await?;
    tell(&args, &found, terminal)?;
    Ok(ExitCode::SUCCESS)
}

async fn found(args: &Args, opened: Opened) -> Result<Found, CommandError> {
    let found = match args.filter() {
        Ok(filter) => {
            let found = find(&opened.store, filter, usize::from(args.limit)).await;
            found.map_err(table::unread)
        }
        Err(wrong) => Err(wrong),
    };
    opened.close().await;
    found
}

fn tell(args: &Args, found: &Found, terminal: &Terminal) -> Result<(), CommandError> {
    if args.json {
        if let Some(note) = &found.note {
            output::note(note);
        }
        let now = found.now;
        let entries: Vec<_> = found.rows.iter().map(Row::json).collect();
        let paused: Vec<_> = found.paused.iter().map(|paused| paused.json(now)).collect();
        let jobs: Vec<_> = found.jobs.iter().map(JobRow::json).collect();
        let object =
            json!({"entries": entries, "jobs": jobs, "paused": paused, "complete": found.complete});
        terminal.line(object.to_string())?;
        return Ok(());
    }
    for line in text(found, terminal) {
        terminal.line(line)?;
    }
    for note in found.notes() {
        output::note(&note);
    }
    Ok(())
}

fn text(found: &Found, terminal: &Terminal) -> Vec<String> {
    let now = found.now;
    let mut lines = Vec::new();
    if found.rows.is_empty() && found.jobs.is_empty() {
        lines.push(found.nothing.to_owned());
    }
    if !found.rows.is_empty() {
        let rows = found.rows.iter().map(|row| row.cells(now)).collect();
        lines.push(terminal.table(Row::HEADINGS, rows));
    }
    if !found.jobs.is_empty() {
        let rows = found.jobs.iter().map(|row| row.cells(now)).collect();
        lines.push(terminal.table(JobRow::HEADINGS, rows));
    }
    let paused = found.paused.iter().map(|paused| paused.line(now));
    lines.extend(paused.map(|line| terminal.paint(Tone::Warn, &line)));
    lines
}
