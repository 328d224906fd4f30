//! `ackbox list`: what waits for attention comes from the table's index, by class and name, oldest first;
//! nothing is scanned. Of what is shown, each entry is read once more, for its state and reason. Which
//! destinations are paused is said beside them, and what of jobs waits.

mod filter;
mod job;
mod row;

use std::process::ExitCode;

use ackbox_domain::{Name, Timestamp};
use ackbox_store::{Class, Listed, Store, StoreError};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;

use crate::commands::CommandError;
use crate::commands::paused::Paused;
use crate::commands::table::{self, TableChoice};
use crate::edge;
use crate::output::{self, Terminal, Tone};
use filter::{Filter, State};
use job::JobRow;
use row::Row;

const EXAMPLES: &str = "\
Examples:
  ackbox list                             all that is not delivered
  ackbox list --state held                what waits for an operator
  ackbox list --state unknown             what a destination is to be asked about; DUE says when
  ackbox list --destination mailer --json
  ackbox list --state conflict --source stripe
  ackbox list --state parked              ends of jobs that are not bound yet
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 ackbox list

Oldest due first; then what belongs to jobs, and the destinations that are paused, until when and why. Delivered entries stand in no index and are not listed: `ackbox show KEY` shows one.

Exit code: 0, also where nothing waits; 1 where the table cannot be read; 2 for a wrong command line.";

/// How many entries of a class and name are looked at where the index alone cannot tell which are wanted.
const WINDOW: usize = 1000;

/// How many entries are read at a time.
const READS: usize = 16;

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
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: TableChoice,
}

/// Lists.
///
/// # Errors
///
/// The table cannot be opened or read; delivered entries are asked for.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    if args.state == Some(State::Delivered) {
        return Err(CommandError::Usage(
            "delivered entries are in no index, so they cannot be listed: `ackbox show KEY` shows one"
                .to_owned(),
        ));
    }
    let filter = Filter {
        state: args.state,
        destination: args.destination.clone(),
        source: args.source.clone(),
    };
    let opened = args.table.open().await?;
    let found = find(&opened.store, &filter, usize::from(args.limit)).await;
    opened.close().await;
    let found = found.map_err(table::unread)?;
    if let Some(note) = &found.note {
        output::note(note);
    }
    tell(&args, found, terminal)?;
    Ok(ExitCode::SUCCESS)
}

/// What was found.
struct Found {
    rows: Vec<Row>,
    jobs: Vec<JobRow>,
    paused: Vec<Paused>,
    /// Whether nothing else fits the filter.
    complete: bool,
    note: Option<String>,
}

/// Rows, and whether nothing else fits.
struct Paged<T> {
    rows: Vec<T>,
    complete: bool,
}

/// An item of the index, and where it stood.
struct Hit {
    class: Class,
    name: Name,
    listed: Listed,
}

async fn find(store: &Store, filter: &Filter, limit: usize) -> Result<Found, StoreError> {
    let meta = store.meta().await?;
    let note = filter.unknown_name(&meta);
    let paused = Paused::among(store, filter.destinations(&meta)).await?;
    let entries = entries(store, filter, filter.queries(&meta), limit).await?;
    let jobs = JobRow::find(store, filter, filter.job_queries(&meta), limit).await?;
    Ok(Found {
        complete: entries.complete && jobs.complete,
        rows: entries.rows,
        jobs: jobs.rows,
        paused,
        note,
    })
}

async fn entries(
    store: &Store,
    filter: &Filter,
    queries: Vec<(Class, Name)>,
    limit: usize,
) -> Result<Paged<Row>, StoreError> {
    let mut hits = Vec::new();
    let mut complete = true;
    for (class, name) in queries {
        let window = if filter.needs_entries(class) {
            WINDOW.max(limit)
        } else {
            limit
        };
        // One more than wanted tells whether there are others.
        let mut listed = store.list(class, &name, window + 1).await?;
        complete &= listed.len() <= window;
        listed.truncate(window);
        let hit = |listed| Hit {
            class,
            name: name.clone(),
            listed,
        };
        hits.extend(listed.into_iter().map(hit));
    }
    hits.sort_by_key(|hit| hit.listed.due_at);
    let mut rows = Vec::new();
    let reads = hits.iter().map(|hit| Row::read(store, hit));
    let mut read = std::pin::pin!(stream::iter(reads).buffered(READS));
    while let Some(row) = read.next().await {
        match row? {
            Some(row) if filter.takes(&row) => {
                if rows.len() == limit {
                    complete = false;
                    break;
                }
                rows.push(row);
            }
            _ => {}
        }
    }
    Ok(Paged { rows, complete })
}

fn tell(args: &Args, found: Found, terminal: &Terminal) -> Result<(), CommandError> {
    let now: Timestamp = edge::now();
    if args.json {
        let entries: Vec<_> = found.rows.iter().map(Row::json).collect();
        let paused: Vec<_> = found.paused.iter().map(|paused| paused.json(now)).collect();
        let jobs: Vec<_> = found.jobs.iter().map(JobRow::json).collect();
        let object =
            json!({"entries": entries, "jobs": jobs, "paused": paused, "complete": found.complete});
        terminal.line(object.to_string())?;
        return Ok(());
    }
    if found.rows.is_empty() && found.jobs.is_empty() {
        terminal.line("nothing waits for attention")?;
    }
    if !found.rows.is_empty() {
        let rows = found.rows.iter().map(|row| row.cells(now)).collect();
        terminal.line(terminal.table(Row::HEADINGS, rows))?;
    }
    if let Some(first) = found.jobs.first() {
        let rows = found.jobs.iter().map(|row| row.cells(now)).collect();
        terminal.line(terminal.table(JobRow::HEADINGS, rows))?;
        output::note(&first.hint());
    }
    for paused in &found.paused {
        terminal.line(terminal.paint(Tone::Warn, &paused.line(now)))?;
    }
    if !found.complete {
        output::note("there are more: raise --limit, or name a --state, --destination or --source");
    }
    Ok(())
}
