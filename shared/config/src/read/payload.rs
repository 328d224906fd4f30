//! A rule's `payload`: one of two words, or the shape of what the destination is to receive. Every hole is read
//! here, so that a misspelt one is found with its line, and not when the first message comes.

use ackbox_domain::Payload;
use ackbox_domain::template::{Node, Number, Shape, Template, Text};
use toml::de::{DeTable, DeValue};

use super::locator::all;
use super::nearest::shown;
use super::report::Read;
use super::sender::Sender;
use super::table::{Key, Table, Value, key, kind};

mod text;

/// The keys of `payload`.
pub(crate) const KEYS: &[Key] = &[
    key(
        "json",
        "{ to = \"{/data/email}\", text = \"Order {/data/order} is paid\" }",
    ),
    key("form", "{ Body = \"Order {/data/order} is paid\" }"),
    key("text", "\"Order {/data/order} is paid\""),
    key("content_type", "\"application/cloudevents+json\""),
];

const HELP: &str = "write \"body\", \"envelope\", or a shape with values in it, as in { json = { order = \"{/data/order}\" } }";

/// What a rule sends.
pub(crate) fn payload<'a>(rule: &Table<'a>, sender: Option<&Sender<'a>>) -> Read<Payload> {
    let Some(value) = rule.get("payload") else {
        return Ok(Payload::Body);
    };
    match value.get_ref() {
        DeValue::String(word) if word == "body" => Ok(Payload::Body),
        DeValue::String(word) if word == "envelope" => Ok(Payload::Envelope),
        DeValue::String(word) => {
            let message = format!("`payload` cannot be {}", shown(word));
            Err(rule.report.mistake(&value.span(), message, HELP))
        }
        DeValue::Table(entries) => {
            let title = format!("`payload` of {}", rule.title);
            let table = Table::of(rule.report, entries, value.span(), title, KEYS);
            template(&Reader { table, sender }).map(Payload::Template)
        }
        _ => {
            let message = format!("`payload` is {}, not a text or a table", kind(value));
            Err(rule.report.mistake(&value.span(), message, HELP))
        }
    }
}

struct Reader<'r, 'a> {
    table: Table<'a>,
    sender: Option<&'r Sender<'a>>,
}

fn template(reader: &Reader<'_, '_>) -> Read<Template> {
    let table = &reader.table;
    let shapes = ["json", "form", "text"];
    let mut given = shapes
        .into_iter()
        .filter_map(|name| table.get(name).map(|value| (name, value)));
    let Some((name, value)) = given.next() else {
        let message = format!("{} has no shape", table.title);
        return Err(table.report.mistake(&table.span, message, HELP));
    };
    if let Some((second, value)) = given.next() {
        let message = format!("`payload` has both `{name}` and `{second}`");
        let help = "a body has one shape: remove one of the two";
        return Err(table.report.mistake(&value.span(), message, help));
    }
    let content_type = content_type(table, name);
    let shape = match name {
        "json" => reader.node(name, value, 0).map(Shape::Json),
        "form" => reader.form(name, value).map(Shape::Form),
        _ => reader.whole_text(name, value).map(Shape::Text),
    };
    let template = Template {
        shape: shape?,
        content_type: content_type?,
    };
    let holes = template.holes().len();
    if holes > Template::HOLES_MAX {
        let message = format!("`payload` has {holes} holes");
        let help = format!(
            "write at most {}; a list or object of the message fills one hole whole",
            Template::HOLES_MAX
        );
        return Err(table.report.mistake(&table.span, message, help));
    }
    Ok(template)
}

/// The content type: of JSON one's own, where it says that it is JSON. Of the others there is one.
fn content_type(table: &Table<'_>, shape: &str) -> Read<String> {
    let usual = match shape {
        "json" => "application/json",
        "form" => "application/x-www-form-urlencoded",
        _ => "text/plain; charset=utf-8",
    };
    let Some(text) = table.text("content_type")? else {
        return Ok(usual.to_owned());
    };
    let written = *text.get_ref();
    let (message, help) = if shape != "json" {
        (
            format!("`content_type` stands beside `{shape}`, whose type is {usual}"),
            "remove it",
        )
    } else if is_json_type(written) {
        return Ok(written.to_owned());
    } else {
        (
            format!("`content_type`: {} does not say JSON", shown(written)),
            "write \"application/json\", or a type that ends in +json, as in \"application/cloudevents+json\"",
        )
    };
    Err(table.report.mistake(&text.span(), message, help))
}

