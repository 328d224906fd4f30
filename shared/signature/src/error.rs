//! What can be wrong with our own side: a grammar, a secret's form, a request to sign. Never shows a secret's value.

use thiserror::Error;

/// One mistake in a scheme's grammar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {message}")]
pub struct GrammarError {
    /// The dotted path inside the scheme: `signature[0].encoding`.
    pub field: String,
    /// What is wrong there, and what to write instead.
    pub message: String,
}

/// A secret that does not have a form which its scheme knows. Says which, by label; never shows the value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("secret `{label}` for scheme `{scheme}`: {problem}; expected {expected}")]
pub struct SecretFormError {
    /// The reference under which the secret is known.
    pub label: String,
    /// The scheme that was to use it.
    pub scheme: String,
    /// What is wrong, without the value.
    pub problem: String,
    /// The forms that the scheme knows.
    pub expected: String,
}

/// Why a request cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignError {
    /// No secret was given.
    #[error("no secret to sign with: give at least one")]
    NoSecret,
    /// The secret can verify, and cannot sign.
    #[error("secret `{label}` is a public key: signing needs the private one")]
    PublicKey {
        /// The secret's reference.
        label: String,
    },
    /// The secret is of a kind that this scheme has no signature for.
    #[error("scheme `{scheme}` has no signature that secret `{label}` could make")]
    WrongKind {
        /// The scheme.
        scheme: String,
        /// The secret's reference.
        label: String,
    },
    /// More secrets than the header holds signatures.
    #[error(
        "scheme `{scheme}` holds at most {most} signatures of this kind per request, not {secrets}"
    )]
    TooManySecrets {
        /// The scheme.
        scheme: String,
        /// How many secrets were given.
        secrets: usize,
        /// How many may be.
        most: usize,
    },
    /// A value that must travel in a header cannot, or would make the signed bytes ambiguous.
    #[error("header `{header}`: {problem}")]
    Value {
        /// The header that would hold the value.
        header: String,
        /// What is wrong with it.
        problem: String,
    },
}
