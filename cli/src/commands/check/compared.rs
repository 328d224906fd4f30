//! A configuration against another one, or against what a table remembers: out come the differences that change
//! identity, and those that change what becomes of what is open. Nothing is written, and nothing is scanned.

use std::path::Path;

use ackbox_config::{Change, Changes, Config, LoadError, Remembered, against, against_table};
use ackbox_domain::Name;
use ackbox_store::{COUNTED, Class, Counted, Meta, Store, StoreError};

use crate::commands::CommandError;
use crate::commands::table::{self, TableChoice};
use crate::edge;
use crate::output::{self, escaped};

/// What of an entry is open.
const OPEN: [(Class, &str); 3] = [
    (Class::Open, "pending or claimed"),
    (Class::Unknown, "unknown"),
    (Class::Held, "held"),
];

/// Against the file that was in use before.
pub(super) fn with_file(old: &Path, new: &Config) -> Result<Changes, CommandError> {
    let old = Config::load(old).map_err(|error| match error {
        LoadError::Unreadable { path, source } => CommandError::unusable(
            format!(
                "cannot read {}, which is to be compared with (--against)",
                escaped(&path.display().to_string())
            ),
            source,
        ),
        LoadError::Mistakes(mistakes) => CommandError::unusable(
            format!(
                "{} cannot be compared with: it has mistakes, as this version reads it",
                old.display()
            ),
            mistakes,
        ),
    })?;
    Ok(against(&old, new))
}

/// Against what a table remembers.
pub(super) async fn with_table(
    choice: &TableChoice,
    new: &Config,
) -> Result<Changes, CommandError> {
    let opened = choice.open().await?;
    let changes = compare(&opened.store, new).await;
    opened.close().await;
    changes.map_err(table::unread)
}

async fn compare(store: &Store, new: &Config) -> Result<Changes, StoreError> {
    let meta = store.meta().await?;
    let known = Remembered {
        sources: &meta.sources,
        spaces: &meta.spaces,
        rules: &meta.rules,
    };
    let mut changes = against_table(known, new);
    changes.warnings.extend(unremembered(&meta));
    let gone = meta.destinations.iter();
    for name in gone.filter(|name| !new.destinations.contains_key(*name)) {
        changes.warnings.extend(left_open(store, name).await?);
    }
    Ok(changes)
}

/// A table from before rules were remembered, or one with more rules than are remembered.
fn unremembered(meta: &Meta) -> Option<Change> {
    let (message, help) = if meta.is_full_of_rules() {
        (
            format!(
                "the table remembers {} rules and no more: edits of others are not seen here",
                meta.rules.len()
            ),
            "compare with the file that was in use before: ackbox check --against OLD.toml",
        )
    } else if meta.rules.is_empty() && !meta.sources.is_empty() {
        (
            "the table remembers no rule yet: each is remembered by the first action that this version accepts of it".to_owned(),
            "until then, compare with the file that was in use before: ackbox check --against OLD.toml",
        )
    } else {
        return None;
    };
    Some(Change {
        place: "the table".to_owned(),
        message,
        help: help.to_owned(),
    })
}

/// What is open for a destination that the configuration does not have.
async fn left_open(store: &Store, name: &Name) -> Result<Option<Change>, StoreError> {
    let (mut parts, mut oldest) = (Vec::new(), None);
    for (class, word) in OPEN {
        let counted = store.count(class, name, None, COUNTED).await?;
        parts.extend(part(counted, word));
        oldest = oldest.into_iter().chain(counted.oldest).min();
    }
    let Some(oldest) = oldest else {
        return Ok(None);
    };
    let message = format!(
        "the configuration does not have it, and entries of it are open: {} (the oldest accepted {}, {oldest})",
        parts.join(", "),
        output::age(oldest, edge::now())
    );
    let help = format!(
        "put it back until they are delivered; `ackbox list --destination {name}` lists them. Without it, what is pending is held after `no_destination_hold`"
    );
    Ok(Some(Change {
        place: format!("[destination.{name}]"),
        message,
        help,
    }))
}

/// `3 held`; `None` where there is none.
fn part(counted: Counted, word: &str) -> Option<String> {
    let more = if counted.more { "+" } else { "" };
    (counted.count > 0).then(|| format!("{}{more} {word}", counted.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_no_further_is_marked_and_nothing_is_left_out() {
        let counted = |count, more| Counted {
            count,
            more,
            oldest: None,
        };
        for (count, more, words) in [
            (0, false, None),
            (3, false, Some("3 held")),
            (COUNTED, true, Some("10000+ held")),
        ] {
            assert_eq!(part(counted(count, more), "held").as_deref(), words);
        }
    }
}
