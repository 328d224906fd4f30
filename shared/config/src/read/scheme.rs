//! `[scheme.NAME]` tables, and which scheme a source means: a user's own grammar comes in, a compiled
//! scheme goes out, or every mistake in the grammar at its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use ackbox_domain::Name;
use ackbox_signature::{GrammarError, Scheme, SchemeSpec};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeValue, ValueDeserializer};

use super::nearest::{nearest, shown, suggestion};
use super::report::{Read, Report, Reported, Span};
use super::table::{Table, Value, kind};

/// The file's own schemes; one that has mistakes is known, and cannot be used.
pub(crate) struct Schemes<'a> {
    own: BTreeMap<&'a str, Own>,
}

struct Own {
    span: Span,
    scheme: Read<Arc<Scheme>>,
}

/// Reads every `[scheme.NAME]`.
pub(crate) fn schemes<'a>(
    report: &'a Report<'a>,
    tables: &[(Spanned<&'a str>, &'a Value<'a>)],
) -> Schemes<'a> {
    let own = tables.iter().map(|(name, value)| {
        let span = name.span();
        let scheme = own(report, name.get_ref(), &span, value);
        (*name.get_ref(), Own { span, scheme })
    });
    Schemes { own: own.collect() }
}

fn own<'a>(report: &Report<'a>, name: &str, span: &Span, value: &Value<'a>) -> Read<Arc<Scheme>> {
    if let Err(e) = name.parse::<Name>() {
        return Err(report.mistake(span, format!("a scheme's name: {e}"), ""));
    }
    if Scheme::builtin_slugs().any(|slug| slug == name) {
        let message = format!("[scheme.{name}] hides the built-in scheme of that name");
        report.warn(span, message, "choose another name if that is not meant");
    }
    let mut pruned = value.clone();
    let (spec, removed) = spec(report, name, &mut pruned);
    match Scheme::compile(name, spec) {
        Ok(scheme) if removed.is_empty() => Ok(Arc::new(scheme)),
        Ok(_) => Err(Reported),
        Err(mistakes) => {
            for GrammarError { field, message } in &mistakes {
                let (place, is_there) = field_place(&pruned, field);
                // Where mistakes were taken out, what is absent says nothing.
                let is_cut = removed.iter().any(|span| place.contains(&span.start));
                if removed.is_empty() || (is_there && !is_cut) {
                    report.mistake(&place, format!("[scheme.{name}] `{field}`: {message}"), "");
                }
            }
            Err(Reported)
        }
    }
}

/// Reads a grammar. Its reader stops at the first mistake; so that is taken out of the value, and it
/// is asked again. Gives what is left of it, and the places of what was taken out.
fn spec<'a>(report: &Report<'a>, name: &str, value: &mut Value<'a>) -> (SchemeSpec, Vec<Span>) {
    let mut removed = Vec::new();
    loop {
        let error = match SchemeSpec::deserialize(ValueDeserializer::from(value.clone())) {
            Ok(spec) => return (spec, removed),
            Err(error) => error,
        };
        let span = error.span().unwrap_or_else(|| value.span());
        let (message, help) = in_words(error.message(), value, &span);
        report.mistake(&span, format!("[scheme.{name}]: {message}"), help);
        let is_out = remove(value, &span);
        removed.push(span);
        if !is_out {
            return (SchemeSpec::default(), removed);
        }
    }
}

