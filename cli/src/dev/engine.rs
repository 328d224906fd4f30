//! The embedded DynamoDB-compatible engine: memory or a SQLite file in, an endpoint on loopback out.
//! No two processes ever have one file open as an engine, and nobody uses it who does not show its key.
//!
//! It runs on a thread of its own, because its requests block (SQLite does), and because dropping
//! that thread's runtime is what surely closes the file.

mod guard;
mod operations;
mod serve;

use std::fs::OpenOptions;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::Database;
use dynoxide::storage::Storage;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::Clients;
use super::lock::{FileLock, LockError, OWNER_ONLY};
pub use guard::EngineKey;
use guard::Guard;

/// Run before the first request. The engine finds a stream's last and next records by reading all of
/// them, so it is given an index for that; and records go after 24 hours, as DynamoDB's do
/// (DynamoDB's developer guide, "Change data capture for DynamoDB Streams").
const PREPARATION: &str = "
    CREATE INDEX IF NOT EXISTS ackbox_stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
    DELETE FROM _stream_records WHERE created_at < unixepoch() - 86400;";

/// An engine that answers the DynamoDB and DynamoDB Streams APIs on a loopback port of its own.
///
/// Dropping it stops it too, without waiting.
#[derive(Debug)]
pub struct Engine {
    endpoint: String,
    /// What is shown to it; none: it answers everybody.
    key: Option<EngineKey>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Held until the thread has ended.
    lock: Option<FileLock>,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Another process has the file open.
    #[error(
        "the table file {} is in use by another process{}; stop that one, or name another file with --db",
        path.display(), at.as_deref().map(|at| format!(" (an engine at {at})")).unwrap_or_default()
    )]
    InUse {
        /// The file.
        path: PathBuf,
        /// Where that process serves it, if it says so.
        at: Option<String>,
    },
    /// The file, or one of those beside it, cannot be opened or created.
    #[error("cannot open the table file {}; check that the folder exists and may be written to", path.display())]
    Unopened {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file is not one that the engine can use.
    #[error("cannot use the table file {}: {problem}", path.display())]
    Unusable {
        /// The file; empty for memory.
        path: PathBuf,
        /// What the engine said.
        problem: String,
    },
    /// No loopback port, or no thread, could be had.
    #[error("the embedded engine cannot be started")]
    NoPort(#[source] io::Error),
}

impl Engine {
    /// An engine in memory: empty, and gone when it stops.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn memory() -> Result<Self, EngineError> {
        Self::start(memory_name(), PathBuf::new(), None, Some(EngineKey::new())).await
    }

    /// The same, without a guard: any process, and any page in a browser, can read and write all of it. For
    /// tests only, which put a proxy before it or share it between processes.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn unguarded_memory() -> Result<Self, EngineError> {
        Self::start(memory_name(), PathBuf::new(), None, None).await
    }

    /// An engine on a SQLite file, which is created with its folder if it is missing, for its owner only.
    ///
    /// What was acknowledged survives the end of the process, however it ends: every commit is synced
    /// to the write-ahead log (`journal_mode = WAL`, `synchronous = FULL`).
    ///
    /// # Errors
    ///
    /// The file is in use, cannot be opened, or is none of ours.
    pub async fn file(path: &Path) -> Result<Self, EngineError> {
        Self::on_file(path, Some(EngineKey::new())).await
    }

    /// The same, without a guard, for tests only: see [`Engine::unguarded_memory`].
    ///
    /// # Errors
    ///
    /// As of [`Engine::file`].
    pub async fn unguarded_file(path: &Path) -> Result<Self, EngineError> {
        Self::on_file(path, None).await
    }

    async fn on_file(path: &Path, key: Option<EngineKey>) -> Result<Self, EngineError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| unopened(path, source))?;
        }
        let lock = lock(path).await?;
        // With a folder in front, no name means anything else to SQLite (`:memory:`, `file:..`).
        let Some(name) = Path::new(".").join(path).to_str().map(ToOwned::to_owned) else {
            return Err(EngineError::Unusable {
                path: path.to_owned(),
                problem: "its name is not UTF-8".to_owned(),
            });
        };
        create(path).map_err(|source| unopened(path, source))?;
        Self::start(name, path.to_owned(), Some(lock), key).await
    }

    async fn start(
        name: String,
        path: PathBuf,
        lock: Option<FileLock>,
        key: Option<EngineKey>,
    ) -> Result<Self, EngineError> {
        let shown = key.clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, started) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("ackbox-engine".to_owned())
            .spawn(move || run(&name, path, key, ready, stopped))
            .map_err(EngineError::NoPort)?;
        let endpoint = started.await.unwrap_or_else(|_| {
            let ended = io::Error::other("its thread ended before it was ready");
            Err(EngineError::NoPort(ended))
        })?;
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Self {
            endpoint,
            key: shown,
            stop,
            thread,
            lock,
        })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What its clients show; none: it answers everybody.
    pub fn key(&self) -> Option<&EngineKey> {
        self.key.as_ref()
    }

    /// Clients that it answers.
    pub async fn clients(&self) -> Clients {
        Clients::shown(&self.endpoint, self.key()).await
    }

    /// Stops it, and returns when the file is closed and free.
    pub async fn stop(mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed the file all the same.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
        self.lock.take();
    }
}

