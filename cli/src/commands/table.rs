//! Which table `list`, `show` and `check` read: that of a local file, also while `ackbox dev` has it open, or that
//! of the engine which the environment names.

use std::path::PathBuf;

use ackbox_store::{Store, StoreError};

use crate::cli::{DEFAULT_DB, ENDPOINT_VARIABLE, TableOption};
use crate::commands::CommandError;
use crate::dev::{Announcement, Clients, Engine, EngineError};
use crate::edge;
use crate::output::escaped;

/// Which table.
#[derive(Clone, Debug, clap::Args)]
pub struct TableChoice {
    /// The table's file, also while `ackbox dev` runs on it [default: .ackbox/dev.db, or the engine that
    /// $AWS_ENDPOINT_URL_DYNAMODB names]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    #[command(flatten)]
    table: TableOption,
}

/// A table that can be read.
#[derive(Debug)]
pub struct Opened {
    /// The table.
    pub store: Store,
    /// The engine of its file, where this process runs it.
    engine: Option<Engine>,
}

impl TableChoice {
    /// Whether the command line names one.
    pub const fn is_given(&self) -> bool {
        self.db.is_some() || self.table.table.is_some()
    }

    /// Opens it. Nothing is created: a file that is not there is told.
    ///
    /// # Errors
    ///
    /// There is no such file, or it cannot be used.
    pub async fn open(&self) -> Result<Opened, CommandError> {
        if self.db.is_none() && edge::environment(ENDPOINT_VARIABLE).is_some() {
            let clients = Clients::from_environment().await;
            return Ok(Opened::over(clients, self.table.name(), None));
        }
        let path = self.db.clone().unwrap_or_else(|| DEFAULT_DB.into());
        if !path.is_file() {
            let file = escaped(&path.display().to_string());
            return Err(CommandError::Usage(format!(
                "there is no table file {file}: `ackbox dev` makes it; name another with --db, or an engine by {ENDPOINT_VARIABLE}"
            )));
        }
        if let Some(running) = Announcement::of_running(&path) {
            let clients = running.clients().await;
            let table = self.table.chosen().unwrap_or(running.table);
            return Ok(Opened::over(clients, table, None));
        }
        let engine = Engine::file(&path).await.map_err(unopened)?;
        let clients = engine.clients().await;
        Ok(Opened::over(clients, self.table.name(), Some(engine)))
    }
}

impl Opened {
    fn over(clients: Clients, table: String, engine: Option<Engine>) -> Self {
        let store = Store::new(clients.dynamodb, table);
        Self { store, engine }
    }

    /// Lets go of it.
    pub async fn close(self) {
        if let Some(engine) = self.engine {
            engine.stop().await;
        }
    }
}

fn unopened(error: EngineError) -> CommandError {
    CommandError::unusable("the table cannot be opened", error)
}

/// How a read of the table fails.
pub fn unread(error: StoreError) -> CommandError {
    match error {
        StoreError::NoTable { .. } | StoreError::ForeignTable { .. } => {
            CommandError::Usage(error.to_string())
        }
        StoreError::Unavailable { .. } => {
            let at = match edge::environment(ENDPOINT_VARIABLE) {
                Some(endpoint) => format!(" (at {})", escaped(&endpoint)),
                None => String::new(),
            };
            CommandError::failed(
                format!("the table does not answer{at}: is its engine running?"),
                error,
            )
        }
        other => CommandError::failed("the table cannot be read", other),
    }
}
