//! `ackbox job show`: a job space and an id come in; everything that the table holds of that job goes out. The
//! bodies of observations and the inputs of steps are not shown, except with `--json` the record as it was
//! written.

use std::process::ExitCode;

use ackbox_domain::Timestamp;
use ackbox_domain::job::{Ids, JobRef, identity};
use ackbox_domain::{ActionKey, Name};
use ackbox_registrar::{JobView, UnboundView, state};
use ackbox_store::{JobRecord, JobStory, Observed, ObservedRecord};

use super::times;
use crate::commands::CommandError;
use crate::commands::show::timeline;
use crate::commands::table::{self, TableChoice};
use crate::edge;
use crate::output::{self, Terminal, Tone, age, escaped, until};

const EXAMPLES: &str = "\
Examples:
  ackbox job show tornado 550e8400
  ackbox job show sume job_81 --account acme    where ids are unique only within an account
  ackbox job show tornado 550e8400 --json

Exit code: 0 where the job is bound; 1 where it is not (what is parked of it is shown all the same), or where the
table cannot be read; 2 for a wrong command line.";

/// The options of `ackbox job show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The job space: a source's name, or the one that several share
    #[arg(value_name = "SPACE")]
    space: Name,
    /// The job's id
    #[arg(value_name = "JOB_ID", value_parser = id)]
    id: String,
    /// The account, where ids of the space are unique only within one
    #[arg(long, value_name = "NAME", value_parser = id)]
    account: Option<String>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: TableChoice,
}

fn id(text: &str) -> Result<String, String> {
    identity("it", text).map_err(|wrong| wrong.to_string())
}

pub(super) async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let ids = match args.account {
        Some(_) => Ids::PerAccount,
        None => Ids::Shared,
    };
    let account = args.account.clone().unwrap_or_default();
    let job = JobRef::new(args.space.clone(), args.id.clone(), &account, ids);
    let opened = args.table.open().await?;
    let story = opened.store.job_story(&job).await;
    opened.close().await;
    let story = story.map_err(table::unread)?;
    if args.json {
        let text = match JobView::of(&story) {
            Some(view) => serde_json::to_string(&view),
            None => serde_json::to_string(&UnboundView::of(&story)),
        };
        terminal.line(text.map_err(|error| CommandError::failed("no JSON", error))?)?;
    } else if story.job.is_some() || !story.observed.is_empty() || !story.unreadable.is_empty() {
        terminal.line(text(&job, &story, terminal, edge::now()))?;
    }
    if story.job.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    let hint = match args.account {
        None => "where ids are unique only within an account, say --account",
        Some(_) => "where ids are unique in the whole space, leave --account out",
    };
    let job = escaped(&job.to_string());
    output::note(&format!(
        "the table knows no binding of {job}: bind it with `ackbox job add`, and what is parked of it is taken up; {hint}"
    ));
    Ok(ExitCode::FAILURE)
}

fn text(job: &JobRef, story: &JobStory, terminal: &Terminal, now: Timestamp) -> String {
    let mut lines = vec![terminal.paint(Tone::Bold, &escaped(&job.to_string()))];
    if let Some(record) = &story.job {
        for (name, value) in facts(record, now) {
            lines.push(format!("  {name:<11} {value}"));
        }
    }
    for observed in &story.observed {
        lines.push(moment(observed, terminal, now));
    }
    for operator in &story.operators {
        let moment = timeline::operator(operator);
        let what = terminal.paint(Tone::Bold, &moment.what);
        lines.push(format!("  {}  {what} ({})", moment.at, age(moment.at, now)));
    }
    for (sort_key, error) in &story.unreadable {
        let what = format!("  {}: {}", escaped(sort_key), escaped(&error.to_string()));
        lines.push(terminal.paint(Tone::Bad, &what));
    }
    lines.join("\n")
}

/// What holds of the job now, a name and a value each.
fn facts(record: &JobRecord, now: Timestamp) -> Vec<(&'static str, String)> {
    let binding = &record.binding;
    let at = |time: Timestamp| format!("{time} ({})", age(time, now));
    let how = match &record.ended {
        Some(ended) => {
            let by = ended.by.as_ref().map(|by| format!(", by {by}"));
            let by = by.unwrap_or_default();
            format!("ended: {} at {}{by}", ended.outcome, at(ended.at))
        }
        None => state(record).to_owned(),
    };
    let mut facts = vec![("state", how)];
    facts.push(("registered", at(record.registered_at)));
    facts.extend(record.silent_at.map(|silent| ("given up", at(silent))));
    if record.asked > 0 {
        let told = record.detail.as_deref().unwrap_or_default();
        facts.push((
            "asked",
            format!("{}; last: {}", times(record.asked), escaped(told)),
        ));
    }
    let waits = record.ended.is_none() && record.silent_at.is_none();
    let due = record.due_at.filter(|_| waits);
    facts.extend(due.map(|due| ("next look", format!("{due} ({})", until(due, now)))));
    facts.push(("account", escaped(&binding.account)));
    facts.push(("tenant", escaped(&binding.tenant)));
    facts.push(("attempt", escaped(binding.attempt.as_str())));
    for step in &binding.steps {
        let on: Vec<&str> = step.on.iter().map(|on| on.as_str()).collect();
        let key: ActionKey = binding.key(step);
        let line = format!(
            "{} on {} -> {}  {key}",
            step.name,
            on.join(", "),
            step.destination
        );
        facts.push(("step", line));
    }
    for (place, value) in &binding.expected {
        let line = format!(
            "{} = {}",
            escaped(&place.to_string()),
            escaped(value.as_str())
        );
        facts.push(("expected", line));
    }
    facts
}

fn moment(observed: &ObservedRecord, terminal: &Terminal, now: Timestamp) -> String {
    let seen = &observed.seen;
    let said = format!(
        "{} by {} of {}",
        seen.outcome,
        seen.source,
        escaped(&seen.account)
    );
    let (what, tone) = match observed.kind {
        Observed::Seen => (format!("ended: {said}"), None),
        Observed::Parked => {
            let end = match (observed.expired_at, observed.until) {
                (Some(expired), _) => format!("given up at {expired}"),
                (None, Some(until)) => format!("until {until}"),
                (None, None) => "for its binding".to_owned(),
            };
            (format!("parked: {said}, {end}"), Some(Tone::Warn))
        }
        Observed::Disagrees => {
            let why = escaped(observed.why.as_deref().unwrap_or_default());
            let times = match observed.count {
                0 | 1 => String::new(),
                more => format!("; seen {more} times, last at {}", observed.last_seen),
            };
            let print = observed.print();
            let closed = observed.resolved.as_ref();
            let tone = closed.map_or(Tone::Warn, |_| Tone::Dim);
            let closed = closed.map(|(how, at)| format!("; {} at {at}", escaped(how)));
            let closed = closed.unwrap_or_default();
            (
                format!("conflict {print}: {said}: {why}{times}{closed}"),
                Some(tone),
            )
        }
    };
    let what = tone.map_or(what.clone(), |tone| terminal.paint(tone, &what));
    format!("  {}  {what} ({})", seen.seen_at, age(seen.seen_at, now))
}
