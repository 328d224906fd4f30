//! Where the values of a key are read: the same part, read at another place, is another value.

use ackbox_domain::{KeyPart, Locator, Source};

use super::{Changes, listed};
use crate::config::Config;

/// Compares the places of every source that is still there.
pub(super) fn compare(old: &Config, new: &Config, changes: &mut Changes) {
    for was in old.sources.values().map(|source| &source.source) {
        if let Some(now) = new.source_called(was.name.as_str()) {
            facts(was, &now.source, changes);
            batches(was, &now.source, changes);
        }
    }
}

type Places = fn(&Source) -> &Vec<Locator>;

const FACTS: [(&str, KeyPart, Places); 4] = [
    ("id", KeyPart::MessageId, |source| &source.id),
    ("event", KeyPart::Event, |source| &source.event),
    ("subject", KeyPart::Subject, |source| &source.subject),
    ("account", KeyPart::Account, |source| &source.account),
];

fn facts(was: &Source, now: &Source, changes: &mut Changes) {
    for (name, part, places) in FACTS {
        let (old, new) = (places(was), places(now));
        // A place behind those that there were is read only where they find nothing: there was no key before.
        let is_same = new.starts_with(old);
        if is_same || !is_in_a_key(was, now, &part) {
            continue;
        }
        let message = format!(
            "`{name}` was read at {} and is read at {}: the key part \"message:{name}\" is another value, and whatever comes again makes a second action",
            listed(old),
            listed(new)
        );
        let help = format!(
            "restore `{name}` (or the scheme that said it); a further place may stand behind the others"
        );
        changes.mistake(format!("[source.{}]", now.name), message, help);
    }
}

fn is_in_a_key(was: &Source, now: &Source, part: &KeyPart) -> bool {
    let has = |source: &Source| source.rules.iter().any(|rule| rule.key.contains(part));
    has(was) && has(now)
}

fn batches(was: &Source, now: &Source, changes: &mut Changes) {
    let pointer = |source: &Source| source.each.as_ref().map(|each| each.pointer.clone());
    let (old, new) = (pointer(was), pointer(now));
    if old == new || was.rules.is_empty() || now.rules.is_empty() {
        return;
    }
    let shown = |pointer: Option<_>| pointer.map_or("nothing".to_owned(), |p| format!("\"{p}\""));
    let message = format!(
        "`each` was {} and is {}: the pointers of keys are read in something else, and whatever comes again may make a second action",
        shown(old),
        shown(new)
    );
    let help = "restore `each`, or write rules of other names".to_owned();
    changes.mistake(format!("[source.{}]", now.name), message, help);
}
