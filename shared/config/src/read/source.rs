//! `[source.NAME]`: one sender with its rules. What the scheme knows stands, unless the source says otherwise.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_domain::{Each, Name, Source, notice};
use toml::Spanned;

use super::freshness::max_age;
use super::headers;
use super::job::{self, About, Spaces};
use super::locator::{pointer, repeated, scheme_pointer};
use super::previously::{self, previously};
use super::report::{Read, Report, Span};
use super::retention::retention;
use super::rule::{self, Owner};
use super::scheme::Schemes;
use super::secrets;
use super::sender::Sender;
use super::table::{Key, Table, Value, key, name};
use crate::config::{OnConflict, SourceConfig};

/// The keys of `[source.NAME]`.
pub(crate) const KEYS: &[Key] = &[
    key("scheme", "\"standard-webhooks\""),
    key("secrets", "[\"env:REPORTS_SECRET\"]"),
    key("signature_header", "\"X-Signature\""),
    key("timestamp_header", "\"X-Timestamp\""),
    key("max_body", "\"256 KiB\""),
    key("tolerance", "\"5m\""),
    key("id", "\"header:webhook-id\""),
    key("event", "\"/type\""),
    key("subject", "\"/data/id\""),
    key("account", "\"/account\""),
    key("each", "\"/events\""),
    key("max_each", "100"),
    key("test_events", "[\"ping\"]"),
    key("progress_events", "[\"job.progress\"]"),
    key("trust_unsigned_id", "true"),
    key("trust_body", "true"),
    key("on_conflict", "\"refuse\""),
    key("previously", "[\"old-name\"]"),
    key("time", "\"/created\""),
    key("max_age", "\"30d\""),
    key("retention", "{ accepted = \"90d\" }"),
    key(
        "rule",
        "[{ name = \"..\", key = [\"..\"], destination = \"..\" }]",
    ),
    key("job", "{}"),
];

/// The largest request of a Lambda function URL.
const BODY_MAX: u64 = 6 * 1024 * 1024;
const BODY_DEFAULT: usize = 256 * 1024;
const EACH_MAX: usize = 1000;
const EACH_DEFAULT: usize = 100;
/// A signed time that may be further off than this protects from nothing.
const TOLERANCE: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

/// Notices come from a source of this name.
fn not_ours(report: &Report<'_>, title: &Spanned<&str>, name: Name) -> Read<Name> {
    if name.as_str() != notice::SOURCE {
        return Ok(name);
    }
    let message = format!("the source name \"{name}\" is kept for ackbox's own notices");
    let help = "write another name, such as that of the sender";
    Err(report.mistake(&title.span(), message, help))
}

/// What the whole file says, for its sources to be read against.
pub(crate) struct Around<'f> {
    pub(crate) schemes: &'f Schemes<'f>,
    /// The names that rules may use.
    pub(crate) destinations: &'f BTreeMap<&'f str, Span>,
    pub(crate) spaces: Spaces,
}

/// Reads one source.
pub(crate) fn source<'a>(
    report: &'a Report<'a>,
    title: &Spanned<&'a str>,
    value: &'a Value<'a>,
    around: &Around<'_>,
) -> Read<SourceConfig> {
    let table = Table::open(report, value, format!("[source.{}]", title.get_ref()), KEYS)?;
    let name =
        name(report, title, "a source's name").and_then(|name| not_ours(report, title, name));
    let scheme = table
        .required("scheme", table.text("scheme"))
        .and_then(|text| around.schemes.meant(&table, text))
        .and_then(|scheme| headers::moved(&table, scheme));
    let secrets = secrets::required(&table, "secrets");
    let max_body = table.size("max_body", 1..=BODY_MAX);
    let on_conflict = table.word("on_conflict", CONFLICT, "\"acknowledge\" or \"refuse\"");
    let retention = retention(&table);
    let previously = previously(&table, title.get_ref(), "a source's previous name");
    let previously = previously.and_then(|names| previously::none_is_ours(&table, names));
    let sender = scheme.map(|scheme| Sender::read(title.get_ref(), table.clone(), scheme));
    let first = previously.as_ref().ok().and_then(|names| names.first());
    let owner = Owner {
        title: title.get_ref(),
        identity: first.map_or(title.get_ref(), Name::as_str),
    };
    let rules = rule::rules(&table, &owner, sender.as_ref().ok(), around.destinations);
    let about = About {
        source: title.get_ref(),
        identity: owner.identity,
        sender: sender.as_ref().ok(),
        secrets: secrets.as_deref().ok(),
        spaces: &around.spaces,
    };
    let job = job::job(&table, &about);
    let shape = Shape::read(&table, sender.as_ref().ok());
    let tolerance = shape.as_ref().ok().and_then(|shape| shape.tolerance);
    let max_age = max_age(&table, sender.as_ref().ok(), tolerance);
    let sender = sender?;
    sender.warn_of_needless_trust();
    let (shape, rules, job) = (shape?, rules?, job?);
    if let Some(job) = &job {
        job::warn_of_rules_beside(&sender, &job.jobs, &rules);
    }
    let (jobs, lookup) = job.map_or((None, None), |job| (Some(job.jobs), job.lookup));
    Ok(SourceConfig {
        source: Source {
            name: name?,
            previously: previously?,
            id: sender.id?,
            event: sender.event?,
            subject: sender.subject?,
            account: sender.account?,
            each: sender.each?,
            test_events: sender.test_events?,
            progress_events: shape.progress_events,
            form_field: sender.scheme.facts().form_field.clone(),
            rules,
            jobs,
            max_age: max_age?,
            max_body: max_body?.map_or(BODY_DEFAULT, |size| {
                usize::try_from(size.into_inner()).unwrap_or(usize::MAX)
            }),
        },
        scheme: sender.scheme,
        secrets: secrets?,
        tolerance: shape.tolerance,
        lookup,
        on_conflict: on_conflict?.map(Spanned::into_inner).unwrap_or_default(),
        retention: retention?,
    })
}

