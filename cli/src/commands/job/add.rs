//! `ackbox job add`: a record of a job comes in from a file; it is checked against the configuration and written
//! to the table, and what was parked of the job is taken up.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::job::Binding;
use ackbox_registrar::{Bind, NotRegistered, Registered, Told, bind_job, checked, has_lookup};
use ackbox_store::StoreError;
use serde_json::json;
use tokio::time::Instant;

use super::show_command;
use crate::cli::ConfigOption;
use crate::commands::table::{self, TableChoice};
use crate::commands::{CommandError, input};
use crate::edge;
use crate::output::{self, Terminal, Tone, escaped};

const EXAMPLES: &str = "\
Examples:
  ackbox job add job.json
  ackbox job add job.json --dry-run       only check it
  submit-job | ackbox job add - --json

Exit code: 0 where the job is bound so, now or before; 1 where it is bound to something else, or the table cannot be
written to; 2 for a record that cannot be used, a wrong command line or configuration.";

/// How long binding may take.
const WITHIN: Duration = Duration::from_secs(30);

/// The options of `ackbox job add`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The record, JSON; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only check it against the configuration; the table is not touched
    #[arg(long)]
    dry_run: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigOption,
    #[command(flatten)]
    table: TableChoice,
}

pub(super) async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let config = args.config.load()?;
    let record = input::read("the job's record", &args.file)?;
    if args.dry_run {
        let (binding, _) = checked(&config, &record, edge::now()).map_err(not_registered)?;
        tell_checked(&args, &config, &binding, terminal)?;
        return Ok(ExitCode::SUCCESS);
    }
    let opened = args.table.open().await?;
    let (notify, timing) = (config.notify.clone(), config.delivery.timing);
    let store = opened.store.clone().telling(notify, timing);
    let store = store.keeping(config.retentions());
    let deadline = Instant::now() + WITHIN;
    let bound = bind_job(&store, &config, &record, edge::now(), deadline).await;
    opened.close().await;
    let bound = bound.map_err(not_registered)?;
    if args.json {
        let text = serde_json::to_string(&bound.view());
        terminal.line(text.map_err(|error| CommandError::failed("no JSON", error))?)?;
    } else {
        tell(&bound, terminal)?;
    }
    Ok(match bound.registered {
        Registered::New | Registered::Same => ExitCode::SUCCESS,
        Registered::Other(_) => ExitCode::FAILURE,
    })
}

fn not_registered(error: NotRegistered) -> CommandError {
    match error {
        NotRegistered::Store(error @ StoreError::TooLarge { .. }) => CommandError::unusable(
            "the job's record has no room in one item of the table",
            error,
        ),
        NotRegistered::Store(error) => table::unread(error),
        wrong => CommandError::unusable("the job's record cannot be used", wrong),
    }
}

fn tell_checked(
    args: &Args,
    config: &Config,
    binding: &Binding,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let is_asked = binding.poll_after.map(|_| has_lookup(config, binding));
    if args.json {
        let object = json!({"outcome": "checked", "asked": is_asked});
        terminal.line(object.to_string())?;
        return Ok(());
    }
    let job = escaped(&binding.job.to_string());
    terminal.line(format!("{job} can be bound; nothing was written"))?;
    tell_actions(binding, terminal)?;
    tell_silence(binding, is_asked);
    Ok(())
}

fn tell(bound: &Bind, terminal: &Terminal) -> Result<(), CommandError> {
    let job = escaped(&bound.binding.job.to_string());
    match &bound.registered {
        Registered::New => terminal.line(format!("bound {job}"))?,
        Registered::Same => terminal.line(format!("{job} was bound to the same before"))?,
        Registered::Other(standing) => {
            let what = format!("{job} is bound to something else, which stands:");
            terminal.line(terminal.paint(Tone::Bad, &what))?;
            terminal.line(format!("  {}", escaped(standing.written())))?;
            let hint = show_command(&bound.binding.job);
            output::note(&format!(
                "nothing was written; {hint} shows what is known of it"
            ));
            return Ok(());
        }
    }
    tell_actions(&bound.binding, terminal)?;
    match &bound.taken_up {
        Ok(taken) => {
            for told in taken.iter().map(Told::of) {
                let why = told.why().map(|why| format!(": {}", escaped(why)));
                let why = why.unwrap_or_default();
                terminal.line(format!("  taken up what was parked: {}{why}", told.outcome))?;
            }
        }
        Err(error) => output::note(&format!(
            "what is parked of it was not taken up now, the reconciler does: {}",
            escaped(&error.to_string())
        )),
    }
    tell_silence(&bound.binding, bound.is_asked);
    Ok(())
}

fn tell_actions(binding: &Binding, terminal: &Terminal) -> Result<(), CommandError> {
    for step in &binding.steps {
        let on: Vec<&str> = step.on.iter().map(|on| on.as_str()).collect();
        terminal.line(format!(
            "  {} on {} -> {}  {}",
            step.name,
            on.join(", "),
            step.destination,
            terminal.paint(Tone::Dim, binding.key(step).as_str())
        ))?;
    }
    Ok(())
}

fn tell_silence(binding: &Binding, is_asked: Option<bool>) {
    if is_asked == Some(false) {
        output::note(&format!(
            "note: nobody asks about it after poll_after: no source of {} for the account {} has a lookup",
            binding.job.space,
            escaped(&binding.account)
        ));
    }
}
