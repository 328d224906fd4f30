//! The events that a rule wanted, and the rules that want them now: come again, one of them must find the key that its
//! action had. What must never happen: that an event goes over to a rule with other keys in silence.
//!
//! A rule that made its own key of the same event before makes no second action of it, and takes nothing.

use ackbox_domain::{EventPattern, Rule, RuleIdentity, Source};

use super::{Changes, listed};

/// A rule that was, among those of its source.
pub(super) struct Was<'w> {
    pub(super) source: &'w Source,
    pub(super) rule: &'w RuleIdentity,
    /// Whether no rule is it any more.
    pub(super) is_gone: bool,
}

impl Was<'_> {
    fn written(&self) -> Option<&Rule> {
        let mut rules = self.source.rules.iter();
        rules.find(|rule| rule.name == self.rule.rule)
    }

    /// Whether every event that it wanted has the key of its action still.
    pub(super) fn is_kept(&self, now: &Source) -> bool {
        let kept = wanted(now, self.rule);
        let has_its_key = |event| kept.iter().any(|known| covers(known, event));
        self.written()
            .is_some_and(|rule| rule.on.iter().all(has_its_key))
    }

    /// Says which rules have taken events of this one, and whether any has.
    pub(super) fn is_taken(&self, now: &Source, changes: &mut Changes) -> bool {
        let Some(rule) = self.written() else {
            return false;
        };
        let kept = wanted(now, self.rule);
        let mut is_taken = false;
        for taker in &now.rules {
            let identity = RuleIdentity::of(now, taker);
            if identity.makes_the_keys_of(self.rule) {
                continue;
            }
            let before = wanted(self.source, &identity);
            let is_covered = |event: &&EventPattern| {
                let mut known = kept.iter().chain(&before);
                known.any(|known| covers(known, event))
            };
            let events = common(rule, taker);
            let events = events.into_iter().filter(|event| !is_covered(event));
            let mut events: Vec<String> = events.map(shown).collect();
            events.sort_unstable();
            events.dedup();
            if !events.is_empty() {
                is_taken = true;
                self.tell(&identity, &events, changes);
            }
        }
        is_taken
    }

    fn tell(&self, taker: &RuleIdentity, events: &[String], changes: &mut Changes) {
        let was = self.rule;
        let key = |rule: &RuleIdentity| {
            let parts = listed(&rule.parts);
            format!("[{parts}] in the namespace \"{}\"", rule.namespace)
        };
        let message = format!(
            "it wants {}, of which the rule \"{}\" made actions: their key was {}, and is {}, and whatever comes again makes a second action",
            listed(events),
            was.rule,
            key(was),
            key(taker)
        );
        let restore = if was.parts == taker.parts {
            ""
        } else {
            "restore the key, and "
        };
        let name = if self.is_gone {
            format!("previously = [\"{}\"] or ", was.rule)
        } else {
            String::new()
        };
        let help = format!(
            "{restore}write {name}namespace = \"{}\" in the rule; to have other keys from now on, leave these events to the rule \"{}\" as well, with the keys that it had, and take them from it when none can come again",
            was.namespace, was.rule
        );
        let place = format!("[[source.{}.rule]] \"{}\"", taker.source, taker.rule);
        changes.mistake(place, message, help);
    }
}

/// What the rules of a source want that make these keys.
fn wanted<'s>(source: &'s Source, keys: &RuleIdentity) -> Vec<&'s EventPattern> {
    let makes_them = |rule: &&Rule| RuleIdentity::of(source, rule).makes_the_keys_of(keys);
    let rules = source.rules.iter().filter(makes_them);
    rules.flat_map(|rule| &rule.on).collect()
}

/// The events that both want. Of two patterns with a common event, one has all events of the other.
fn common<'r>(was: &'r Rule, now: &'r Rule) -> Vec<&'r EventPattern> {
    let pairs = was
        .on
        .iter()
        .flat_map(|old| now.on.iter().map(move |new| (old, new)));
    let narrower = |(old, new)| match (covers(old, new), covers(new, old)) {
        (true, _) => Some(new),
        (_, true) => Some(old),
        _ => None,
    };
    pairs.filter_map(narrower).collect()
}

/// Whether the first takes every event that the second does.
fn covers(all: &EventPattern, some: &EventPattern) -> bool {
    use EventPattern::{Any, Exact, Prefix};
    match (all, some) {
        (Any, _) => true,
        (Prefix(all), Prefix(some) | Exact(some)) => some.starts_with(all.as_str()),
        (Exact(all), Exact(some)) => all == some,
        (Prefix(_), Any) | (Exact(_), Any | Prefix(_)) => false,
    }
}

/// As it is written.
fn shown(pattern: &EventPattern) -> String {
    match pattern {
        EventPattern::Any => "*".to_owned(),
        EventPattern::Prefix(prefix) => format!("{prefix}*"),
        EventPattern::Exact(event) => event.clone(),
    }
}