/// RFC 6838, section 4.2, and RFC 6839, section 3.1: `type/subtype`, parameters behind a semicolon.
fn is_json_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let fits = essence
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"/+-._".contains(&b));
    let plain = text.len() <= 256 && text.bytes().all(|b| (0x20..0x7f).contains(&b));
    let named = essence.split_once('/').is_some_and(|(class, name)| {
        !class.is_empty()
            && !name.contains('/')
            && (name.eq_ignore_ascii_case("json")
                || name.to_ascii_lowercase().ends_with("+json") && name.len() > "+json".len())
    });
    fits && plain && named
}

impl Reader<'_, '_> {
    fn node(&self, path: &str, value: &Value<'_>, depth: usize) -> Read<Node> {
        if depth > Template::DEPTH_MAX {
            let message = format!("`payload` is more than {} levels deep", Template::DEPTH_MAX);
            return Err(self.table.report.mistake(&value.span(), message, ""));
        }
        match value.get_ref() {
            DeValue::String(text) => self.text(path, value, text).map(Node::Text),
            DeValue::Boolean(bool) => Ok(Node::Bool(*bool)),
            DeValue::Integer(integer) => {
                let token = match integer.radix() {
                    10 => Some(integer.as_str().trim_start_matches('+').to_owned()),
                    radix => u128::from_str_radix(integer.as_str(), radix)
                        .ok()
                        .map(|number| number.to_string()),
                };
                self.number(path, value, token)
            }
            DeValue::Float(float) => {
                let token = float.as_str().trim_start_matches('+').to_owned();
                self.number(path, value, Some(token))
            }
            DeValue::Datetime(_) => {
                let message = format!("`{path}` is a date, which JSON does not have");
                let help = "write it in quotes, as a text";
                Err(self.table.report.mistake(&value.span(), message, help))
            }
            DeValue::Array(list) => {
                let nodes = list.iter().enumerate();
                all(nodes.map(|(n, value)| self.node(&format!("{path}.{n}"), value, depth + 1)))
                    .map(Node::List)
            }
            DeValue::Table(entries) => {
                let members = in_order(entries).into_iter();
                all(members.map(|(name, value)| {
                    let node = self.node(&format!("{path}.{name}"), value, depth + 1)?;
                    Ok((name.to_owned(), node))
                }))
                .map(Node::Object)
            }
        }
    }

    fn number(&self, path: &str, value: &Value<'_>, token: Option<String>) -> Read<Node> {
        token
            .and_then(|token| Number::new(&token))
            .map(Node::Number)
            .ok_or_else(|| {
                let message = format!("`{path}` is a number that JSON does not have");
                let help = "write it as a text, in quotes";
                self.table.report.mistake(&value.span(), message, help)
            })
    }

    fn form(&self, path: &str, value: &Value<'_>) -> Read<Vec<(String, Text)>> {
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(self.table.not_a("form", value, "", "a table"));
        };
        all(in_order(entries).into_iter().map(|(name, value)| {
            let text = self.whole_text(&format!("{path}.{name}"), value)?;
            Ok((name.to_owned(), text))
        }))
    }

    fn whole_text(&self, path: &str, value: &Value<'_>) -> Read<Text> {
        match value.get_ref() {
            DeValue::String(text) => self.text(path, value, text),
            _ => {
                let message = format!("`{path}` is {}, not a text", kind(value));
                let help = "write it in quotes";
                Err(self.table.report.mistake(&value.span(), message, help))
            }
        }
    }
}

/// A table's entries in the order of the file.
fn in_order<'t, 'a>(entries: &'t DeTable<'a>) -> Vec<(&'t str, &'t Value<'a>)> {
    let mut written: Vec<_> = entries.iter().collect();
    written.sort_by_key(|(name, _)| name.span().start);
    written
        .into_iter()
        .map(|(name, value)| (name.get_ref().as_ref(), value))
        .collect()
}
