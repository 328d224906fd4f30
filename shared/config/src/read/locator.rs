//! Where a message's own facts stand: `header:NAME`, a JSON pointer, or a list of them, or what the
//! scheme says. Each place knows whether the signature covers it.

use ackbox_domain::{Locator, Pointer};
use ackbox_signature::{Facts, Locator as Fact};
use toml::Spanned;
use toml::de::DeValue;

use super::nearest::shown;
use super::report::{Read, Report, Reported, Span};
use super::table::{Table, Value};

/// The places of one fact: the source's own, else the scheme's.
pub(crate) fn places(
    table: &Table<'_>,
    name: &'static str,
    facts: &Facts,
    known: &[Fact],
) -> Read<Vec<Locator>> {
    match table.get(name) {
        None => from_scheme(table, known),
        Some(value) => own(table, name, facts, value),
    }
}

fn own(
    table: &Table<'_>,
    name: &'static str,
    facts: &Facts,
    value: &Value<'_>,
) -> Read<Vec<Locator>> {
    let values = match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => {
            let help = format!("write {}, or leave it out", table.example(name));
            return Err(table
                .report
                .mistake(&value.span(), format!("`{name}` is empty"), help));
        }
        DeValue::Array(list) => list.iter().collect(),
        _ => vec![value],
    };
    let mut places = Vec::new();
    let mut failed = None;
    for value in values {
        let Some(text) = value.get_ref().as_str() else {
            failed = Some(table.not_a(name, value, "", "a place, or a list of places"));
            continue;
        };
        match place(table.report, facts, &Spanned::new(value.span(), text)) {
            Ok(place) => places.push(place),
            Err(reported) => failed = Some(reported),
        }
    }
    failed.map_or(Ok(places), Err)
}

fn place(report: &Report<'_>, facts: &Facts, text: &Spanned<&str>) -> Read<Locator> {
    const HELP: &str = "write \"header:NAME\" or a JSON pointer, as in \"/data/id\"";
    let wrong = |why: String| report.mistake(&text.span(), why, HELP);
    if let Some(name) = text.get_ref().strip_prefix("header:") {
        if !is_header_name(name) {
            return Err(wrong(format!(
                "{} is not the name of a header",
                shown(name)
            )));
        }
        return Ok(Locator::Header {
            name: name.to_ascii_lowercase(),
            covered: covers(facts, name),
        });
    }
    if !text.get_ref().starts_with('/') {
        return Err(wrong(format!(
            "{} is no place in a message",
            shown(text.get_ref())
        )));
    }
    pointer(report, text).map(Locator::Body)
}

fn from_scheme(table: &Table<'_>, known: &[Fact]) -> Read<Vec<Locator>> {
    let places = known.iter().map(|fact| match fact {
        Fact::Header { name, covered } => Ok(Locator::Header {
            name: name.to_ascii_lowercase(),
            covered: *covered,
        }),
        Fact::Body { pointer } => scheme_pointer(table, pointer).map(Locator::Body),
    });
    places.collect()
}

/// A pointer that the scheme names.
pub(crate) fn scheme_pointer(table: &Table<'_>, text: &str) -> Read<Pointer> {
    let span = table.place("scheme");
    pointer(table.report, &Spanned::new(span, text))
}

/// A JSON pointer.
pub(crate) fn pointer(report: &Report<'_>, text: &Spanned<&str>) -> Read<Pointer> {
    text.get_ref().parse().map_err(|e| {
        let message = format!("{} is no JSON pointer: {e}", shown(text.get_ref()));
        report.mistake(&text.span(), message, "write one as in \"/data/id\"")
    })
}

/// Whether the signature covers a header, as far as the scheme's facts say.
pub(crate) fn covers(facts: &Facts, header: &str) -> bool {
    let facts = [&facts.id, &facts.event, &facts.subject, &facts.account];
    facts.into_iter().flatten().any(|fact| {
        matches!(fact, Fact::Header { name, covered: true } if name.eq_ignore_ascii_case(header))
    })
}

/// RFC 9110, section 5.6.2: a token.
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 256
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Joins what was read of several things: all of them, or the news that one is missing.
pub(crate) fn all<T>(found: impl IntoIterator<Item = Read<T>>) -> Read<Vec<T>> {
    let mut values = Vec::new();
    let mut failed: Option<Reported> = None;
    for value in found {
        match value {
            Ok(value) => values.push(value),
            Err(reported) => failed = Some(reported),
        }
    }
    failed.map_or(Ok(values), Err)
}

/// The place of the first entry that stands a second time.
pub(crate) fn repeated<'t>(texts: &'t [Spanned<&str>]) -> Option<(&'t str, Span)> {
    texts.iter().enumerate().find_map(|(n, text)| {
        let before = texts.get(..n)?;
        let is_same = |other: &Spanned<&str>| other.get_ref() == text.get_ref();
        before
            .iter()
            .any(is_same)
            .then(|| (*text.get_ref(), text.span()))
    })
}
