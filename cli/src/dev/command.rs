//! `ackbox dev`: a configuration and a table file come in; requests are answered, and actions
//! delivered, until it is told to stop. What is acknowledged outlives it, however it ends.

mod curl;
mod report;
mod signals;
mod wanting;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use tracing_subscriber::EnvFilter;

use super::clients::Clients;
use super::engine::Engine;
use super::lock::{Announcement, Published, beside};
use super::runtime::{Extras, Options, Runtime, StreamMode};
use super::token::{TOKEN_VARIABLE, Token};
use crate::cli::{ConfigOption, DEFAULT_DB, DEFAULT_PORT, TableOption, endpoint};
use crate::commands::CommandError;
use crate::commands::paused::Paused;
use crate::edge;
use crate::output::{self, Terminal, Tone, escaped, escaped_lines};
use report::{Ignored, Serving};

/// The most records of one batch, and how long a batch waits for more. Not at all: here, nobody pays for
/// an invocation.
const STREAM: StreamMode = StreamMode::On {
    window: Duration::ZERO,
    batch: 100,
};

/// How often ignored events are told, where there are new ones.
const TELL_IGNORED_EVERY: Duration = Duration::from_secs(60);

/// More often than this the sweeper would only wait for itself.
const SWEEP_EVERY_MIN: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  ackbox dev                                   what ackbox.toml says, on port 9911, the table in .ackbox/dev.db
  ackbox dev --config staging.toml --port 0    on any free port
  ackbox dev --db /tmp/try.db --sweep-every 5s retries are taken up within five seconds
  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 ackbox dev    on DynamoDB Local, or another engine

Ctrl-C or SIGTERM stops it in order. It may also be killed: what it has acknowledged is in the table, and the
next start goes on with what is open. The configuration and `env:` secrets are read at the start.

The registrar answers on the same port, at /jobs and /observations, to who shows the token: $ACKBOX_DEV_TOKEN, else the one
in the file \"token\" beside the table, which is made where it is missing.

Exit code: 0 where it was stopped, 1 where it could not start, 2 for a wrong command line or configuration.";

/// The options of `ackbox dev`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    config: ConfigOption,
    /// The table's file, created where it is missing [default: .ackbox/dev.db, or the engine that
    /// $AWS_ENDPOINT_URL_DYNAMODB or $AWS_ENDPOINT_URL names]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The port on 127.0.0.1 where webhooks are received; 0: any free one
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PORT)]
    port: u16,
    #[command(flatten)]
    table: TableOption,
    /// How often entries whose time has come are looked for
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = sweep_every)]
    sweep_every: Duration,
    /// How the functions' log lines are written to standard error [default: pretty on a terminal, else json]
    #[arg(long, value_name = "FORM")]
    log: Option<LogForm>,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogForm {
    /// For people.
    Pretty,
    /// As the functions write them in Lambda.
    Json,
}

fn sweep_every(text: &str) -> Result<Duration, String> {
    let every = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if every < SWEEP_EVERY_MIN {
        return Err("less than 100ms".to_owned());
    }
    Ok(every)
}

/// Runs until Ctrl-C or SIGTERM.
///
/// # Errors
///
/// The configuration cannot be used, the port is taken, or the table cannot be had.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let config = args.config.load()?;
    for warning in &config.warnings {
        warn(&warning.to_string());
    }
    start_log(args.log);
    // From here on: a signal during the start is not lost.
    let mut signals = signals::Signals::listen()
        .map_err(|error| CommandError::failed("signals cannot be listened for", error))?;
    let secrets = Secrets::new(edge::environment);
    let table = Table::open(&args).await?;
    let token = table.token()?;
    let running = table.run(&args, config.clone(), secrets.clone(), &token);
    let runtime = running.await?;
    let published = table.announce(&args.table.name());

    let serving = Serving {
        config: &config,
        secrets: &secrets,
        option: &args.config,
        url: runtime.url(),
        table: table.described(&args.table.name()),
        sweep_every: args.sweep_every,
        token: &token.shell,
    };
    serving.tell(terminal).await?;
    table.tell_paused(&args.table.name(), terminal).await?;
    for warning in wanting::secrets(&config, &secrets).await {
        warn(&warning);
    }

    let mut ignored = Ignored::default();
    let mut ticks = tokio::time::interval(TELL_IGNORED_EVERY);
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = ticks.tick() => ignored.tell(runtime.receiver()),
        }
    }
    output::note("stopping: finishing what runs (once more to end at once)");
    let receiver = runtime.receiver().clone();
    tokio::select! {
        () = async { runtime.stop().await; table.stop().await } => {}
        () = signals.next() => {}
    }
    drop(published);
    ignored.tell(&receiver);
    Ok(ExitCode::SUCCESS)
}

/// Where the table is.
struct Table {
    clients: Clients,
    /// The embedded engine and its file; none: another engine.
    embedded: Option<(Engine, PathBuf)>,
    checkpoints: PathBuf,
}

