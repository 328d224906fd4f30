//! `ackbox pause`: names of destinations come in; no request goes to them until an operator resumes them, or
//! until a time. Their entries stay as they are, and attempts under way end and are settled. What must never
//! happen: a pause over another operator's that this one has not seen.

mod change;
mod names;

use std::process::ExitCode;
use std::time::Duration;

use ackbox_domain::{Name, OperatorPause, PauseRecord, Timestamp};

pub use names::Names;

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::commands::operator::Operator;
use crate::commands::paused::Paused;
use crate::commands::table::TableChoice;
use crate::commands::when::span;
use crate::edge;
use crate::output::{Terminal, until};
pub(super) use change::{Change, Changes, Plan};

const EXAMPLES: &str = "\
Examples:
  ackbox pause mailer --reason \"their maintenance\"
  ackbox pause mailer pipeline --for 2h   open again by itself after two hours
  ackbox pause --all --dry-run            what it would do
  ackbox pause --all --yes --aws --by ada --reason \"incident 17\"

No request goes to a paused destination, by its breaker's probe neither; its entries stay as they are, and are delivered once it is resumed. Attempts under way end and are settled. The functions see it within a second. Questions to destinations (on_unknown = \"reconcile\") are asked all the same. `ackbox list` and `ackbox stats` say what is paused.

Exit code: 0 where all are paused; 1 where one is not, since somebody else changed it meanwhile or the table failed; 2 for a wrong command line.";

/// The options of `ackbox pause`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    names: Names,
    /// Open again by itself after this time (30m, 2h, 3d; at most 365d); without it, when it is resumed
    #[arg(long = "for", value_name = "SPAN", value_parser = span)]
    lasting: Option<Duration>,
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

/// Pauses.
///
/// # Errors
///
/// The table cannot be opened or read, a destination is not known, or nobody knows who it is that pauses.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let changes = Changes {
        what: &Pausing {
            lasting: args.lasting,
            why: args.operator.reason.clone(),
        },
        names: &args.names,
        operator: &args.operator,
        config: &args.config,
        json: args.json,
    };
    let done = changes.run(&opened, terminal).await;
    opened.close().await;
    done
}

/// What is to stand afterwards.
struct Pausing {
    lasting: Option<Duration>,
    why: Option<String>,
}

impl Change for Pausing {
    fn did(&self) -> &'static str {
        "pause"
    }

    fn question(&self, many: usize) -> String {
        format!(
            "No request goes to {} any more; what waits for them stays.",
            in_words(many)
        )
    }

    fn plan(&self, name: &Name, seen: &PauseRecord, by: &str, now: Timestamp) -> Plan {
        let next = OperatorPause {
            since: now,
            until: self.lasting.map(|lasting| now.plus(lasting)),
            by: by.to_owned(),
            why: self.why.clone(),
        };
        let before = Paused::of(name, seen, now);
        let stands = seen.operator_pause(now);
        if stands.is_some_and(|stands| stands.says_the_same(&next)) {
            return Plan::Nothing("paused so already".to_owned());
        }
        let end = match next.until {
            Some(end) => format!("until {end} ({})", until(end, now)),
            None => "until it is resumed".to_owned(),
        };
        let instead = match before {
            Some(before) => format!("; it was {}", before.words(now)),
            None => String::new(),
        };
        Plan::Write {
            next: Some(next),
            words: format!("paused {end}{instead}"),
        }
    }
}

/// `2 destinations`.
pub(super) fn in_words(many: usize) -> String {
    match many {
        1 => "1 destination".to_owned(),
        more => format!("{more} destinations"),
    }
}

/// Now, for the record.
fn now() -> Timestamp {
    edge::now()
}
