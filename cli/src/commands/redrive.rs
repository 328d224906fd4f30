//! `ackbox redrive`: keys come in, or what a filter finds; each action is sent again under its own key, or as
//! a new action. What is to happen is said before, with what is known of the attempts so far. What must never
//! happen: that an action that may have arrived is repeated without somebody having taken that risk by name.
//!
//! Each action is one transaction, so a command that is ended half way has done some of them whole and the
//! others not at all; run again, it finds the others.

mod choice;
mod perform;
mod plan;

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_domain::operator::Risk;
use ackbox_domain::{ActionKey, Name};
use ackbox_store::{Between, Store};
use serde_json::json;

use crate::cli::ConfigOption;
use crate::commands::filter::{Times, unknown_name};
use crate::commands::operator::{Chosen, Operator};
use crate::commands::paused::Paused;
use crate::commands::table::{self, TableChoice};
use crate::commands::{self, CommandError};
use crate::edge;
use crate::output::{self, Terminal};
use choice::State;
use perform::{Became, Performed, perform};
use plan::{How, Planned};

const EXAMPLES: &str = "\
Examples:
  ackbox redrive act_k7gq3vbz5uj2m4xw6y7aabcdefghijkl --reason 'template fixed'
  ackbox redrive --state dead --destination mailer --dry-run
  ackbox redrive --state dead --destination mailer --since 2h --yes
  ackbox redrive act_.. --past-window      it may be carried out a second time
  ackbox redrive act_.. --to mailer-eu     the destination was renamed
  ackbox redrive act_.. --as-new           a new action under a new key, for a destination that would ignore the old one

An action that is sent again keeps its key, and has its whole time for retries before it. The sweep sends it within a minute. It is refused where an attempt may have arrived and the destination does not know the key any more: that would carry it out twice.

Exit code: 0 where all of it was done, or would be (--dry-run), or nothing was found; 1 where something was refused, had changed meanwhile, or was left; 2 for a wrong command line.";

/// How many rows of a plan are shown.
const SHOWN: usize = 25;

/// The options of `ackbox redrive`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The actions' keys
    #[arg(value_name = "KEY", value_parser = commands::key, conflicts_with_all = ["state", "destination", "source", "since", "until"])]
    keys: Vec<ActionKey>,
    /// All entries in this state, as far as the other filters take them
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only entries of this destination
    #[arg(long, value_name = "NAME", requires = "state")]
    destination: Option<Name>,
    /// Only entries of this source
    #[arg(long, value_name = "NAME", requires = "state")]
    source: Option<Name>,
    #[command(flatten)]
    times: Times,
    /// At most this many; the same command finds the others
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Also where an attempt may have arrived and the destination does not know the key (any more, or a new one):
    /// it may be carried out twice
    #[arg(long)]
    past_window: bool,
    /// To this destination instead
    #[arg(long, value_name = "NAME")]
    to: Option<Name>,
    /// Also where an attempt may have arrived at another address than where it goes now: it may be carried out
    /// twice
    #[arg(long)]
    force: bool,
    /// Make a new action of each, with the same body and a key of its own, and close the old one
    #[arg(long)]
    as_new: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: Operator,
    #[command(flatten)]
    config: ConfigOption,
    #[command(flatten)]
    table: TableChoice,
}

/// Sends again.
///
/// # Errors
///
/// The configuration or the table cannot be used, or nobody agreed.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    if args.keys.is_empty() && args.state.is_none() {
        return Err(CommandError::Usage(
            "what is to be sent again? Name the actions' KEYs, or choose by --state dead or held"
                .to_owned(),
        ));
    }
    let config = args.config.load()?;
    if let Some(to) = args
        .to
        .as_ref()
        .filter(|to| !config.destinations.contains_key(*to))
    {
        return Err(CommandError::Usage(format!(
            "the configuration has no destination \"{to}\" to send to"
        )));
    }
    let between = args.times.between(edge::now())?;
    let opened = args.table.open().await?;
    let done = of(&args, &config, between, &opened, terminal).await;
    opened.close().await;
    done
}

