//! `ackbox.toml` to types: the text of one file comes in, a checked [`Config`] goes out, or every
//! mistake in it at once, each with its place and what to write instead.
//!
//! A configuration that contradicts itself never starts. A value that stands where a secret's
//! reference belongs is never printed: it may be the secret. Neither the environment nor a clock is
//! read in here. Every key is explained in `docs/configuration.md`.
//!
//! ```
//! use ackbox_config::Config;
//!
//! let text = "[destination.mailer]\nurl = \"http://mail.example.com\"\nidempotency = \"nome\"\n";
//! let mistakes = Config::parse("ackbox.toml", text).expect_err("two mistakes");
//! assert_eq!(mistakes.0.len(), 2);
//! assert!(mistakes.to_string().starts_with("ackbox.toml:2:7: `url` is http: "));
//! ```

mod compare;
mod config;
mod kind;
mod load;
mod lookup;
mod mistake;
mod read;
mod reconcile;
mod reference;

pub use compare::{Change, Changes, Remembered, against, against_table};
pub use config::{
    Config, DeliverySettings, DestinationConfig, HttpDestination, OnConflict, SourceConfig,
};
pub use kind::{
    Group, Invocation, Kind, LambdaDestination, SqsDestination, StepFunctionsDestination, Workflow,
};
pub use load::LoadError;
pub use lookup::Lookup;
pub use mistake::{Mistake, Mistakes};
pub use read::nearest::nearest;
pub use read::value::{Wrong, duration};
pub use reconcile::{AskMethod, Reconcile, Unaskable, UrlTemplate};
pub use reference::{NotAReference, SecretRef};
