//! `[destination.NAME]`: where actions go, each kind by its own reader, and what is done where nobody knows whether one arrived. What
//! must be decided by the user has no default.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::{Backoff, DeliveryPolicy, Idempotency, OnUnknown};
use toml::Spanned;

use self::idempotency::{Known, idempotency};
use self::kind::KindName;
use super::backoff::backoff;
use super::reconcile;
use super::report::{Read, Report, Reported};
use super::table::{Given, Key, Table, Value, entries, key, name};
use crate::config::DestinationConfig;
use crate::reconcile::Reconcile;

mod arn;
mod breaker;
mod http;
mod idempotency;
mod kind;
mod lambda;
mod sqs;
mod step_functions;

/// Every table of a destination with its keys.
#[cfg(test)]
pub(crate) const TABLES: &[&[Key]] = &[
    http::KEYS,
    sqs::KEYS,
    step_functions::KEYS,
    lambda::KEYS,
    idempotency::IDEMPOTENCY_KEYS,
    breaker::BREAKER_KEYS,
];

/// Keys that every kind has.
const KIND: Key = key("kind", "\"http\"");
/// `idempotency` where there is no header to name.
const WINDOW_KEY: Key = key("idempotency", "{ window = \"5m\" }");
const ON_UNKNOWN_KEY: Key = key("on_unknown", "\"hold\"");
const TIMEOUT_KEY: Key = key("timeout", "\"10s\"");
const RETRY_FOR_KEY: Key = key("retry_for", "\"3d\"");
const ALLOW_PRIVATE_KEY: Key = key("allow_private", "true");
const RECONCILE_KEY: Key = key(
    "reconcile",
    "{ url = \"https://mail.example.com/actions/{key}\", answers = [{ status = 200, means = \"applied\" }] }",
);
const BACKOFF_KEY: Key = key("backoff", "{ first = \"30s\", max = \"1h\" }");

const CONCURRENCY_KEY: Key = key("concurrency", "4");
const BREAKER_KEY: Key = key(
    "breaker",
    "{ after = 10, pause = \"30s\", max_pause = \"10m\" }",
);

/// The waits between attempts where nothing is written.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(30),
    max: Duration::from_secs(3600),
};

const DAY: Duration = Duration::from_secs(24 * 3600);
const MILLISECOND: Duration = Duration::from_millis(1);
/// A function runs for at most 15 minutes, and must settle inside them.
const TIMEOUT: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(14 * 60);
const RETRY_FOR: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(365 * 24 * 3600);
/// As many as `[delivery]` may say.
const CONCURRENCY: RangeInclusive<usize> = 1..=1000;

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
    let words = format!("[destination.{}]", title.get_ref());
    let found = entries(report, value, &words)?;
    // The kind first: it says which keys there are. Where it is a mistake itself, none of the others can
    // be told from one.
    let kind = KindName::of(report, found)?;
    let hint = |name: &str| kind.hint(name);
    let table = Table::hinting(report, found, value.span(), words, kind.keys(), hint);
    let timeout = table.duration_or("timeout", Duration::from_secs(10), TIMEOUT);
    let backoff = backoff(&table, BACKOFF);
    let known = match kind.keeps(&table) {
        Some(keeps) => idempotency(&table, keeps),
        // What it keeps depends on what is missing or a mistake, which is on the report by the end.
        None => Err(Reported),
    };
    Ok(Destination {
        title: title.get_ref(),
        config: config(&table, title, kind, known.as_ref().ok(), &timeout, backoff),
        window: known.ok().and_then(|known| known.window),
        timeout,
        backoff,
    })
}

fn config(
    table: &Table<'_>,
    title: &Spanned<&str>,
    kind: KindName,
    known: Option<&Known>,
    timeout: &Read<Given<Duration>>,
    backoff: Read<Backoff>,
) -> Read<DestinationConfig> {
    let name = name(table.report, title, "a destination's name");
    let allow_private = table.flag("allow_private");
    let may_be_private = allow_private.map_or(true, Option::unwrap_or_default);
    let to = kind.read(table, known, may_be_private);
    let reconcile = reconcile::reconcile(table, may_be_private);
    let on_unknown = on_unknown(table, known);
    let agreed = agree(table, &on_unknown, &reconcile);
    let retry_for = table.duration_or("retry_for", 3 * DAY, RETRY_FOR);
    let concurrency = table.count("concurrency", CONCURRENCY);
    let breaker = breaker::breaker(table, known.and_then(|known| known.window.as_ref()));
    agreed?;
    let timeout = timeout.as_ref().map_err(|reported| *reported)?.value;
    let (to, _) = (to?, allow_private?);
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
        to,
        reconcile: reconcile?,
        concurrency: concurrency?,
        breaker: breaker?,
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
