//! What a source says of its messages, for its rules to be read against: where the facts stand, what the
//! signature covers, and what the user trusts although it does not.

use std::cell::Cell;
use std::sync::Arc;

use ackbox_domain::{Each, FingerprintPart, Locator};
use ackbox_signature::{Redelivery, Scheme};

use super::locator::{covers, places, scheme_pointer};
use super::report::Read;
use super::source::{each, events};
use super::table::Table;

/// One sender, as its rules see it.
pub(crate) struct Sender<'a> {
    pub(crate) name: &'a str,
    pub(crate) table: Table<'a>,
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) id: Read<Vec<Locator>>,
    pub(crate) event: Read<Vec<Locator>>,
    pub(crate) subject: Read<Vec<Locator>>,
    pub(crate) account: Read<Vec<Locator>>,
    pub(crate) each: Read<Option<Each>>,
    pub(crate) test_events: Read<Vec<String>>,
    trusts_id: Trust,
    trusts_body: Trust,
}

/// A permission, and whether anything needed it.
struct Trust {
    given: Option<bool>,
    used: Cell<bool>,
}

impl Trust {
    fn read(table: &Table<'_>, name: &'static str) -> Self {
        Self {
            // Where the flag itself is a mistake, nothing more is said of it.
            given: table
                .flag(name)
                .map_or(None, |flag| Some(flag.unwrap_or(false))),
            used: Cell::new(false),
        }
    }

    fn allows(&self) -> bool {
        self.used.set(true);
        self.given != Some(false)
    }

    fn is_needless(&self) -> bool {
        self.given == Some(true) && !self.used.get()
    }
}

impl<'a> Sender<'a> {
    pub(crate) fn read(name: &'a str, table: Table<'a>, scheme: Arc<Scheme>) -> Self {
        let facts = scheme.facts();
        let place = |name, known: &Vec<_>| places(&table, name, facts, known);
        Self {
            name,
            id: place("id", &facts.id),
            event: place("event", &facts.event),
            subject: place("subject", &facts.subject),
            account: place("account", &facts.account),
            each: each(&table, facts.each.as_deref()),
            test_events: events(&table, "test_events")
                .map(|own| own.unwrap_or_else(|| facts.test_events.clone())),
            trusts_id: Trust::read(&table, "trust_unsigned_id"),
            trusts_body: Trust::read(&table, "trust_body"),
            table,
            scheme,
        }
    }

    /// Whether a header can be trusted, as a part of an identity or to tell the event's type: it is signed, or the user says so.
    pub(crate) fn trusts_header(&self, name: &str) -> bool {
        covers(self.scheme.facts(), name) || self.trusts_id.allows()
    }

    /// Whether the body can be trusted: it is signed, or the user says so.
    pub(crate) fn trusts_body(&self) -> bool {
        self.scheme.facts().covers_body || self.trusts_body.allows()
    }

    /// What must be the same on every repetition, where a rule does not say: what the scheme knows of
    /// the sender's redeliveries. Its pointers do not fit the elements of a batch that only the source knows of.
    pub(crate) fn default_fingerprint(&self) -> Read<Vec<FingerprintPart>> {
        let facts = self.scheme.facts();
        let is_own_batch = self.table.get("each").is_some();
        match &facts.redelivery {
            Redelivery::Pointers(pointers) if !is_own_batch => pointers
                .iter()
                .map(|text| scheme_pointer(&self.table, text).map(FingerprintPart::ValueIfThere))
                .collect(),
            _ => Ok(vec![FingerprintPart::Body]),
        }
    }

    /// Warns of permissions that nothing needed.
    pub(crate) fn warn_of_needless_trust(&self) {
        for (trust, name, what) in [
            (
                &self.trusts_id,
                "trust_unsigned_id",
                "neither a key part, nor a choice between rules, nor what tells of a job stands in a header that the signature leaves out",
            ),
            (
                &self.trusts_body,
                "trust_body",
                "the signature covers the body",
            ),
        ] {
            if trust.is_needless() {
                let place = self.table.place(name);
                self.table.report.warn(
                    &place,
                    format!("`{name}` is not needed: {what}"),
                    "remove it",
                );
            }
        }
    }
}
