//! One table of the file with the keys that it may have: typed getters, each of which reports what is
//! wrong with its value and what to write instead. A key that is not known is reported once, at the start.

use ackbox_domain::Name;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::{shown, suggestion};
use super::report::{Read, Report, Reported, Span};

mod measure;

/// A key that a table may have, and a value that it could have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
}

/// Makes the list of a table's keys.
pub(crate) const fn key(name: &'static str, example: &'static str) -> Key {
    Key { name, example }
}

/// A value of the file with its place.
pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// A value, and where it stands; a default stands nowhere.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) span: Option<Span>,
}

/// One table.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    pub(crate) report: &'a Report<'a>,
    /// Where the table begins.
    pub(crate) span: Span,
    /// How messages name it: `[source.reports]`.
    pub(crate) title: String,
    entries: &'a DeTable<'a>,
    keys: &'static [Key],
}

impl<'a> Table<'a> {
    /// Opens a value as a table.
    pub(crate) fn open(
        report: &'a Report<'a>,
        value: &'a Value<'a>,
        title: String,
        keys: &'static [Key],
    ) -> Read<Self> {
        let entries = entries(report, value, &title)?;
        Ok(Self::of(report, entries, value.span(), title, keys))
    }

    /// The table of these entries.
    pub(crate) fn of(
        report: &'a Report<'a>,
        entries: &'a DeTable<'a>,
        span: Span,
        title: String,
        keys: &'static [Key],
    ) -> Self {
        Self::hinting(report, entries, span, title, keys, |_| None)
    }

    /// The same, with what to write instead of some of the keys that it does not have.
    pub(crate) fn hinting(
        report: &'a Report<'a>,
        entries: &'a DeTable<'a>,
        span: Span,
        title: String,
        keys: &'static [Key],
        hint: impl Fn(&str) -> Option<String>,
    ) -> Self {
        for name in entries.keys() {
            let text = name.get_ref();
            if keys.iter().all(|key| key.name != text) {
                let message = format!("{title} has no key {}", shown(text));
                let help =
                    hint(text).unwrap_or_else(|| suggestion(text, keys.iter().map(|key| key.name)));
                report.mistake(&name.span(), message, help);
            }
        }
        Self {
            report,
            span,
            title,
            entries,
            keys,
        }
    }

    /// The value of a key, whatever it is.
    pub(crate) fn get(&self, name: &'static str) -> Option<&'a Value<'a>> {
        debug_assert!(
            self.keys.iter().any(|key| key.name == name),
            "{name} is read, and is not on the list of keys"
        );
        self.entries.get(name)
    }

    /// The place of a key's value, else of the table.
    pub(crate) fn place(&self, name: &'static str) -> Span {
        self.get(name).map_or(self.span.clone(), Spanned::span)
    }

    /// Turns an absent value into a mistake.
    pub(crate) fn required<T>(&self, name: &'static str, found: Read<Option<T>>) -> Read<T> {
        found?.ok_or_else(|| {
            let help = format!("write {}", self.example(name));
            self.report
                .absent(&self.span, format!("{} has no `{name}`", self.title), help)
        })
    }

    /// A text.
    pub(crate) fn text(&self, name: &'static str) -> Read<Option<Spanned<&'a str>>> {
        self.convert(name, "a text", |value| value.as_str())
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &'static str) -> Read<Option<bool>> {
        Ok(self
            .convert(name, "true or false", DeValue::as_bool)?
            .map(Spanned::into_inner))
    }

    /// One of some words; `choices` are those to name where it is none of them.
    pub(crate) fn word<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
        choices: &str,
    ) -> Read<Option<Spanned<T>>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| word == text.get_ref()) {
            Some((_, meaning)) => Ok(Some(Spanned::new(text.span(), *meaning))),
            None => {
                let message = format!("`{name}` cannot be {}", shown(text.get_ref()));
                let help = format!("write {choices}");
                Err(self.report.mistake(&text.span(), message, help))
            }
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &'static str) -> Read<Option<Spanned<Vec<Spanned<&'a str>>>>> {
        let Some(list) = self.convert(name, "a list", DeValue::as_array)? else {
            return Ok(None);
        };
        let mut texts = Vec::new();
        let mut failed = None;
        for value in list.get_ref().iter() {
            match value.get_ref().as_str() {
                Some(text) => texts.push(Spanned::new(value.span(), text)),
                None => failed = Some(self.not_a(name, value, "an entry that is", "a text")),
            }
        }
        failed.map_or(Ok(Some(Spanned::new(list.span(), texts))), Err)
    }

    fn convert<T>(
        &self,
        name: &'static str,
        wanted: &str,
        convert: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Read<Option<Spanned<T>>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match convert(value.get_ref()) {
            Some(found) => Ok(Some(Spanned::new(value.span(), found))),
            None => Err(self.not_a(name, value, "", wanted)),
        }
    }

    /// The value of a key has the wrong type. The value itself is not repeated: it could be a secret.
    pub(crate) fn not_a(
        &self,
        name: &'static str,
        value: &Value<'_>,
        holds: &str,
        wanted: &str,
    ) -> Reported {
        let message = if holds.is_empty() {
            format!("`{name}` is {}, not {wanted}", kind(value))
        } else {
            format!("`{name}` has {holds} {}, not {wanted}", kind(value))
        };
        let help = format!("write {}", self.example(name));
        self.report.mistake(&value.span(), message, help)
    }

    /// What a key could say: `timeout = "10s"`.
    pub(crate) fn example(&self, name: &'static str) -> String {
        let example = self.keys.iter().find(|key| key.name == name);
        format!("{name} = {}", example.map_or("..", |key| key.example))
    }
}

/// What stands in a value that must be a table.
pub(crate) fn entries<'a>(
    report: &Report<'_>,
    value: &'a Value<'a>,
    title: &str,
) -> Read<&'a DeTable<'a>> {
    value.get_ref().as_table().ok_or_else(|| {
        let message = format!("{title} is {}, not a table", kind(value));
        let help = format!("write {title} on a line, and its keys below");
        report.mistake(&value.span(), message, help)
    })
}

/// A name of a source, destination or rule.
pub(crate) fn name(report: &Report<'_>, text: &Spanned<&str>, what: &str) -> Read<Name> {
    text.get_ref()
        .parse()
        .map_err(|e| report.mistake(&text.span(), format!("{what}: {e}"), ""))
}

/// What a value is, in words, without the value.
pub(crate) fn kind(value: &Value<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
