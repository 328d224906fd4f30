//! A SOURCE on the command line becomes a sender: one of the configuration, or a built-in scheme with
//! secrets from the command line. The text of a secret's reference is never repeated in an error: it may
//! be the secret itself.

use std::sync::Arc;

use ackbox_config::{Config, LoadError, SecretRef, SourceConfig};
use ackbox_secrets::Secrets;
use ackbox_signature::{Scheme, Secret};

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::edge;
use crate::output::escaped;

/// Who sends, and how it signs.
#[derive(Debug)]
pub struct Sender {
    /// The source's name, or the scheme's where no configuration names a source.
    pub name: String,
    /// How it signs.
    pub scheme: Arc<Scheme>,
    /// Its secrets, from the command line or else from the configuration.
    pub secrets: Vec<SecretRef>,
    /// The source, where the configuration names one.
    pub configured: Option<SourceConfig>,
}

impl Sender {
    /// The source of this name; or, with secrets given and no such source, the built-in scheme of this name.
    ///
    /// # Errors
    ///
    /// The configuration cannot be used, or there is no such source and no such scheme.
    pub fn find(
        option: &ConfigOption,
        name: &str,
        given: Vec<SecretRef>,
    ) -> Result<Self, CommandError> {
        let builtin = Scheme::builtin(name);
        let config = match option.load() {
            Ok(config) => Some(config),
            // Without a configuration the scheme alone will do; one that was asked for must be there.
            Err(LoadError::Unreadable { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound
                    && option.config.is_none()
                    && builtin.is_some()
                    && !given.is_empty() =>
            {
                None
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(source) = config.as_ref().and_then(|c| c.source_called(name)) {
            let secrets = if given.is_empty() {
                source.secrets.clone()
            } else {
                given
            };
            return Ok(Self {
                name: name.to_owned(),
                scheme: Arc::clone(&source.scheme),
                secrets,
                configured: Some(source.clone()),
            });
        }
        match builtin {
            Some(scheme) if !given.is_empty() => Ok(Self {
                name: name.to_owned(),
                scheme,
                secrets: given,
                configured: None,
            }),
            builtin => Err(unknown(option, name, config.as_ref(), builtin.is_some())),
        }
    }
}

fn unknown(
    option: &ConfigOption,
    name: &str,
    config: Option<&Config>,
    is_scheme: bool,
) -> CommandError {
    let file = escaped(&option.path().display().to_string());
    let sources: Vec<&str> = config
        .iter()
        .flat_map(|config| config.sources.keys())
        .map(|name| name.as_str())
        .collect();
    let known = if sources.is_empty() {
        "it names none".to_owned()
    } else {
        format!("it names {}", sources.join(", "))
    };
    let advice = if is_scheme {
        format!("to use the built-in scheme {name}, say by --secret where its secret stands")
    } else {
        let slugs: Vec<&str> = Scheme::builtin_slugs().collect();
        format!(
            "or give a built-in scheme ({}) and --secret",
            slugs.join(", ")
        )
    };
    CommandError::Usage(format!(
        "{file} has no source {:?}: {known}; {advice}",
        escaped(name)
    ))
}

/// Reads a secret's reference from the command line.
///
/// # Errors
///
/// [`CommandError::Usage`], without the text.
pub fn reference(text: &str) -> Result<SecretRef, CommandError> {
    text.parse().map_err(|error: ackbox_config::NotAReference| {
        CommandError::Usage(format!("what --secret gives {error}: {}", error.help()))
    })
}

/// Secrets ready for use, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Keys {
    /// Those that can be used, in order.
    pub usable: Vec<Secret>,
    /// Why others cannot. Never a value.
    pub problems: Vec<String>,
}

/// Reads secrets, one by one: one that is gone does not take the others with it.
pub async fn keys(scheme: &Scheme, references: &[SecretRef]) -> Keys {
    let secrets = Secrets::new(edge::environment);
    let mut keys = Keys::default();
    for (reference, value) in secrets.resolve_each(references).await {
        match value {
            Ok(value) => match scheme.secret(&reference.to_string(), value.expose()) {
                Ok(secret) => keys.usable.push(secret),
                Err(error) => keys.problems.push(error.to_string()),
            },
            Err(error) => keys.problems.push(error.to_string()),
        }
    }
    keys
}
