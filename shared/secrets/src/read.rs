//! Reads one reference from where it points. A value that comes out is not blank, is UTF-8, and is bounded.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ackbox_config::SecretRef;
use zeroize::Zeroizing;

use crate::error::SecretError;
use crate::value::SecretValue;

/// The longest value, in bytes: what AWS Secrets Manager stores at most (its quotas page, "Secret
/// value size"), the largest of the places that a reference can point to.
pub const VALUE_MAX: usize = 65_536;

/// The longest file: a value and its line end.
const FILE_MAX: usize = VALUE_MAX + "\r\n".len();

/// The environment, as a function that gives a variable's value.
pub(crate) type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Reads a value now, past every cache.
pub(crate) async fn read(
    environment: &Environment,
    reference: &SecretRef,
) -> Result<SecretValue, SecretError> {
    let text = match reference {
        SecretRef::Env(name) => variable(environment, name, reference)?,
        SecretRef::File(path) => file(path.clone(), reference).await?,
        SecretRef::Ssm(_) => {
            return Err(SecretError::Unsupported {
                reference: reference.clone(),
            });
        }
    };
    usable(text).map_err(|problem| unusable(reference, problem))
}

fn variable(
    environment: &Environment,
    name: &str,
    reference: &SecretRef,
) -> Result<Zeroizing<String>, SecretError> {
    environment(name)
        .map(Zeroizing::new)
        .ok_or_else(|| SecretError::NotSet {
            reference: reference.clone(),
        })
}

async fn file(path: PathBuf, reference: &SecretRef) -> Result<Zeroizing<String>, SecretError> {
    let unreadable = |source| SecretError::Unreadable {
        reference: reference.clone(),
        source,
    };
    let bytes = tokio::task::spawn_blocking(move || bytes_of(&path))
        .await
        .map_err(|stopped| unreadable(io::Error::other(stopped)))?
        .map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        unusable(
            reference,
            "it is not UTF-8 text; store the secret as text, without a byte order mark",
        )
    })?;
    Ok(Zeroizing::new(without_line_end(text).to_owned()))
}

/// At most one byte more than the longest file has: what is cut there is still longer than a value
/// may be, and so refused.
fn bytes_of(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    // Opening a pipe would wait for its writer, without end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    // The whole capacity at once: a buffer that grows leaves copies behind that nobody wipes.
    let mut bytes = Zeroizing::new(Vec::with_capacity(FILE_MAX + 1));
    File::open(path)?
        .take(FILE_MAX as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text without the one line end that editors and `echo` leave at the end of a file.
fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

fn usable(text: Zeroizing<String>) -> Result<SecretValue, &'static str> {
    if text.trim().is_empty() {
        Err("it is empty; put the secret there")
    } else if text.len() > VALUE_MAX {
        Err("it is longer than 64 KiB; that is no secret")
    } else {
        Ok(SecretValue::new(text))
    }
}

fn unusable(reference: &SecretRef, problem: &'static str) -> SecretError {
    SecretError::Unusable {
        reference: reference.clone(),
        problem,
    }
}
