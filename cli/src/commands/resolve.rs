//! `ackbox resolve`: what an operator knows comes in, and is put on the record as what happened: an action that
//! nobody knows about was applied, or not, or is given up; other content under a key, or another end of a job,
//! counts or does not.

mod conflict;
mod entry;
mod job;

use std::process::ExitCode;

use ackbox_config::Config;
use ackbox_domain::ActionKey;
use ackbox_domain::operator::Resolution;
use ackbox_store::Store;
use tokio::time::Instant;

use crate::cli::ConfigOption;
use crate::commands::deed::{Agreed, Intent};
use crate::commands::operator::Operator;
use crate::commands::table::{Opened, TableChoice};
use crate::commands::{self, CommandError};
use crate::output::Terminal;
pub(super) use job::JobChoice;

const EXAMPLES: &str = "\
Examples:
  ackbox resolve act_.. --applied --reason 'it is in their list, order 4711'
  ackbox resolve act_.. --not-applied      it is sent again, once, whatever came before
  ackbox resolve act_.. --dead             it is not to be sent any more
  ackbox resolve act_.. --conflict 1f2e3d4c5b6a7988 --dismiss
  ackbox resolve act_.. --conflict 1f2e3d4c5b6a7988 --supersede      a new action is made of that content
  ackbox resolve --job tornado/550e8400 --conflict 1f2e3d4c5b6a7988 --supersede
  ackbox resolve --job tornado/550e8400 --dismiss                    a job that stayed silent

`ackbox show KEY` names a conflict's fingerprint, `ackbox job show SPACE ID` that of another end of a job. What --supersede makes of a conflict is a new action with a key of its own; of another end of a job, the actions of the steps that wait for it. Steps that have run already are left as they are.

Exit code: 0 where it is done, or would be (--dry-run); 1 where it is refused, or has changed meanwhile; 2 for a wrong command line.";

/// How long a write may take.
const WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// The options of `ackbox resolve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The action's key
    #[arg(value_name = "KEY", value_parser = commands::key, conflicts_with = "job")]
    key: Option<ActionKey>,
    #[command(flatten)]
    what: What,
    /// Of other content under this key, or another end of the job: its fingerprint, or how it begins
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
    conflict: Option<String>,
    #[command(flatten)]
    job: JobChoice,
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

/// What is so.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// The destination has it: it is delivered
    #[arg(long)]
    applied: bool,
    /// The destination does not have it, whatever was sent so far: it is sent again
    #[arg(long)]
    not_applied: bool,
    /// It is not to be sent any more
    #[arg(long)]
    dead: bool,
    /// The conflict is closed, and nothing comes of it; of a job without --conflict: its silence
    #[arg(long)]
    dismiss: bool,
    /// The conflicting content counts too: a new action is made of it
    #[arg(long)]
    supersede: bool,
}

impl What {
    const fn resolution(self) -> Option<Resolution> {
        match self {
            Self { applied: true, .. } => Some(Resolution::Applied),
            Self {
                not_applied: true, ..
            } => Some(Resolution::NotApplied),
            Self { dead: true, .. } => Some(Resolution::Dead),
            _ => None,
        }
    }
}

fn fingerprint(text: &str) -> Result<String, String> {
    let text = text.trim().to_ascii_lowercase();
    let fits = (6..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if fits {
        Ok(text)
    } else {
        Err("a fingerprint is 16 hex digits, or at least the first 6 of them".to_owned())
    }
}

/// One thing that is resolved, and everything that is needed for it.
struct Case<'a> {
    args: &'a Args,
    config: &'a Config,
    opened: &'a Opened,
    store: &'a Store,
}

impl Case<'_> {
    fn deadline(&self) -> Instant {
        Instant::now() + WITHIN
    }

    async fn agreed(&self, intent: &Intent) -> Result<Agreed, CommandError> {
        self.args.operator.agreed(self.opened, intent).await
    }
}

/// Resolves.
///
/// # Errors
///
/// The command line, the configuration or the table cannot be used.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    check(&args)?;
    let config = args.config.load()?;
    let opened = args.table.open().await?;
    let store = opened.store.clone().keeping(config.retentions());
    let case = Case {
        args: &args,
        config: &config,
        opened: &opened,
        store: &store,
    };
    let done = match (&args.key, args.what.resolution(), &args.conflict) {
        (Some(key), Some(resolution), _) => entry::resolve(&case, key, resolution).await,
        (Some(key), None, Some(print)) => conflict::resolve(&case, key, print).await,
        (_, _, print) => job::resolve(&case, print.as_deref()).await,
    };
    opened.close().await;
    done?.tell(&args.operator, args.json, terminal)
}

/// What clap cannot say of options that belong together.
fn check(args: &Args) -> Result<(), CommandError> {
    let wrong = |what: &str| Err(CommandError::Usage(what.to_owned()));
    let is_entry = args.what.resolution().is_some();
    if args.key.is_none() && !args.job.is_some() {
        return wrong("of what? Name an action's KEY, or a job by --job SPACE/ID");
    }
    if args.job.is_some() && is_entry {
        return wrong(
            "--applied, --not-applied and --dead are about an action: name its KEY (`ackbox job show` lists those of a job)",
        );
    }
    if is_entry && args.conflict.is_some() {
        return wrong("a conflict is closed by --dismiss or --supersede");
    }
    if args.key.is_some() && !is_entry && args.conflict.is_none() {
        return wrong("which conflict? --conflict FINGERPRINT, as `ackbox show KEY` tells it");
    }
    if args.job.is_some() && args.what.supersede && args.conflict.is_none() {
        return wrong(
            "which end of the job? --conflict FINGERPRINT, as `ackbox job show` tells it",
        );
    }
    Ok(())
}
