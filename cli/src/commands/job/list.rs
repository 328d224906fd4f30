//! `ackbox job list`: bound jobs without an end come from the table's index, by job space; nothing is scanned. Of what
//! is shown, each record is read once more.

use std::process::ExitCode;

use ackbox_domain::job::JobRef;
use ackbox_domain::{Name, Timestamp};
use ackbox_registrar::state;
use ackbox_store::{Class, JobRecord, ListedJob, Meta, Store, StoreError};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::times;
use crate::commands::CommandError;
use crate::commands::table::{self, TableChoice};
use crate::edge;
use crate::output::{self, Entry, Terminal, Tone, age, until};

const EXAMPLES: &str = "\
Examples:
  ackbox job list                         all that wait for their end, and those that were given up
  ackbox job list --silent                those that were asked about in vain, or given up
  ackbox job list --space tornado --json

Jobs with neither poll_after nor give_up_after are in no index and are not listed: `ackbox job show SPACE JOB_ID` shows
one. So it does with a job that has ended.

Exit code: 0, also where none waits; 1 where the table cannot be read; 2 for a wrong command line.";

/// How many jobs are looked at where the index alone cannot tell which are wanted.
const WINDOW: usize = 1000;

/// How many records are read at a time.
const READS: usize = 16;

/// The options of `ackbox job list`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Only jobs of this space
    #[arg(long, value_name = "NAME")]
    space: Option<Name>,
    /// Only jobs that were asked about at least once, or given up
    #[arg(long)]
    silent: bool,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: TableChoice,
}

pub(super) async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let found = find(&opened.store, &args).await;
    opened.close().await;
    let found = found.map_err(table::unread)?;
    if let Some(note) = &found.note {
        output::note(note);
    }
    tell(&args, &found, terminal)?;
    Ok(ExitCode::SUCCESS)
}

struct Found {
    jobs: Vec<Row>,
    complete: bool,
    note: Option<String>,
}

/// A job, and its record where that can be read.
struct Row {
    listed: ListedJob,
    class: Class,
    record: Result<JobRecord, String>,
}

async fn find(store: &Store, args: &Args) -> Result<Found, StoreError> {
    let meta = store.meta().await?;
    let spaces: Vec<&Name> = match &args.space {
        Some(space) => vec![space],
        None => meta.spaces.iter().collect(),
    };
    let limit = usize::from(args.limit);
    let mut complete = true;
    let mut listed = Vec::new();
    for (class, space) in [Class::Silent, Class::Job]
        .into_iter()
        .flat_map(|class| spaces.iter().map(move |space| (class, *space)))
    {
        let window = if args.silent && class == Class::Job {
            WINDOW.max(limit)
        } else {
            limit
        };
        // One more than wanted tells whether there are others.
        let mut found = store.list_jobs(class, space, window + 1).await?;
        complete &= found.len() <= window;
        found.truncate(window);
        listed.extend(found.into_iter().map(|listed| (class, listed)));
    }
    listed.sort_by_key(|(_, listed)| listed.due_at);
    let reads = listed
        .into_iter()
        .map(|(class, listed)| Row::read(store, class, listed));
    let mut rows = std::pin::pin!(stream::iter(reads).buffered(READS));
    let mut jobs = Vec::new();
    while let Some(row) = rows.next().await {
        match row? {
            Some(row) if !args.silent || row.is_silent() => {
                if jobs.len() == limit {
                    complete = false;
                    break;
                }
                jobs.push(row);
            }
            _ => {}
        }
    }
    let space = args.space.as_ref().filter(|_| jobs.is_empty());
    let note = unknown_space(space, &meta);
    Ok(Found {
        jobs,
        complete,
        note,
    })
}

fn unknown_space(wanted: Option<&Name>, meta: &Meta) -> Option<String> {
    let wanted = wanted.filter(|space| !meta.spaces.contains(*space))?;
    let known: Vec<&str> = meta.spaces.iter().map(Name::as_str).collect();
    let known = if known.is_empty() {
        "none yet".to_owned()
    } else {
        known.join(", ")
    };
    Some(format!(
        "note: the table never had a job of {wanted}; it knows: {known}"
    ))
}

