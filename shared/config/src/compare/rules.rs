//! The rules that were, and those that are: each old rule is found again by name, by a previous name, or by its looks,
//! and its keys must be the same. So must those of its events, whichever rule wants them now.

use std::collections::{BTreeMap, BTreeSet};

use ackbox_domain::{Name, Rule, RuleIdentity, Source};

use super::events::Was;
use super::{Changes, listed};
use crate::config::Config;
use crate::read::event;

/// The sources that are gone, and which new one each looks like.
pub(super) type Renamed = BTreeMap<Name, Name>;

/// What there was.
#[derive(Clone, Copy)]
pub(super) struct Old<'o> {
    pub(super) rules: &'o BTreeSet<RuleIdentity>,
    /// All names of each source, the oldest first.
    pub(super) names: &'o BTreeMap<Name, Vec<Name>>,
    /// The file, where it is one. Else it is what a table remembers: all that ever was, and not at one time.
    pub(super) file: Option<&'o Config>,
}

/// A configured rule, and what of it is in its keys.
struct Now<'c> {
    source: &'c Source,
    rule: &'c Rule,
    identity: RuleIdentity,
    /// As it was before; more than one where it was edited in between.
    was: Vec<&'c RuleIdentity>,
}

impl Now<'_> {
    fn place(&self) -> String {
        place(&self.source.name, &self.rule.name)
    }
}

fn place(source: &Name, rule: &Name) -> String {
    format!("[[source.{source}.rule]] \"{rule}\"")
}

/// Compares every rule.
pub(super) fn compare(old: Old<'_>, new: &Config, changes: &mut Changes) -> Renamed {
    let sources = new.sources.values().map(|source| &source.source);
    let now = sources.flat_map(|source| {
        source.rules.iter().map(move |rule| Now {
            source,
            rule,
            identity: RuleIdentity::of(source, rule),
            was: Vec::new(),
        })
    });
    let mut now: Vec<Now<'_>> = now.collect();
    let mut gone = Vec::new();
    for was in old.rules {
        let is_it =
            |now: &&mut Now<'_>| now.source.is_called(&was.source) && now.rule.is_called(&was.rule);
        match now.iter_mut().find(is_it) {
            Some(now) => now.was.push(was),
            None => gone.push(was),
        }
    }
    // Whose keys are there, as far as its own name tells.
    let mut kept = Vec::new();
    let mut lost = Vec::new();
    for now in now.iter().filter(|now| !now.was.is_empty()) {
        if old.file.is_some() {
            // Of two rules that became one, each had keys.
            let same = |was: &&&RuleIdentity| {
                let is_same = now.identity.makes_the_keys_of(was);
                let is_kept = !is_same && old.has_its_events_kept(was, now.source);
                is_kept || !edited(now, &[**was], changes)
            };
            kept.extend(now.was.iter().filter(same));
        } else {
            edited(now, &now.was, changes);
        }
    }
    let mut fresh: Vec<&Now<'_>> = now.iter().filter(|now| now.was.is_empty()).collect();
    let mut renamed = Renamed::new();
    let mut sources = BTreeMap::<(&Name, &Name), Vec<&Name>>::new();
    for was in gone {
        let source = new.source_called(was.source.as_str());
        let is_source_there = source.is_some();
        if source.is_some_and(|now| old.has_its_events_kept(was, &now.source)) {
            continue;
        }
        let Some(at) = fresh.iter().position(|now| old.became(was, now)) else {
            lost.push(was);
            continue;
        };
        let now = fresh.remove(at);
        if !is_source_there {
            renamed.insert(was.source.clone(), now.source.name.clone());
        }
        if now.identity.makes_the_keys_of(was) {
            kept.push(was);
            continue;
        }
        if is_source_there {
            renamed_or_moved(was, now, changes);
        } else {
            let rules = sources.entry((&was.source, &now.source.name));
            rules.or_default().push(&now.rule.name);
        }
    }
    let is_told: BTreeSet<&Name> = sources.keys().map(|(was, _)| *was).collect();
    let gone = lost.into_iter().map(|was| (was, true));
    for (was, is_gone) in kept.into_iter().map(|was| (was, false)).chain(gone) {
        if is_told.contains(&was.source) {
            continue;
        }
        let is_taken = old.is_taken(was, is_gone, &renamed, new, changes);
        if is_gone && !is_taken && new.source_called(was.source.as_str()).is_some() {
            removed(was, &fresh, old.file.is_some(), changes);
        }
    }
    for ((was, now), rules) in sources {
        let all = old.names.get(was).cloned().unwrap_or_default();
        source_renamed(
            was,
            now,
            &format!("its rules {} make other keys", listed(rules)),
            &all,
            changes,
        );
    }
    renamed
}

