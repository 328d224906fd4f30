//! `[[source.NAME.rule]]`: which observations become actions, under which key, and where those go.

use std::collections::BTreeMap;

use ackbox_domain::{Carriage, FingerprintPart, KeyPart, Name, Rule};
use toml::Spanned;
use toml::de::DeValue;

use super::action_key;
use super::event;
use super::locator::{all, repeated};
use super::nearest::{nearest, shown};
use super::payload;
use super::previously::{self, previously};
use super::report::{Read, Span};
use super::sender::Sender;
use super::table::{Key, Table, key, name};

/// The keys of `[[source.NAME.rule]]`.
pub(crate) const KEYS: &[Key] = &[
    key("name", "\"report-ready\""),
    key("on", "[\"export.ready\"]"),
    key("key", "[\"message:id\"]"),
    key("namespace", "\"reports\""),
    key("fingerprint", "[\"body\"]"),
    key("destination", "\"mailer\""),
    key("payload", "\"body\""),
    key("previously", "[\"old-name\"]"),
];

/// Namespaces that are ours, and what for.
const RESERVED: &[(&str, &str)] = &[
    ("workflow", "the actions of jobs"),
    ("ackbox/notify", "notices of trouble"),
    ("ackbox/redrive", "what an operator sends as a new action"),
    ("ackbox/supersede", "what an operator makes of a conflict"),
];
const NAMESPACE_MAX: usize = 2 * Name::MAX + 1;

/// The source whose rules are read.
pub(crate) struct Owner<'o> {
    pub(crate) title: &'o str,
    /// The first name that it ever had.
    pub(crate) identity: &'o str,
}

/// Reads the rules of one source.
pub(crate) fn rules<'a>(
    source: &Table<'a>,
    owner: &Owner<'_>,
    sender: Option<&Sender<'a>>,
    destinations: &BTreeMap<&str, Span>,
) -> Read<Vec<Rule>> {
    let report = source.report;
    let header = format!("[[source.{}.rule]]", owner.title);
    let Some(value) = source.get("rule") else {
        if source.get("job").is_some() {
            return Ok(Vec::new());
        }
        let message = format!(
            "{} has no rule: its messages are acknowledged and make nothing",
            source.title
        );
        report.warn(&source.span, message, format!("write a {header}"));
        return Ok(Vec::new());
    };
    let DeValue::Array(values) = value.get_ref() else {
        let message = format!("{header} is not a list of rules");
        return Err(report.mistake(
            &value.span(),
            message,
            format!("write {header}, with two brackets, above each rule"),
        ));
    };
    let read = values.iter().map(|value| {
        let table = Table::open(report, value, header.clone(), KEYS)?;
        let rule = rule(&table, owner, sender, destinations);
        Ok((table, rule?))
    });
    let rules = all(read);
    unique_names(source, value.get_ref())?;
    previously::agree(report, &previously::of_rules(values));
    let rules = rules?;
    warn_of_shadows(&rules);
    if let Some(sender) = sender {
        event::warn_of_unsigned_types(sender, &rules);
    }
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}

fn rule<'a>(
    table: &Table<'a>,
    owner: &Owner<'_>,
    sender: Option<&Sender<'a>>,
    destinations: &BTreeMap<&str, Span>,
) -> Read<Rule> {
    let name = table
        .required("name", table.text("name"))
        .and_then(|text| name(table.report, &text, "a rule's name"));
    let own = name.as_ref().map_or("", Name::as_str);
    let previously = previously(table, own, "a rule's previous name");
    let on = event::patterns(table, sender, "the rule");
    let key = action_key::parts(table, sender);
    let namespace = namespace(table);
    let fingerprint = fingerprint(table, sender, key.as_deref().unwrap_or_default());
    let destination = destination(table, destinations);
    let payload = payload::payload(table, sender);
    let (name, previously) = (name?, previously?);
    let identity = previously.first().unwrap_or(&name);
    Ok(Rule {
        on: on?,
        key: key?,
        namespace: namespace?.unwrap_or_else(|| format!("{}/{identity}", owner.identity)),
        name,
        previously,
        fingerprint: fingerprint?,
        destination: destination?,
        payload: payload?,
        // Known once the destinations are.
        carriage: Carriage::ANYTHING,
    })
}

