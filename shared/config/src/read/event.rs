//! A rule's `on`: which events it wants. An entry that could never fit is refused, or warned of.

use ackbox_domain::EventPattern;
use toml::Spanned;

use super::locator::{all, repeated};
use super::nearest::shown;
use super::report::Read;
use super::sender::Sender;
use super::table::Table;

/// The patterns of `on`; without it, every event.
pub(crate) fn patterns(table: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Vec<EventPattern>> {
    let Some(texts) = table.texts("on")? else {
        return Ok(vec![EventPattern::Any]);
    };
    let (span, texts) = (texts.span(), texts.into_inner());
    if texts.is_empty() {
        return Err(table.report.mistake(
            &span,
            "`on` is empty: the rule wants nothing",
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
            "the rule wants {}, and [source.{}] does not know where the event's type stands",
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
        warn_of_test_event(table, sender, text, pattern);
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
) {
    let tests = sender.test_events.as_deref().unwrap_or_default();
    if let EventPattern::Exact(event) = pattern
        && tests.contains(event)
    {
        let message = format!(
            "the rule wants {}, which only tests the connection: it never makes an action",
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

/// Whether one event can be wanted by both.
pub(crate) fn overlap(a: &EventPattern, b: &EventPattern) -> bool {
    use EventPattern::{Any, Exact, Prefix};
    match (a, b) {
        (Any, _) | (_, Any) => true,
        (Exact(event), other) | (other, Exact(event)) => other.matches(Some(event)),
        (Prefix(a), Prefix(b)) => a.starts_with(b.as_str()) || b.starts_with(a.as_str()),
    }
}