impl Table {
    async fn open(args: &Args) -> Result<Self, CommandError> {
        if args.db.is_none() && endpoint().is_some() {
            // Checkpoints are of one stream by its ARN, so one file does for every engine.
            let checkpoints = PathBuf::from(DEFAULT_DB).with_file_name("stream.json");
            if let Some(folder) = checkpoints.parent() {
                // Without it only the checkpoints are not kept, which is told then.
                let _ = std::fs::create_dir_all(folder);
            }
            return Ok(Self {
                clients: Clients::from_environment().await,
                embedded: None,
                checkpoints,
            });
        }
        let path = args.db.clone().unwrap_or_else(|| DEFAULT_DB.into());
        let engine = Engine::file(&path).await.map_err(not_started)?;
        Ok(Self {
            clients: engine.clients().await,
            checkpoints: beside(&path, "stream"),
            embedded: Some((engine, path)),
        })
    }

    /// What callers of the registrar must show: the environment's, else one that is kept beside the table.
    fn token(&self) -> Result<Token, CommandError> {
        let file = self.checkpoints.with_file_name("token");
        Token::find(edge::environment(TOKEN_VARIABLE), &file).map_err(|error| {
            let file = escaped(&file.display().to_string());
            let what = format!(
                "the registrar's token {file} cannot be used; remove it, or export {TOKEN_VARIABLE}"
            );
            CommandError::failed(what, error)
        })
    }

    async fn run(
        &self,
        args: &Args,
        config: Config,
        secrets: Secrets,
        token: &Token,
    ) -> Result<Runtime, CommandError> {
        // Looked for only where it is needed: it may ask the network for a Region.
        let aws = match config.destinations.values().any(|to| to.to.is_aws()) {
            true => Some(ackbox_edge::sdk().await),
            false => None,
        };
        let options = Options {
            config,
            secrets,
            clients: self.clients.clone(),
            table: args.table.name(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)),
            clock: edge::clock(),
            sweep_every: args.sweep_every,
            stream: STREAM,
        };
        let extras = Extras {
            checkpoints: Some(self.checkpoints.clone()),
            receive_within: None,
            token: Some(token.value.clone()),
            aws,
        };
        Runtime::start_with(options, extras)
            .await
            .map_err(not_started)
    }

    /// Says which destinations are paused: they would seem not to be served.
    async fn tell_paused(&self, table: &str, terminal: &Terminal) -> Result<(), CommandError> {
        let store = Store::new(self.clients.dynamodb.clone(), table);
        let paused = async {
            let meta = store.meta().await?;
            Paused::among(&store, &meta.destinations).await
        };
        match paused.await {
            Ok(paused) => {
                for paused in paused {
                    let line = paused.line(edge::now());
                    terminal.line(terminal.paint(Tone::Warn, &line))?;
                }
            }
            Err(error) => warn(&format!("what is paused cannot be read: {error}")),
        }
        Ok(())
    }

    /// Tells `list` and `show` where the file is served.
    fn announce(&self, table: &str) -> Option<Published> {
        let (engine, path) = self.embedded.as_ref()?;
        let announcement = Announcement {
            endpoint: engine.endpoint().to_owned(),
            key: engine.key().cloned(),
            table: table.to_owned(),
        };
        match announcement.publish(path) {
            Ok(published) => Some(published),
            Err(error) => {
                warn(&format!(
                    "`ackbox list` and `ackbox show` will not find this engine: {error}"
                ));
                None
            }
        }
    }

    fn described(&self, table: &str) -> String {
        match &self.embedded {
            Some((engine, path)) => {
                format!(
                    "{table:?} in {} (engine at {})",
                    path.display(),
                    engine.endpoint()
                )
            }
            None => {
                let endpoint = endpoint().unwrap_or_default();
                format!("{table:?} at {endpoint}")
            }
        }
    }

    async fn stop(self) {
        if let Some((engine, _)) = self.embedded {
            engine.stop().await;
        }
    }
}

fn not_started(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CommandError {
    CommandError::failed("`ackbox dev` could not start", error)
}

fn warn(text: &str) {
    output::note(&format!("warning: {}", escaped_lines(text)));
}

fn start_log(form: Option<LogForm>) {
    use std::io::IsTerminal as _;

    let is_terminal = std::io::stderr().is_terminal();
    let form = form.unwrap_or(if is_terminal {
        LogForm::Pretty
    } else {
        LogForm::Json
    });
    // The engine logs every refused condition as a warning, and conditions are how ackbox works.
    let wanted = edge::environment("RUST_LOG").unwrap_or_else(|| "info,dynoxide=error".to_owned());
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // Where the process has a log already, that one is used.
    let _ = match form {
        LogForm::Pretty => log
            .compact()
            .with_target(false)
            .with_ansi(is_terminal && edge::environment("NO_COLOR").is_none())
            .try_init(),
        LogForm::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .try_init(),
    };
}
