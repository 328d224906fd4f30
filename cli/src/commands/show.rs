//! `ackbox show`: a key comes in; everything that the table holds of that action goes out, in the order of
//! time. The body itself is not shown, only its size: it may hold what a terminal should not keep.

mod timeline;

use std::process::ExitCode;

use ackbox_domain::{ActionKey, RenderedBody, StoredBody, Timestamp};
use ackbox_store::Story;
use serde_json::{Value, json};

use crate::commands::CommandError;
use crate::commands::table::{self, TableChoice};
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
    #[arg(value_parser = key)]
    key: ActionKey,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: TableChoice,
}

fn key(text: &str) -> Result<ActionKey, String> {
    text.trim().parse().map_err(|_| {
        "a key is \"act_\" and 32 lower-case letters and digits from 2 to 7".to_owned()
    })
}

/// Shows one action.
///
/// # Errors
///
/// The table cannot be opened or read.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let opened = args.table.open().await?;
    let story = opened.store.story(&args.key).await;
    opened.close().await;
    let story = story.map_err(table::unread)?;
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
        terminal.line(object(&args.key, &story).to_string())?;
    } else {
        terminal.line(text(&args.key, &story, terminal, edge::now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The body that is sent, wherever it stands; `None` where it is gone.
fn body(story: &Story) -> Option<&RenderedBody> {
    match story.outbox.as_ref().map(|entry| &entry.body) {
        Some(StoredBody::Inline(body)) => Some(body),
        _ => story.payload.as_ref(),
    }
}

fn text(key: &ActionKey, story: &Story, terminal: &Terminal, now: Timestamp) -> String {
    let mut lines = vec![terminal.paint(Tone::Bold, key.as_str())];
    let mut fact = |name: &str, value: String| lines.push(format!("  {name:<12} {value}"));
    if let Some(entry) = &story.outbox {
        let reason = match &entry.reason {
            Some(reason) => format!(" ({})", escaped(reason)),
            None => String::new(),
        };
        fact("state", format!("{}{reason}", entry.state));
        fact("source", entry.source.to_string());
        fact("destination", entry.destination.to_string());
        let kept = entry.attempts.len() as u64;
        let cut = if entry.fence > kept {
            format!(" (the last {kept} are kept)")
        } else {
            String::new()
        };
        fact("attempts", format!("{}{cut}", entry.fence));
    } else {
        fact("state", "closed; its entry has expired".to_owned());
    }
    if let Some(accepted) = &story.accepted {
        fact("namespace", escaped(&accepted.namespace));
        for (name, value) in &accepted.parts {
            fact(
                "part",
                format!("{} = {}", escaped(name), escaped(value.as_str())),
            );
        }
        let told = [
            ("account", &accepted.account),
            ("subject", &accepted.subject),
        ];
        for (name, value) in told {
            if let Some(value) = value {
                fact(name, escaped(value));
            }
        }
        fact("fingerprint", accepted.fingerprint.short());
    }
    fact("body", in_words(body(story)));
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

fn object(key: &ActionKey, story: &Story) -> Value {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let entry = story.outbox.as_ref().map(|entry| {
        json!({
            "state": entry.state.as_str(),
            "reason": entry.reason,
            "source": entry.source,
            "destination": entry.destination,
            "attempts": entry.fence,
            "accepted_at": entry.accepted_at.to_string(),
            "due_at": time(entry.due_at),
            "first_uncertain_at": time(entry.first_uncertain_at),
            "settled_at": time(entry.settled_at),
            "detail": entry.last_detail,
        })
    });
    let accepted = story.accepted.as_ref().map(|accepted| {
        let parts: Vec<Value> = accepted
            .parts
            .iter()
            .map(|(name, value)| json!({"part": name, "value": value.as_str()}))
            .collect();
        json!({
            "namespace": accepted.namespace,
            "parts": parts,
            "source": accepted.source,
            "rule": accepted.rule,
            "destination": accepted.destination,
            "account": accepted.account,
            "subject": accepted.subject,
            "event": accepted.event,
            "message_id": accepted.message_id,
            "fingerprint": accepted.fingerprint.short(),
            "accepted_at": accepted.accepted_at.to_string(),
        })
    });
    let body = body(story).map(|body| {
        json!({
            "bytes": body.bytes.len(),
            "content_type": body.content_type,
            "content_encoding": body.content_encoding,
        })
    });
    let unreadable: Vec<Value> = story
        .unreadable
        .iter()
        .map(|(sort_key, error)| json!({"sort_key": sort_key, "problem": error.to_string()}))
        .collect();
    let moments: Vec<Value> = timeline::of(story).into_iter().map(|m| m.json).collect();
    json!({
        "key": key.as_str(),
        "known": true,
        "entry": entry,
        "accepted": accepted,
        "body": body,
        "timeline": moments,
        "unreadable": unreadable,
    })
}