const CONFLICT: &[(&str, OnConflict)] = &[
    ("acknowledge", OnConflict::Acknowledge),
    ("refuse", OnConflict::Refuse),
];

/// What no rule needs to know.
struct Shape {
    tolerance: Option<Duration>,
    progress_events: Vec<String>,
}

impl Shape {
    fn read(table: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Self> {
        let tolerance = tolerance(table, sender);
        let progress = events(table, "progress_events");
        let known = sender.map(|sender| &sender.scheme.facts().progress_events);
        Ok(Self {
            tolerance: tolerance?,
            progress_events: progress?.unwrap_or_else(|| known.cloned().unwrap_or_default()),
        })
    }
}

fn tolerance(table: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Option<Duration>> {
    let Some(given) = table.duration("tolerance", TOLERANCE)? else {
        return Ok(None);
    };
    match sender {
        Some(sender) if sender.scheme.facts().tolerance.is_none() => {
            let slug = sender.scheme.slug();
            let message =
                format!("`tolerance` has nothing to act on: the scheme \"{slug}\" signs no time");
            let help =
                "remove it; an old message of this sender is told from a new one by its key alone";
            Err(table.report.mistake(&given.span(), message, help))
        }
        _ => Ok(Some(given.into_inner())),
    }
}

/// A list of event types.
pub(crate) fn events(table: &Table<'_>, name: &'static str) -> Read<Option<Vec<String>>> {
    let Some(texts) = table.texts(name)? else {
        return Ok(None);
    };
    let texts = texts.into_inner();
    if let Some(empty) = texts.iter().find(|text| text.get_ref().trim().is_empty()) {
        let message = format!("`{name}` has an empty entry");
        return Err(table.report.mistake(
            &empty.span(),
            message,
            "write the event's type, or remove the entry",
        ));
    }
    if let Some(pattern) = texts.iter().find(|text| text.get_ref().contains('*')) {
        let message = format!("`{name}` has an entry with a star");
        return Err(table.report.mistake(
            &pattern.span(),
            message,
            "write each event's type in full; patterns are for a rule's `on`",
        ));
    }
    if let Some((_, span)) = repeated(&texts) {
        table.report.warn(
            &span,
            format!("`{name}` names one event twice"),
            "remove one of the two",
        );
    }
    Ok(Some(
        texts
            .into_iter()
            .map(|text| (*text.get_ref()).to_owned())
            .collect(),
    ))
}

/// How the sender batches: as the source says, else as the scheme does.
pub(crate) fn each(table: &Table<'_>, known: Option<&str>) -> Read<Option<Each>> {
    let own = table.text("each");
    let max = table.count("max_each", 1..=EACH_MAX);
    let batch = match (own?, known) {
        (Some(text), _) => Some(pointer(table.report, &text)?),
        (None, Some(text)) => Some(scheme_pointer(table, text)?),
        (None, None) => None,
    };
    match (batch, max?) {
        (Some(pointer), max) => Ok(Some(Each {
            pointer,
            max: max.unwrap_or(EACH_DEFAULT),
        })),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(table.report.mistake(
            &table.place("max_each"),
            "`max_each` bounds a batch, and this source has none",
            "write each = \"/pointer\" to the array of events, or remove `max_each`",
        )),
    }
}
