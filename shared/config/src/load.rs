//! From a file on disk: finds `ackbox.toml` and reads it. The environment comes in through a closure.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::mistake::{Mistake, Mistakes};

/// Why a configuration could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error(
        "cannot read the configuration {}; write one there, or name another by $ACKBOX_CONFIG",
        path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file says something wrong.
    #[error("{0}")]
    Mistakes(Mistakes),
}

impl Config {
    /// Reads a configuration from a file.
    pub fn load(path: &Path) -> Result<Config, LoadError> {
        let bytes = std::fs::read(path).map_err(|source| LoadError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let file = path.display().to_string();
        let text = std::str::from_utf8(&bytes)
            .map_err(|e| LoadError::Mistakes(not_text(&file, &bytes, e.valid_up_to())))?;
        Config::parse(&file, text).map_err(LoadError::Mistakes)
    }

    /// Where the configuration stands: `$ACKBOX_CONFIG`, else `$LAMBDA_TASK_ROOT/ackbox.toml`, else
    /// `ackbox.toml` in the working directory. An empty variable counts as none.
    pub fn locate(environment: impl Fn(&str) -> Option<String>) -> PathBuf {
        const FILE: &str = "ackbox.toml";
        let set = |name| environment(name).filter(|value| !value.is_empty());
        if let Some(path) = set("ACKBOX_CONFIG") {
            PathBuf::from(path)
        } else if let Some(root) = set("LAMBDA_TASK_ROOT") {
            Path::new(&root).join(FILE)
        } else {
            PathBuf::from(FILE)
        }
    }
}

fn not_text(file: &str, bytes: &[u8], at: usize) -> Mistakes {
    let before = String::from_utf8_lossy(bytes.get(..at).unwrap_or_default());
    let last = before.rsplit('\n').next().unwrap_or_default();
    Mistakes(vec![Mistake {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: last.chars().count() + 1,
        message: "the file is not UTF-8 from here on".to_owned(),
        help: "save it as UTF-8".to_owned(),
    }])
}