/// The words of the grammar's reader, without the value: it may be a secret that was pasted in.
fn in_words(message: &str, value: &Value<'_>, span: &Span) -> (String, String) {
    if let Some(rest) = message.strip_prefix("unknown field `")
        && let Some((field, known)) = rest.split_once('`')
    {
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        let help = suggestion(field, known.iter().copied());
        return (format!("no key {}", shown(field)), help);
    }
    let (name, found) = innermost(None, value, span).unwrap_or((None, "a value"));
    let what = name.map_or("this".to_owned(), |name| format!("`{name}`"));
    let expected = match message.rsplit_once(", expected ") {
        Some((_, "a string")) => "a text",
        Some((_, "a sequence")) => "a list",
        Some((_, "a map")) => "a table",
        Some((_, "u16")) => "a number",
        Some((_, expected)) if expected.starts_with("struct ") => "a table",
        Some((_, expected)) => expected,
        None if message.starts_with("`redelivery` is") => {
            "\"same-bytes\", or a list of JSON pointers"
        }
        None => "what the reference says of [scheme.NAME]",
    };
    (
        format!("{what} cannot be {found}"),
        format!("write {expected}"),
    )
}

/// The value that stands at `span`: the name of its key, and its kind.
fn innermost<'v>(
    name: Option<&'v str>,
    value: &'v Value<'_>,
    span: &Span,
) -> Option<(Option<&'v str>, &'static str)> {
    if value.span() == *span {
        return Some((name, kind(value)));
    }
    match value.get_ref() {
        DeValue::Table(table) => table
            .iter()
            .find_map(|(name, value)| innermost(Some(name.get_ref()), value, span)),
        DeValue::Array(array) => array.iter().find_map(|value| innermost(name, value, span)),
        _ => None,
    }
}

/// Takes out the entry whose key or value stands at `span`; true if there was one.
fn remove(value: &mut Value<'_>, span: &Span) -> bool {
    let hits = |value: &Value<'_>| value.span() == *span;
    match value.get_mut() {
        DeValue::Table(table) => {
            let hit = table
                .iter()
                .find(|(key, value)| key.span() == *span || hits(value))
                .map(|(key, _)| key.get_ref().clone());
            hit.is_some_and(|key| table.remove(key.as_ref()).is_some())
                || table.iter_mut().any(|(_, value)| remove(value, span))
        }
        DeValue::Array(array) => {
            let mut kept = DeArray::new();
            let rest = array.iter().filter(|value| !hits(value));
            rest.for_each(|value| kept.push(value.clone()));
            if kept.len() == array.len() {
                return array.iter_mut().any(|value| remove(value, span));
            }
            *array = kept;
            true
        }
        _ => false,
    }
}

/// The place of `signature[0].encoding`, or of what there is of it, and whether all of it is there.
fn field_place(value: &Value<'_>, field: &str) -> (Span, bool) {
    let mut at = value;
    for step in field.split(['.', '[']) {
        let step = step.trim_end_matches(']');
        let next = match at.get_ref() {
            DeValue::Table(table) => table.get(step),
            DeValue::Array(array) => step.parse().ok().and_then(|index: usize| array.get(index)),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return (at.span(), false),
        }
    }
    (at.span(), true)
}

impl Schemes<'_> {
    /// The scheme that a source names.
    pub(crate) fn meant(&self, table: &Table<'_>, name: Spanned<&str>) -> Read<Arc<Scheme>> {
        if let Some(own) = self.own.get(*name.get_ref()) {
            return own.scheme.clone();
        }
        if let Some(scheme) = Scheme::builtin(name.get_ref()) {
            return Ok(scheme);
        }
        let mut known: Vec<&str> = self.own.keys().copied().collect();
        for slug in Scheme::builtin_slugs() {
            known.push(slug);
        }
        let help = match nearest(name.get_ref(), known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "write one of {}, or describe your sender in a [scheme.NAME] table",
                known.join(", ")
            ),
        };
        let message = format!("there is no scheme {}", shown(name.get_ref()));
        Err(table.report.absent(&name.span(), message, help))
    }

    /// Warns of schemes that no source names.
    pub(crate) fn warn_of_unused(&self, report: &Report<'_>, used: &[&str]) {
        for (name, own) in &self.own {
            if !used.contains(name) {
                report.warn(
                    &own.span,
                    format!("[scheme.{name}] is used by no source"),
                    "remove it, or name it in a source's `scheme`",
                );
            }
        }
    }
}
