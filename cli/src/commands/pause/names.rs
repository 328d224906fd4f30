//! Which destinations are meant: names come in, and go out where the table or the configuration knows them; a
//! name that neither knows is a slip, and nothing is done.

use std::collections::BTreeSet;

use ackbox_config::nearest;
use ackbox_domain::Name;
use ackbox_store::Store;

use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::commands::operator::Chosen;
use crate::commands::table;
use crate::output::{self, escaped};

/// The destinations that are meant.
#[derive(Debug, clap::Args)]
pub struct Names {
    /// The destinations
    #[arg(
        value_name = "DESTINATION",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    names: Vec<Name>,
    /// Every destination that the table or the configuration knows
    #[arg(long)]
    all: bool,
}

impl Names {
    /// How they are chosen.
    pub(super) fn chosen(&self) -> Chosen {
        match self.all {
            true => Chosen::ByFilter,
            false => Chosen::ByName,
        }
    }

    /// Those that are meant, each once.
    ///
    /// # Errors
    ///
    /// One is not known; the table or a configuration that was named cannot be read.
    pub(super) async fn find(
        &self,
        store: &Store,
        config: &ConfigOption,
    ) -> Result<BTreeSet<Name>, CommandError> {
        let mut known = store.meta().await.map_err(table::unread)?.destinations;
        known.extend(configured(config)?);
        if self.all {
            return Ok(known);
        }
        let unknown = self.names.iter().find(|name| !known.contains(*name));
        match unknown {
            Some(name) => Err(CommandError::Usage(not_known(name, &known))),
            None => Ok(self.names.iter().cloned().collect()),
        }
    }
}

/// The destinations of the configuration; none where there is none to be read.
fn configured(option: &ConfigOption) -> Result<BTreeSet<Name>, CommandError> {
    let path = option.path();
    if option.config.is_none() && !path.is_file() {
        return Ok(BTreeSet::new());
    }
    match option.load() {
        Ok(config) => Ok(config.destinations.into_keys().collect()),
        Err(error) if option.config.is_some() => Err(error.into()),
        Err(_) => {
            output::note(&format!(
                "note: {} cannot be used (`ackbox check` says why): only destinations of the table are known",
                escaped(&path.display().to_string())
            ));
            Ok(BTreeSet::new())
        }
    }
}

fn not_known(name: &Name, known: &BTreeSet<Name>) -> String {
    let words = || known.iter().map(Name::as_str);
    let hint = match nearest(name.as_str(), words()) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "none is known".to_owned(),
        None => format!("known are {}", words().collect::<Vec<_>>().join(", ")),
    };
    format!("neither the table nor the configuration has a destination {name}: {hint}")
}
