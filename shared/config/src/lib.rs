//! `ackbox.toml` to types: the text of one file comes in, a checked [`Config`] goes out, or every
//! mistake in it at once, each with its place and what to write instead.
//!
//! A configuration that contradicts itself never starts. A value that stands where a secret's
//! reference belongs is never printed: it may be the secret. Neither the environment nor a clock is
//! read in here.

mod config;
mod load;
mod mistake;
mod read;
mod reference;

pub use config::{
    Config, DeliverySettings, DestinationConfig, HttpDestination, OnConflict, SourceConfig,
};
pub use load::LoadError;
pub use mistake::{Mistake, Mistakes};
pub use reference::{NotAReference, SecretRef};
