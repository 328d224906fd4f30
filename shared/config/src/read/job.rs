//! `[source.NAME.job]`: how a source's facts speak of jobs. What the scheme knows of that stands, and what is
//! written here is merged over it; `job = {}` is enough for a sender whose scheme says all of it. What must
//! never happen: that a job is ended by what nobody proved.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::job::{Ids, Jobs, Unbound};
use ackbox_domain::{EventPattern, Name, Rule};
use toml::Spanned;

use super::event;
use super::lookup;
use super::report::{Read, Reported};
use super::sender::Sender;
use super::table::{Key, Table, key, name};
use crate::lookup::Lookup;
use crate::reference::SecretRef;

mod accounts;
mod proof;
mod words;

pub(crate) use words::outcome;

/// The keys of `[source.NAME.job]`.
pub(crate) const KEYS: &[Key] = &[
    key("space", "\"videos\""),
    key("ids", "\"shared\""),
    key("on", "[\"job.*\"]"),
    key("account", "\"acme\""),
    key("accounts", "{ \"env:ACME_SECRET\" = \"acme\" }"),
    key("unbound", "\"park\""),
    key("parked_for", "\"7d\""),
    key("status", "\"/status\""),
    key("outcomes", "{ done = \"completed\", failed = \"failed\" }"),
    key("progress", "[\"processing\"]"),
    key("values", "{ source-url = \"/url\" }"),
    key(
        "lookup",
        "{ url = \"https://api.example.com/jobs/{job_id}\", headers = { Authorization = \"env:API_AUTHORIZATION\" }, answers = [{ status = 200, means = \"status\" }] }",
    ),
];

const IDS: &[(&str, Ids)] = &[("shared", Ids::Shared), ("per-account", Ids::PerAccount)];
const UNBOUND: &[(&str, Unbound)] = &[
    ("park", Unbound::Park),
    ("refuse", Unbound::Refuse),
    ("ignore", Unbound::Ignore),
];
const PARKED: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(365 * 24 * 3600);
const PARKED_DEFAULT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How a source speaks of jobs, and how it is asked.
pub(crate) struct Job {
    pub(crate) jobs: Jobs,
    pub(crate) lookup: Option<Lookup>,
}

/// What is known of the source whose job is read. A part that is a mistake itself is `None`.
pub(crate) struct About<'s, 'a> {
    pub(crate) source: &'s str,
    /// The first name that the source ever had.
    pub(crate) identity: &'s str,
    pub(crate) sender: Option<&'s Sender<'a>>,
    pub(crate) secrets: Option<&'s [SecretRef]>,
    pub(crate) spaces: &'s Spaces,
}

/// Reads the table, where there is one.
pub(crate) fn job<'a>(of: &Table<'a>, about: &About<'_, 'a>) -> Read<Option<Job>> {
    let Some(value) = of.get("job") else {
        return Ok(None);
    };
    let title = format!("[source.{}.job]", about.source);
    let table = Table::open(of.report, value, title, KEYS)?;
    let space = space(&table, about.identity);
    let ids = table.word("ids", IDS, "\"shared\" or \"per-account\"");
    let ids = ids.map(|ids| ids.map_or(Ids::Shared, Spanned::into_inner));
    let agreed = about.spaces.agree(&table, about.source, &space, &ids);
    let on = event::patterns(&table, about.sender, "the job");
    let account = accounts::own(&table);
    let accounts = accounts::of_secrets(&table, about.secrets);
    let unbound = unbound(&table);
    let words = words::words(&table, about.sender);
    let values = words::values(&table, about.sender);
    let lookup = lookup::lookup(&table, about.sender);
    if let Some(sender) = about.sender {
        proof::check(&table, sender)?;
    }
    agreed?;
    let (words, (unbound, parked_for)) = (words?, unbound?);
    Ok(Some(Job {
        jobs: Jobs {
            space: space?,
            ids: ids?,
            on: on?,
            account: account?,
            accounts: accounts?,
            status: words.status,
            outcomes: words.outcomes,
            progress: words.progress,
            values: values?,
            unbound,
            parked_for,
        },
        lookup: lookup?,
    }))
}