impl Row {
    /// `None`: it has ended meanwhile, for the index lags behind.
    async fn read(
        store: &Store,
        class: Class,
        listed: ListedJob,
    ) -> Result<Option<Self>, StoreError> {
        let record = match store.job(&listed.job).await {
            Ok(None) => return Ok(None),
            Ok(Some(record)) if record.ended.is_some() => return Ok(None),
            Ok(Some(record)) => Ok(record),
            // One record that cannot be read must not hide the others.
            Err(StoreError::Item(error)) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        Ok(Some(Self {
            listed,
            class,
            record,
        }))
    }

    fn is_silent(&self) -> bool {
        match &self.record {
            Ok(record) => record.silent_at.is_some() || record.asked > 0,
            Err(_) => self.class == Class::Silent,
        }
    }

    fn state(&self) -> String {
        match &self.record {
            Ok(record) if record.silent_at.is_none() && record.asked > 0 => {
                format!("asked {}", times(record.asked))
            }
            Ok(record) => state(record).to_owned(),
            Err(_) => "unreadable".to_owned(),
        }
    }

    fn account(&self) -> Option<&str> {
        match &self.record {
            Ok(record) => Some(&record.binding.account),
            Err(_) => self.listed.job.account.as_deref(),
        }
    }

    fn detail(&self) -> Option<&str> {
        match &self.record {
            Ok(record) => record.detail.as_deref(),
            Err(error) => Some(error),
        }
    }

    fn next_look(&self) -> Option<Timestamp> {
        (self.class == Class::Job).then_some(self.listed.due_at)
    }

    fn cells(&self, now: Timestamp) -> Vec<Entry> {
        let JobRef { space, id, .. } = &self.listed.job;
        let tone = match self.class {
            Class::Silent => Tone::Bad,
            _ if self.is_silent() => Tone::Warn,
            _ => Tone::Dim,
        };
        let next = self.next_look().map(|due| until(due, now));
        vec![
            Entry::new(self.state()).toned(tone),
            Entry::new(space.as_str()),
            Entry::new(id),
            Entry::new(self.account().unwrap_or_default()),
            Entry::new(age(self.listed.since, now)),
            Entry::new(next.unwrap_or_default()),
            Entry::new(self.detail().unwrap_or_default()),
        ]
    }

    fn json(&self) -> Value {
        let JobRef { space, id, .. } = &self.listed.job;
        let record = self.record.as_ref().ok();
        json!({
            "space": space,
            "id": id,
            "account": self.account(),
            "state": record.map_or("unreadable", state),
            "asked": record.map(|record| record.asked),
            "registered_at": self.listed.since.to_string(),
            "due_at": self.next_look().map(|due| due.to_string()),
            "silent_at": record.and_then(|record| record.silent_at).map(|at| at.to_string()),
            "detail": self.detail(),
        })
    }
}

fn tell(args: &Args, found: &Found, terminal: &Terminal) -> Result<(), CommandError> {
    const HEADINGS: &[&str] = &[
        "STATE",
        "SPACE",
        "ID",
        "ACCOUNT",
        "REGISTERED",
        "NEXT LOOK",
        "LAST",
    ];
    if args.json {
        let jobs: Vec<Value> = found.jobs.iter().map(Row::json).collect();
        let object = json!({"jobs": jobs, "complete": found.complete});
        terminal.line(object.to_string())?;
        return Ok(());
    }
    if found.jobs.is_empty() {
        terminal.line("no job waits to be looked at")?;
    } else {
        let now = edge::now();
        let rows = found.jobs.iter().map(|row| row.cells(now)).collect();
        terminal.line(terminal.table(HEADINGS, rows))?;
    }
    if !found.complete {
        output::note("there are more: raise --limit, or name a --space");
    }
    Ok(())
}
