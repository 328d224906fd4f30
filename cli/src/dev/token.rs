//! The token of the local registrar: the environment comes in, or a file beside the table, which is made where
//! it is missing; the token goes out, and how a shell gets it. It is never shown itself.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::output::quoted;

/// The variable that has the token.
pub(super) const TOKEN_VARIABLE: &str = "ACKBOX_DEV_TOKEN";

/// Only its owner reads it.
const MODE: u32 = 0o600;

/// The token, and where it is.
#[derive(Clone)]
pub(super) struct Token {
    /// What a caller must show.
    pub value: String,
    /// The same as a shell writes it, without it.
    pub shell: String,
}

impl Token {
    /// The token of [`TOKEN_VARIABLE`] (`from_environment`), else of `file`.
    pub(super) fn find(from_environment: Option<String>, file: &Path) -> io::Result<Self> {
        if let Some(value) = from_environment {
            let shell = format!("${TOKEN_VARIABLE}");
            return Ok(Self { value, shell });
        }
        let value = match read(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => made(file)?,
            read => read?,
        };
        let shell = format!("$(cat {})", quoted(&file.display().to_string()));
        Ok(Self { value, shell })
    }
}

fn read(file: &Path) -> io::Result<String> {
    let value = fs::read_to_string(file)?;
    // A file of somebody else's, whose token they know, cannot be made ours.
    fs::set_permissions(file, Permissions::from_mode(MODE))?;
    let value = value.trim();
    if value.is_empty() {
        let problem = "it is empty; remove it, and a new token is made";
        return Err(io::Error::new(ErrorKind::InvalidData, problem));
    }
    Ok(value.to_owned())
}

fn made(file: &Path) -> io::Result<String> {
    let value = ackbox_store::random_id();
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    let created: io::Result<File> = options.write(true).create_new(true).mode(MODE).open(file);
    writeln!(created?, "{value}")?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b/token");
        let first = Token::find(None, &file).unwrap();
        assert_eq!(first.value.len(), 32);
        assert!(first.shell.contains("$(cat '"), "{}", first.shell);
        assert!(!first.shell.contains(&first.value));
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Token::find(None, &file).unwrap().value, first.value);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
    }

    #[test]
    fn the_environment_goes_first_and_an_empty_file_is_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let told = Token::find(Some("from outside".to_owned()), &file).unwrap();
        assert_eq!(
            (told.value.as_str(), told.shell.as_str()),
            ("from outside", "$ACKBOX_DEV_TOKEN")
        );
        assert!(!file.exists());
        fs::write(&file, "\n").unwrap();
        assert!(Token::find(None, &file).is_err());
    }
}
