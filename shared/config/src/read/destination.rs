//! `[destination.NAME]`: where actions go, and what is done where nobody knows whether one arrived. What
//! must be decided by the user has no default.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::{Backoff, DeliveryPolicy, Idempotency, OnUnknown};
use toml::Spanned;
use toml::de::DeValue;

use super::address;
use super::headers;
use super::reconcile;
use super::report::{Read, Report, Reported, Span};
use super::secrets;
use super::table::{Given, Key, Table, Value, key, name};
use super::value::time;
use crate::config::{DestinationConfig, HttpDestination};
use crate::reconcile::Reconcile;

/// The keys of `[destination.NAME]`.
pub(crate) const KEYS: &[Key] = &[
    key("url", "\"https://mail.example.com/actions\""),
    key(
        "headers",
        "{ Authorization = \"env:MAILER_AUTHORIZATION\" }",
    ),
    key(
        "idempotency",
        "{ header = \"Idempotency-Key\", window = \"24h\" }",
    ),
    key("on_unknown", "\"hold\""),
    key("timeout", "\"10s\""),
    key("retry_for", "\"3d\""),
    key("backoff", "{ first = \"30s\", max = \"1h\" }"),
    key("signing", "[\"env:MAILER_SIGNING_SECRET\"]"),
    key("allow_private", "true"),
    key(
        "reconcile",
        "{ url = \"https://mail.example.com/actions/{key}\", answers = [{ status = 200, means = \"applied\" }] }",
    ),
];

/// The keys of `idempotency`.
pub(crate) const IDEMPOTENCY_KEYS: &[Key] = &[
    key("header", "\"Idempotency-Key\""),
    key("window", "\"24h\""),
];

/// The keys of `backoff`.
pub(crate) const BACKOFF_KEYS: &[Key] = &[key("first", "\"30s\""), key("max", "\"1h\"")];

const DAY: Duration = Duration::from_secs(24 * 3600);
const MILLISECOND: Duration = Duration::from_millis(1);
/// A function runs for at most 15 minutes, and must settle inside them.
const TIMEOUT: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(14 * 60);
const RETRY_FOR: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(365 * 24 * 3600);
const WINDOW: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(365 * 24 * 3600);
const BACKOFF: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(7 * 24 * 3600);
const DEFAULT_HEADER: &str = "idempotency-key";

/// A destination, and what others must agree with, also where another part of it is a mistake.
pub(crate) struct Destination<'a> {
    pub(crate) title: &'a str,
    pub(crate) timeout: Read<Given<Duration>>,
    pub(crate) window: Option<Spanned<Duration>>,
    pub(crate) backoff: Read<Backoff>,
    pub(crate) config: Read<DestinationConfig>,
}

/// Reads one destination.
pub(crate) fn destination<'a>(
    report: &'a Report<'a>,
    title: &Spanned<&'a str>,
    value: &'a Value<'a>,
) -> Read<Destination<'a>> {
    let table = Table::open(
        report,
        value,
        format!("[destination.{}]", title.get_ref()),
        KEYS,
    )?;
    let timeout = table.duration_or("timeout", Duration::from_secs(10), TIMEOUT);
    let backoff = backoff(&table);
    let known = idempotency(&table);
    Ok(Destination {
        title: title.get_ref(),
        config: config(&table, title, known.as_ref().ok(), &timeout, backoff),
        window: known.ok().and_then(|known| known.window),
        timeout,
        backoff,
    })
}

fn config(
    table: &Table<'_>,
    title: &Spanned<&str>,
    known: Option<&Known>,
    timeout: &Read<Given<Duration>>,
    backoff: Read<Backoff>,
) -> Read<DestinationConfig> {
    let name = name(table.report, title, "a destination's name");
    let http = http(table, known);
    let allow_private = table
        .flag("allow_private")
        .map_or(true, Option::unwrap_or_default);
    let reconcile = reconcile::reconcile(table, allow_private);
    let on_unknown = on_unknown(table, known);
    let agreed = agree(table, &on_unknown, &reconcile);
    let retry_for = table.duration_or("retry_for", 3 * DAY, RETRY_FOR);
    agreed?;
    let timeout = timeout.as_ref().map_err(|reported| *reported)?.value;
    let window = known.ok_or(Reported)?.window.as_ref();
    Ok(DestinationConfig {
        name: name?,
        policy: DeliveryPolicy {
            idempotency: window.map_or(Idempotency::None, |window| {
                Idempotency::Window(*window.get_ref())
            }),
            on_unknown: on_unknown?,
            timeout,
            retry_for: retry_for?.value,
            backoff: backoff?,
        },
        http: http?,
        reconcile: reconcile?,
    })
}

