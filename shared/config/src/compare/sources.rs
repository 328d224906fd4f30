//! The sources that were, and those that are: whether each still answers, and by all names that it had.

use std::collections::BTreeMap;

use ackbox_domain::Name;

use super::rules::Renamed;
use super::{Changes, listed};
use crate::config::Config;

/// Compares the names of every source.
pub(super) fn compare(
    old: &BTreeMap<Name, Vec<Name>>,
    renamed: &Renamed,
    new: &Config,
    changes: &mut Changes,
) {
    for (was, names) in old {
        let place = format!("[source.{was}]");
        if let Some(now) = new.source_called(was.as_str()) {
            let lost = names.iter().filter(|name| !now.source.is_called(name));
            let lost: Vec<&Name> = lost.collect();
            if !lost.is_empty() {
                let message = format!(
                    "`previously` has no {} any more: messages to that path are answered with 404, and what was accepted under that name is kept as long as any other's",
                    listed(&lost)
                );
                let help = "put it back where it stood, the oldest first".to_owned();
                changes.warn(format!("[source.{}]", now.source.name), message, help);
            }
            continue;
        }
        match renamed.get(was) {
            Some(now) if !has_mistake(changes, now) => {
                let message = format!(
                    "the source is [source.{now}] now, with the same keys: messages to /hooks/{was} are answered with 404"
                );
                let help = format!("write previously = [{}] in [source.{now}]", listed(names));
                changes.warn(place, message, help);
            }
            Some(_) => {}
            None => {
                let message = format!(
                    "the source is removed: messages to /hooks/{was} are answered with 404"
                );
                let help = format!(
                    "nothing, if that is meant; what is open is delivered. If it is renamed, write previously = [{}] in its table",
                    listed(names)
                );
                changes.warn(place, message, help);
            }
        }
    }
}

fn has_mistake(changes: &Changes, source: &Name) -> bool {
    let place = format!("[source.{source}]");
    changes.mistakes.iter().any(|change| change.place == place)
}
