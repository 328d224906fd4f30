//! Why a secret has no value. Names the reference and what to do; never holds a value or a piece of one.

use std::io;

use ackbox_config::SecretRef;
use thiserror::Error;

/// A reference that could not be resolved.
///
/// Display says what to do, and does not repeat its source.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretError {
    /// An `env:` reference to a variable that is not set.
    #[error(
        "secret {reference}: the environment variable is not set; set it, or correct the reference"
    )]
    NotSet {
        /// The reference.
        reference: SecretRef,
    },
    /// A value was found, and it cannot be a secret.
    #[error("secret {reference}: {problem}")]
    Unusable {
        /// The reference.
        reference: SecretRef,
        /// What is wrong with it and what to do, without the value.
        problem: &'static str,
    },
    /// A `file:` reference to a file that could not be read.
    #[error(
        "secret {reference}: the file cannot be read; check that it exists and that this process may read it"
    )]
    Unreadable {
        /// The reference.
        reference: SecretRef,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// An `ssm:` reference: nothing here speaks to the Parameter Store yet.
    #[error(
        "secret {reference}: this build cannot read secrets from the SSM Parameter Store; use env:NAME or file:PATH"
    )]
    Unsupported {
        /// The reference.
        reference: SecretRef,
    },
}

impl SecretError {
    /// The reference that could not be resolved. Not secret.
    pub fn reference(&self) -> &SecretRef {
        match self {
            Self::NotSet { reference }
            | Self::Unusable { reference, .. }
            | Self::Unreadable { reference, .. }
            | Self::Unsupported { reference } => reference,
        }
    }

    /// Whether the same reference may well resolve later with nothing changed by anyone: then the
    /// last good value is used meanwhile. A wrong value or a missing variable does not heal by itself.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }
}
