//! One process for one table file. In comes the file's path, out comes the right to open it, which
//! ends with the process however that ends; and where the process that has it serves it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Clients, EngineKey};

/// The permissions of a table file and of what is beside it.
pub(super) const OWNER_ONLY: u32 = 0o600;

/// The right to open a table file, as a lock on a file beside it.
///
/// The file itself is not locked: SQLite has locks of its own there.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

/// Why the lock was not given.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another process has it.
    Held {
        /// Where it serves the file.
        at: Option<String>,
    },
    /// It could not be tried.
    Io(io::Error),
}

impl FileLock {
    /// Takes the lock, or says who has it. Does not wait.
    pub(super) fn take(database: &Path) -> Result<Self, LockError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(OWNER_ONLY)
            .open(beside(database, "lock"))
            .map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held {
                at: Announcement::read(database).map(|found| found.endpoint),
            }),
            Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
        }
    }
}

/// Where a running `ackbox dev` serves a table file: a small JSON file beside it, gone when it stops. Only its
/// owner reads it, since who knows the key reads and writes the table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Announcement {
    /// The engine's endpoint.
    pub endpoint: String,
    /// What is shown to the engine.
    pub key: Option<EngineKey>,
    /// The table's name.
    pub table: String,
}

impl Announcement {
    /// The engine that has this table file open now, if one has. A file that was left behind by a
    /// process that is gone is ignored: the lock says whether one is there.
    pub fn of_running(database: &Path) -> Option<Self> {
        // Nothing is created by looking, and looking keeps nobody else from looking.
        let file = File::open(beside(database, "lock")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Self::read(database),
            _ => None,
        }
    }

    /// Clients of the engine.
    pub async fn clients(&self) -> Clients {
        Clients::shown(&self.endpoint, self.key.as_ref()).await
    }

    /// Writes it; it is removed when what is returned is dropped.
    pub(super) fn publish(&self, database: &Path) -> io::Result<Published> {
        let path = beside(database, "endpoint");
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        // Under another name first: a reader sees all of it or none.
        let draft = beside(database, "endpoint.new");
        // A draft that was left behind may be open to others.
        match std::fs::remove_file(&draft) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(OWNER_ONLY);
        options.open(&draft)?.write_all(&text)?;
        std::fs::rename(&draft, &path)?;
        Ok(Published { path })
    }

    fn read(database: &Path) -> Option<Self> {
        let text = std::fs::read(beside(database, "endpoint")).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// An [`Announcement`] that stands.
#[derive(Debug)]
pub(super) struct Published {
    path: PathBuf,
}

impl Drop for Published {
    fn drop(&mut self) {
        // Where it cannot be removed it is stale, and known to be.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// `dev.db` and `lock` make `dev.db.lock`.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}
