//! `ackbox show`: a key comes in; everything that the table holds of that action goes out, in the order of
//! time. The body itself is not shown, only its size: it may hold what a terminal should not keep.

mod job;
mod object;
pub(in crate::commands) mod timeline;

use std::process::ExitCode;

use ackbox_domain::job::JobRef;
use ackbox_domain::settlement::{Reason, Standing};
use ackbox_domain::{ActionKey, EntryState, OutboxEntry, RenderedBody, Timestamp};
use ackbox_store::{Store, StoreError, Story};
use serde_json::json;

use crate::commands::job::show_command;
use crate::commands::paused::Paused;
use crate::commands::table::{self, TableChoice};
use crate::commands::{self, CommandError, doubt};
use crate::edge;
use crate::output::{self, Terminal, Tone, age, escaped, until};

const EXAMPLES: &str = "\
Examples:
  ackbox show act_k7gq3vbz5uj2m4xw6y7aabcdefghijkl
  ackbox show act_k7gq3vbz5uj2m4xw6y7aabcdefghijkl --json
  ackbox list --json | jq -r '.entries[].key' | xargs -n1 ackbox show

The body itself is not shown, only its size and type.

Exit code: 0 where the action is known; 1 where it is not, or where the table cannot be read; 2 for a wrong command line.";

/// The options of `ackbox show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The action's key: what the destination sees in its idempotency header
    #[arg(value_parser = commands::key)]
    key: ActionKey,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: TableChoice,
}

