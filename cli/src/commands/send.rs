//! `ackbox send`: a source and a body come in, one request goes out, signed as that source's sender would
//! sign it; what the receiver made of it is told in words.

mod answer;
mod fit;
mod post;
mod sample;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ackbox_config::{SecretRef, SourceConfig};
use ackbox_signature::{Secret, SignRequest};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, header};
use http_body_util::Full;
use url::Url;

use crate::cli::{ConfigOption, DEFAULT_PORT};
use crate::commands::sender::{self, Sender};
use crate::commands::{CommandError, input};
use crate::edge;
use crate::output::{Terminal, Tone, escaped};
use sample::Sample;

const EXAMPLES: &str = "\
Examples:
  ackbox send stripe                      a sample, to the `ackbox dev` here
  ackbox send stripe --id evt_1           a second time it is a duplicate
  ackbox send github --event issues --body issue.json
  jq -c .event log.json | ackbox send reports --body -
  ackbox send stripe --secret 2           signed by its second secret
  ackbox send stripe --url https://abc.lambda-url.eu-central-1.on.aws

Exit code: 0 where the answer is 2xx; 1 where it is not, or where none came; 2 where the command line, the configuration or the secret cannot be used.";

/// The options of `ackbox send`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The source, as the configuration names it (or a built-in scheme, with --secret)
    source: String,
    /// The body, sent byte for byte; `-` is standard input [default: a small sample]
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The event's type, for the sample and for senders that have it in a header
    #[arg(long, value_name = "TYPE")]
    event: Option<String>,
    /// The message's id, for the sample and for senders that have it in a header [default: a fresh one]
    #[arg(long)]
    id: Option<String>,
    /// Where to [default: http://127.0.0.1:9911/hooks/SOURCE]; without a path, /hooks/SOURCE is meant
    #[arg(long)]
    url: Option<Url>,
    /// What to sign with: a reference such as env:NAME, or the position in the source's list, from 1
    #[arg(long, value_name = "REF|N")]
    secret: Option<String>,
    /// The body's content type
    #[arg(long, value_name = "TYPE", default_value = "application/json")]
    content_type: HeaderValue,
    #[command(flatten)]
    config: ConfigOption,
}

/// Signs, posts, and tells the answer.
///
/// # Errors
///
/// [`CommandError::Failed`] where there is no answer; others where nothing was sent.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let (position, given) = chosen(args.secret.as_deref())?;
    let sender = Sender::find(&args.config, &args.source, given)?;
    let secret = secret(&sender, position).await?;
    let url = destination(&args, &sender.name)?;
    let message = message(&args, &sender)?;
    let request = sign(&sender, &secret, &url, &message)?;
    let what = format!(
        "POST {} ({}, event {}, id {}, {} bytes, signed with {})",
        escaped(url.as_str()),
        sender.scheme.slug(),
        escaped(&message.event),
        escaped(&message.id),
        message.body.len(),
        escaped(secret.label()),
    );
    terminal.line(terminal.paint(Tone::Dim, &what))?;
    let response = post::post(&url, request).await?;
    answer::tell(&response, terminal)
}

/// What `--secret` says: a position from 1, or a reference.
fn chosen(text: Option<&str>) -> Result<(usize, Vec<SecretRef>), CommandError> {
    match text {
        None => Ok((1, Vec::new())),
        Some(text) => match text.parse() {
            Ok(position) => Ok((position, Vec::new())),
            Err(_) => Ok((1, vec![sender::reference(text)?])),
        },
    }
}

async fn secret(sender: &Sender, position: usize) -> Result<Secret, CommandError> {
    let reference = position
        .checked_sub(1)
        .and_then(|index| sender.secrets.get(index))
        .ok_or_else(|| {
            let count = sender.secrets.len();
            CommandError::Usage(format!(
                "the source {} has {count} secret(s): --secret takes 1 to {count}, or a reference",
                sender.name
            ))
        })?;
    let keys = sender::keys(&sender.scheme, std::slice::from_ref(reference)).await;
    let problem = keys.problems.into_iter().next().unwrap_or_default();
    keys.usable
        .into_iter()
        .next()
        .ok_or(CommandError::Usage(problem))
}

