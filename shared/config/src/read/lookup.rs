//! `[source.NAME.job.lookup]`: how a source is asked about a job that stays silent. What the scheme knows
//! stands; secrets are the user's. An answer that no rule knows means nothing: the job is asked about again.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Backoff;
use ackbox_domain::job::LookupMeaning;
use ackbox_domain::settlement::AnswerRule;
use ackbox_signature::{LookupAnswer, LookupFacts, LookupMeans};
use toml::Spanned;

use super::answers::Answers;
use super::backoff::backoff;
use super::headers;
use super::job::outcome;
use super::locator::pointer;
use super::nearest::shown;
use super::reconcile::{speaks_of_what_is_asked, template, url};
use super::report::{Read, Reported};
use super::sender::Sender;
use super::table::{Key, Table, key};
use crate::lookup::Lookup;
use crate::reconcile::{Places, UrlTemplate};
use crate::reference::SecretRef;

/// The keys of `lookup`.
pub(crate) const KEYS: &[Key] = &[
    key("url", "\"https://api.example.com/jobs/{job_id}\""),
    key("headers", "{ Authorization = \"env:API_AUTHORIZATION\" }"),
    key("timeout", "\"10s\""),
    key("concurrency", "4"),
    key("backoff", "{ first = \"1m\", max = \"1h\" }"),
    key(
        "answers",
        "[{ status = 200, means = \"status\" }, { status = 404, means = \"not_yet\" }]",
    ),
    key("allow_private", "true"),
];

/// The keys of one answer.
pub(crate) const ANSWER_KEYS: &[Key] = &[
    key("status", "200"),
    key("where", "{ \"/state\" = \"done\" }"),
    key("means", "\"status\""),
    key("outcome", "\"expired\""),
];

const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);
const CONCURRENCY: RangeInclusive<usize> = 1..=64;
const CONCURRENCY_DEFAULT: usize = 4;
const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(60),
    max: Duration::from_secs(3600),
};

/// Reads the table, where there is one.
pub(crate) fn lookup(job: &Table<'_>, sender: Option<&Sender<'_>>) -> Read<Option<Lookup>> {
    let Some(value) = job.get("lookup") else {
        return Ok(None);
    };
    let title = job.title.replace(".job]", ".job.lookup]");
    let table = Table::open(job.report, value, title, KEYS)?;
    let facts = sender.and_then(|sender| sender.scheme.facts().job.as_ref()?.lookup.as_ref());
    let allow_private = table.flag("allow_private");
    let may_be_private = allow_private.map_or(true, Option::unwrap_or_default);
    let is_known = sender.is_some();
    let url = whose_url(&table, facts, is_known, may_be_private);
    let headers = headers::headers(&table, "");
    let given = given(&table, sender, facts, &headers);
    let timeout = table.duration_or("timeout", Duration::from_secs(10), TIMEOUT);
    let concurrency = table.count("concurrency", CONCURRENCY);
    let backoff = backoff(&table, BACKOFF);
    let answers = answers(&table, facts, is_known);
    given?;
    Ok(Some(Lookup {
        url: url?,
        headers: headers?,
        timeout: timeout?.value,
        concurrency: concurrency?.unwrap_or(CONCURRENCY_DEFAULT),
        backoff: backoff?,
        answers: answers?,
        allow_private: allow_private?.unwrap_or_default(),
    }))
}

/// The file's own URL, else the scheme's.
fn whose_url(
    table: &Table<'_>,
    facts: Option<&LookupFacts>,
    is_known: bool,
    allow_private: bool,
) -> Read<UrlTemplate> {
    match facts {
        Some(facts) if table.get("url").is_none() => {
            let text = Spanned::new(table.span.clone(), facts.url.as_str());
            template(table, &text, Places::JOB, allow_private)
        }
        _ if !is_known && table.get("url").is_none() => Err(Reported),
        _ => url(table, Places::JOB, allow_private),
    }
}