/// Shows one action.
///
/// # Errors
///
/// The table cannot be opened or read.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let read = read(&opened.store, &args.key).await;
    opened.close().await;
    let Read { story, paused, job } = read.map_err(table::unread)?;
    let is_known = story.accepted.is_some()
        || story.outbox.is_some()
        || !story.conflicts.is_empty()
        || !story.unreadable.is_empty();
    if !is_known {
        if args.json {
            terminal.line(json!({"key": args.key.as_str(), "known": false}).to_string())?;
        }
        output::note(&format!("the table knows no action {}", args.key));
        return Ok(ExitCode::FAILURE);
    }
    if args.json {
        let mut object = object::of(&args.key, &story, story.body());
        object["paused"] = json!(paused.map(|paused| paused.json(edge::now())));
        object["job"] = json!(job.map(|job| job::json(&job)));
        terminal.line(object.to_string())?;
    } else {
        let text = text(&args.key, &story, paused.as_ref(), terminal, edge::now());
        terminal.line(text)?;
        let with_body = story.outbox.as_ref().filter(|_| story.body().is_some());
        if let Some(hint) = with_body.and_then(hint) {
            output::note(&hint);
        }
        if let Some(job) = job {
            output::note(&format!(
                "of the job {}: {}",
                escaped(&job.to_string()),
                show_command(&job)
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What an operator can do about an entry that waits for one.
fn hint(entry: &OutboxEntry) -> Option<String> {
    let key = &entry.key;
    match entry.state {
        EntryState::Held => Some(format!(
            "an operator decides: `ackbox resolve {key}` --applied, --not-applied or --dead, or `ackbox redrive {key}`"
        )),
        EntryState::Dead if entry.reason.as_deref() == Some(Reason::Replaced.as_str()) => None,
        EntryState::Dead if Standing::from(entry).doubt().is_some() => Some(format!(
            "an operator gave it up while an attempt was in doubt: `ackbox resolve {key}` --applied or --not-applied, or `ackbox redrive {key}`"
        )),
        EntryState::Dead => Some(format!("`ackbox redrive {key}` sends it again")),
        _ => None,
    }
}

/// What the table holds of an action, and of what it belongs to.
struct Read {
    story: Story,
    paused: Option<Paused>,
    /// The job of a workflow's action.
    job: Option<JobRef>,
}

/// What the table holds of the action; and of its destination, where an entry that is open waits for it.
async fn read(store: &Store, key: &ActionKey) -> Result<Read, StoreError> {
    let story = store.story(key).await?;
    let waits =
        |entry: &&OutboxEntry| matches!(entry.state, EntryState::Pending | EntryState::Claimed);
    let paused = match story.outbox.as_ref().filter(waits) {
        Some(entry) => Paused::read(store, &entry.destination).await?,
        None => None,
    };
    let job = job::of(store, &story, story.body()).await?;
    Ok(Read { story, paused, job })
}

fn text(
    key: &ActionKey,
    story: &Story,
    paused: Option<&Paused>,
    terminal: &Terminal,
    now: Timestamp,
) -> String {
    let mut lines = vec![terminal.paint(Tone::Bold, key.as_str())];
    for (name, value) in facts(story) {
        lines.push(format!("  {name:<12} {value}"));
    }
    if let Some(paused) = paused {
        let line = format!("  {}", paused.line(now));
        lines.push(terminal.paint(Tone::Warn, &line));
    }
    for moment in timeline::of(story) {
        let when = if moment.at > now {
            until(moment.at, now)
        } else {
            age(moment.at, now)
        };
        let what = match moment.tone {
            Some(tone) => terminal.paint(tone, &moment.what),
            None => moment.what,
        };
        lines.push(format!("  {}  {what} ({when})", moment.at));
    }
    for (sort_key, error) in &story.unreadable {
        let what = format!("  {}: {}", escaped(sort_key), escaped(&error.to_string()));
        lines.push(terminal.paint(Tone::Bad, &what));
    }
    lines.join("\n")
}

/// What holds of the action now, a name and a value each.
fn facts(story: &Story) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(entry) = &story.outbox {
        let reason = match &entry.reason {
            Some(reason) => format!(" ({})", escaped(reason)),
            None => String::new(),
        };
        let kept = entry.attempts.len() as u64;
        // An operator's word takes a number too.
        let words = story.operators.iter().filter(|word| word.number.is_some());
        let attempts = entry.fence.saturating_sub(words.count() as u64);
        let cut = if attempts > kept && kept > 0 {
            format!(" (the last {kept} are kept)")
        } else {
            String::new()
        };
        facts.push(("state", format!("{}{reason}", entry.state)));
        facts.push(("source", entry.source.to_string()));
        facts.push(("destination", entry.destination.to_string()));
        facts.push(("attempts", format!("{attempts}{cut}")));
        let whose = if entry.is_vouched {
            "a word"
        } else {
            "its word"
        };
        let word = doubt::word(entry, &story.operators);
        // Of what the destination refused, its attempt says it.
        let word = word.filter(|_| entry.is_vouched || entry.state != EntryState::Dead);
        facts.extend(word.map(|word| (whose, word)));
        facts.extend(doubt::heard(entry).map(|heard| ("last asked", escaped(heard))));
    } else {
        facts.push(("state", "closed; its entry has expired".to_owned()));
    }
    if let Some(accepted) = &story.accepted {
        facts.push(("namespace", escaped(&accepted.namespace)));
        let parts = accepted.parts.iter();
        facts.extend(parts.map(|(name, value)| {
            let part = format!("{} = {}", escaped(name), escaped(value.as_str()));
            ("part", part)
        }));
        let told = [
            ("account", &accepted.account),
            ("subject", &accepted.subject),
        ];
        let told = told.into_iter();
        facts.extend(told.filter_map(|(name, value)| Some((name, escaped(value.as_ref()?)))));
        facts.push(("fingerprint", accepted.fingerprint.short()));
    }
    facts.push(("body", in_words(story.body())));
    facts
}

fn in_words(body: Option<&RenderedBody>) -> String {
    let Some(body) = body else {
        return "not there any more".to_owned();
    };
    let told = [&body.content_type, &body.content_encoding];
    let told: Vec<String> = told
        .into_iter()
        .flatten()
        .map(|text| escaped(text))
        .collect();
    let told = if told.is_empty() {
        String::new()
    } else {
        format!(" ({})", told.join(", "))
    };
    format!("{} bytes{told}", body.bytes.len())
}
