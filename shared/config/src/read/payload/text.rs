//! One text of a payload: its holes are read against what the source knows of its messages, and what was
//! probably meant as a hole and is none is warned of.

use ackbox_domain::Locator;
use ackbox_domain::template::{NotAText, Reading, Text};

use super::Reader;
use crate::read::nearest::shown;
use crate::read::report::{Read, Span};
use crate::read::table::Value;

const READINGS: &str = "a hole reads {/pointer}, {body:/pointer}, {data}, {key}, {accepted_at}, {source}, {message:id}, {message:event}, {message:subject} or {message:account}; a brace itself is written twice";

impl Reader<'_, '_> {
    pub(super) fn text(&self, path: &str, value: &Value<'_>, written: &str) -> Read<Text> {
        let report = self.table.report;
        let text = written.parse::<Text>().map_err(|why| {
            let near = near(&why, written);
            let span = near.map_or(value.span(), |near| report.inside(&value.span(), &near));
            report.mistake(&span, format!("`{path}` {why}"), help(&why))
        })?;
        for hole in text.holes() {
            self.reading(path, &value.span(), &hole.to_string(), &hole.reading)?;
        }
        if text.holes().next().is_none() {
            self.warn_of_no_hole(path, &value.span(), written);
        }
        Ok(text)
    }

    /// Whether the source knows what the hole reads.
    fn reading(&self, path: &str, span: &Span, hole: &str, reading: &Reading) -> Read<()> {
        let (Some(sender), report) = (self.sender, self.table.report) else {
            return Ok(());
        };
        let (fact, places): (_, &Read<Vec<Locator>>) = match reading {
            Reading::MessageId => ("id", &sender.id),
            Reading::Event => ("event", &sender.event),
            Reading::Subject => ("subject", &sender.subject),
            Reading::Account => ("account", &sender.account),
            Reading::BodyValue(_) if matches!(sender.each, Ok(None)) => {
                let message = format!(
                    "`{path}` has {hole}, which reads past a batch, and this source has none"
                );
                let help = "write the pointer without \"body:\", or `each` in the source";
                return Err(report.mistake(&report.inside(span, hole), message, help));
            }
            _ => return Ok(()),
        };
        if !matches!(places, Ok(places) if places.is_empty()) {
            return Ok(());
        }
        let message = format!(
            "`{path}` has {hole}: the scheme \"{}\" does not know where that stands",
            sender.scheme.slug()
        );
        let help = format!(
            "write {fact} = \"/pointer\" (or \"header:NAME\") in [source.{}], or use a pointer",
            sender.name
        );
        Err(report.mistake(&report.inside(span, hole), message, help))
    }

    /// A text without holes that was probably meant to have one.
    fn warn_of_no_hole(&self, path: &str, span: &Span, written: &str) {
        let inner = written
            .split_once("{{")
            .and_then(|(_, rest)| rest.split_once("}}"))
            .map(|(inner, _)| inner.trim());
        let (value, message) = match inner {
            Some(inner) => (
                inner,
                format!("`{path}` has {{{{ and }}}}, which are sent as braces"),
            ),
            None => (
                written,
                format!("`{path}` is sent as the text {}", shown(written)),
            ),
        };
        let hole = format!("{{{value}}}");
        let reads = hole.parse::<Text>().is_ok();
        let is_pointer = value.starts_with('/') && value.len() > 1;
        let is_named = is_pointer || value.starts_with("message:") || value.starts_with("body:/");
        if inner.is_some() || reads && is_named {
            let value = if reads { &hole } else { "{/data/id}" };
            let help = format!("write {value} in single braces for the value itself");
            self.table.report.warn(span, message, help);
        }
    }
}

/// The characters of the file that are wrong, where they can be told.
fn near(why: &NotAText, written: &str) -> Option<String> {
    match why {
        NotAText::Brace(brace) => {
            Some(brace.to_string()).filter(|one| written.matches(one.as_str()).count() == 1)
        }
        NotAText::Hole(inside) | NotAText::Header(inside) | NotAText::Pointer(inside, _) => {
            Some(format!("{{{inside}}}"))
        }
    }
}

fn help(why: &NotAText) -> String {
    match why {
        NotAText::Brace(brace) => {
            format!("write {brace}{brace} for the character itself, or {{/data/id}} for a value")
        }
        NotAText::Hole(inside) => {
            let name = inside.trim();
            let is_step = |step: &str| {
                !step.is_empty() && step.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            };
            if name.contains('.') && name.split('.').all(is_step) {
                format!("write a JSON pointer: {{/{}}}", name.replace('.', "/"))
            } else {
                READINGS.to_owned()
            }
        }
        NotAText::Header(_) => {
            "name the header as `id`, `event`, `subject` or `account` of the source, and write {message:event} and the like".to_owned()
        }
        NotAText::Pointer(..) => READINGS.to_owned(),
    }
}
