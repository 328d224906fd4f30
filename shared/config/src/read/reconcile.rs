//! `[destination.NAME.reconcile]`: how a destination is asked what became of an action. What comes in is
//! the table; what goes out is the question, and what each answer means. An answer that no rule knows
//! means that it is still unknown: silence is never read as a yes or a no.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Pointer;
use ackbox_domain::settlement::{AnswerRule, Word};
use toml::Spanned;
use toml::de::DeValue;

use super::address;
use super::headers;
use super::nearest::shown;
use super::report::{Read, Reported, Span};
use super::table::{Key, Table, Value, key};
use crate::reconcile::{AskMethod, Reconcile, UrlTemplate, Written};

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
    let url = url(&table, allow_private);
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

fn url(table: &Table<'_>, allow_private: bool) -> Read<UrlTemplate> {
    let text = table.required("url", table.text("url"))?;
    let wrong = |why: String| {
        let help = format!("write {}", table.example("url"));
        table
            .report
            .mistake(&text.span(), format!("`url` {why}"), help)
    };
    let written = Written::parse(text.get_ref()).map_err(wrong)?;
    // With its places filled, it must be a URL as a destination's own is.
    address::template(table, &text, &written.example(), allow_private)?;
    written.placed().map_err(wrong)
}

fn answers(table: &Table<'_>) -> Read<Vec<AnswerRule>> {
    let value = table.required("answers", Ok(table.get("answers")))?;
    let DeValue::Array(list) = value.get_ref() else {
        return Err(table.not_a("answers", value, "", "a list of tables"));
    };
    let mut rules: Vec<AnswerRule> = Vec::new();
    let mut failed: Option<Reported> = None;
    for value in list.iter() {
        match answer(table, value) {
            Ok(rule) => {
                doubtful(table, &value.span(), &rule, &rules);
                rules.push(rule);
            }
            Err(reported) => failed = Some(reported),
        }
    }
    if let Some(reported) = failed {
        return Err(reported);
    }
    if !rules.iter().any(|rule| rule.means == Word::Applied) {
        let message = "no answer of `answers` means \"applied\": nothing asked of this destination could ever be known to have arrived";
        let help = format!("write {}", table.example("answers"));
        return Err(table.report.mistake(&value.span(), message, help));
    }
    Ok(rules)
}

/// Warns of a rule that is never reached, and of one that makes a word of what is none.
fn doubtful(table: &Table<'_>, span: &Span, rule: &AnswerRule, before: &[AnswerRule]) {
    let status = rule.status;
    if before.iter().any(|earlier| earlier.covers(rule)) {
        let message = format!(
            "this answer is never reached: one before it fits every answer with the status {status} that it fits"
        );
        let help = "write it before that one, or remove it";
        table.report.warn(span, message, help);
    }
    let risk = match rule.means {
        Word::Applied => "taken for delivered without having arrived",
        Word::NotApplied => "sent again though it has arrived",
        Word::StillUnknown => return,
    };
    if rule.conditions.is_empty() && !speaks_of_the_action(status, rule.means) {
        let message = format!(
            "an answer with the status {status} does not speak of the action, which could be {risk}"
        );
        let help = "remove it, so that the destination is asked again, or add a `where` that only an answer about the action fits";
        table.report.warn(span, message, help);
    }
}

/// Whether an answer of this status, by itself, says something of the action, and not of the question:
/// who asks (401, 403, 407), how (405), where (3xx, 421), how often (429), or how the destination fares
/// (408, 425, 5xx). That it points to somewhere else may well mean that it has the action.
fn speaks_of_the_action(status: u16, means: Word) -> bool {
    match status {
        300..=399 => means == Word::Applied,
        401 | 403 | 405 | 407 | 408 | 421 | 425 | 429 | 500.. => false,
        _ => true,
    }
}

fn answer(of: &Table<'_>, value: &Value<'_>) -> Read<AnswerRule> {
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(of.not_a("answers", value, "an entry that is", "a table"));
    };
    let title = format!("an answer in {}", of.title);
    let table = Table::of(of.report, entries, value.span(), title, ANSWER_KEYS);
    let status = status(&table);
    let conditions = conditions(&table);
    let means = table.word(
        "means",
        MEANINGS,
        "\"applied\", \"not_applied\" or \"still_unknown\"",
    );
    let means = table.required("means", means);
    Ok(AnswerRule {
        status: status?,
        conditions: conditions?,
        means: means?.into_inner(),
    })
}

fn status(table: &Table<'_>) -> Read<u16> {
    let value = table.required("status", Ok(table.get("status")))?;
    let number = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => return Err(table.not_a("status", value, "", "a number")),
    };
    number
        .filter(|status| (200..600).contains(status))
        .ok_or_else(|| {
            let message = "`status` is no status of a final answer";
            table
                .report
                .mistake(&value.span(), message, "write a number from 200 to 599")
        })
}

fn conditions(table: &Table<'_>) -> Read<Vec<(Pointer, String)>> {
    let Some(value) = table.get("where") else {
        return Ok(Vec::new());
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("where", value, "", "a table of pointers and values"));
    };
    let mut conditions = Vec::new();
    let mut failed = None;
    for (name, value) in entries.iter() {
        let pointer: Result<Pointer, _> = name.get_ref().parse();
        match (pointer, scalar(value)) {
            (Ok(pointer), Some(wanted)) => conditions.push((pointer, wanted)),
            (Err(why), _) => {
                let message = format!("{} is no JSON pointer: {why}", shown(name.get_ref()));
                let help = "write a pointer into the answer's body, as in \"/state\"";
                failed = Some(table.report.mistake(&name.span(), message, help));
            }
            (Ok(_), None) => {
                let help = "write a text, a number, or true or false";
                let message = "what an answer is compared with is a value of its own";
                failed = Some(table.report.mistake(&value.span(), message, help));
            }
        }
    }
    failed.map_or(Ok(conditions), Err)
}

/// As the answer's JSON would write it.
fn scalar(value: &Value<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}
