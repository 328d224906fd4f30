//! `ackbox job`: an application's records of its jobs. Binding one is what `POST /jobs` of the registrar does, with
//! the same checks; showing and listing read the table as `ackbox show` and `ackbox list` do.

mod add;
mod list;
mod show;

use std::process::ExitCode;

use ackbox_domain::job::JobRef;
use clap::Subcommand;

use crate::commands::CommandError;
use crate::output::{Terminal, escaped, quoted};

const EXAMPLES: &str = "\
Examples:
  ackbox job add job.json                 bind the job whose record this is
  ackbox job show tornado 550e8400        what is known of it
  ackbox job list --silent                those that nothing was heard of

docs/jobs.md has the record's form; docs/schema/job-binding.schema.json describes it to programs.";

/// The options of `ackbox job`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bind a job: check its record, write it, take up what is parked of it
    Add(add::Args),
    /// Show everything about one job, in the order of time
    Show(show::Args),
    /// List bound jobs that have not ended, what is looked at next first
    List(list::Args),
}

/// Does what is asked.
///
/// # Errors
///
/// The table cannot be opened or read, or a record cannot be used.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    match args.command {
        Command::Add(args) => add::run(args, terminal).await,
        Command::Show(args) => show::run(args, terminal).await,
        Command::List(args) => list::run(args, terminal).await,
    }
}

/// The command that shows a job.
pub(crate) fn show_command(job: &JobRef) -> String {
    let account = match &job.account {
        Some(account) => format!(" --account {}", escaped(&quoted(account))),
        None => String::new(),
    };
    let id = escaped(&quoted(&job.id));
    // An id that begins as an option does is none.
    let id = if job.id.starts_with('-') {
        format!("-- {id}")
    } else {
        id
    };
    format!("ackbox job show{account} {} {id}", job.space)
}

/// `once`, `3 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}