fn namespace(table: &Table<'_>) -> Read<Option<String>> {
    let Some(text) = table.text("namespace")? else {
        return Ok(None);
    };
    let name = *text.get_ref();
    let fits = (1..=NAMESPACE_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_./".contains(&b));
    let ours = RESERVED.iter().find(|(reserved, _)| *reserved == name);
    let (message, help) = if let Some((reserved, what)) = ours {
        (
            format!("the namespace \"{reserved}\" is kept for {what}"),
            "write another name, such as that of the source".to_owned(),
        )
    } else if fits {
        return Ok(Some(name.to_owned()));
    } else {
        (
            format!("{} is no namespace", shown(name)),
            format!("write 1 to {NAMESPACE_MAX} lower-case letters, digits and - _ . /"),
        )
    };
    Err(table.report.mistake(&text.span(), message, help))
}

fn fingerprint(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
    key: &[KeyPart],
) -> Read<Vec<FingerprintPart>> {
    const HELP: &str =
        "write \"body\" for the bytes as they came, or JSON pointers, as in [\"/id\", \"/status\"]";
    let Some(texts) = table.texts("fingerprint")? else {
        return sender.map_or(Ok(Vec::new()), Sender::default_fingerprint);
    };
    let (span, texts) = (texts.span(), texts.into_inner());
    if texts.is_empty() {
        return Err(table.report.mistake(
            &span,
            "`fingerprint` is empty: nothing would tell a repetition from another fact",
            HELP,
        ));
    }
    let parts = all(texts.iter().map(|text| match text.get_ref().parse() {
        Ok(part) if !text.get_ref().is_empty() => Ok(part),
        Ok(_) => Err(table
            .report
            .mistake(&text.span(), "`fingerprint` has an empty entry", HELP)),
        Err(e) => Err(table
            .report
            .mistake(&text.span(), format!("`fingerprint`: {e}"), HELP)),
    }))?;
    if let Some((part, span)) = repeated(&texts) {
        table.report.warn(
            &span,
            format!("`fingerprint` names {} twice", shown(part)),
            "remove one of the two",
        );
    }
    let in_key = |part: &FingerprintPart| matches!(part, FingerprintPart::Value(pointer) if key.contains(&KeyPart::Value(pointer.clone())));
    if parts.iter().all(in_key) {
        table.report.warn(&span, "`fingerprint` holds only parts of the key: no second content is ever seen as a conflict", "name what must be the same on every repetition, such as \"body\"");
    }
    Ok(parts)
}

/// The destination that a table names, which must be one of the file's.
pub(super) fn destination(table: &Table<'_>, known: &BTreeMap<&str, Span>) -> Read<Name> {
    let text = table.required("destination", table.text("destination"))?;
    let wanted = *text.get_ref();
    if known.contains_key(wanted) {
        return name(table.report, &text, "a destination's name");
    }
    let help = match nearest(wanted, known.keys().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "write the name of a [destination.NAME] of this file".to_owned(),
    };
    Err(table.report.absent(
        &text.span(),
        format!("there is no destination {}", shown(wanted)),
        help,
    ))
}

/// Every rule that has a name has one of its own, also where another part of it is a mistake.
fn unique_names(source: &Table<'_>, rules: &DeValue<'_>) -> Read<()> {
    let names = rules.as_array().into_iter().flat_map(|rules| rules.iter());
    let names: Vec<Spanned<&str>> = names
        .filter_map(|rule| rule.get_ref().as_table()?.get("name"))
        .filter_map(|name| Some(Spanned::new(name.span(), name.get_ref().as_str()?)))
        .collect();
    let again = names
        .iter()
        .enumerate()
        .filter(|(n, name)| names.iter().take(*n).any(|other| other == *name));
    let mut found = Ok(());
    for (_, name) in again {
        let message = format!(
            "{} has two rules of the name {}",
            source.title,
            shown(name.get_ref())
        );
        found = Err(source.report.mistake(
            &name.span(),
            message,
            "give each rule a name of its own: it is part of its actions' identity",
        ));
    }
    found
}

/// Two rules that make one key of one observation make one action: the later rule's destination never sees it.
fn warn_of_shadows(rules: &[(Table<'_>, Rule)]) {
    for (n, (table, rule)) in rules.iter().enumerate() {
        let shadow = rules.iter().take(n).map(|(_, other)| other).find(|other| {
            other.namespace == rule.namespace
                && other.key == rule.key
                && other.destination != rule.destination
                && other
                    .on
                    .iter()
                    .any(|a| rule.on.iter().any(|b| event::overlap(a, b)))
        });
        if let Some(first) = shadow {
            let message = format!(
                "the rules {} and {} share namespace and key: of an event that both want, one action is made, for one of their destinations",
                first.name, rule.name
            );
            table.report.warn(
                &table.place("namespace"),
                message,
                "give one of them another namespace, if both destinations are to see it",
            );
        }
    }
}