/// Without a word, a space of the source's own: by its first name, so that a rename changes no job.
fn space(table: &Table<'_>, identity: &str) -> Read<Name> {
    match table.text("space")? {
        Some(text) => name(table.report, &text, "a job space's name"),
        // What is wrong with the source's name is on the report already.
        None => identity.parse().map_err(|_| Reported),
    }
}

fn unbound(table: &Table<'_>) -> Read<(Unbound, Duration)> {
    let choices = "\"park\", \"refuse\" or \"ignore\"";
    let unbound = table.word("unbound", UNBOUND, choices);
    let parked_for = table.duration_or("parked_for", PARKED_DEFAULT, PARKED);
    let (unbound, parked_for) = (unbound?, parked_for?);
    let unbound = unbound.map_or(Unbound::Park, Spanned::into_inner);
    match parked_for.span {
        Some(span) if unbound != Unbound::Park => Err(table.report.mistake(
            &span,
            "`parked_for` has nothing to act on: ends of unbound jobs are not parked",
            "remove it, or write unbound = \"park\"",
        )),
        _ => Ok((unbound, parked_for.value)),
    }
}

/// The job spaces of the file so far, and the source that was first in each.
#[derive(Default)]
pub(crate) struct Spaces(RefCell<BTreeMap<Name, (Ids, String)>>);

impl Spaces {
    /// The sources of one space must agree within what its ids are unique: one job would be two.
    fn agree(
        &self,
        table: &Table<'_>,
        source: &str,
        space: &Read<Name>,
        ids: &Read<Ids>,
    ) -> Read<()> {
        let (Ok(space), Ok(ids)) = (space, ids) else {
            return Ok(());
        };
        let mut spaces = self.0.borrow_mut();
        let (others, first) = spaces
            .entry(space.clone())
            .or_insert_with(|| (*ids, source.to_owned()));
        if others == ids {
            return Ok(());
        }
        let word = |ids: Ids| {
            IDS.iter()
                .find(|(_, other)| *other == ids)
                .map_or("", |(word, _)| word)
        };
        let message = format!(
            "[source.{source}] and [source.{first}] share the job space \"{space}\", and do not agree on `ids`: \"{}\" and \"{}\"",
            word(*ids),
            word(*others)
        );
        let help = format!(
            "write ids = \"{}\" in both, or another `space` in one of them",
            word(*others)
        );
        Err(table.report.mistake(&table.place("ids"), message, help))
    }
}

/// Warns of a rule that may want what ends a job: such an event makes an action by the rule, whatever
/// the job's steps make of it.
pub(crate) fn warn_of_rules_beside(sender: &Sender<'_>, jobs: &Jobs, rules: &[Rule]) {
    let tests = sender.test_events.as_deref().unwrap_or_default();
    let ends = |pattern: &EventPattern| {
        let is_of_jobs = jobs.on.iter().any(|on| event::overlap(on, pattern));
        is_of_jobs
            && match pattern {
                EventPattern::Exact(event) => !tests.contains(event) && may_end(jobs, event),
                EventPattern::Prefix(_) | EventPattern::Any => true,
            }
    };
    let Some(rule) = rules.iter().find(|rule| rule.on.iter().any(ends)) else {
        return;
    };
    let message = format!(
        "the rule {} wants events that may end a job: each of them makes an action by the rule, beside those of the job's steps",
        rule.name
    );
    let help = "remove the rule, if the steps of the jobs do its work; or write in `on` of the job and of the rule what is whose";
    let table = &sender.table;
    table.report.warn(&table.place("job"), message, help);
}

/// Whether an event of this type may tell of an end: by its type, or by a status that it has.
fn may_end(jobs: &Jobs, event: &str) -> bool {
    let word = event.to_lowercase();
    let is_end = jobs.outcomes.contains_key(&word);
    is_end || (!jobs.status.is_empty() && !jobs.progress.contains(&word))
}
