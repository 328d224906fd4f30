//! One mistake in a configuration: its place, what is wrong, and what to write instead.

use std::fmt;

/// A mistake, or something doubtful, at a place of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mistake {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong. Never a value that stood where a secret's reference belongs.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// `ackbox.toml:12:5: message; help`.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            message,
            help,
        } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if !help.is_empty() {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

/// Every mistake of one file, in the order of the file. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl std::error::Error for Mistakes {}

/// A line for each.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}
