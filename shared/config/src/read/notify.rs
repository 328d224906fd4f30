//! `[notify]`: the destination that is told of trouble, and of which. What must never happen: that it is
//! a destination whose way cannot carry what would be told.

use std::collections::{BTreeMap, BTreeSet};

use ackbox_domain::{Notify, Trouble};

use super::report::{Read, Report, Span};
use super::rule;
use super::table::{Key, Table, Value, key};
use crate::config::DestinationConfig;

/// The keys of `[notify]`.
pub(crate) const KEYS: &[Key] = &[
    key("destination", "\"operations\""),
    key(
        "on",
        "[\"dead\", \"held\", \"unknown\", \"conflict\", \"silent\"]",
    ),
];

const CHOICES: &str = "write some of \"dead\", \"held\", \"unknown\", \"conflict\" and \"silent\"";

/// Reads the table, where there is one.
pub(crate) fn notify<'a>(
    report: &'a Report<'a>,
    value: Option<&'a Value<'a>>,
    destinations: &BTreeMap<&str, Span>,
) -> Read<Option<Told>> {
    let Some(value) = value else {
        return Ok(None);
    };
    let table = Table::open(report, value, "[notify]".to_owned(), KEYS)?;
    let destination = rule::destination(&table, destinations);
    let on = on(&table);
    Ok(Some(Told {
        span: table.place("destination"),
        notify: Notify {
            destination: destination?,
            on: on?,
        },
    }))
}

/// Who is told, and where the file says so.
pub(crate) struct Told {
    pub(crate) notify: Notify,
    span: Span,
}

impl Told {
    /// Checks that what would be told fits the way to its destination.
    pub(crate) fn check(
        self,
        report: &Report<'_>,
        destinations: &[DestinationConfig],
    ) -> Read<Notify> {
        let to = destinations
            .iter()
            .find(|to| to.name == self.notify.destination);
        let unfit = to.and_then(|to| self.notify.check(&to.to.carriage()).err());
        match unfit {
            None => Ok(self.notify),
            Some(unfit) => Err(report.mistake(
                &self.span,
                format!("a notice cannot be sent to {}: {unfit}", self.notify.destination),
                "name a destination that takes the envelope: `key`, `source`, `event`, `subject`, `accepted_at` and `data`",
            )),
        }
    }
}

fn on(table: &Table<'_>) -> Read<BTreeSet<Trouble>> {
    let Some(words) = table.texts("on")? else {
        return Ok(BTreeSet::from(Trouble::ALL));
    };
    if words.get_ref().is_empty() {
        let message = "`on` is empty: nobody would be told of anything";
        return Err(table.report.mistake(&words.span(), message, CHOICES));
    }
    super::all(words.get_ref().iter().map(|word| {
        let mut all = Trouble::ALL.into_iter();
        all.find(|trouble| trouble.as_str() == *word.get_ref())
            .ok_or_else(|| {
                let message = format!("`on` cannot have {}", super::nearest::shown(word.get_ref()));
                table.report.mistake(&word.span(), message, CHOICES)
            })
    }))
    .map(BTreeSet::from_iter)
}
