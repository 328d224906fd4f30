//! A rule's `key`: its parts, and whether they can be an identity. A part that the signature does not
//! cover is refused unless the user says that he trusts it: who can change it can make new actions. So is any
//! key under a signature that leaves the body out: the action would be what anyone says.

use ackbox_domain::{KeyPart, Locator};
use toml::Spanned;

use super::locator::{all, is_header_name, repeated};
use super::nearest::shown;
use super::report::{Read, Reported};
use super::sender::Sender;
use super::table::Table;

const PARTS_MAX: usize = 10;

/// Reads the parts, and checks them against the source's scheme.
pub(crate) fn parts(table: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Vec<KeyPart>> {
    let texts = table.required("key", table.texts("key"))?;
    let (span, texts) = (texts.span(), texts.into_inner());
    if !(1..=PARTS_MAX).contains(&texts.len()) {
        let message = format!("`key` has {} parts", texts.len());
        return Err(table.report.mistake(&span, message, format!("write 1 to {PARTS_MAX} values that name the action, as in [\"message:id\"] or [\"/data/id\"]")));
    }
    let parts = all(texts.iter().map(|text| {
        let part = part(table, text)?;
        sender.map_or(Ok(()), |sender| {
            Check {
                table,
                sender,
                text,
            }
            .part(&part)
        })?;
        Ok(part)
    }))?;
    if let Some((part, span)) = repeated(&texts) {
        table.report.warn(
            &span,
            format!("`key` names {} twice", shown(part)),
            "remove one of the two",
        );
    }
    if let Some(sender) = sender {
        tells_elements_apart(table, sender, &parts)?;
        body_is_signed(table, sender)?;
    }
    warn_of_no_identity(table, &parts);
    Ok(parts)
}

fn part(table: &Table<'_>, text: &Spanned<&str>) -> Read<KeyPart> {
    let wrong = |message: String, help: &str| table.report.mistake(&text.span(), message, help);
    if *text.get_ref() == "body" {
        return Err(wrong(
            "`key` cannot be the body: a repetition with one other byte would be a new action"
                .to_owned(),
            "name the values that tell one action from another, as in [\"/data/id\"]",
        ));
    }
    match text.get_ref().parse() {
        Ok(KeyPart::Header(name)) if !is_header_name(&name) => Err(wrong(
            format!("{} is not the name of a header", shown(&name)),
            "write \"header:NAME\"",
        )),
        Ok(part) => Ok(part),
        Err(e) => Err(wrong(format!("`key`: {e}"), "")),
    }
}

/// One part of a key, and what it is checked against.
struct Check<'c, 'a> {
    table: &'c Table<'a>,
    sender: &'c Sender<'a>,
    text: &'c Spanned<&'a str>,
}

impl Check<'_, '_> {
    fn part(&self, part: &KeyPart) -> Read<()> {
        let sender = self.sender;
        match part {
            KeyPart::Source => Ok(()),
            KeyPart::Header(name) => self.header(name),
            KeyPart::Value(_) => self.body(),
            KeyPart::BodyValue(_) if matches!(sender.each, Ok(None)) => Err(self.mistake(
                format!(
                    "{} reads past a batch, and this source has none",
                    shown(self.text.get_ref())
                ),
                "write the pointer without \"body:\", or `each` in the source",
            )),
            KeyPart::BodyValue(_) => self.body(),
            KeyPart::MessageId => self.located("id", &sender.id),
            KeyPart::Event => self.located("event", &sender.event),
            KeyPart::Subject => self.located("subject", &sender.subject),
            KeyPart::Account => self.located("account", &sender.account),
        }
    }

    fn located(&self, fact: &str, places: &Read<Vec<Locator>>) -> Read<()> {
        let Ok(places) = places else {
            return Ok(());
        };
        if places.is_empty() {
            let source = self.sender.name;
            let message = format!(
                "\"message:{fact}\": the scheme \"{}\" does not know where that stands",
                self.sender.scheme.slug()
            );
            let help = format!(
                "write {fact} = \"/pointer\" (or \"header:NAME\") in [source.{source}], or use another key part"
            );
            return Err(self.mistake(message, &help));
        }
        places.iter().try_for_each(|place| match place {
            Locator::Header { name, covered } if !covered => self.header(name),
            Locator::Header { .. } => Ok(()),
            Locator::Body(_) => self.body(),
        })
    }

    fn header(&self, name: &str) -> Read<()> {
        if self.sender.trusts_header(name) {
            return Ok(());
        }
        let (scheme, source) = (self.sender.scheme.slug(), self.sender.name);
        Err(self.mistake(
            format!("{} stands in the header {name}, which the signature of \"{scheme}\" does not cover", shown(self.text.get_ref())),
            &format!("use a value of the signed body, as in \"/data/id\"; or write trust_unsigned_id = true in [source.{source}], which means: whoever replays a signed body can change that header, and so make a new action of it"),
        ))
    }

    fn body(&self) -> Read<()> {
        if self.sender.trusts_body() {
            return Ok(());
        }
        let scheme = self.sender.scheme.slug();
        Err(self.mistake(
            format!(
                "{} stands in the body, which the signature of \"{scheme}\" does not cover",
                shown(self.text.get_ref())
            ),
            &to_trust_the_body(self.sender),
        ))
    }

    fn mistake(&self, message: String, help: &str) -> Reported {
        self.table
            .report
            .mistake(&self.text.span(), format!("`key`: {message}"), help)
    }
}

fn to_trust_the_body(sender: &Sender<'_>) -> String {
    let source = sender.name;
    format!(
        "choose a scheme that signs the body, if the sender has one; or write trust_body = true in [source.{source}], which means: whoever knows the secret, or stands between, can put anything there, and so make any action"
    )
}

/// A signed id alone says that there was a message, and not which: any body fits its signature.
fn body_is_signed(table: &Table<'_>, sender: &Sender<'_>) -> Read<()> {
    if sender.trusts_body() {
        return Ok(());
    }
    let message = format!(
        "`key` has no part of the body, and the signature of \"{}\" does not cover the body either: one signature lets any body in",
        sender.scheme.slug()
    );
    Err(table
        .report
        .mistake(&table.place("key"), message, to_trust_the_body(sender)))
}

/// In a batch, at least one part must be of the element: else all elements make one action.
fn tells_elements_apart(table: &Table<'_>, sender: &Sender<'_>, parts: &[KeyPart]) -> Read<()> {
    let in_element = |places: &Read<Vec<Locator>>| match places {
        Ok(places) => places.iter().any(|place| matches!(place, Locator::Body(_))),
        Err(_) => true,
    };
    let tells = |part: &KeyPart| match part {
        KeyPart::Value(_) => true,
        KeyPart::MessageId => in_element(&sender.id),
        KeyPart::Event => in_element(&sender.event),
        KeyPart::Subject => in_element(&sender.subject),
        KeyPart::Account => in_element(&sender.account),
        KeyPart::Source | KeyPart::Header(_) | KeyPart::BodyValue(_) => false,
    };
    if !matches!(sender.each, Ok(Some(_))) || parts.iter().any(tells) {
        return Ok(());
    }
    Err(table.report.mistake(
        &table.place("key"),
        "`key` is the same for every element of a batch, so one message would make one action, and conflicts",
        "add a value of the element, as in \"/id\"",
    ))
}

/// Warns of a key that is another one on each repetition, or the same one for everything.
fn warn_of_no_identity(table: &Table<'_>, parts: &[KeyPart]) {
    let is_fixed =
        |part: &KeyPart| matches!(part, KeyPart::Source | KeyPart::Event | KeyPart::Account);
    let is_volatile = |part: &KeyPart| match part {
        KeyPart::Value(pointer) | KeyPart::BodyValue(pointer) => {
            changes_by_itself(pointer.as_str().rsplit('/').next().unwrap_or_default())
        }
        KeyPart::Header(name) => changes_by_itself(name.trim_start_matches("x-")),
        _ => false,
    };
    if parts.iter().all(is_fixed) {
        let message =
            "`key` is the same for every message of a kind: only the first ever becomes an action";
        table.report.warn(
            &table.place("key"),
            message,
            "add what tells one from another, such as \"message:id\" or \"message:subject\"",
        );
    } else if parts.iter().all(|part| is_fixed(part) || is_volatile(part)) {
        let message = "`key` is made of times or digests only: a sender that renders them anew makes a new action of the same fact, and two facts of one moment are one";
        table.report.warn(
            &table.place("key"),
            message,
            "use the id of the thing or of the event, as in \"message:id\" or \"/data/id\"",
        );
    }
}

/// Whether a value of this name is a time or a digest.
fn changes_by_itself(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "time",
        "ts",
        "date",
        "datetime",
        "created",
        "updated",
        "modified",
        "sent",
        "occurred",
        "iat",
        "exp",
        "nonce",
        "digest",
        "hash",
        "checksum",
        "signature",
        "contentmd5",
        "creationtime",
    ];
    let name = name.to_lowercase().replace(['_', '-'], "");
    let is_moment =
        |stem: &str| NAMES.contains(&stem) || stem.ends_with("ed") || stem.ends_with("sent");
    NAMES.contains(&name.as_str())
        || name.contains("timestamp")
        || name.ends_with("signature")
        || name.ends_with("digest")
        || ["at", "on", "time", "date"]
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(is_moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_times_and_digests_are_known() {
        for name in [
            "created",
            "created_at",
            "createdAt",
            "timestamp",
            "event_timestamp",
            "ts",
            "sent_at",
            "updatedOn",
            "Date",
            "occurred_at",
            "request-timestamp",
            "hub-signature",
            "content-digest",
        ] {
            assert!(changes_by_itself(name), "{name}");
        }
        for name in [
            "id",
            "status",
            "event_id",
            "format",
            "number",
            "person",
            "job_id",
            "action",
            "state",
            "candidate",
            "",
        ] {
            assert!(!changes_by_itself(name), "{name}");
        }
    }
}
