//! Where what is told of a job stands: a place that nobody signed can end any job, and so start any action,
//! unless the user says that it is trusted.

use ackbox_domain::Locator;

use crate::read::report::Read;
use crate::read::sender::Sender;
use crate::read::table::Table;

/// Checks that a job's id is told, and that what tells of jobs is proven.
pub(crate) fn check(table: &Table<'_>, sender: &Sender<'_>) -> Read<()> {
    let source = sender.name;
    if let Ok([]) = sender.subject.as_deref() {
        let message = format!("{} does not know where a job's id stands", table.title);
        let help = format!("write subject = \"/pointer\" in [source.{source}]");
        return Err(table.report.mistake(&table.span, message, help));
    }
    let mut checked = body(table, sender);
    for (key, what, places) in [
        ("subject", "a job's id", &sender.subject),
        ("account", "the account", &sender.account),
        ("event", "the event's type", &sender.event),
    ] {
        for place in places.as_deref().unwrap_or_default() {
            if let Locator::Header { name, .. } = place {
                checked = checked.and(header(table, sender, (key, what), name));
            }
        }
    }
    checked
}

/// The status, the values, and what a person looks at later, are the body's.
fn body(table: &Table<'_>, sender: &Sender<'_>) -> Read<()> {
    if sender.trusts_body() {
        return Ok(());
    }
    let (scheme, source) = (sender.scheme.slug(), sender.name);
    let message = format!(
        "what is told of jobs stands in the body, which the signature of \"{scheme}\" does not cover"
    );
    let help = format!(
        "choose a scheme that signs the body, if the sender has one; or write trust_body = true in [source.{source}], which means: whoever knows the secret, or stands between, can put anything there, and so end any job"
    );
    Err(table.report.mistake(&table.span, message, help))
}

fn header(
    table: &Table<'_>,
    sender: &Sender<'_>,
    (key, what): (&str, &str),
    name: &str,
) -> Read<()> {
    if sender.trusts_header(name) {
        return Ok(());
    }
    let (scheme, source) = (sender.scheme.slug(), sender.name);
    let message = format!(
        "{what} stands in the header {name}, which the signature of \"{scheme}\" does not cover"
    );
    let help = format!(
        "write {key} = \"/pointer\" in [source.{source}], where the body tells it; or write trust_unsigned_id = true there, which means: whoever replays a signed body can change that header, and so end another job, or end it otherwise"
    );
    Err(table.report.mistake(&table.span, message, help))
}
