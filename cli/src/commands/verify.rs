//! `ackbox verify`: a captured request comes in, a verdict goes out: proven, and by which secret, or
//! refused, and what to look at. Nothing is sent, nothing is written, and no secret is shown.

mod consequence;
mod headers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ackbox_domain::Timestamp;
use ackbox_signature::{Headers, Message, Refusal, Verified};
use serde_json::{Value, json};

use crate::cli::{ConfigOption, DEFAULT_PORT};
use crate::commands::sender::{self, Keys, Sender};
use crate::commands::{CommandError, input};
use crate::edge;
use crate::output::{self, Terminal, Tone, escaped};

const EXAMPLES: &str = "\
Examples:
  ackbox verify stripe --headers headers.txt --body body.json
  ackbox verify stripe --headers h.txt --body b.json --now 1767225600
  ackbox verify github --secret env:SECRET --headers h.txt --body -

The headers' file holds `Name: value` lines. The body's file holds the bytes as they came, with no line end added. An old capture is too old by now: --now says when it arrived. With --secret, a built-in scheme needs no configuration.

Exit code: 0 where the sender is proven; 1 where it is not; 2 where nothing could be judged.";

/// The options of `ackbox verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The source, as the configuration names it (or a built-in scheme, with --secret)
    source: String,
    /// The headers, a `Name: value` line each; `-` is standard input
    #[arg(long, value_name = "FILE")]
    headers: PathBuf,
    /// The body, byte for byte; `-` is standard input
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// The URL that was called, for senders that sign it [default: http://127.0.0.1:9911/hooks/SOURCE]
    #[arg(long)]
    url: Option<String>,
    /// The method that was used
    #[arg(long, default_value = "POST")]
    method: String,
    /// When it arrived, in seconds since 1970 [default: now]
    #[arg(long, value_name = "UNIX")]
    now: Option<u64>,
    /// Where a secret stands (env:NAME, file:PATH), in place of the source's; may be given several times
    #[arg(long, value_name = "REF")]
    secret: Vec<String>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigOption,
}

/// Verifies, and tells the verdict.
///
/// # Errors
///
/// Nothing could be judged: a file, the configuration or every secret cannot be used.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    if input::is_stdin(&args.headers) && input::is_stdin(&args.body) {
        return Err(CommandError::Usage(
            "only one of --headers and --body can be standard input".to_owned(),
        ));
    }
    let given = args.secret.iter().map(|text| sender::reference(text));
    let sender = Sender::find(&args.config, &args.source, given.collect::<Result<_, _>>()?)?;
    let lines = read_headers(&args.headers)?;
    let body = input::read("the body", &args.body)?;
    let keys = usable_keys(&sender).await?;
    let url = args
        .url
        .clone()
        .unwrap_or_else(|| format!("http://127.0.0.1:{DEFAULT_PORT}/hooks/{}", sender.name));
    let message = Message {
        method: &args.method,
        url: &url,
        headers: &lines,
        body: &body,
    };
    let now = args.now.map_or_else(edge::now, |s| {
        Timestamp::from_unix_ms(s.saturating_mul(1000))
    });
    let tolerance = sender.configured.as_ref().and_then(|c| c.tolerance);
    let verdict = sender
        .scheme
        .verify(&message, &keys.usable, now.unix_ms(), tolerance);
    let view = View {
        terminal,
        sender: &sender,
        keys: &keys,
        as_json: args.json,
    };
    match verdict {
        Ok(verified) => view.accepted(&verified, now),
        Err(refusal) => view.refused(&refusal),
    }
}

fn read_headers(path: &Path) -> Result<Headers, CommandError> {
    headers::read(&input::read("the headers", path)?).map_err(|wrong| {
        let file = escaped(&path.display().to_string());
        CommandError::Usage(format!("the headers {file}: {wrong}"))
    })
}

/// The sender's keys, at least one; what is wrong with others is told.
async fn usable_keys(sender: &Sender) -> Result<Keys, CommandError> {
    let keys = sender::keys(&sender.scheme, &sender.secrets).await;
    for problem in &keys.problems {
        output::note(&format!("warning: {}", escaped(problem)));
    }
    if keys.usable.is_empty() {
        return Err(CommandError::Usage(format!(
            "no secret of {} can be used, so nothing can be judged",
            sender.name
        )));
    }
    Ok(keys)
}

/// How a verdict is told.
struct View<'a> {
    terminal: &'a Terminal,
    sender: &'a Sender,
    keys: &'a Keys,
    as_json: bool,
}

impl View<'_> {
    fn accepted(&self, verified: &Verified<'_>, now: Timestamp) -> Result<ExitCode, CommandError> {
        let configured = self.sender.configured.as_ref();
        let consequences = configured
            .map(|configured| consequence::follow(configured, verified, now))
            .unwrap_or_default();
        let signed_at = verified
            .signed_at_ms()
            .map(|ms| Timestamp::from_unix_ms(ms).to_string());
        if self.as_json {
            let consequences: Vec<Value> = consequences.iter().map(|c| c.json()).collect();
            let mut object = self.object("accepted");
            object["secret"] = json!(verified.secret_label());
            object["signed_at"] = json!(signed_at);
            object["consequences"] = json!(consequences);
            self.terminal.line(object.to_string())?;
        } else {
            let verdict = self.terminal.paint(Tone::Good, "accepted");
            let by = escaped(verified.secret_label());
            let when = match signed_at {
                Some(when) => format!(", at {when}"),
                None => String::new(),
            };
            self.terminal
                .line(format!("{verdict}: signed with {by}{when}"))?;
            for consequence in &consequences {
                self.terminal.line(format!("  {}", consequence.line()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn refused(&self, refusal: &Refusal) -> Result<ExitCode, CommandError> {
        let hint = self.hint(refusal);
        if self.as_json {
            let mut object = self.object("refused");
            object["reason"] = json!(refusal.code());
            object["message"] = json!(refusal.to_string());
            object["hint"] = json!(hint);
            self.terminal.line(object.to_string())?;
        } else {
            let verdict = self.terminal.paint(Tone::Bad, "refused");
            let why = escaped(&refusal.to_string());
            self.terminal
                .line(format!("{verdict} ({}): {why}", refusal.code()))?;
            if let Some(hint) = hint {
                self.terminal.line(format!("  {}", escaped(&hint)))?;
            }
        }
        Ok(ExitCode::FAILURE)
    }

    /// What else to look at, that the signature's own words cannot know.
    fn hint(&self, refusal: &Refusal) -> Option<String> {
        match refusal {
            Refusal::TooOld { signed_at_ms, .. } | Refusal::TooNew { signed_at_ms, .. } => {
                Some(format!(
                    "for a capture, say when it arrived: --now {} judges it as of its signing",
                    signed_at_ms / 1000
                ))
            }
            Refusal::NoSecretMatched { .. } if !self.keys.problems.is_empty() => Some(
                "some secrets of the source could not be used here: the one that signed may be among them"
                    .to_owned(),
            ),
            Refusal::NoSecretMatched { .. } => Some(
                "a body that an editor or a shell has saved may have a line end more than what came"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn object(&self, verdict: &str) -> Value {
        json!({
            "verdict": verdict,
            "source": self.sender.name,
            "scheme": self.sender.scheme.slug(),
        })
    }
}
