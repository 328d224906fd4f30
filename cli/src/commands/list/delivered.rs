//! `ackbox list --state delivered --scan`: what reading the whole table costs comes first, and is agreed to; then
//! the entries, in the order in which the table has them. Ctrl-C ends it with what was found by then.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use ackbox_store::{Store, StoreError, TableSize};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::filter::Filter;
use super::find::Found;
use super::row::Row;
use super::{Args, tell};
use crate::commands::CommandError;
use crate::commands::operator::{Chosen, Operator};
use crate::commands::table::{self, Opened};
use crate::commands::watch::interrupted;
use crate::output::{self, Terminal};

/// What the shell is told where Ctrl-C ended it.
const INTERRUPTED: u8 = 130;

pub(super) async fn run(
    args: &Args,
    opened: Opened,
    terminal: &Terminal,
) -> Result<ExitCode, CommandError> {
    let ended = agreed_and_scanned(args, &opened.store, terminal).await;
    opened.close().await;
    ended
}

async fn agreed_and_scanned(
    args: &Args,
    store: &Store,
    terminal: &Terminal,
) -> Result<ExitCode, CommandError> {
    let size = store.table_size().await.map_err(table::unread)?;
    let cost = in_words(store, size);
    // Whatever is done after it, it has been said.
    let operator = Operator {
        yes: args.yes,
        ..Operator::default()
    };
    if args.yes {
        output::note(&cost);
    }
    if !operator.confirm(Chosen::ByFilter, &cost)? {
        output::note("nothing was read");
        return Ok(ExitCode::FAILURE);
    }
    let bar = progress(size);
    let mut found = Found {
        rows: Vec::new(),
        jobs: Vec::new(),
        paused: Vec::new(),
        complete: true,
        now: crate::edge::now(),
        nothing: "no delivered entry fits",
        note: None,
    };
    let filter = args.filter()?;
    let limit = usize::from(args.limit);
    let is_over = tokio::select! {
        scanned = scan(store, &filter, limit, &bar, &mut found) => {
            scanned.map_err(table::unread)?;
            true
        }
        () = interrupted() => false,
    };
    bar.finish_and_clear();
    if !is_over {
        found.complete = false;
        found.note = Some("stopped: this is what was found by then".to_owned());
    }
    tell(args, &found, terminal)?;
    Ok(match is_over {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INTERRUPTED),
    })
}

/// Reads until the table's end, or until one more is found than is wanted.
async fn scan(
    store: &Store,
    filter: &Filter,
    limit: usize,
    bar: &ProgressBar,
    found: &mut Found,
) -> Result<(), StoreError> {
    let mut pages = store.scan_delivered(filter.delivered());
    while let Some(page) = pages.next().await? {
        bar.inc(page.looked_at);
        for entry in page.entries {
            if found.rows.len() == limit {
                found.complete = false;
                return Ok(());
            }
            found.rows.push(Row::of_entry(entry));
        }
    }
    Ok(())
}

fn in_words(store: &Store, size: TableSize) -> String {
    let TableSize { items, bytes } = size;
    let units = size.read_units();
    format!(
        "A scan reads the whole table {:?}: about {items} items, {bytes} bytes, {units} read units (as the service last measured it).",
        store.table()
    )
}

/// On standard error, where that is a terminal.
fn progress(size: TableSize) -> ProgressBar {
    let target = match io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(size.items), target);
    match ProgressStyle::with_template("{bar:30} {pos} of about {len} items, {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
