//! `[destination.NAME.reconcile]`: how a destination is asked what became of an action. What comes in is
//! the table; what goes out is the question, and what each answer means. An answer that no rule knows
//! means that it is still unknown: silence is never read as a yes or a no.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::settlement::{AnswerRule, Word};
use toml::Spanned;
use toml::de::DeValue;

use super::address;
use super::answers::Answers;
use super::headers;
use super::report::Read;
use super::table::{Key, Table, key};
use crate::reconcile::{AskMethod, Places, Reconcile, UrlTemplate, Written};

/// The keys of `reconcile`.
pub(crate) const KEYS: &[Key] = &[
    key("url", "\"https://mail.example.com/actions/{key}\""),
    key("method", "\"GET\""),
    key(
        "headers",
        "{ Authorization = \"env:MAILER_AUTHORIZATION\" }",
    ),
    key("timeout", "\"10s\""),
    key("give_up_after", "\"1d\""),
    key(
        "answers",
        "[{ status = 200, means = \"applied\" }, { status = 404, means = \"not_applied\" }]",
    ),
];

/// The keys of one answer.
pub(crate) const ANSWER_KEYS: &[Key] = &[
    key("status", "200"),
    key("where", "{ \"/state\" = \"done\" }"),
    key("means", "\"applied\""),
];

const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);
const GIVE_UP: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

const MEANINGS: &[(&str, Word)] = &[
    ("applied", Word::Applied),
    ("not_applied", Word::NotApplied),
    ("still_unknown", Word::StillUnknown),
];
const METHODS: &[(&str, AskMethod)] = &[("GET", AskMethod::Get), ("POST", AskMethod::Post)];

/// Reads the table, where there is one. `allow_private` is the destination's own.
pub(crate) fn reconcile(of: &Table<'_>, allow_private: bool) -> Read<Option<Reconcile>> {
    let Some(value) = of.get("reconcile") else {
        return Ok(None);
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(of.not_a("reconcile", value, "", "a table"));
    };
    let title = format!("`reconcile` of {}", of.title);
    let table = Table::of(of.report, entries, value.span(), title, KEYS);
    let url = url(&table, Places::ACTION, allow_private);
    let method = table.word("method", METHODS, "\"GET\" or \"POST\"");
    let headers = headers::headers(&table, "");
    let timeout = table.duration_or("timeout", Duration::from_secs(10), TIMEOUT);
    let give_up_after = table.duration_or("give_up_after", DAY, GIVE_UP);
    let answers = answers(&table);
    Ok(Some(Reconcile {
        url: url?,
        method: method?.map_or(AskMethod::Get, Spanned::into_inner),
        headers: headers?,
        timeout: timeout?.value,
        give_up_after: give_up_after?.value,
        answers: answers?,
        allow_private,
    }))
}

/// The URL of a question, with the places that it may have.
pub(crate) fn url(table: &Table<'_>, places: Places, allow_private: bool) -> Read<UrlTemplate> {
    let text = table.required("url", table.text("url"))?;
    template(table, &text, places, allow_private)
}

/// The same, of a text that may stand elsewhere.
pub(crate) fn template(
    table: &Table<'_>,
    text: &Spanned<&str>,
    places: Places,
    allow_private: bool,
) -> Read<UrlTemplate> {
    let wrong = |why: String| {
        let help = format!("write {}", table.example("url"));
        table
            .report
            .mistake(&text.span(), format!("`url` {why}"), help)
    };
    let written = Written::parse(text.get_ref(), places).map_err(wrong)?;
    // With its places filled, it must be a URL as a destination's own is.
    address::template(table, text, &written.example(), allow_private)?;
    written.placed().map_err(wrong)
}

const ANSWERS: Answers<Word> = Answers {
    keys: ANSWER_KEYS,
    means,
    doubt,
};

fn answers(table: &Table<'_>) -> Read<Vec<AnswerRule>> {
    let rules = table.required("answers", ANSWERS.read(table))?;
    if rules.iter().any(|rule| rule.means == Word::Applied) {
        return Ok(rules);
    }
    let message = "no answer of `answers` means \"applied\": nothing asked of this destination could ever be known to have arrived";
    let help = format!("write {}", table.example("answers"));
    Err(table.report.mistake(&table.place("answers"), message, help))
}

fn means(table: &Table<'_>) -> Read<Word> {
    let choices = "\"applied\", \"not_applied\" or \"still_unknown\"";
    let means = table.word("means", MEANINGS, choices);
    table.required("means", means).map(Spanned::into_inner)
}

/// A rule that makes a word of what is none.
fn doubt(rule: &AnswerRule) -> Option<(String, &'static str)> {
    let status = rule.status;
    let risk = match rule.means {
        Word::Applied => "taken for delivered without having arrived",
        Word::NotApplied => "sent again though it has arrived",
        Word::StillUnknown => return None,
    };
    if !rule.conditions.is_empty() || speaks_of_the_action(status, rule.means) {
        return None;
    }
    let message = format!(
        "an answer with the status {status} does not speak of the action, which could be {risk}"
    );
    Some((
        message,
        "remove it, so that the destination is asked again, or add a `where` that only an answer about the action fits",
    ))
}

/// Whether an answer of this status, by itself, says something of the action, and not of the question.
/// That it points to somewhere else may well mean that it has the action.
fn speaks_of_the_action(status: u16, means: Word) -> bool {
    match status {
        300..=399 => means == Word::Applied,
        _ => speaks_of_what_is_asked(status),
    }
}

/// Whether an answer of this status is one to what was asked, and not about who asks (401, 403, 407), how
/// (405), where (3xx, 421), how often (429), or how the other side fares (408, 425, 5xx).
pub(crate) fn speaks_of_what_is_asked(status: u16) -> bool {
    !matches!(status, 300..=399 | 401 | 403 | 405 | 407 | 408 | 421 | 425 | 429 | 500..)
}
