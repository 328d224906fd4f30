//! What a destination does with a key that it has seen: what its user wrote of an HTTP destination or a
//! function, or what the service itself keeps, of which nobody can write more.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use crate::kind::{SqsDestination, StepFunctionsDestination};
use crate::read::headers;
use crate::read::report::Read;
use crate::read::table::{Key, Table, Value, key};
use crate::read::value::time;

/// The keys of `idempotency`.
pub(super) const IDEMPOTENCY_KEYS: &[Key] = &[
    key("header", "\"Idempotency-Key\""),
    key("window", "\"24h\""),
];

/// The same, where there is no header to name.
const WINDOW_KEYS: &[Key] = &[key("window", "\"24h\"")];

const WINDOW: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 24 * 3600);
/// The header that carries the key where no other is named.
pub(super) const DEFAULT_HEADER: &str = "idempotency-key";

/// What the destination does with a key that it has seen.
pub(super) struct Known {
    /// The header that carries the key, where there are headers.
    pub(super) header: String,
    /// How long it keeps a key.
    pub(super) window: Option<Spanned<Duration>>,
}

impl Known {
    fn of(window: Option<Spanned<Duration>>) -> Self {
        Self {
            header: DEFAULT_HEADER.to_owned(),
            window,
        }
    }
}

/// What can be said of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nobody knows but the user, who must say.
    AsTheUserSays,
    /// Nothing, unless the user knows better: of a function, which may keep keys by itself.
    NothingUnlessSaid,
    /// The service keeps keys for so long.
    For {
        /// Whose window it is.
        service: &'static str,
        /// How long.
        most: Duration,
    },
    /// The service keeps no keys.
    Nothing {
        /// Who keeps none, and what does.
        service: &'static str,
        instead: &'static str,
    },
}

impl Keeps {
    /// A FIFO queue of SQS.
    pub(super) const FIFO: Self = Self::For {
        service: "a FIFO queue",
        most: SqsDestination::WINDOW,
    };
    /// A standard queue of SQS.
    pub(super) const QUEUE: Self = Self::Nothing {
        service: "a standard queue",
        instead: "send to a FIFO queue, which keeps them for 5m",
    };
    /// A standard state machine.
    pub(super) const STANDARD: Self = Self::For {
        service: "a standard state machine",
        most: StepFunctionsDestination::WINDOW,
    };
    /// An express state machine.
    pub(super) const EXPRESS: Self = Self::Nothing {
        service: "an express state machine",
        instead: "start a standard one, which keeps them for 90d",
    };
}

const HTTP_CHOICES: &str = "write idempotency = { header = \"Idempotency-Key\", window = \"24h\" } if it executes one key once, for at least that long after the first request; or idempotency = \"none\" if a repetition may execute again: then an action that may have arrived is never repeated by itself";
const FUNCTION_CHOICES: &str = "write idempotency = { window = \"24h\" } if the function itself executes one key once, for at least that long; else leave it out";

/// Reads `idempotency`.
pub(super) fn idempotency(table: &Table<'_>, keeps: Keeps) -> Read<Known> {
    match table.get("idempotency") {
        None => unsaid(table, keeps),
        Some(value) => match value.get_ref() {
            DeValue::String(word) if word == "none" => Ok(Known::of(None)),
            DeValue::Table(_) => said(table, keeps, value),
            _ => {
                let message = "`idempotency` is neither \"none\" nor a table with a window";
                Err(table.report.mistake(&value.span(), message, choices(keeps)))
            }
        },
    }
}

fn unsaid(table: &Table<'_>, keeps: Keeps) -> Read<Known> {
    match keeps {
        Keeps::AsTheUserSays => {
            let message = format!(
                "{} does not say what the destination does with a key that it has seen",
                table.title
            );
            Err(table.report.absent(&table.span, message, HTTP_CHOICES))
        }
        // What a window must agree with is the timeout: a message about it points there.
        Keeps::For { most, .. } => Ok(Known::of(Some(Spanned::new(table.place("timeout"), most)))),
        Keeps::NothingUnlessSaid | Keeps::Nothing { .. } => Ok(Known::of(None)),
    }
}

fn said<'a>(table: &Table<'a>, keeps: Keeps, value: &'a Value<'a>) -> Read<Known> {
    let DeValue::Table(entries) = value.get_ref() else {
        return Ok(Known::of(None));
    };
    if let Keeps::Nothing { service, instead } = keeps {
        let message = format!("{service} keeps no keys: it has no window");
        let help = format!("leave `idempotency` out, or {instead}");
        return Err(table.report.mistake(&value.span(), message, help));
    }
    let keys = match keeps {
        Keeps::AsTheUserSays => IDEMPOTENCY_KEYS,
        _ => WINDOW_KEYS,
    };
    let title = format!("`idempotency` of {}", table.title);
    let inner = Table::of(table.report, entries, value.span(), title, keys);
    let header = match keeps {
        Keeps::AsTheUserSays => inner.text("header").and_then(|text| match text {
            Some(text) => headers::idempotency(&inner, &text),
            None => Ok(DEFAULT_HEADER.to_owned()),
        }),
        _ => Ok(DEFAULT_HEADER.to_owned()),
    };
    let window = inner.required("window", inner.duration("window", WINDOW));
    let window = window.and_then(|window| no_longer_than_kept(table, keeps, window));
    Ok(Known {
        header: header?,
        window: Some(window?),
    })
}

/// A service's own window can be taken for shorter, and never for longer.
fn no_longer_than_kept(
    table: &Table<'_>,
    keeps: Keeps,
    window: Spanned<Duration>,
) -> Read<Spanned<Duration>> {
    match keeps {
        Keeps::For { service, most } if *window.get_ref() > most => {
            let message = format!(
                "the `window` is {}, and {service} keeps a key for {}",
                time(*window.get_ref()),
                time(most)
            );
            let help = format!(
                "write at most window = \"{}\", or leave `idempotency` out",
                time(most)
            );
            Err(table.report.mistake(&window.span(), message, help))
        }
        _ => Ok(window),
    }
}

fn choices(keeps: Keeps) -> String {
    match keeps {
        Keeps::AsTheUserSays => HTTP_CHOICES.to_owned(),
        Keeps::NothingUnlessSaid => FUNCTION_CHOICES.to_owned(),
        Keeps::For { service, most } => {
            format!(
                "leave it out: {service} keeps a key for {}, and that is taken",
                time(most)
            )
        }
        Keeps::Nothing { service, .. } => format!("leave it out: {service} keeps no keys"),
    }
}
