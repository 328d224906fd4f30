//! The job spaces that were, and those that are: a job is found by its space, and by its account where ids are unique
//! only within one.

use ackbox_domain::job::{Ids, Jobs};

use super::rules::{Renamed, source_renamed};
use super::{Changes, Remembered, listed};
use crate::config::{Config, SourceConfig};

const fn word(ids: Ids) -> &'static str {
    match ids {
        Ids::Shared => "shared",
        Ids::PerAccount => "per-account",
    }
}

/// Finds what has become of sources without rules, which are known by their jobs alone.
pub(super) fn renamed(old: &Config, new: &Config, renamed: &mut Renamed, changes: &mut Changes) {
    let names_of = |source: &SourceConfig| {
        let names = source.source.previously.iter().chain([&source.source.name]);
        names.cloned().collect::<Vec<_>>()
    };
    for was in old.sources.values() {
        let name = &was.source.name;
        let is_known = renamed.contains_key(name) || new.source_called(name.as_str()).is_some();
        let Some(jobs) = was.source.jobs.as_ref().filter(|_| !is_known) else {
            continue;
        };
        let is_like_it = |now: &&SourceConfig| {
            let is_new = old.source_called(now.source.name.as_str()).is_none();
            is_new && now.source.jobs.is_some() && now.scheme.slug() == was.scheme.slug()
        };
        let Some(now) = new.sources.values().find(is_like_it) else {
            continue;
        };
        renamed.insert(name.clone(), now.source.name.clone());
        if now
            .source
            .jobs
            .as_ref()
            .is_some_and(|now| now.space != jobs.space)
        {
            let what = format!(
                "its jobs are bound in the space \"{}\", and looked for in another",
                jobs.space
            );
            source_renamed(name, &now.source.name, &what, &names_of(was), changes);
        }
    }
}

/// Compares how every source that is still there speaks of jobs.
pub(super) fn compare(old: &Config, new: &Config, changes: &mut Changes) {
    for was in old.sources.values() {
        let Some(now) = new.source_called(was.source.name.as_str()) else {
            continue;
        };
        let place = format!("[source.{}.job]", now.source.name);
        match (&was.source.jobs, &now.source.jobs) {
            (Some(was), Some(now)) => both(&place, was, now, changes),
            (Some(was), None) => {
                let message = format!(
                    "the table is removed: jobs in the space \"{}\" do not end by what this source tells",
                    was.space
                );
                let help =
                    "nothing, if that is meant; bound jobs are reported as silent".to_owned();
                changes.warn(place, message, help);
            }
            (None, _) => {}
        }
    }
}

fn both(place: &str, was: &Jobs, now: &Jobs, changes: &mut Changes) {
    if was.space != now.space {
        let message = format!(
            "the job space was \"{}\" and is \"{}\": what is bound there does not end any more",
            was.space, now.space
        );
        let help = format!("write space = \"{}\"", was.space);
        changes.mistake(place.to_owned(), message, help);
    }
    if was.ids != now.ids {
        let message = format!(
            "`ids` was \"{}\" and is \"{}\": bound jobs are not found any more",
            word(was.ids),
            word(now.ids)
        );
        let help = format!(
            "write ids = \"{}\", or another `space` for new jobs",
            word(was.ids)
        );
        changes.mistake(place.to_owned(), message, help);
    }
    if now.ids == Ids::PerAccount && was.own_account() != now.own_account() {
        let message = format!(
            "`account` was \"{}\" and is \"{}\", and ids are unique only within an account: bound jobs are not found any more",
            was.own_account(),
            now.own_account()
        );
        let help = format!("write account = \"{}\"", was.own_account());
        changes.mistake(place.to_owned(), message, help);
    }
}

/// Compares the spaces that a table knows with those that a configuration has.
pub(super) fn spaces(known: Remembered<'_>, new: &Config, changes: &mut Changes) {
    let now = new.spaces();
    let left: Vec<_> = known.spaces.difference(&now).collect();
    let fresh = new.sources.values().find_map(|source| {
        let space = &source.source.jobs.as_ref()?.space;
        let mut names = known.sources.iter();
        let is_old = names.any(|name| source.source.is_called(name));
        (is_old && !known.spaces.contains(space)).then_some((&source.source.name, space))
    });
    if left.is_empty() {
        return;
    }
    let all = listed(&left);
    match fresh {
        Some((source, space)) => {
            let message = format!(
                "the table has jobs in the space {all}, which no source has; and this one, which it knows, has the space \"{space}\", which it does not: what is bound there does not end any more"
            );
            let help = format!(
                "write space = {} in it; if these are other jobs, register one: then the table knows the space",
                listed(left.iter().take(1))
            );
            changes.mistake(format!("[source.{source}.job]"), message, help);
        }
        None => {
            let message = format!(
                "the table has jobs in the space {all}, which no source has: they do not end by what any source tells"
            );
            let help = "nothing, if that is meant; `ackbox job list` lists them".to_owned();
            changes.warn("[source]".to_owned(), message, help);
        }
    }
}
