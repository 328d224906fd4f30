//! The words of a sender: its statuses and event types to outcomes, and the values that it tells. The file's
//! own words come in beside the scheme's, and win over them.

use std::collections::{BTreeMap, BTreeSet};

use ackbox_domain::job::SILENT;
use ackbox_domain::{Name, Pointer};
use ackbox_signature::JobFacts;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::read::locator::{all, pointer};
use crate::read::nearest::shown;
use crate::read::report::{Read, Span};
use crate::read::sender::Sender;
use crate::read::table::{Table, Value, name};

/// What statuses and event types say.
pub(crate) struct Words {
    pub(crate) status: Vec<Pointer>,
    pub(crate) outcomes: BTreeMap<String, Name>,
    pub(crate) progress: BTreeSet<String>,
}

/// Reads `status`, `outcomes` and `progress`.
pub(crate) fn words(table: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Words> {
    let facts = facts(sender);
    let status = match (table.get("status"), facts) {
        (Some(value), _) => pointers(table, "status", value),
        (None, Some(facts)) => of_scheme(table, &facts.status),
        (None, None) => Ok(Vec::new()),
    };
    let own_outcomes = outcomes(table);
    let own_progress = progress(table, own_outcomes.as_ref().ok());
    let told = is_told(table, sender, &own_outcomes, &status);
    let (own_outcomes, own_progress) = (own_outcomes?, own_progress?);
    told?;
    let mut outcomes = BTreeMap::new();
    let mut progress = facts
        .map(|facts| facts.progress.clone())
        .unwrap_or_default();
    for (word, outcome) in facts.iter().flat_map(|facts| &facts.outcomes) {
        let text = Spanned::new(table.span.clone(), outcome.as_str());
        outcomes.insert(word.clone(), self::outcome(table, &text)?);
    }
    // The file's own word wins, whatever the scheme takes it for.
    for (word, outcome) in own_outcomes {
        progress.remove(&word);
        outcomes.insert(word, outcome);
    }
    for word in own_progress {
        outcomes.remove(&word);
        progress.insert(word);
    }
    Ok(Words {
        status: status?,
        outcomes,
        progress,
    })
}

fn facts<'s>(sender: Option<&'s Sender<'_>>) -> Option<&'s JobFacts> {
    sender?.scheme.facts().job.as_ref()
}

/// Somebody must say what ends a job, and something of a message must tell it.
fn is_told(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
    own: &Read<BTreeMap<String, Name>>,
    status: &Read<Vec<Pointer>>,
) -> Read<()> {
    let Some(sender) = sender else {
        return Ok(());
    };
    let slug = sender.scheme.slug();
    if sender.scheme.facts().job.is_none() && own.as_ref().is_ok_and(BTreeMap::is_empty) {
        let message = format!(
            "{} has no `outcomes`, and the scheme \"{slug}\" does not say how its jobs end",
            table.title
        );
        let help = format!("write {}", table.example("outcomes"));
        return Err(table.report.absent(&table.place("outcomes"), message, help));
    }
    if let (Ok([]), Ok([])) = (status.as_deref(), sender.event.as_deref()) {
        let message = format!(
            "{} has no `status`, and [source.{}] does not know where the event's type stands: nothing tells how a job ended",
            table.title, sender.name
        );
        let help = format!(
            "write {}, or event = \"/pointer\" in the source",
            table.example("status")
        );
        return Err(table.report.absent(&table.span, message, help));
    }
    Ok(())
}

fn outcomes(table: &Table<'_>) -> Read<BTreeMap<String, Name>> {
    let mut outcomes = BTreeMap::new();
    let read = entries(table, "outcomes", "a table of words and outcomes")?.map(|(word, value)| {
        let place = word.span();
        let word = self::word(table, "outcomes", &place, word.get_ref());
        let Some(text) = value.get_ref().as_str() else {
            return Err(table.not_a("outcomes", value, "an outcome that is", "a text"));
        };
        let outcome = outcome(table, &Spanned::new(value.span(), text));
        Ok((place, word?, outcome?))
    });
    for (place, word, outcome) in all(read)? {
        if outcomes.insert(word.clone(), outcome).is_some() {
            let message = format!(
                "`outcomes` has {} twice: case makes no difference",
                shown(&word)
            );
            return Err(table
                .report
                .mistake(&place, message, "remove one of the two"));
        }
    }
    Ok(outcomes)
}

/// The name of an outcome, as a binding's steps write it in `on`.
pub(crate) fn outcome(table: &Table<'_>, text: &Spanned<&str>) -> Read<Name> {
    let outcome = name(table.report, text, "an outcome's name")?;
    if outcome.as_str() != SILENT {
        return Ok(outcome);
    }
    let message =
        format!("\"{SILENT}\" is the outcome of a job that was given up; no message tells it");
    Err(table
        .report
        .mistake(&text.span(), message, "write another name"))
}

fn progress(table: &Table<'_>, outcomes: Option<&BTreeMap<String, Name>>) -> Read<Vec<String>> {
    let Some(texts) = table.texts("progress")? else {
        return Ok(Vec::new());
    };
    let words = texts.into_inner().into_iter().map(|text| {
        let word = word(table, "progress", &text.span(), text.get_ref())?;
        if outcomes.is_some_and(|outcomes| outcomes.contains_key(&word)) {
            let message = format!(
                "`progress` has {}, which `outcomes` takes for an end",
                shown(&word)
            );
            let help = "write it in one of the two";
            return Err(table.report.mistake(&text.span(), message, help));
        }
        Ok(word)
    });
    all(words)
}

/// A status or an event's type, as it is compared.
fn word(table: &Table<'_>, key: &str, span: &Span, text: &str) -> Read<String> {
    let word = text.trim().to_lowercase();
    if word.is_empty() {
        let message = format!("`{key}` has an empty word");
        let help = "write a status or an event's type, as the sender does";
        return Err(table.report.mistake(span, message, help));
    }
    Ok(word)
}

/// Reads `values`.
pub(crate) fn values(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
) -> Read<BTreeMap<Name, Vec<Pointer>>> {
    let mut values = BTreeMap::new();
    for (value, places) in facts(sender).iter().flat_map(|facts| &facts.values) {
        let text = Spanned::new(table.span.clone(), value.as_str());
        let value = name(table.report, &text, "a value's name")?;
        values.insert(value, of_scheme(table, places)?);
    }
    let own = entries(table, "values", "a table of names and places")?.map(|(text, value)| {
        let text = Spanned::new(text.span(), text.get_ref().as_ref());
        let name = name(table.report, &text, "a value's name");
        let places = pointers(table, "values", value);
        Ok((name?, places?))
    });
    values.extend(all(own)?);
    Ok(values)
}

type Entry<'a> = (&'a Spanned<std::borrow::Cow<'a, str>>, &'a Value<'a>);

/// The entries of a table that may be left out, in the order of the file.
fn entries<'a>(
    table: &Table<'a>,
    key: &'static str,
    wanted: &str,
) -> Read<impl Iterator<Item = Entry<'a>> + use<'a>> {
    let found: Option<&'a DeTable<'a>> = match table.get(key) {
        None => None,
        Some(value) => match value.get_ref() {
            DeValue::Table(found) => Some(found),
            _ => return Err(table.not_a(key, value, "", wanted)),
        },
    };
    let mut entries: Vec<Entry<'a>> = found.into_iter().flat_map(|found| found.iter()).collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    Ok(entries.into_iter())
}

/// One JSON pointer, or a list of them: the first that is there counts.
fn pointers(table: &Table<'_>, key: &'static str, value: &Value<'_>) -> Read<Vec<Pointer>> {
    let one = |value: &Value<'_>| match value.get_ref().as_str() {
        Some(text) => pointer(table.report, &Spanned::new(value.span(), text)),
        None => Err(table.not_a(key, value, "a place that is", "a JSON pointer")),
    };
    match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => {
            let message = format!("`{key}` has an empty list of places");
            let help = format!("write {}", table.example(key));
            Err(table.report.mistake(&value.span(), message, help))
        }
        DeValue::Array(list) => all(list.iter().map(one)),
        _ => Ok(vec![one(value)?]),
    }
}

fn of_scheme(table: &Table<'_>, pointers: &[String]) -> Read<Vec<Pointer>> {
    pointers
        .iter()
        .map(|text| pointer(table.report, &Spanned::new(table.span.clone(), text)))
        .collect()
}
