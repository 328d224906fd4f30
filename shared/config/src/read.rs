//! The way from text to [`Config`]: the text as a tree with places, each table by its own reader, then
//! what must agree across tables. Readers go on after a mistake, so that one reading finds all of them.

use std::collections::BTreeMap;

use ackbox_domain::{Idempotency, Name, Notify, Payload};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::delivery::delivery;
use self::destination::destination;
use self::job::Spaces;
use self::locator::all;
use self::notify::notify;
use self::report::{Read, Report, Span};
use self::scheme::{Schemes, schemes};
use self::source::{Around, source};
use self::table::{Key, Table, Value, key};
use crate::config::{Config, DestinationConfig, SourceConfig};
use crate::kind::{Invocation, Kind};
use crate::mistake::{Mistake, Mistakes};

mod action_key;
mod address;
mod answers;
mod backoff;
mod delivery;
mod destination;
pub(crate) mod event;
mod freshness;
mod headers;
mod job;
mod locator;
mod lookup;
pub(crate) mod nearest;
mod notify;
mod payload;
mod previously;
mod reconcile;
mod relation;
mod report;
mod retention;
mod rule;
mod scheme;
mod secrets;
mod sender;
mod source;
mod syntax;
mod table;
pub(crate) mod value;

/// The tables of the file.
const KEYS: &[Key] = &[
    key("source", "{ .. }"),
    key("scheme", "{ .. }"),
    key("destination", "{ .. }"),
    key("delivery", "{ .. }"),
    key("notify", "{ .. }"),
];

/// Every table with its keys.
#[cfg(test)]
const TABLES: &[&[Key]] = &[
    KEYS,
    source::KEYS,
    rule::KEYS,
    payload::KEYS,
    delivery::KEYS,
    notify::KEYS,
    reconcile::KEYS,
    reconcile::ANSWER_KEYS,
    job::KEYS,
    lookup::KEYS,
    lookup::ANSWER_KEYS,
    backoff::KEYS,
    retention::KEYS,
];

/// Reads a configuration, or gives every mistake in it.
pub(crate) fn read(file: &str, text: &str) -> Result<Config, Mistakes> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let report = Report::new(file, text, errors.iter().any(syntax::hides));
    let config = config(&report, document.get_ref());
    report.add_syntax(syntax::mistakes(text, &errors));
    let warnings = report.finish()?;
    config
        .map(|config| Config { warnings, ..config })
        .map_err(|_| {
            Mistakes(vec![Mistake {
                file: file.to_owned(),
                line: 1,
                column: 1,
                message: "the configuration cannot be used".to_owned(),
                help: "no reason was recorded: this is a defect of ackbox".to_owned(),
            }])
        })
}

fn config<'a>(report: &'a Report<'a>, document: &'a DeTable<'a>) -> Read<Config> {
    let table = Table::of(report, document, 0..0, "the file".to_owned(), KEYS);
    let own = named(&table, "scheme");
    let schemes = schemes(report, own.as_deref().unwrap_or_default());
    let destinations = named(&table, "destination");
    let sources = named(&table, "source");
    let found = sources.as_deref().unwrap_or_default();
    previously::agree(report, &previously::of_sources(found));
    let names = destinations.as_deref().unwrap_or_default();
    let names: BTreeMap<&str, Span> = names
        .iter()
        .map(|(name, _)| (*name.get_ref(), name.span()))
        .collect();
    let around = Around {
        schemes: &schemes,
        destinations: &names,
        spaces: Spaces::default(),
    };
    let sources = match &sources {
        Ok(found) => all_sources(report, found, &around),
        Err(reported) => Err(*reported),
    };
    let destinations = destinations.and_then(|found| {
        all(found
            .iter()
            .map(|(name, value)| destination(report, name, value)))
    });
    let delivery = delivery(report, table.get("delivery"));
    let told = notify(report, table.get("notify"), &names);
    if let (Ok(delivery), Ok(destinations)) = (&delivery, &destinations) {
        relation::check(report, delivery, destinations);
    }
    if let (Ok(delivery), Ok(sources)) = (&delivery, &sources) {
        relation::check_lookups(report, delivery, sources);
    }
    if let (Ok(sources), Ok(destinations)) = (&sources, &destinations) {
        relation::check_retentions(report, found, sources, destinations);
    }
    let destinations = destinations.and_then(|read| all(read.into_iter().map(|one| one.config)));
    let (mut sources, destinations) = (sources?, destinations?);
    let told = told?.map(|told| told.check(report, &destinations));
    let notify = told.transpose()?;
    warn_of_unused(report, &schemes, &names, &sources, notify.as_ref());
    carried(&mut sources, &destinations);
    warn_of_hidden_keys(report, &names, &sources, &destinations);
    Ok(Config {
        sources: sources
            .into_iter()
            .map(|source| (source.source.name.clone(), source))
            .collect(),
        destinations: destinations
            .into_iter()
            .map(|destination| (destination.name.clone(), destination))
            .collect(),
        delivery: delivery?.settings()?,
        notify,
        warnings: Vec::new(),
    })
}

/// A name with its place, and what stands under it.
pub(crate) type Named<'a> = (Spanned<&'a str>, &'a Value<'a>);

