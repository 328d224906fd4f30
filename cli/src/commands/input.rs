//! Files that the command line names become bytes, exactly as they are; `-` is standard input.

use std::io::{self, Read as _};
use std::path::Path;

use crate::commands::CommandError;
use crate::output::escaped;

/// The most bytes read of one file: well over the largest body that a receiver can take (6 MB).
const MAX: u64 = 16 * 1024 * 1024;

/// Whether this names standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The bytes of a file. `what` is what it should hold, for messages.
///
/// # Errors
///
/// [`CommandError::Unusable`] where it cannot be read, [`CommandError::Usage`] where it is over 16 MiB.
pub fn read(what: &str, path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let opened: io::Result<Box<dyn io::Read>> = if is_stdin(path) {
        Ok(Box::new(io::stdin().lock()))
    } else {
        std::fs::File::open(path).map(|file| Box::new(file) as _)
    };
    opened
        .and_then(|file| file.take(MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            CommandError::unusable(format!("cannot read {what} {}", name(path)), error)
        })?;
    if bytes.len() as u64 > MAX {
        return Err(CommandError::Usage(format!(
            "{what} {} has more than {MAX} bytes, more than any receiver takes",
            name(path)
        )));
    }
    Ok(bytes)
}

fn name(path: &Path) -> String {
    if is_stdin(path) {
        "from standard input".to_owned()
    } else {
        escaped(&path.display().to_string())
    }
}
