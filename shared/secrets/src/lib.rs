//! Secret references in, values out: read where they are needed, cached for a while, redacted
//! wherever they are printed. A value must never stand in a log, an error or a `Debug` text.
//!
//! ```
//! # async fn example() -> Result<(), ackbox_secrets::SecretError> {
//! use ackbox_secrets::Secrets;
//!
//! let secrets = Secrets::new(|name| (name == "TOKEN").then(|| "t0p".to_owned()));
//! let values = secrets.resolve(&[ackbox_config::SecretRef::Env("TOKEN".into())]).await?;
//! assert_eq!(values[0].expose(), "t0p");
//! assert_eq!(format!("{:?}", values[0]), "SecretValue(redacted)");
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
//! ```

mod cache;
mod error;
mod read;
mod value;

pub use cache::Secrets;
pub use error::SecretError;
pub use read::VALUE_MAX;
pub use value::SecretValue;
