//! The `on` of a rule or a job: which events it wants. An entry that could never fit is refused, or warned of; so is a
//! choice between rules that stands on a type which nobody signed.

use ackbox_domain::{EventPattern, Locator, Rule};
use toml::Spanned;

use super::locator::{all, repeated};
use super::nearest::shown;
use super::report::Read;
use super::sender::Sender;
use super::table::Table;

/// The patterns of `on`; without it, every event. `who` wants them: "the rule".
pub(crate) fn patterns(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
    who: &str,
) -> Read<Vec<EventPattern>> {
    let Some(texts) = table.texts("on")? else {
        return Ok(vec![EventPattern::Any]);
    };
    let (span, texts) = (texts.span(), texts.into_inner());
    if texts.is_empty() {
        return Err(table.report.mistake(
            &span,
            format!("`on` is empty: {who} wants nothing"),
            "write the events that it wants, or leave `on` out for all of them",
        ));
    }
    let patterns = all(texts.iter().map(|text| pattern(table, text)))?;
    if let Some((event, span)) = repeated(&texts) {
        table.report.warn(
            &span,
            format!("`on` names {} twice", shown(event)),
            "remove one of the two",
        );
    }
    let Some(sender) = sender else {
        return Ok(patterns);
    };
    let by_type = texts
        .iter()
        .zip(&patterns)
        .find(|(_, pattern)| **pattern != EventPattern::Any);
    if let (Some((text, _)), Ok([])) = (by_type, sender.event.as_deref()) {
        let message = format!(
            "{who} wants {}, and [source.{}] does not know where the event's type stands",
            shown(text.get_ref()),
            sender.name
        );
        return Err(table.report.mistake(
            &text.span(),
            message,
            "write event = \"/pointer\" (or \"header:NAME\") in the source, or leave `on` out",
        ));
    }
    for (text, pattern) in texts.iter().zip(&patterns) {
        warn_of_test_event(table, sender, text, pattern, who);
    }
    Ok(patterns)
}

fn pattern(table: &Table<'_>, text: &Spanned<&str>) -> Read<EventPattern> {
    let event = *text.get_ref();
    let (message, help) = if event.trim().is_empty() {
        (
            "`on` has an empty entry".to_owned(),
            "write the event's type, or \"*\" for all",
        )
    } else if event.trim_end_matches('*').contains('*') || event.ends_with("**") {
        (
            format!("`on` has {}: a star stands at the end only", shown(event)),
            "write \"invoice.*\" for all that begin so, \"*\" for all, or each event in full",
        )
    } else if event.trim() != event {
        (
            format!("`on` has {}, with space around it", shown(event)),
            "remove the space",
        )
    } else {
        return Ok(EventPattern::from(event));
    };
    Err(table.report.mistake(&text.span(), message, help))
}

fn warn_of_test_event(
    table: &Table<'_>,
    sender: &Sender<'_>,
    text: &Spanned<&str>,
    pattern: &EventPattern,
    who: &str,
) {
    let tests = sender.test_events.as_deref().unwrap_or_default();
    if let EventPattern::Exact(event) = pattern
        && tests.contains(event)
    {
        let message = format!(
            "{who} wants {}, which only tests the connection: it never makes an action",
            shown(event)
        );
        table.report.warn(
            &text.span(),
            message,
            format!(
                "remove it, or take it out of `test_events` in [source.{}]",
                sender.name
            ),
        );
    }
}

/// Warns, once for a source, of rules between which an unsigned event type chooses. Where all rules want the
/// same events, or all make one action of one body (one namespace, one key), another type makes no second one.
pub(crate) fn warn_of_unsigned_types(sender: &Sender<'_>, rules: &[(Table<'_>, Rule)]) {
    let Some(header) = unsigned_header(sender) else {
        return;
    };
    let chosen = rules.iter().find_map(|(table, rule)| {
        let is_another = |other: &Rule| {
            let is_one_action = other.namespace == rule.namespace && other.key == rule.key;
            !is_one_action && !want_the_same(&rule.on, &other.on)
        };
        let other = rules.iter().find(|(_, other)| is_another(other));
        let (_, other) = other.filter(|_| !wants_all(&rule.on))?;
        Some((table, rule, other))
    });
    let Some((table, rule, other)) = chosen else {
        return;
    };
    if sender.trusts_header(header) {
        return;
    }
    let message = format!(
        "the event's type stands in the header {header}, which the signature of \"{}\" does not cover: whoever replays a signed body can change its type, and so make the rules {} and {} both fire for it, although their `on` differ",
        sender.scheme.slug(),
        rule.name,
        other.name
    );
    let help = format!(
        "write event = \"/pointer\" in [source.{0}], where the body tells the type; or give the rules one namespace and one key; or accept it by trust_unsigned_id = true in [source.{0}]",
        sender.name
    );
    table.report.warn(&table.place("on"), message, help);
}

/// The header that tells the event's type while the signature leaves it out and covers the body. One that is
/// signed is always there, so nothing behind it counts; a value of the body may be absent. A body that is not
/// signed needs nobody who replays it: `trust_body` says all of it.
fn unsigned_header<'s>(sender: &'s Sender<'_>) -> Option<&'s str> {
    let places = sender.event.as_deref().ok()?;
    let header = places.iter().find_map(|place| match place {
        Locator::Header { name, covered } => Some((name, covered)),
        Locator::Body(_) => None,
    });
    match header {
        Some((name, false)) if sender.scheme.facts().covers_body => Some(name),
        _ => None,
    }
}

fn wants_all(on: &[EventPattern]) -> bool {
    on.contains(&EventPattern::Any)
}

fn want_the_same(a: &[EventPattern], b: &[EventPattern]) -> bool {
    let holds = |a: &[EventPattern], b: &[EventPattern]| b.iter().all(|want| a.contains(want));
    (wants_all(a) && wants_all(b)) || (holds(a, b) && holds(b, a))
}

/// Whether one event can be wanted by both.
pub(crate) fn overlap(a: &EventPattern, b: &EventPattern) -> bool {
    use EventPattern::{Any, Exact, Prefix};
    match (a, b) {
        (Any, _) | (_, Any) => true,
        (Exact(event), other) | (other, Exact(event)) => other.matches(Some(event)),
        (Prefix(a), Prefix(b)) => a.starts_with(b.as_str()) || b.starts_with(a.as_str()),
    }
}
