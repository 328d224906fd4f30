//! Why a message was not accepted, in words for the operator. Never holds a secret or a signature.

use std::time::Duration;

use thiserror::Error;

/// Why a message is not proven. [`Refusal::code`] is stable; the text says what to look at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A header that the scheme needs is not there.
    #[error("header `{header}` is missing: {hint}")]
    MissingHeader {
        /// The header's name; several, joined by "or", where any would do.
        header: String,
        /// What to look at.
        hint: String,
    },
    /// A header that may stand once stands more often.
    #[error(
        "header `{header}` stands {lines} times: a signed header may stand once, else two readers could read two values"
    )]
    DuplicateHeader {
        /// The header's name.
        header: String,
        /// How many lines it has.
        lines: usize,
    },
    /// A header's value cannot be read.
    #[error("header `{header}` is malformed: {problem}; expected {expected}")]
    MalformedHeader {
        /// The header's name.
        header: String,
        /// What is wrong. Values of signatures are never shown, others cut and escaped.
        problem: String,
        /// The form that the scheme knows.
        expected: String,
    },
    /// The signature header can be read, and holds only kinds of signature that the scheme does not know.
    #[error(
        "header `{header}` holds no signature of a known version: found {found}, known are {known}"
    )]
    UnknownVersion {
        /// The header's name.
        header: String,
        /// The versions found, cut and escaped.
        found: String,
        /// The versions that the scheme knows.
        known: String,
    },
    /// The signed timestamp is too far in the past.
    #[error(
        "signed {age_s} s ago, older than the tolerance of {} s: {hint}", tolerance.as_secs()
    )]
    TooOld {
        /// The signed time, in milliseconds since 1970.
        signed_at_ms: u64,
        /// How old that is, in whole seconds.
        age_s: u64,
        /// What was allowed.
        tolerance: Duration,
        /// What to look at.
        hint: String,
    },
    /// The signed timestamp is too far in the future.
    #[error(
        "signed {ahead_s} s in the future, more than the tolerance of {} s: {hint}", tolerance.as_secs()
    )]
    TooNew {
        /// The signed time, in milliseconds since 1970.
        signed_at_ms: u64,
        /// How far ahead that is, in whole seconds.
        ahead_s: u64,
        /// What was allowed.
        tolerance: Duration,
        /// What to look at.
        hint: String,
    },
    /// No secret could be tried on the signatures that came.
    #[error("no secret can be tried: {problem}; expected {expected}")]
    NoUsableSecret {
        /// What is missing.
        problem: String,
        /// The forms of secret that would do.
        expected: String,
    },
    /// Every secret was tried, and none made this signature.
    #[error("no secret matched: tried {tried} on {signatures} of header `{header}`. {hint}")]
    NoSecretMatched {
        /// The header of the signature.
        header: String,
        /// The labels of the secrets tried.
        tried: String,
        /// How many signatures of which versions were tried.
        signatures: String,
        /// What to look at.
        hint: String,
    },
}

impl Refusal {
    /// The reason as a stable word for logs, counters and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingHeader { .. } => "missing-header",
            Self::DuplicateHeader { .. } => "duplicate-header",
            Self::MalformedHeader { .. } => "malformed-header",
            Self::UnknownVersion { .. } => "unknown-version",
            Self::TooOld { .. } => "too-old",
            Self::TooNew { .. } => "too-new",
            Self::NoUsableSecret { .. } => "no-usable-secret",
            Self::NoSecretMatched { .. } => "no-secret-matched",
        }
    }
}