impl Old<'_> {
    /// Whether rules with other keys have taken events of this one; a table does not know.
    fn is_taken(
        &self,
        was: &RuleIdentity,
        is_gone: bool,
        renamed: &Renamed,
        new: &Config,
        changes: &mut Changes,
    ) -> bool {
        let called = new.source_called(was.source.as_str());
        let now = called.or_else(|| new.sources.get(renamed.get(&was.source)?));
        let (Some(was), Some(now)) = (self.with_events(was, is_gone), now) else {
            return false;
        };
        was.is_taken(&now.source, changes)
    }

    /// Whether all of its events have their keys from rules of other names: where names were exchanged, and the
    /// namespaces went with the events.
    fn has_its_events_kept(&self, was: &RuleIdentity, now: &Source) -> bool {
        let was = self.with_events(was, false);
        was.is_some_and(|was| was.is_kept(now))
    }

    fn with_events<'w>(&'w self, rule: &'w RuleIdentity, is_gone: bool) -> Option<Was<'w>> {
        let source = &self.file?.sources.get(&rule.source)?.source;
        Some(Was {
            source,
            rule,
            is_gone,
        })
    }

    /// Whether a rule that is new could be one that is gone: the same parts, the name or the source the same, and, as far
    /// as that is known, an event that both want. A new namespace that somebody wrote says that it is another.
    fn became(&self, was: &RuleIdentity, now: &Now<'_>) -> bool {
        let is_near = now.rule.is_called(&was.rule) || now.source.is_called(&was.source);
        let is_another = now.identity.namespace != was.namespace && !has_default_namespace(now);
        let source = self.file.and_then(|file| file.sources.get(&was.source));
        let mut rules = source.iter().flat_map(|source| &source.source.rules);
        let rule = rules.find(|rule| rule.name == was.rule);
        let wants_others = rule.is_some_and(|rule| {
            let wants = |on| now.rule.on.iter().any(|new| event::overlap(on, new));
            !rule.on.iter().any(wants)
        });
        is_near && !is_another && !wants_others && has_the_shape_of(now, was)
    }
}

fn has_default_namespace(now: &Now<'_>) -> bool {
    let rule = now.rule.previously.first().unwrap_or(&now.rule.name);
    now.identity.namespace == format!("{}/{rule}", now.source.identity())
}

/// Whether the keys of both have the same parts, whatever the source is called.
fn has_the_shape_of(now: &Now<'_>, was: &RuleIdentity) -> bool {
    let shape = |parts: &[String]| -> Vec<String> {
        let part = |part: &String| match part.strip_prefix("source=") {
            Some(_) => "source".to_owned(),
            None => part.clone(),
        };
        parts.iter().map(part).collect()
    };
    shape(&now.identity.parts) == shape(&was.parts)
}