async fn of(
    args: &Args,
    config: &Config,
    between: Between,
    opened: &table::Opened,
    terminal: &Terminal,
) -> Result<ExitCode, CommandError> {
    let store = opened.store.clone().keeping(config.retentions());
    let how = How {
        config,
        to: args.to.as_ref(),
        as_new: args.as_new,
        risk: Risk {
            past_window: args.past_window || args.force,
            elsewhere: args.force,
        },
        now: edge::now(),
    };
    if let Some(note) = unknown(args, config, &store).await.map_err(table::unread)? {
        output::note(&note);
    }
    let planned = planned(args, between, &store, &how).await;
    let planned = planned.map_err(table::unread)?;
    let refused = planned.iter().filter(|one| one.decision.is_err()).count();
    if !args.json {
        show(&planned, &how, terminal)?;
    }
    let ready = planned.len() - refused;
    let paused = paused(&store, &how, &planned)
        .await
        .map_err(table::unread)?;
    for one in &paused {
        output::note(&format!(
            "{}: what is sent again waits for that",
            one.line(how.now)
        ));
    }
    let performed = if ready == 0 || args.operator.dry_run {
        None
    } else {
        let by = args.operator.who(opened).await?;
        let chosen = if args.state.is_some() {
            Chosen::ByFilter
        } else {
            Chosen::ByName
        };
        if args.operator.confirm(chosen, &question(ready, args))? {
            Some(perform(&store, &how, &planned, (&args.operator, &by)).await)
        } else {
            None
        }
    };
    tell(args, &how, &planned, performed.as_ref(), terminal)?;
    let is_whole = match &performed {
        Some(performed) => performed.done == ready,
        None => ready == 0 || args.operator.dry_run,
    };
    Ok(if refused == 0 && is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What there is to say of the names of a filter.
async fn unknown(
    args: &Args,
    config: &Config,
    store: &Store,
) -> Result<Option<String>, ackbox_store::StoreError> {
    let (destination, source) = (args.destination.as_ref(), args.source.as_ref());
    if destination.or(source).is_none() {
        return Ok(None);
    }
    let meta = store.meta().await?;
    Ok(unknown_name(&meta, destination, source, || {
        Some(config.clone())
    }))
}

async fn planned(
    args: &Args,
    between: Between,
    store: &Store,
    how: &How<'_>,
) -> Result<Vec<Planned>, ackbox_store::StoreError> {
    match args.state {
        None => {
            // A key that is named twice is one action.
            let keys: std::collections::BTreeSet<_> = args.keys.iter().cloned().collect();
            plan::of_keys(store, how, keys.into_iter().collect()).await
        }
        Some(state) => {
            let filter = choice::Filter {
                state,
                destination: args.destination.as_ref(),
                source: args.source.as_ref(),
                between,
                limit: args.limit as usize,
            };
            choice::planned(store, how, &filter).await
        }
    }
}

/// Which of the destinations that something goes to are paused.
async fn paused(
    store: &Store,
    how: &How<'_>,
    planned: &[Planned],
) -> Result<Vec<Paused>, ackbox_store::StoreError> {
    let ready = planned.iter().filter(|one| one.decision.is_ok());
    let entries = ready.filter_map(|one| one.entry.as_ref());
    let names: std::collections::BTreeSet<&Name> = entries
        .map(|entry| how.to.unwrap_or(&entry.destination))
        .collect();
    Paused::among(store, names).await
}

fn question(ready: usize, args: &Args) -> String {
    let what = match (ready, args.as_new) {
        (1, false) => "1 action is sent again.".to_owned(),
        (many, false) => format!("{many} actions are sent again."),
        (1, true) => "1 new action is made and sent.".to_owned(),
        (many, true) => format!("{many} new actions are made and sent."),
    };
    let risk = if args.past_window || args.force {
        " What may have arrived may be carried out twice."
    } else {
        ""
    };
    format!("{what}{risk}")
}

fn show(planned: &[Planned], how: &How<'_>, terminal: &Terminal) -> Result<(), CommandError> {
    if planned.is_empty() {
        return Ok(terminal.line("nothing is found")?);
    }
    let rows = planned.iter().take(SHOWN).map(|one| one.cells(how));
    terminal.line(terminal.table(Planned::HEADINGS, rows.collect()))?;
    if let Some(more) = planned.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        terminal.line(format!("and {more} more; --json shows all"))?;
    }
    Ok(())
}

fn tell(
    args: &Args,
    how: &How<'_>,
    planned: &[Planned],
    performed: Option<&Performed>,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    if args.json {
        let actions: Vec<_> = planned
            .iter()
            .map(|one| {
                let mut object = one.json(how);
                let became = performed.and_then(|performed| performed.of(&one.key));
                object["done"] = json!(became.map_or(Some(false), Became::is_done));
                object["problem"] = match became {
                    Some(became) => json!(became.problem()),
                    None => object["refused"].clone(),
                };
                object["new_key"] = json!(
                    became
                        .and_then(|became| became.new_key())
                        .map(ActionKey::as_str)
                );
                object
            })
            .collect();
        let done = performed.map_or(0, |performed| performed.done);
        let object = json!({
            "dry_run": args.operator.dry_run,
            "actions": actions,
            "done": done,
        });
        return Ok(terminal.line(object.to_string())?);
    }
    if args.operator.dry_run {
        output::note("nothing was done: --dry-run");
        return Ok(());
    }
    let Some(performed) = performed else {
        if planned.iter().any(|one| one.decision.is_ok()) {
            output::note("nothing was done");
        } else if !planned.is_empty() {
            output::note("nothing was done: see WHAT HAPPENS");
        }
        return Ok(());
    };
    performed.tell(planned.len(), terminal)
}
