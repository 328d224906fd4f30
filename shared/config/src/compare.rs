//! Two configurations, or what a table remembers and a configuration, come in; out goes what of the later one would
//! give facts that were accepted before another identity. What must never happen: that an edit passes in silence
//! under which a redelivery makes a second action.
//!
//! A mistake changes identity. A warning does not, and still changes what happens to what is open.
//!
//! A table remembers the keys of each rule, and not its events. So it cannot show that an event went from one rule to
//! another, nor that two rules with the same parts of the key exchanged their names: two files show that. Of a rule
//! that is gone it is said which new rules may have its events.

use std::collections::{BTreeMap, BTreeSet};

use ackbox_domain::{Name, RuleIdentity};

use self::rules::Old;
use crate::config::Config;

mod destinations;
mod events;
mod jobs;
mod places;
mod rules;
mod sources;

/// One difference that matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// The table that it is about: `[source.stripe]`.
    pub place: String,
    /// What is different, and what that means.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Every difference that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Those that change identity.
    pub mistakes: Vec<Change>,
    /// The others.
    pub warnings: Vec<Change>,
}

/// What a table knows of the configurations that it was used with.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'r> {
    /// The sources that ever accepted something.
    pub sources: &'r BTreeSet<Name>,
    /// The job spaces that ever had a job.
    pub spaces: &'r BTreeSet<Name>,
    /// The rules that ever made an action.
    pub rules: &'r BTreeSet<RuleIdentity>,
}

impl Changes {
    fn mistake(&mut self, place: String, message: String, help: String) {
        self.mistakes.push(Change {
            place,
            message,
            help,
        });
    }

    fn warn(&mut self, place: String, message: String, help: String) {
        self.warnings.push(Change {
            place,
            message,
            help,
        });
    }
}

/// Compares a configuration with one that was in use before.
pub fn against(old: &Config, new: &Config) -> Changes {
    let mut changes = Changes::default();
    let sources = old.sources.values().map(|source| &source.source);
    let names = sources.clone().map(|source| {
        let names = source.previously.iter().chain([&source.name]);
        (source.name.clone(), names.cloned().collect())
    });
    let names: BTreeMap<Name, Vec<Name>> = names.collect();
    let rules = sources.flat_map(|source| {
        let of = |rule| RuleIdentity::of(source, rule);
        source.rules.iter().map(of)
    });
    let rules: BTreeSet<RuleIdentity> = rules.collect();
    let was = Old {
        rules: &rules,
        names: &names,
        file: Some(old),
    };
    let mut renamed = rules::compare(was, new, &mut changes);
    jobs::renamed(old, new, &mut renamed, &mut changes);
    sources::compare(&names, &renamed, new, &mut changes);
    sources::retentions(old, &renamed, new, &mut changes);
    places::compare(old, new, &mut changes);
    jobs::compare(old, new, &mut changes);
    destinations::compare(old, new, &mut changes);
    changes
}

/// Compares a configuration with what a table remembers.
pub fn against_table(known: Remembered<'_>, new: &Config) -> Changes {
    let mut changes = Changes::default();
    let of_rules = known.rules.iter().map(|rule| &rule.source);
    // Our own notices come from no source of any configuration.
    let ours = |name: &&Name| name.as_str() != ackbox_domain::notice::SOURCE;
    let names = known.sources.iter().chain(of_rules).filter(ours);
    let names: BTreeMap<Name, Vec<Name>> = names
        .map(|name| (name.clone(), vec![name.clone()]))
        .collect();
    let was = Old {
        rules: known.rules,
        names: &names,
        file: None,
    };
    let renamed = rules::compare(was, new, &mut changes);
    sources::compare(&names, &renamed, new, &mut changes);
    jobs::spaces(known, new, &mut changes);
    changes
}

/// `"a", "b"`.
fn listed<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names
        .into_iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    names.join(", ")
}