fn destination(args: &Args, name: &str) -> Result<Url, CommandError> {
    let url = match &args.url {
        Some(url) => url.clone(),
        None => local(name)?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(CommandError::Usage(format!(
            "--url {} is neither http nor https",
            escaped(url.as_str())
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CommandError::Usage(
            "--url holds a user or password: a receiver asks for none".to_owned(),
        ));
    }
    if url.path() != "/" {
        return Ok(url);
    }
    let mut with_path = url;
    with_path.set_path(&format!("/hooks/{name}"));
    Ok(with_path)
}

fn local(name: &str) -> Result<Url, CommandError> {
    let text = format!("http://127.0.0.1:{DEFAULT_PORT}/hooks/{name}");
    Url::parse(&text).map_err(|error| CommandError::unusable(format!("{text:?} is no URL"), error))
}

/// What is sent, before it is signed.
struct Unsigned {
    id: String,
    header_id: String,
    event: String,
    body: Vec<u8>,
    content_type: HeaderValue,
}

fn message(args: &Args, sender: &Sender) -> Result<Unsigned, CommandError> {
    let source = sender.configured.as_ref().map(|c| &c.source);
    let sample = Sample::of(sender.scheme.slug());
    let event = args
        .event
        .clone()
        .unwrap_or_else(|| sample.event_for(source));
    let id = args.id.clone().unwrap_or_else(|| sample.fresh_id());
    let body = match &args.body {
        Some(path) => input::read("the body", path)?,
        None => sample.body(&id, &event, source),
    };
    Ok(Unsigned {
        header_id: sample.header_id(&id, &event),
        id,
        event,
        body,
        content_type: args.content_type.clone(),
    })
}

/// The headers and the body that `ackbox send SOURCE` would send now, for `dev`, which shows them.
///
/// # Errors
///
/// The secret cannot sign.
pub(crate) fn sampled(
    source: &SourceConfig,
    secret: &Secret,
    url: &Url,
) -> Result<(HeaderMap, Vec<u8>), CommandError> {
    let sender = Sender {
        name: source.source.name.to_string(),
        scheme: Arc::clone(&source.scheme),
        secrets: source.secrets.clone(),
        configured: Some(source.clone()),
    };
    let sample = Sample::of(sender.scheme.slug());
    let (id, event) = (sample.fresh_id(), sample.event_for(Some(&source.source)));
    let message = Unsigned {
        header_id: sample.header_id(&id, &event),
        body: sample.body(&id, &event, Some(&source.source)),
        id,
        event,
        content_type: HeaderValue::from_static("application/json"),
    };
    let request = sign(&sender, secret, url, &message)?;
    Ok((request.headers().clone(), message.body))
}

fn sign(
    sender: &Sender,
    secret: &Secret,
    url: &Url,
    message: &Unsigned,
) -> Result<Request<Full<Bytes>>, CommandError> {
    let request = SignRequest {
        method: "POST",
        url: url.as_str(),
        body: &message.body,
        now_ms: edge::now().unix_ms(),
        id: &message.header_id,
        event: Some(&message.event),
    };
    let signed = sender.scheme.sign(&request, secret).map_err(|error| {
        CommandError::unusable(format!("cannot sign as {}", sender.scheme.slug()), error)
    })?;
    let source = sender.configured.as_ref().map(|c| &c.source);
    let further = fit::further_headers(source, &signed, &message.header_id, &message.event);
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut request = Request::post(target)
        .header(header::HOST, host)
        .header(
            header::USER_AGENT,
            concat!("ackbox/", env!("CARGO_PKG_VERSION")),
        )
        .header(header::CONTENT_TYPE, &message.content_type);
    for (name, value) in signed.iter().chain(&further) {
        request = request.header(name, value);
    }
    let body = Full::new(Bytes::from(message.body.clone()));
    request.body(body).map_err(|error| {
        CommandError::unusable(
            "the id, the event or the URL cannot travel in a request",
            error,
        )
    })
}
