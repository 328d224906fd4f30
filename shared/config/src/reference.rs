//! Where a secret stands: a text such as `env:NAME` comes in, a reference goes out. The text itself is
//! never repeated in an error, since it may be a secret that was pasted in by mistake.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The place of a secret. It says where the value is, and holds none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretRef {
    /// `env:NAME`: an environment variable.
    Env(String),
    /// `file:PATH`: a file (for development). Relative paths are relative to the working directory.
    File(PathBuf),
    /// `ssm:/name`: a parameter of the AWS Systems Manager Parameter Store; Secrets Manager through
    /// `ssm:/aws/reference/secretsmanager/NAME`.
    Ssm(String),
}

/// Why a text is no reference. Never holds the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAReference {
    /// None of the known prefixes.
    #[error("is no reference to a secret")]
    NoPrefix,
    /// `env:` and then something that is no variable's name.
    #[error("names no environment variable after \"env:\"")]
    Env,
    /// `file:` and nothing, or a character that no path has.
    #[error("names no file after \"file:\"")]
    File,
    /// `ssm:` and then something that is no parameter's full name.
    #[error("names no parameter after \"ssm:\"")]
    Ssm,
}

impl NotAReference {
    /// What to write instead.
    pub const fn help(self) -> &'static str {
        match self {
            Self::NoPrefix => {
                "write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender"
            }
            Self::Env => {
                "letters, digits and underscores, not starting with a digit, as in \"env:STRIPE_SECRET\""
            }
            Self::File => "a path, as in \"file:secrets/stripe\"",
            Self::Ssm => {
                "the parameter's full name with its slash, as in \"ssm:/ackbox/stripe/secret\""
            }
        }
    }
}

/// The longest name of a parameter (AWS Systems Manager, PutParameter).
const SSM_MAX: usize = 1011;

impl FromStr for SecretRef {
    type Err = NotAReference;

    fn from_str(text: &str) -> Result<Self, NotAReference> {
        let (prefix, rest) = text.split_once(':').ok_or(NotAReference::NoPrefix)?;
        match prefix {
            "env" if is_variable(rest) => Ok(Self::Env(rest.to_owned())),
            "env" => Err(NotAReference::Env),
            "file" if is_path(rest) => Ok(Self::File(PathBuf::from(rest))),
            "file" => Err(NotAReference::File),
            "ssm" if is_parameter(rest) => Ok(Self::Ssm(rest.to_owned())),
            "ssm" => Err(NotAReference::Ssm),
            _ => Err(NotAReference::NoPrefix),
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_path(path: &str) -> bool {
    !path.trim().is_empty() && !path.contains(char::is_control)
}

/// Names of parameters have letters, digits and `.-_/`; what a parameter reference to Secrets
/// Manager names may have `+=@` too, and `:` stands before a version or label.
fn is_parameter(name: &str) -> bool {
    name.len() <= SSM_MAX
        && name.len() > 1
        && name.starts_with('/')
        && !name.ends_with('/')
        && !name.contains("//")
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-_/+=@:".contains(&b))
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Ssm(name) => write!(f, "ssm:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_back_as_they_were_written() {
        for text in [
            "env:STRIPE_SECRET",
            "env:_a1",
            "file:secrets/stripe key",
            "file:/run/secrets/a:b",
            "ssm:/ackbox/stripe/secret",
            "ssm:/aws/reference/secretsmanager/prod/stripe+x@y",
            "ssm:/ackbox/stripe:3",
        ] {
            let reference: SecretRef = text.parse().unwrap();
            assert_eq!(reference.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused_for_their_reason() {
        use NotAReference::{Env, File, NoPrefix, Ssm};
        for (text, why) in [
            ("", NoPrefix),
            ("whsec_abc", NoPrefix),
            ("Bearer env:TOKEN", NoPrefix),
            ("ENV:TOKEN", NoPrefix),
            ("https://x", NoPrefix),
            ("env:", Env),
            ("env:1A", Env),
            ("env:A-B", Env),
            ("env: A", Env),
            ("file:", File),
            ("file: ", File),
            ("file:a\0b", File),
            ("ssm:", Ssm),
            ("ssm:/", Ssm),
            ("ssm:name", Ssm),
            ("ssm:/a//b", Ssm),
            ("ssm:/a b", Ssm),
        ] {
            assert_eq!(text.parse::<SecretRef>(), Err(why), "{text:?}");
        }
    }
}
