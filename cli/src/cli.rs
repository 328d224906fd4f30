//! The command line: which commands there are, and the options that several of them share.
//! Each command's own options stand in its file.

use std::path::PathBuf;

use ackbox_config::{Config, LoadError};
use clap::{Args, Parser, Subcommand};

use crate::{commands, demo, dev, edge};

/// The port on loopback where `dev` receives, and where `send` sends.
pub const DEFAULT_PORT: u16 = 9911;

/// The file in which `dev` keeps its table, and where `list` and `show` look for it.
pub const DEFAULT_DB: &str = ".ackbox/dev.db";

/// The variable of the AWS SDKs that names another engine's endpoint. Where it is set, no engine is embedded.
pub const ENDPOINT_VARIABLE: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// The variable of the AWS SDKs that names an endpoint for all services, where a service has none of its own.
const ANY_ENDPOINT_VARIABLE: &str = "AWS_ENDPOINT_URL";

/// The variable of the AWS SDKs that makes them pass over both.
const NO_ENDPOINTS_VARIABLE: &str = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";

/// The endpoint of the engine that the environment names, as the SDK reads it.
pub fn endpoint() -> Option<String> {
    let is_ignored = edge::environment(NO_ENDPOINTS_VARIABLE);
    if is_ignored.is_some_and(|word| word.eq_ignore_ascii_case("true")) {
        return None;
    }
    let names = [ENDPOINT_VARIABLE, ANY_ENDPOINT_VARIABLE];
    names.into_iter().find_map(edge::environment)
}

/// A webhook inbox and action outbox: it commits before it acknowledges.
#[derive(Debug, Parser)]
#[command(name = "ackbox", version, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the whole way once, with trouble on it, and show that nothing is lost
    Demo(demo::Args),
    /// Receive, deliver and sweep on this machine, on a table in a file
    Dev(dev::Args),
    /// Sign a body as a source's sender would, and post it
    Send(commands::send::Args),
    /// Check the configuration: every mistake with its place
    Check(commands::check::Args),
    /// Verify a captured request offline, and say why it would be refused
    Verify(commands::verify::Args),
    /// List what waits for attention
    List(commands::list::Args),
    /// Count what waits for attention
    Stats(commands::stats::Args),
    /// Show everything about one action, in the order of time
    Show(commands::show::Args),
    /// Send again what was given up or waits for an operator
    Redrive(commands::redrive::Args),
    /// Say what happened to an action, a conflict or a job that nobody knows about
    Resolve(commands::resolve::Args),
    /// Remove the bodies of an action or a job, and keep what was accepted
    Redact(commands::redact::Args),
    /// Pause destinations: no request goes there, and nothing is lost
    Pause(commands::pause::Args),
    /// End the pause of destinations
    Resume(commands::resume::Args),
    /// Bind a job, show one, or list those that nothing was heard of
    Job(commands::job::Args),
}

/// Which configuration.
#[derive(Clone, Debug, Args)]
pub struct ConfigOption {
    /// The configuration [default: $ACKBOX_CONFIG, else ackbox.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl ConfigOption {
    /// The file that is meant.
    pub fn path(&self) -> PathBuf {
        self.config
            .clone()
            .unwrap_or_else(|| Config::locate(edge::environment))
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or says something wrong.
    pub fn load(&self) -> Result<Config, LoadError> {
        Config::load(&self.path())
    }
}

/// The table's name.
#[derive(Clone, Debug, Args)]
pub struct TableOption {
    /// The table's name [default: $ACKBOX_TABLE, else "ackbox"]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
}

impl TableOption {
    /// The name that is meant.
    pub fn name(&self) -> String {
        self.chosen()
            .unwrap_or_else(|| edge::DEFAULT_TABLE.to_owned())
    }

    /// The name that the option or `ACKBOX_TABLE` says, if one does.
    pub fn chosen(&self) -> Option<String> {
        let table = self.table.clone();
        table.or_else(|| edge::environment(edge::TABLE_VARIABLE))
    }
}
