//! `ackbox redact`: a key or a job comes in; every body that the table holds of it is removed, and what was
//! accepted stays: a repetition is still a duplicate.

use std::process::ExitCode;
use std::time::Duration;

use ackbox_domain::ActionKey;
use ackbox_domain::job::JobRef;
use ackbox_store::Redacted;
use serde_json::json;
use tokio::time::Instant;

use crate::commands::doubt::did;
use crate::commands::operator::{Chosen, Operator};
use crate::commands::resolve::JobChoice;
use crate::commands::table::{self, Opened, TableChoice};
use crate::commands::{self, CommandError};
use crate::edge;
use crate::output::{self, Terminal, escaped};

const EXAMPLES: &str = "\
Examples:
  ackbox redact act_.. --reason 'request of 2026-11-30, customer 4711'
  ackbox redact --job tornado/550e8400

Removed are the body to send, those of other content under the key, and what the destination last said in words; of a job, the bodies and values of everything that was observed of it. What stays: the key and its parts, subject, account and times, by which a repetition is known; of a job, its binding, which is the application's own. An entry that may still be sent is not touched: close it first.

Exit code: 0 where the bodies are gone, or would be (--dry-run); 1 where that is refused, or has changed meanwhile; 2 for a wrong command line.";

/// How long it may take.
const WITHIN: Duration = Duration::from_secs(60);

/// The options of `ackbox redact`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The action's key
    #[arg(value_name = "KEY", value_parser = commands::key, required_unless_present = "job", conflicts_with = "job")]
    key: Option<ActionKey>,
    #[command(flatten)]
    job: JobChoice,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: Operator,
    #[command(flatten)]
    table: TableChoice,
}

/// Removes bodies.
///
/// # Errors
///
/// The table cannot be used, or nobody agreed.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let done = match (&args.key, args.job.of()) {
        (Some(key), _) => of_action(&args, &opened, key).await,
        (None, Some(job)) => of_job(&args, &opened, &job).await,
        (None, None) => Err(CommandError::Usage("name a KEY or a --job".to_owned())),
    };
    opened.close().await;
    let (is_done, says) = done?;
    if args.json {
        let problem = (!is_done).then_some(&says);
        let done = is_done && !args.operator.dry_run;
        let object = json!({"done": done, "dry_run": args.operator.dry_run, "refused": problem});
        terminal.line(object.to_string())?;
    } else if is_done {
        terminal.line(says)?;
    } else {
        output::note(&says);
    }
    Ok(if is_done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn of_action(
    args: &Args,
    opened: &Opened,
    key: &ActionKey,
) -> Result<(bool, String), CommandError> {
    let story = opened.store.story(key).await.map_err(table::unread)?;
    if let Some(entry) = story
        .outbox
        .as_ref()
        .filter(|entry| !entry.state.is_closed())
    {
        return Ok((
            false,
            format!(
                "{key} is {}: it may still be sent, and needs its body; close it first with `ackbox resolve {key} --applied` or `--dead`",
                entry.state
            ),
        ));
    }
    let bodies = usize::from(story.body().is_some())
        + story
            .conflicts
            .iter()
            .filter(|one| one.body.is_some())
            .count();
    if bodies == 0 {
        return Ok((false, format!("the table holds no body of {key}")));
    }
    let says = format!("{} of {key}, for ever.", removed(bodies));
    let by = match agreed(args, opened, &says).await? {
        Ok(by) => by,
        Err(told) => return Ok(told),
    };
    let detail = Some(format!("{bodies} bodies"));
    let record = args.operator.record(&by, did::REDACT, detail, edge::now());
    let redacted = opened
        .store
        .redact(key, &story, &record, Instant::now() + WITHIN);
    Ok(told(redacted.await.map_err(table::unwritten)?, says))
}

async fn of_job(
    args: &Args,
    opened: &Opened,
    job: &JobRef,
) -> Result<(bool, String), CommandError> {
    let name = escaped(&job.to_string());
    let story = opened.store.job_story(job).await.map_err(table::unread)?;
    let is_parked = |one: &ackbox_store::ObservedRecord| one.kind == ackbox_store::Observed::Parked;
    if story.observed.iter().any(is_parked) {
        return Ok((
            false,
            format!("an end of {name} is parked: it is still to be acted on, and needs its body"),
        ));
    }
    let bodies = story.observed.iter().filter(|one| one.is_whole).count();
    if bodies == 0 {
        return Ok((false, format!("the table holds no body of {name}")));
    }
    let says = format!("{} observed of {name}, for ever.", removed(bodies));
    let by = match agreed(args, opened, &says).await? {
        Ok(by) => by,
        Err(told) => return Ok(told),
    };
    let detail = Some(format!("{bodies} bodies"));
    let record = args.operator.record(&by, did::REDACT, detail, edge::now());
    let redacted = opened
        .store
        .redact_job(job, &story, &record, Instant::now() + WITHIN);
    Ok(told(redacted.await.map_err(table::unwritten)?, says))
}

fn removed(bodies: usize) -> String {
    match bodies {
        1 => "1 body is removed".to_owned(),
        many => format!("{many} bodies are removed"),
    }
}

/// Who does it, where it is agreed to. `Err`: what is told instead.
async fn agreed(
    args: &Args,
    opened: &Opened,
    says: &str,
) -> Result<Result<String, (bool, String)>, CommandError> {
    if args.operator.dry_run {
        return Ok(Err((true, format!("{says} Nothing was done: --dry-run"))));
    }
    let by = args.operator.who(opened).await?;
    if !args.operator.confirm(Chosen::ByName, says)? {
        return Ok(Err((false, "nothing was done".to_owned())));
    }
    Ok(Ok(by))
}

fn told(redacted: Redacted, says: String) -> (bool, String) {
    match redacted {
        Redacted::Done => (true, says),
        Redacted::Moved => (
            false,
            "it has changed meanwhile, and may be only partly done: say it again".to_owned(),
        ),
    }
}