fn memory_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // A name makes the memory reachable for the preparation's connection as well.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("file:ackbox-{number}?mode=memory&cache=shared")
}

/// Makes the file where it is missing: SQLite would let everybody read it. What SQLite puts beside it gets the
/// same permissions.
fn create(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    options.mode(OWNER_ONLY).open(path).map(drop)
}

/// Takes the file's lock. Somebody who only looks whether it is held is waited for.
async fn lock(path: &Path) -> Result<FileLock, EngineError> {
    const TRIES: u32 = 10;
    let mut tries = 0;
    loop {
        match FileLock::take(path) {
            Ok(lock) => return Ok(lock),
            Err(LockError::Io(source)) => return Err(unopened(path, source)),
            Err(LockError::Held { at }) => {
                tries += 1;
                // Who has announced where it serves the file is not about to leave it.
                if at.is_some() || tries == TRIES {
                    let path = path.to_owned();
                    return Err(EngineError::InUse { path, at });
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

fn unopened(path: &Path, source: io::Error) -> EngineError {
    EngineError::Unopened {
        path: path.to_owned(),
        source,
    }
}

/// The engine's thread, from opening to closing.
fn run(
    name: &str,
    path: PathBuf,
    key: Option<EngineKey>,
    ready: oneshot::Sender<Result<String, EngineError>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(EngineError::NoPort(error)));
            return;
        }
    };
    runtime.block_on(async {
        match open(name, path).await {
            Err(error) => {
                let _ = ready.send(Err(error));
            }
            Ok((database, listener, address)) => {
                let _ = ready.send(Ok(format!("http://{address}")));
                let guard = key.map(|key| Guard::new(key, address));
                serve::serve(listener, database, guard, stopped).await;
            }
        }
    });
    // Connections that still run hold the database: their tasks go with the runtime.
}

async fn open(
    name: &str,
    path: PathBuf,
) -> Result<(Database, TcpListener, SocketAddr), EngineError> {
    let unusable = |problem: String| EngineError::Unusable {
        path: path.clone(),
        problem,
    };
    let side = Storage::new(name).map_err(|error| unusable(error.to_string()))?;
    side.conn()
        .execute_batch(PREPARATION)
        .map_err(|error| unusable(error.to_string()))?;
    let database = Database::new(name).map_err(|error| unusable(error.to_string()))?;
    drop(side);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(EngineError::NoPort)?;
    let address = listener.local_addr().map_err(EngineError::NoPort)?;
    Ok((database, listener, address))
}

#[cfg(test)]
mod tests;