/// The keys of a rule that is still there, and its fingerprint; and whether the keys are others.
fn edited(now: &Now<'_>, all: &[&RuleIdentity], changes: &mut Changes) -> bool {
    let same: Vec<_> = all
        .iter()
        .filter(|was| was.makes_the_keys_of(&now.identity))
        .collect();
    if same.iter().any(|was| was.recipe == now.identity.recipe) {
        return false;
    }
    if !same.is_empty() {
        let message = "`fingerprint` is edited: a repetition of what was accepted before is compared by its bytes alone, and where those differ it is a duplicate with `uncompared` on its record, not a conflict".to_owned();
        let help = "nothing, if that is meant; else restore it".to_owned();
        changes.warn(now.place(), message, help);
        return false;
    }
    let has_its_namespace = |was: &&&RuleIdentity| was.namespace == now.identity.namespace;
    let nearest = all.iter().find(has_its_namespace).or(all.first());
    let Some(was) = nearest else {
        return false;
    };
    let mut differences = Vec::new();
    if was.parts != now.identity.parts {
        let (old, new) = (listed(&was.parts), listed(&now.identity.parts));
        differences.push(format!("its `key` was [{old}] and is [{new}]"));
    }
    if was.namespace != now.identity.namespace {
        let (old, new) = (&was.namespace, &now.identity.namespace);
        differences.push(format!("its namespace was \"{old}\" and is \"{new}\""));
    }
    let message = format!(
        "{}: its actions have other keys, and whatever comes again makes a second action",
        differences.join(", and ")
    );
    let help = if was.parts == now.identity.parts {
        format!(
            "write namespace = \"{}\" in the rule, or restore what it was made of (the names in `previously`, the oldest first)",
            was.namespace
        )
    } else {
        "restore the key; to have other keys from now on, write a rule of another name beside it, and take the events from the old one when none can come again".to_owned()
    };
    changes.mistake(now.place(), message, help);
    true
}

/// A rule of which no other has taken events, as far as that is known.
fn removed(was: &RuleIdentity, fresh: &[&Now<'_>], knows_events: bool, changes: &mut Changes) {
    let mut message = "the rule is removed: its events make no actions of it any more".to_owned();
    let mut help = "nothing, if that is meant; what is open is delivered".to_owned();
    let is_near = |now: &&&Now<'_>| now.source.is_called(&was.source);
    let near = fresh.iter().filter(is_near).map(|now| &now.rule.name);
    let near: Vec<&Name> = near.collect();
    if !knows_events && !near.is_empty() {
        message += &format!(
            "; the table does not know which events those were: where {} wants them, it makes other keys, and whatever comes again makes a second action",
            listed(near)
        );
        help += "; `ackbox check --against OLD.toml` knows the events";
    }
    changes.warn(place(&was.source, &was.rule), message, help);
}

/// A rule that has another name now, or stands in another source.
fn renamed_or_moved(was: &RuleIdentity, now: &Now<'_>, changes: &mut Changes) {
    let is_of_source = now.source.is_called(&was.source);
    let (what, help) = if is_of_source {
        (
            format!(
                "the rule \"{}\" is gone, and this one has its key: it is renamed without `previously`",
                was.rule
            ),
            format!(
                "write previously = [\"{}\"] in the rule, with the names that it had before that in front; or, where it is another rule, a `namespace` of its own",
                was.rule
            ),
        )
    } else {
        (
            format!(
                "the rule \"{}\" of [source.{}] is gone, and this one has its key: it is moved",
                was.rule, was.source
            ),
            format!("write namespace = \"{}\" in the rule", was.namespace),
        )
    };
    let message = format!(
        "{what}, so its namespace was \"{}\" and is \"{}\", and whatever comes again makes a second action",
        was.namespace, now.identity.namespace
    );
    changes.mistake(now.place(), message, help);
}

/// A source that has another name now, and `what` that means.
pub(super) fn source_renamed(
    was: &Name,
    now: &Name,
    what: &str,
    names: &[Name],
    changes: &mut Changes,
) {
    let message = format!(
        "[source.{was}] is gone, and this one looks like it: it is renamed without `previously`, so {what}, and whatever comes again makes a second action"
    );
    let help = format!(
        "write previously = [{}] in [source.{now}]; it then answers at /hooks/{was} too",
        listed(names)
    );
    changes.mistake(format!("[source.{now}]"), message, help);
}