/// Whoever is to be asked needs a question, and a question is for one that is asked.
fn agree(
    table: &Table<'_>,
    on_unknown: &Read<OnUnknown>,
    reconcile: &Read<Option<Reconcile>>,
) -> Read<()> {
    let (Ok(on_unknown), Ok(reconcile)) = (on_unknown, reconcile) else {
        return Ok(());
    };
    match (on_unknown, reconcile) {
        (OnUnknown::Reconcile, None) => {
            let message = "on_unknown = \"reconcile\" does not say how the destination is asked";
            let help = format!("write {}", table.example("reconcile"));
            Err(table
                .report
                .mistake(&table.place("on_unknown"), message, help))
        }
        (OnUnknown::Retry | OnUnknown::Hold, Some(_)) => {
            let message = "`reconcile` is never asked, since on_unknown is not \"reconcile\"";
            let help = "write on_unknown = \"reconcile\", or remove `reconcile`";
            Err(table
                .report
                .mistake(&table.place("reconcile"), message, help))
        }
        _ => Ok(()),
    }
}

fn http(table: &Table<'_>, known: Option<&Known>) -> Read<HttpDestination> {
    let allow_private = table.flag("allow_private");
    let url = address::url(table, allow_private.map_or(true, Option::unwrap_or_default));
    let header = known.map_or(DEFAULT_HEADER, |known| known.header.as_str());
    let headers = headers::headers(table, header);
    let signing = secrets::optional(table, "signing");
    Ok(HttpDestination {
        url: url?,
        headers: headers?,
        idempotency_header: header.to_owned(),
        signing: signing?,
        allow_private: allow_private?.unwrap_or_default(),
    })
}

/// What the destination does with a key that it has seen.
struct Known {
    header: String,
    window: Option<Spanned<Duration>>,
}

const TWO_CHOICES: &str = "write idempotency = { header = \"Idempotency-Key\", window = \"24h\" } if it executes one key once, for at least that long after the first request; or idempotency = \"none\" if a repetition may execute again: then an action that may have arrived is never repeated by itself";

fn idempotency(table: &Table<'_>) -> Read<Known> {
    let Some(value) = table.get("idempotency") else {
        let message = format!(
            "{} does not say what the destination does with a key that it has seen",
            table.title
        );
        return Err(table.report.absent(&table.span, message, TWO_CHOICES));
    };
    match value.get_ref() {
        DeValue::String(word) if word == "none" => Ok(Known {
            header: DEFAULT_HEADER.to_owned(),
            window: None,
        }),
        DeValue::Table(entries) => {
            let title = format!("`idempotency` of {}", table.title);
            let inner = Table::of(table.report, entries, value.span(), title, IDEMPOTENCY_KEYS);
            let header = inner.text("header").and_then(|text| match text {
                Some(text) => headers::idempotency(&inner, &text),
                None => Ok(DEFAULT_HEADER.to_owned()),
            });
            let window = inner.required("window", inner.duration("window", WINDOW));
            Ok(Known {
                header: header?,
                window: Some(window?),
            })
        }
        _ => {
            let message = "`idempotency` is neither \"none\" nor a table with a window";
            Err(table.report.mistake(&value.span(), message, TWO_CHOICES))
        }
    }
}

const ON_UNKNOWN: &[(&str, OnUnknown)] = &[
    ("retry", OnUnknown::Retry),
    ("hold", OnUnknown::Hold),
    ("reconcile", OnUnknown::Reconcile),
];

fn on_unknown(table: &Table<'_>, known: Option<&Known>) -> Read<OnUnknown> {
    let choices = "\"retry\", \"reconcile\" or \"hold\"";
    let given = table.word("on_unknown", ON_UNKNOWN, choices)?;
    let keeps_keys = known.is_none_or(|known| known.window.is_some());
    let Some(given) = given else {
        return Ok(if keeps_keys {
            OnUnknown::Retry
        } else {
            OnUnknown::Hold
        });
    };
    let (message, help) = match given.get_ref() {
        OnUnknown::Retry if !keeps_keys => (
            "on_unknown = \"retry\" would execute an action twice: with idempotency = \"none\" the destination keeps no keys",
            "write on_unknown = \"hold\" or \"reconcile\", or the destination's window in `idempotency`",
        ),
        allowed => return Ok(*allowed),
    };
    Err(table.report.mistake(&given.span(), message, help))
}

fn backoff(table: &Table<'_>) -> Read<Backoff> {
    const DEFAULT: Backoff = Backoff {
        first: Duration::from_secs(30),
        max: Duration::from_secs(3600),
    };
    let Some(value) = table.get("backoff") else {
        return Ok(DEFAULT);
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("backoff", value, "", "a table"));
    };
    let title = format!("`backoff` of {}", table.title);
    let inner = Table::of(table.report, entries, value.span(), title, BACKOFF_KEYS);
    let first = inner.duration_or("first", DEFAULT.first, BACKOFF);
    let max = inner.duration_or("max", DEFAULT.max, BACKOFF);
    let (first, max) = (first?, max?);
    if first.value > max.value {
        let span: Span = first.span.or(max.span).unwrap_or(value.span());
        let message = format!(
            "`backoff`: first ({}) is longer than max ({})",
            time(first.value),
            time(max.value)
        );
        let help = format!(
            "write backoff = {{ first = \"{}\", max = \"{}\" }}",
            time(max.value),
            time(first.value)
        );
        return Err(table.report.mistake(&span, message, help));
    }
    Ok(Backoff {
        first: first.value,
        max: max.value,
    })
}
