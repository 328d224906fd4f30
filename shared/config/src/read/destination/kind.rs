//! `kind = ".."`: which keys a destination has, and who reads them.

use toml::de::DeTable;

use super::idempotency::{Keeps, Known};
use super::{http, lambda, sqs, step_functions};
use crate::kind::Kind;
use crate::read::nearest::{shown, suggestion};
use crate::read::report::{Read, Report};
use crate::read::table::{Key, Table, kind as type_of};

/// The kinds by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KindName {
    Http,
    Sqs,
    StepFunctions,
    Lambda,
}

const ALL: [KindName; 4] = [
    KindName::Http,
    KindName::Sqs,
    KindName::StepFunctions,
    KindName::Lambda,
];
const CHOICES: &str =
    "write kind = \"http\" (or leave it out), \"sqs\", \"step-functions\" or \"lambda\"";

impl KindName {
    /// The kind of a destination: `http` where it does not say.
    pub(super) fn of(report: &Report<'_>, entries: &DeTable<'_>) -> Read<Self> {
        let Some(value) = entries.get("kind") else {
            return Ok(Self::Http);
        };
        let Some(word) = value.get_ref().as_str() else {
            let message = format!("`kind` is {}, not a text", type_of(value));
            return Err(report.mistake(&value.span(), message, CHOICES));
        };
        ALL.into_iter()
            .find(|kind| kind.word() == word)
            .ok_or_else(|| {
                let message = format!("there is no kind {}", shown(word));
                let near = suggestion(word, ALL.map(Self::word));
                let help = if near.starts_with("did") {
                    near.replace('`', "\"")
                } else {
                    CHOICES.to_owned()
                };
                report.mistake(&value.span(), message, help)
            })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sqs => "sqs",
            Self::StepFunctions => "step-functions",
            Self::Lambda => "lambda",
        }
    }

    /// The keys of such a destination.
    pub(super) const fn keys(self) -> &'static [Key] {
        match self {
            Self::Http => http::KEYS,
            Self::Sqs => sqs::KEYS,
            Self::StepFunctions => step_functions::KEYS,
            Self::Lambda => lambda::KEYS,
        }
    }

    /// What to write instead of a key that only other kinds have.
    pub(super) fn hint(self, name: &str) -> Option<String> {
        let others: Vec<String> = ALL
            .into_iter()
            .filter(|kind| kind.keys().iter().any(|key| key.name == name))
            .map(|kind| format!("kind = \"{}\"", kind.word()))
            .collect();
        (!others.is_empty()).then(|| {
            format!(
                "this is kind = \"{}\", and `{name}` belongs to {}: change the kind, or remove it",
                self.word(),
                others.join(" and ")
            )
        })
    }

    /// What such a destination does with a key that it has seen; `None` where that cannot be told.
    pub(super) fn keeps(self, table: &Table<'_>) -> Option<Keeps> {
        match self {
            Self::Http => Some(Keeps::AsTheUserSays),
            Self::Sqs => sqs::keeps(table),
            Self::StepFunctions => step_functions::keeps(table),
            Self::Lambda => Some(Keeps::NothingUnlessSaid),
        }
    }

    /// Reads the keys that only this kind has.
    pub(super) fn read(
        self,
        table: &Table<'_>,
        known: Option<&Known>,
        allow_private: bool,
    ) -> Read<Kind> {
        match self {
            Self::Http => http::http(table, known, allow_private).map(Kind::Http),
            Self::Sqs => sqs::sqs(table).map(Kind::Sqs),
            Self::StepFunctions => step_functions::step_functions(table).map(Kind::StepFunctions),
            Self::Lambda => lambda::lambda(table).map(Kind::Lambda),
        }
    }
}
