//! The commands that do one thing and end, a file each; and how a command fails.

pub mod check;
pub mod deed;
pub mod doubt;
pub mod filter;
pub mod input;
pub mod job;
pub mod list;
pub mod operator;
pub mod pause;
pub mod paused;
pub mod redact;
pub mod redrive;
pub mod resolve;
pub mod resume;
pub mod send;
pub mod sender;
pub mod show;
pub mod stats;
pub mod table;
pub mod verify;
pub mod watch;
pub mod when;

use std::error::Error;
use std::process::ExitCode;

use ackbox_config::LoadError;
use ackbox_domain::ActionKey;

use crate::output::Unwritten;

/// Why a command could not do what was asked. A verdict ("refused") is no error, but an exit code.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The command line asks for what cannot be. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The configuration cannot be used. Exit code 2.
    #[error(transparent)]
    Config(#[from] LoadError),
    /// Something that was given (a file, a secret) cannot be used. Exit code 2.
    #[error("{what}")]
    Unusable {
        /// What, and what to do.
        what: String,
        /// What it comes from.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// What was asked for was tried and did not succeed. Exit code 1.
    #[error("{what}")]
    Failed {
        /// What did not succeed, and what to do.
        what: String,
        /// What it comes from.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Standard output cannot be written to. Exit code 1.
    #[error(transparent)]
    Output(#[from] Unwritten),
}

impl CommandError {
    /// [`CommandError::Failed`].
    pub fn failed(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let (what, source) = (what.into(), source.into());
        Self::Failed { what, source }
    }

    /// [`CommandError::Unusable`].
    pub fn unusable(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let (what, source) = (what.into(), source.into());
        Self::Unusable { what, source }
    }

    /// What the shell is told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Config(_) | Self::Unusable { .. } => ExitCode::from(2),
            Self::Failed { .. } | Self::Output(_) => ExitCode::FAILURE,
        }
    }
}

/// An action's key on the command line.
fn key(text: &str) -> Result<ActionKey, String> {
    text.trim().parse().map_err(|_| {
        "a key is \"act_\" and 32 lower-case letters and digits from 2 to 7".to_owned()
    })
}
