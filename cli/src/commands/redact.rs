//! `ackbox redact`: a key or a job comes in; every body that the table holds of it is removed, and what was
//! accepted stays: a repetition is still a duplicate.

use std::process::ExitCode;
use std::time::Duration;

use ackbox_domain::ActionKey;
use ackbox_domain::job::JobRef;
use ackbox_store::{Observed, ObservedRecord, OperatorRecord, Redacted};
use serde_json::json;
use tokio::time::Instant;

use crate::commands::deed::{self, Agreed, Done, Intent};
use crate::commands::doubt::did;
use crate::commands::operator::Operator;
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
    #[arg(value_name = "KEY", value_parser = commands::key, conflicts_with = "job")]
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
        (None, None) => Err(CommandError::Usage(
            "of what? Name an action's KEY, or a job by --job SPACE/ID".to_owned(),
        )),
    };
    opened.close().await;
    done?.tell(&args.operator, args.json, terminal)
}

async fn of_action(args: &Args, opened: &Opened, key: &ActionKey) -> Result<Done, CommandError> {
    let story = opened.store.story(key).await.map_err(table::unread)?;
    if let Some(why) = deed::unreadable(&story) {
        return Ok(Done::refused(format!("{key}: {why}; {UNREADABLE}")));
    }
    if story.outbox.is_none() && story.accepted.is_none() {
        return Ok(Done::refused(format!("{key}: {}", deed::NO_ENTRY)));
    }
    let open = story.outbox.as_ref().filter(|one| !one.state.is_closed());
    if let Some(entry) = open {
        return Ok(Done::refused(format!(
            "{key} is {}: {OPEN}; close it first with `ackbox resolve {key} --applied` or `--dead`",
            entry.state
        )));
    }
    for copy in story.operators.iter().filter(|one| copies(one)) {
        let detail = copy.detail.as_deref().unwrap_or_default();
        output::note(&format!(
            "note: a copy has a key of its own, and is not touched: {}",
            escaped(detail)
        ));
    }
    let conflicts = story.conflicts.iter().filter(|one| one.body.is_some());
    let bodies = usize::from(story.body().is_some()) + conflicts.count();
    let told = story
        .outbox
        .as_ref()
        .and_then(|one| one.last_detail.as_ref());
    let object = json!({"key": key.as_str(), "bodies": bodies});
    if bodies == 0 && told.is_none() {
        return Ok(Done::written(format!("no body of {key} is there"), object));
    }
    let intent = Intent {
        says: format!("{} of {key}, for ever.", removed(bodies)),
        json: object,
    };
    let by = match args.operator.agreed(opened, &intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let record = args.operator.record(&by, did::REDACT, None, edge::now());
    let redacted = opened
        .store
        .redact(key, &story, &record, Instant::now() + WITHIN);
    Ok(done(redacted.await.map_err(table::unwritten)?, intent))
}

async fn of_job(args: &Args, opened: &Opened, job: &JobRef) -> Result<Done, CommandError> {
    let name = escaped(&job.to_string());
    let story = opened.store.job_story(job).await.map_err(table::unread)?;
    if let Some((sort_key, _)) = story.unreadable.first() {
        let sort_key = escaped(sort_key);
        return Ok(Done::refused(format!(
            "its {sort_key} cannot be read; {UNREADABLE}"
        )));
    }
    let is_parked = |one: &ObservedRecord| one.kind == Observed::Parked;
    if story.observed.iter().any(is_parked) {
        return Ok(Done::refused(format!(
            "an end of {name} is parked: it is still to be acted on, and needs its body"
        )));
    }
    if story.job.is_none() && story.observed.is_empty() {
        return Ok(Done::refused(format!("the table knows nothing of {name}")));
    }
    let bodies = story.observed.iter().filter(|one| one.is_whole).count();
    let object = json!({"job": name, "bodies": bodies});
    if bodies == 0 {
        return Ok(Done::written(format!("no body of {name} is there"), object));
    }
    let intent = Intent {
        says: format!(
            "{} of what was observed of {name}, for ever.",
            removed(bodies)
        ),
        json: object,
    };
    let by = match args.operator.agreed(opened, &intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let record = args.operator.record(&by, did::REDACT, None, edge::now());
    let redacted = opened
        .store
        .redact_job(job, &story, &record, Instant::now() + WITHIN);
    Ok(done(redacted.await.map_err(table::unwritten)?, intent))
}

const OPEN: &str = "it may still be sent, and needs its body";
const UNREADABLE: &str =
    "nothing is removed of what a newer version may have open: use that version";

/// Whether a new action was made with this body, or with that of other content.
fn copies(record: &OperatorRecord) -> bool {
    [did::REDRIVE_AS_NEW, did::SUPERSEDE].contains(&record.did.as_str())
}

fn in_number(bodies: usize) -> String {
    match bodies {
        1 => "1 body".to_owned(),
        many => format!("{many} bodies"),
    }
}

fn removed(bodies: usize) -> String {
    let verb = if bodies == 1 { "is" } else { "are" };
    format!("{} {verb} removed", in_number(bodies))
}

fn done(redacted: Redacted, intent: Intent) -> Done {
    match redacted {
        Redacted::Done => Done::written(intent.says, intent.json),
        Redacted::Open => Done::refused(OPEN),
        Redacted::Unreadable => Done::refused(UNREADABLE),
        Redacted::Moved => {
            Done::refused("it has changed meanwhile, and may be only partly done: say it again")
        }
    }
}
