//! `previously`: the names that a source or a rule had before, the oldest first. The first is its identity, so that
//! a rename changes no key. What must never happen: that two of them claim one name.

use ackbox_domain::{Name, notice};
use toml::Spanned;
use toml::de::{DeArray, DeValue};

use super::Named;
use super::locator::{all, repeated};
use super::nearest::shown;
use super::report::{Read, Report};
use super::table::{Table, name};

/// Reads the names; without the key, none. `what` is how messages call one of them.
pub(crate) fn previously(table: &Table<'_>, own: &str, what: &str) -> Read<Vec<Name>> {
    const HELP: &str = "write the names that it had, the oldest first; never remove one";
    let Some(texts) = table.texts("previously")? else {
        return Ok(Vec::new());
    };
    let (span, texts) = (texts.span(), texts.into_inner());
    if texts.is_empty() {
        let message = "`previously` is empty";
        let help = "write the names that it had, the oldest first, or leave `previously` out";
        return Err(table.report.mistake(&span, message, help));
    }
    let names = all(texts.iter().map(|text| name(table.report, text, what)));
    if let Some(text) = texts.iter().find(|text| *text.get_ref() == own) {
        let message = format!("`previously` has {}, which is its name now", shown(own));
        return Err(table.report.mistake(&text.span(), message, HELP));
    }
    if let Some((text, span)) = repeated(&texts) {
        let message = format!("`previously` names {} twice", shown(text));
        return Err(table.report.mistake(&span, message, HELP));
    }
    names
}

/// Notices come from a source of a name that no other may have had.
pub(crate) fn none_is_ours(table: &Table<'_>, names: Vec<Name>) -> Read<Vec<Name>> {
    if names.iter().all(|name| name.as_str() != notice::SOURCE) {
        return Ok(names);
    }
    let message = format!(
        "`previously` has \"{}\", which is kept for ackbox's own notices",
        notice::SOURCE
    );
    Err(table
        .report
        .mistake(&table.place("previously"), message, "remove it"))
}

/// What goes by a name, and by which others it went.
pub(crate) struct Claimant<'a> {
    /// How messages call it: `[source.reports]`.
    title: String,
    own: &'a str,
    previous: Vec<Spanned<&'a str>>,
}

/// The sources of a file, with whatever names they claim, also where another part of them is a mistake.
pub(crate) fn of_sources<'a>(found: &[Named<'a>]) -> Vec<Claimant<'a>> {
    let claimant = |(name, value): &Named<'a>| Claimant {
        title: format!("[source.{}]", name.get_ref()),
        own: name.get_ref(),
        previous: claimed(value.get_ref()),
    };
    found.iter().map(claimant).collect()
}

/// The rules of a source, likewise.
pub(crate) fn of_rules<'a>(rules: &'a DeArray<'a>) -> Vec<Claimant<'a>> {
    let claimant = |rule: &'a Spanned<DeValue<'a>>| {
        let own = rule.get_ref().as_table()?.get("name")?.get_ref().as_str()?;
        Some(Claimant {
            title: format!("the rule {}", shown(own)),
            own,
            previous: claimed(rule.get_ref()),
        })
    };
    rules.iter().filter_map(claimant).collect()
}

fn claimed<'a>(value: &'a DeValue<'a>) -> Vec<Spanned<&'a str>> {
    let list = value.as_table().and_then(|table| table.get("previously"));
    let list = list.and_then(|list| list.get_ref().as_array());
    let texts = list.into_iter().flat_map(|list| list.iter());
    texts
        .filter_map(|text| Some(Spanned::new(text.span(), text.get_ref().as_str()?)))
        .collect()
}

/// No previous name is another's name, or another's previous name: both would make the same keys.
pub(crate) fn agree(report: &Report<'_>, all: &[Claimant<'_>]) {
    for (n, claimant) in all.iter().enumerate() {
        for name in &claimant.previous {
            let is = |other: &Claimant<'_>| other.own == *name.get_ref();
            let was = |other: &Claimant<'_>| {
                let mut names = other.previous.iter();
                names.any(|other| other.get_ref() == name.get_ref())
            };
            let others = || all.iter().enumerate().filter(|(other, _)| *other != n);
            let (other, how) = if let Some((_, other)) = others().find(|(_, other)| is(other)) {
                (other, "is the name of")
            } else if let Some((_, other)) = others().find(|(at, other)| *at < n && was(other)) {
                (other, "is a previous name of")
            } else {
                continue;
            };
            let message = format!(
                "`previously` has {}, which {how} {}: both would make the same keys",
                shown(name.get_ref()),
                other.title
            );
            let help =
                "a name belongs to one for ever: remove it from one of them, or rename the other";
            report.mistake(&name.span(), message, help);
        }
    }
}
