//! What commands share that choose by name and time: names and times of the command line come in, what the index
//! is asked for goes out, and what there is to say of a name under which nothing, or not all, is found.

use std::collections::BTreeSet;

use ackbox_config::Config;
use ackbox_domain::{Name, Timestamp};
use ackbox_store::{Between, Meta};

use crate::commands::CommandError;
use crate::commands::when::{When, when};
use crate::edge;

/// When it was accepted.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Times {
    /// Only what was accepted then or later: a time (2026-11-29T12:00:00Z), or how long ago (30m, 2h, 3d)
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub since: Option<When>,
    /// Only what was accepted then or before
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub until: Option<When>,
}

impl Times {
    /// Between which times that is.
    ///
    /// # Errors
    ///
    /// None are between them.
    pub fn between(&self, now: Timestamp) -> Result<Between, CommandError> {
        let [since, until] = [self.since, self.until].map(|when| when.map(|when| when.at(now)));
        if since.zip(until).is_some_and(|(since, until)| since > until) {
            return Err(CommandError::Usage(
                "--since is later than --until: nothing can be between them".to_owned(),
            ));
        }
        Ok(Between { since, until })
    }
}

/// The names to ask the index for: the one that is wanted, else all.
pub fn named<'n>(wanted: Option<&'n Name>, known: &'n BTreeSet<Name>) -> Vec<&'n Name> {
    wanted.map_or_else(|| known.iter().collect(), |name| vec![name])
}

/// The configuration, where there is one that can be read: for commands that do without.
pub fn config_if_any() -> Option<Config> {
    Config::load(&Config::locate(edge::environment)).ok()
}

/// What to say of a name under which nothing is found, since the table never had it (it may be a slip), or not
/// all: entries keep the name under which they came.
pub fn unknown_name(
    meta: &Meta,
    destination: Option<&Name>,
    source: Option<&Name>,
    config: impl FnOnce() -> Option<Config>,
) -> Option<String> {
    let told = destination.filter(|name| !meta.destinations.contains(*name));
    told.map(|name| never_had("destination", name, &meta.destinations))
        .or_else(|| of_source(meta, source?, &previous(source?, config().as_ref())))
}

/// The names that a source had before.
fn previous(source: &Name, config: Option<&Config>) -> Vec<Name> {
    let source = config.and_then(|config| config.sources.get(source));
    source.map_or_else(Vec::new, |source| source.source.previously.clone())
}

fn of_source(meta: &Meta, source: &Name, previous: &[Name]) -> Option<String> {
    let had: Vec<String> = previous
        .iter()
        .filter(|name| meta.sources.contains(*name))
        .map(|name| format!("--source {name}"))
        .collect();
    let keep = "entries keep the name under which they came";
    match (meta.sources.contains(source), had.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!(
            "note: {keep}: see {} for those from before {source} was renamed",
            had.join(", ")
        )),
        (false, true) => {
            let never = never_had("source", source, &meta.sources);
            Some(format!("{never}; {keep}"))
        }
        (false, false) => {
            let never = never_had("source", source, &meta.sources);
            let had = had.join(", ");
            Some(format!("{never}; {keep}: it was renamed, see {had}"))
        }
    }
}

fn never_had(what: &str, wanted: &Name, known: &BTreeSet<Name>) -> String {
    let known: Vec<&str> = known.iter().map(Name::as_str).collect();
    let known = match known.is_empty() {
        true => "none yet".to_owned(),
        false => known.join(", "),
    };
    format!("note: the table never had a {what} {wanted}; it knows: {known}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const CONFIG: &str = r#"
[source.till]
previously = ["shop", "store"]
scheme = "stripe"
secrets = ["env:SHOP"]

[[source.till.rule]]
name = "paid"
on = ["invoice.paid"]
key = ["message:id"]
destination = "mailer"

[destination.mailer]
url = "https://mailer.example/actions"
idempotency = "none"
"#;

    fn names(all: &[&str]) -> BTreeSet<Name> {
        all.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn said(sources: &[&str], destination: Option<&str>, source: Option<&str>) -> Option<String> {
        let meta = Meta {
            schema_version: Some(1),
            destinations: names(&["mailer", "pipeline"]),
            sources: names(sources),
            spaces: names(&[]),
            rules: BTreeSet::new(),
        };
        let name = |name: Option<&str>| name.map(|name| name.parse().unwrap());
        let (destination, source): (Option<Name>, Option<Name>) = (name(destination), name(source));
        let config = || Some(Config::parse("ackbox.toml", CONFIG).unwrap());
        unknown_name(&meta, destination.as_ref(), source.as_ref(), config)
    }

    #[test]
    fn a_name_that_the_table_never_had_is_told() {
        let note = said(&["shop"], Some("mialer"), None).unwrap();
        assert!(
            note.contains("mialer") && note.contains("mailer, pipeline"),
            "{note}"
        );
        assert_eq!(said(&["shop"], Some("mailer"), Some("shop")), None);
        let note = said(&[], None, Some("shpo")).unwrap();
        assert!(
            note.contains("none yet") && note.contains("keep the name"),
            "{note}"
        );
    }

    #[test]
    fn of_a_source_that_was_renamed_the_names_are_told_under_which_entries_came() {
        let note = said(&["shop"], None, Some("till")).unwrap();
        assert!(
            note.contains("never had a source till") && note.ends_with("see --source shop"),
            "{note}"
        );
        let note = said(&["shop", "store", "till"], None, Some("till")).unwrap();
        assert!(
            note.contains("see --source shop, --source store for") && !note.contains("never"),
            "{note}"
        );
        assert_eq!(said(&["till"], None, Some("till")), None);
    }

    #[test]
    fn times_are_a_span_whose_ends_are_in_order() {
        let now = Timestamp::from_unix_ms(10_000_000);
        let ago = |s| Some(When::Ago(Duration::from_secs(s)));
        let times = |since, until| Times { since, until }.between(now);
        let between = times(ago(20), ago(10)).unwrap();
        assert_eq!(between.since, Some(Timestamp::from_unix_ms(9_980_000)));
        assert_eq!(between.until, Some(Timestamp::from_unix_ms(9_990_000)));
        assert_eq!(times(None, None).unwrap(), Between::default());
        assert!(times(ago(10), ago(10)).is_ok());
        let wrong = times(ago(10), ago(20)).unwrap_err().to_string();
        assert!(wrong.contains("later than"), "{wrong}");
    }
}