/// At its own URL, the sender wants its secrets; at another, the user knows what is wanted there.
fn given(
    table: &Table<'_>,
    sender: Option<&Sender<'_>>,
    facts: Option<&LookupFacts>,
    headers: &Read<Vec<(String, SecretRef)>>,
) -> Read<()> {
    let (Some(sender), Some(facts), Ok(headers)) = (sender, facts, headers) else {
        return Ok(());
    };
    let is_given = |wanted: &&String| {
        headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let absent = facts.headers.iter().find(|wanted| !is_given(wanted));
    match absent {
        Some(header) if table.get("url").is_none() => {
            let message = format!(
                "{} does not give the header {header}, in which the scheme \"{}\" wants a secret",
                table.title,
                sender.scheme.slug()
            );
            let help = format!(
                "write headers = {{ {header} = \"env:NAME\" }}, the reference to the whole value; or your own `url`"
            );
            Err(table.report.mistake(&table.place("headers"), message, help))
        }
        _ => Ok(()),
    }
}

const ANSWERS: Answers<LookupMeaning> = Answers {
    keys: ANSWER_KEYS,
    means,
    doubt,
};

fn answers(
    table: &Table<'_>,
    facts: Option<&LookupFacts>,
    is_known: bool,
) -> Read<Vec<AnswerRule<LookupMeaning>>> {
    let rules = match (ANSWERS.read(table)?, facts) {
        (Some(rules), _) => rules,
        (None, Some(facts)) => {
            return facts
                .answers
                .iter()
                .map(|answer| known(table, answer))
                .collect();
        }
        (None, None) if !is_known => return Err(Reported),
        (None, None) => table.required("answers", Ok(None))?,
    };
    if rules.iter().any(|rule| rule.means != LookupMeaning::NotYet) {
        return Ok(rules);
    }
    let message = "no answer of `answers` tells of an end: nothing could ever be learned of a job";
    let help = format!("write {}", table.example("answers"));
    Err(table.report.mistake(&table.place("answers"), message, help))
}

/// What the scheme says of one answer.
fn known(table: &Table<'_>, answer: &LookupAnswer) -> Read<AnswerRule<LookupMeaning>> {
    let text = |text| Spanned::new(table.span.clone(), text);
    let conditions = answer.conditions.iter().map(|(place, wanted)| {
        let pointer = pointer(table.report, &text(place.as_str()))?;
        Ok((pointer, wanted.clone()))
    });
    Ok(AnswerRule {
        status: answer.status,
        conditions: conditions.collect::<Read<_>>()?,
        means: match &answer.means {
            LookupMeans::Status => LookupMeaning::Status,
            LookupMeans::NotYet => LookupMeaning::NotYet,
            LookupMeans::Outcome(name) => LookupMeaning::Outcome(outcome(table, &text(name))?),
        },
    })
}

const MEANINGS: &[(&str, LookupMeaning)] = &[
    ("status", LookupMeaning::Status),
    ("not_yet", LookupMeaning::NotYet),
];

fn means(table: &Table<'_>) -> Read<LookupMeaning> {
    let means = table.text("means")?;
    let ended = table.text("outcome")?;
    match (means, ended) {
        (Some(text), None) => {
            let meaning = MEANINGS.iter().find(|(word, _)| word == text.get_ref());
            meaning.map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
                let message = format!("`means` cannot be {}", shown(text.get_ref()));
                let help = "write \"status\" or \"not_yet\", or outcome = \"..\" instead";
                table.report.mistake(&text.span(), message, help)
            })
        }
        (None, Some(text)) => outcome(table, &text).map(LookupMeaning::Outcome),
        (Some(_), Some(_)) => Err(table.report.mistake(
            &table.place("outcome"),
            format!("{} has `means` and `outcome`", table.title),
            "remove one of the two",
        )),
        (None, None) => Err(table.report.absent(
            &table.span,
            format!("{} has neither `means` nor `outcome`", table.title),
            "write means = \"status\", means = \"not_yet\", or outcome = \"..\"",
        )),
    }
}

/// A rule that takes an answer for word of a job which is none. That a job is not found is none either: soon
/// after it was submitted, the sender may not know it yet.
fn doubt(rule: &AnswerRule<LookupMeaning>) -> Option<(String, &'static str)> {
    let status = rule.status;
    let is_word = rule.means != LookupMeaning::NotYet;
    if !is_word || !rule.conditions.is_empty() || (speaks_of_what_is_asked(status) && status != 404)
    {
        return None;
    }
    let message = format!(
        "an answer with the status {status} does not speak of the job's end, and could be taken for one"
    );
    Some((
        message,
        "remove it, so that the job is asked about again, or add a `where` that only an answer about the job fits",
    ))
}
