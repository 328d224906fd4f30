//! `ackbox resume`: names of destinations come in; whatever pauses them, an operator or their breaker, is over,
//! and is told. What is not paused is said to be so, and is no error.

use std::process::ExitCode;

use ackbox_domain::{Name, PauseRecord, Timestamp};

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::commands::operator::Operator;
use crate::commands::pause::{Change, Changes, Names, Plan, in_words};
use crate::commands::paused::Paused;
use crate::commands::table::TableChoice;
use crate::output::Terminal;

const EXAMPLES: &str = "\
Examples:
  ackbox resume mailer --reason \"their maintenance is over\"
  ackbox resume --all --dry-run           what is paused, and would be no more
  ackbox resume mailer --aws --by ada

It ends an operator's pause and a breaker's alike. What is due is delivered by the next sweep; a destination that still does not work is paused by its breaker again.

Exit code: 0 where none is paused any more, also where none was; 1 where one is, since somebody else changed it meanwhile or the table failed; 2 for a wrong command line.";

/// The options of `ackbox resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    names: Names,
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

/// Resumes.
///
/// # Errors
///
/// The table cannot be opened or read, a destination is not known, or nobody knows who it is that resumes.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let changes = Changes {
        what: &Resuming,
        names: &args.names,
        operator: &args.operator,
        config: &args.config,
        json: args.json,
    };
    let done = changes.run(&opened, terminal).await;
    opened.close().await;
    done
}

struct Resuming;

impl Change for Resuming {
    fn did(&self) -> &'static str {
        "resume"
    }

    fn question(&self, many: usize) -> String {
        format!("Requests go to {} again.", in_words(many))
    }

    fn plan(&self, name: &Name, seen: &PauseRecord, _by: &str, now: Timestamp) -> Plan {
        match Paused::of(name, seen, now) {
            None => Plan::Nothing("not paused".to_owned()),
            Some(paused) => {
                let whose = match seen.operator {
                    Some(_) => "an operator's pause",
                    None => "its breaker's pause",
                };
                Plan::Write {
                    next: None,
                    words: format!("open again: {whose} is over; it was {}", paused.words(now)),
                }
            }
        }
    }
}
