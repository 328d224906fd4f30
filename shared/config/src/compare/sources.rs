//! The sources that were, and those that are: whether each still answers, by all names that it had, and for how long it
//! knows what it accepted.

use std::collections::BTreeMap;

use ackbox_domain::Name;

use super::rules::Renamed;
use super::{Changes, listed};
use crate::config::Config;
use crate::read::value::time;

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

/// Compares for how long each source that is still there knows what it accepted.
pub(super) fn retentions(old: &Config, renamed: &Renamed, new: &Config, changes: &mut Changes) {
    for (name, was) in &old.sources {
        let called = new.source_called(name.as_str());
        let now = called.or_else(|| new.sources.get(renamed.get(name)?));
        let Some(now) = now else {
            continue;
        };
        let (old, new) = (was.retention.accepted, now.retention.accepted);
        if new >= old {
            continue;
        }
        let message = format!(
            "`accepted` was {} and is {}: what was accepted before is known for as long as it was, and what is accepted from now on for less: what comes again after {} makes a second action",
            time(old),
            time(new),
            time(new)
        );
        let help = format!(
            "nothing, if nothing comes again after that; else restore retention = {{ accepted = \"{}\" }}",
            time(old)
        );
        changes.warn(format!("[source.{}]", now.source.name), message, help);
    }
}

fn has_mistake(changes: &Changes, source: &Name) -> bool {
    let place = format!("[source.{source}]");
    changes.mistakes.iter().any(|change| change.place == place)
}
