//! Which table a command works on: that of a local file, also while `ackbox dev` has it open; that of the
//! engine which the environment names; or the one in AWS. Nothing is created: a table that is not there is told.

use std::path::{Path, PathBuf};

use ackbox_store::{Store, StoreError};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::config::ProvideCredentials as _;

use crate::cli::{DEFAULT_DB, ENDPOINT_VARIABLE, TableOption, endpoint};
use crate::commands::CommandError;
use crate::dev::{Announcement, Clients, Engine, EngineError};
use crate::output::{self, escaped};

/// Which table.
#[derive(Clone, Debug, clap::Args)]
pub struct TableChoice {
    /// The table's file, also while `ackbox dev` runs on it [default: .ackbox/dev.db, or the engine that
    /// $AWS_ENDPOINT_URL_DYNAMODB or $AWS_ENDPOINT_URL names]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The table in AWS, with the Region and the credentials that the AWS SDK finds ($AWS_REGION, $AWS_PROFILE ..)
    #[arg(long, conflicts_with = "db")]
    aws: bool,
    #[command(flatten)]
    table: TableOption,
}

/// Where a table is.
#[derive(Debug)]
pub enum Place {
    /// In a file on this machine.
    File(PathBuf),
    /// At an engine that the environment names.
    Endpoint(String),
    /// In AWS, which is spoken to so.
    Aws(Box<SdkConfig>),
}

/// A table that can be worked on.
#[derive(Debug)]
pub struct Opened {
    /// The table.
    pub store: Store,
    /// Where it is.
    pub place: Place,
    /// The engine of its file, where this process runs it.
    engine: Option<Engine>,
}

impl TableChoice {
    /// Whether the command line names one.
    pub const fn is_given(&self) -> bool {
        self.aws || self.db.is_some() || self.table.table.is_some()
    }

    /// Opens it.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be used, or AWS has no Region or credentials for us.
    pub async fn open(&self) -> Result<Opened, CommandError> {
        if self.aws {
            return self.in_aws().await;
        }
        match (&self.db, endpoint()) {
            (None, Some(endpoint)) => {
                let clients = Clients::from_environment().await;
                let place = Place::Endpoint(endpoint);
                Ok(Opened::over(clients, self.table.name(), place, None))
            }
            (db, _) => {
                self.in_file(db.clone().unwrap_or_else(|| DEFAULT_DB.into()))
                    .await
            }
        }
    }

    async fn in_aws(&self) -> Result<Opened, CommandError> {
        let (clients, sdk) = Clients::in_aws().await;
        if sdk.region().is_none() {
            return Err(CommandError::Usage(
                "no AWS Region is known: set AWS_REGION, or AWS_PROFILE to a profile that has one"
                    .to_owned(),
            ));
        }
        // Asked for at once: the store would take it for a table that does not answer, and go on trying.
        if let Some(provider) = sdk.credentials_provider() {
            let found = provider.provide_credentials().await;
            found.map_err(|error| {
                let what = "no AWS credentials are found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
                CommandError::unusable(what, error)
            })?;
        }
        if let Some(endpoint) = endpoint() {
            output::note(&format!(
                "note: the environment sends what is meant for AWS to {}",
                escaped(&endpoint)
            ));
        }
        let place = Place::Aws(Box::new(sdk));
        Ok(Opened::over(clients, self.table.name(), place, None))
    }

    async fn in_file(&self, path: PathBuf) -> Result<Opened, CommandError> {
        if !path.is_file() {
            return Err(CommandError::Usage(missing(&path)));
        }
        let place = Place::File(path.clone());
        if let Some(running) = Announcement::of_running(&path) {
            let clients = running.clients().await;
            let table = self.table.chosen().unwrap_or(running.table);
            let opened = Opened::over(clients, table, place, None);
            return opened.if_in(&path).await;
        }
        let engine = Engine::file(&path).await.map_err(unopened)?;
        let clients = engine.clients().await;
        let name = self.table.name();
        let opened = Opened::over(clients, name, place, Some(engine));
        opened.if_in(&path).await
    }
}

impl Opened {
    fn over(clients: Clients, table: String, place: Place, engine: Option<Engine>) -> Self {
        Self {
            store: Store::new(clients.dynamodb, table),
            place,
            engine,
        }
    }

    /// Refuses a table that its file does not have: an endpoint and a Region, of which the store would speak,
    /// have nothing to do with it.
    async fn if_in(self, path: &Path) -> Result<Self, CommandError> {
        let Err(StoreError::NoTable { table }) = self.store.table_size().await else {
            return Ok(self);
        };
        self.close().await;
        let file = escaped(&path.display().to_string());
        Err(CommandError::Usage(format!(
            "the file {file} has no table {table:?}: name the right one with --table, or another file with --db"
        )))
    }

    /// Lets go of it.
    pub async fn close(self) {
        if let Some(engine) = self.engine {
            engine.stop().await;
        }
    }
}

fn missing(path: &Path) -> String {
    let file = escaped(&path.display().to_string());
    format!(
        "there is no table file {file}: `ackbox dev` makes it; name another with --db, an engine by {ENDPOINT_VARIABLE}, or the table in AWS by --aws"
    )
}

fn unopened(error: EngineError) -> CommandError {
    CommandError::unusable("the table cannot be opened", error)
}

/// How a read of the table fails.
pub fn unread(error: StoreError) -> CommandError {
    failed(error, "the table cannot be read", false)
}

/// How a write to the table fails.
pub fn unwritten(error: StoreError) -> CommandError {
    failed(error, "the table cannot be written to", true)
}

fn failed(error: StoreError, what: &str, is_write: bool) -> CommandError {
    match error {
        StoreError::NoTable { .. } | StoreError::ForeignTable { .. } => {
            CommandError::Usage(error.to_string())
        }
        StoreError::Unavailable { .. } => {
            let told = match endpoint() {
                Some(endpoint) => format!(
                    "the table does not answer (at {}): is its engine running?",
                    escaped(&endpoint)
                ),
                None => "the table does not answer; try again".to_owned(),
            };
            let told = if is_write {
                format!(
                    "{told}. What was to be written may be there all the same: look with `ackbox show` before you say it again"
                )
            } else {
                told
            };
            CommandError::failed(told, error)
        }
        other => CommandError::failed(what, other),
    }
}