/// The tables under `[word.NAME]`, in the order of the file.
fn named<'a>(table: &Table<'a>, word: &'static str) -> Read<Vec<Named<'a>>> {
    let Some(value) = table.get(word) else {
        return Ok(Vec::new());
    };
    let DeValue::Table(entries) = value.get_ref() else {
        let message = format!("`{word}` is {}, not tables with names", table::kind(value));
        return Err(table.report.mistake(
            &value.span(),
            message,
            format!("write [{word}.NAME], with one pair of brackets, and a name of your choice"),
        ));
    };
    let mut named: Vec<Named<'a>> = entries
        .iter()
        .map(|(name, value)| (Spanned::new(name.span(), name.get_ref().as_ref()), value))
        .collect();
    named.sort_by_key(|(name, _)| name.span().start);
    Ok(named)
}

fn all_sources<'a>(
    report: &'a Report<'a>,
    found: &[Named<'a>],
    around: &Around<'_>,
) -> Read<Vec<SourceConfig>> {
    if found.is_empty() {
        report.warn(
            &(0..0),
            "there is no source: nothing is received",
            "write a [source.NAME]",
        );
    }
    all(found
        .iter()
        .map(|(name, value)| source(report, name, value, around)))
}

/// Tells every rule what the way to its destination can carry.
fn carried(sources: &mut [SourceConfig], destinations: &[DestinationConfig]) {
    let rules = sources
        .iter_mut()
        .flat_map(|source| &mut source.source.rules);
    for rule in rules {
        let to = destinations.iter().find(|to| to.name == rule.destination);
        if let Some(to) = to {
            rule.carriage = to.to.carriage();
        }
    }
}

/// Warns of functions that are said to keep keys, and are not told any: an event has no client context,
/// and the bytes that came do not know the key.
fn warn_of_hidden_keys(
    report: &Report<'_>,
    names: &BTreeMap<&str, Span>,
    sources: &[SourceConfig],
    destinations: &[DestinationConfig],
) {
    let rules = sources.iter().flat_map(|source| &source.source.rules);
    let bare: Vec<&Name> = rules
        .filter(|rule| rule.payload == Payload::Body)
        .map(|rule| &rule.destination)
        .collect();
    for destination in destinations {
        let is_event = matches!(&destination.to, Kind::Lambda(lambda) if lambda.invocation == Invocation::Event);
        let keeps_keys = destination.policy.idempotency != Idempotency::None;
        if is_event && keeps_keys && bare.contains(&&destination.name) {
            let name = destination.name.as_str();
            let span = names.get(name).cloned().unwrap_or(0..0);
            let message = format!(
                "[destination.{name}] is said to keep keys, and Lambda hands an event's function no client context: it does not see the key"
            );
            report.warn(&span, message, "write payload = \"envelope\" in its rules, which has the key in it, or invocation = \"request-response\"; unless the function knows the action by its own content");
        }
    }
}

/// Warns of what is described and used by nothing.
fn warn_of_unused(
    report: &Report<'_>,
    schemes: &Schemes<'_>,
    destinations: &BTreeMap<&str, Span>,
    sources: &[SourceConfig],
    notify: Option<&Notify>,
) {
    let rules = sources.iter().flat_map(|source| &source.source.rules);
    let used: Vec<&Name> = rules
        .map(|rule| &rule.destination)
        .chain(notify.map(|notify| &notify.destination))
        .collect();
    // A job's binding names the destinations of its steps when it is made.
    let has_jobs = sources.iter().any(|source| source.source.jobs.is_some());
    for (name, span) in destinations.iter().filter(|_| !has_jobs) {
        if used.iter().all(|used| used.as_str() != *name) {
            let message = format!("[destination.{name}] is used by no rule");
            report.warn(span, message, "name it in a rule's `destination`, or remove it once nothing is open for it any more");
        }
    }
    let used: Vec<&str> = sources.iter().map(|source| source.scheme.slug()).collect();
    schemes.warn_of_unused(report, &used);
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: &str = include_str!("../../../docs/configuration.md");

    #[test]
    fn the_reference_names_every_key_that_is_read() {
        let tables = TABLES.iter().chain(destination::TABLES);
        for key in tables.flat_map(|keys| keys.iter()) {
            let written = format!("`{}`", key.name);
            assert!(
                REFERENCE.contains(&written) || REFERENCE.contains(&format!("[{}", key.name)),
                "{written} is not explained"
            );
        }
    }

    fn section(title: &str) -> &'static str {
        let (_, rest) = REFERENCE.split_once(&format!("\n## {title}\n")).unwrap();
        rest.split("\n## ").next().unwrap_or_default()
    }

    #[test]
    fn the_reference_names_every_key_of_a_job_where_jobs_are_explained() {
        for (title, tables) in [
            ("`[source.NAME.job]`", vec![job::KEYS]),
            (
                "`[source.NAME.job.lookup]`",
                vec![lookup::KEYS, lookup::ANSWER_KEYS],
            ),
        ] {
            for key in tables.into_iter().flatten() {
                let written = format!("`{}`", key.name);
                let is_there = section(title).contains(&written);
                assert!(is_there, "{written} is not explained under {title}");
            }
        }
    }

    #[test]
    fn the_reference_names_every_key_of_a_scheme() {
        for (table, least) in [
            ("[scheme.a]", 15),
            ("[scheme.a.job]", 5),
            ("[scheme.a.job.lookup]", 3),
            ("[[scheme.a.job.lookup.answers]]", 4),
        ] {
            let Err(mistakes) = read("f", &format!("{table}\nnot-a-key = 1\n")) else {
                panic!("an unknown key was taken");
            };
            let known = &mistakes.0[0].help;
            let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            assert!(keys.len() >= least, "{known}");
            for key in keys {
                assert!(
                    section("`[scheme.NAME]`").contains(&format!("`{key}`")),
                    "{key} is not explained"
                );
            }
        }
    }
}
