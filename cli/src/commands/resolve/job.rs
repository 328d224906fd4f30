//! What a job has open: another end than the one on the record, or that nothing was heard of it.

use ackbox_domain::Name;
use ackbox_domain::job::{Ids, JobRef, identity};
use ackbox_store::{Heard, JobStory, Observed, ObservedRecord, Superseded};
use serde_json::json;

use super::Case;
use crate::commands::deed::{self, Agreed, Done, Intent};
use crate::commands::doubt::did;
use crate::commands::{CommandError, table};
use crate::edge;
use crate::output::escaped;

/// Which job.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct JobChoice {
    /// A job, by its space and id
    #[arg(long, value_name = "SPACE/ID", value_parser = job)]
    job: Option<(Name, String)>,
    /// The job's account, where ids of the space are unique only within one
    #[arg(long, value_name = "NAME", requires = "job")]
    account: Option<String>,
}

fn job(text: &str) -> Result<(Name, String), String> {
    let (space, id) = text
        .split_once('/')
        .ok_or("write the job space and the id, as in tornado/550e8400")?;
    let space = space
        .parse()
        .map_err(|_| format!("{:?} is no job space", escaped(space)))?;
    let id = identity("the id", id).map_err(|wrong| wrong.to_string())?;
    Ok((space, id))
}

impl JobChoice {
    pub(super) const fn is_some(&self) -> bool {
        self.job.is_some()
    }

    pub(in crate::commands) fn of(&self) -> Option<JobRef> {
        let (space, id) = self.job.clone()?;
        let ids = match self.account {
            Some(_) => Ids::PerAccount,
            None => Ids::Shared,
        };
        let account = self.account.clone().unwrap_or_default();
        Some(JobRef::new(space, id, &account, ids))
    }
}

/// Closes one thing of a job.
pub(super) async fn resolve(case: &Case<'_>, print: Option<&str>) -> Result<Done, CommandError> {
    let Some(job) = case.args.job.of() else {
        return Ok(Done::refused("no job is named"));
    };
    let story = case.store.job_story(&job).await.map_err(table::unread)?;
    match print {
        None => silence(case, &job, &story).await,
        Some(print) => {
            let observed = match found(&story, print) {
                Ok(observed) => observed,
                Err(why) => return Ok(Done::refused(why)),
            };
            if case.args.what.supersede {
                supersede(case, &job, &story, observed).await
            } else {
                dismiss(case, &job, observed).await
            }
        }
    }
}

async fn silence(case: &Case<'_>, job: &JobRef, story: &JobStory) -> Result<Done, CommandError> {
    let name = escaped(&job.to_string());
    let Some(record) = &story.job else {
        return Ok(Done::refused(format!(
            "the table knows no binding of {name}"
        )));
    };
    if record.ended.is_some() || record.silent_at.is_none() || record.due_at.is_none() {
        return Ok(Done::refused(format!(
            "{name} does not wait for an operator because of its silence; name what does by --conflict"
        )));
    }
    let says = format!(
        "The job {name}, of which nothing was heard, is closed; an end that comes later is still accepted."
    );
    let intent = Intent {
        says: says.clone(),
        json: json!({"job": name, "becomes": "dismissed"}),
    };
    let by = match case.agreed(&intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let sources = case.config.sources_of(&job.space);
    let kept = sources.map(|(source, _)| source.retention);
    let retention = kept.max_by_key(|retention| retention.accepted);
    let retention = retention.unwrap_or_default();
    let detail = Some("its silence".to_owned());
    let operator = &case.args.operator;
    let word = operator.record(&by, did::DISMISS, detail, edge::now());
    let closed = case
        .store
        .dismiss_silence(record, retention, &word, case.deadline());
    Ok(done(&closed.await.map_err(table::unwritten)?, says, intent))
}

async fn dismiss(
    case: &Case<'_>,
    job: &JobRef,
    observed: &ObservedRecord,
) -> Result<Done, CommandError> {
    let about = about(job, observed);
    let says = format!("{about} is dismissed: the job stays as it is.");
    let intent = Intent {
        says: says.clone(),
        json: json!({"job": escaped(&job.to_string()), "conflict": observed.print(), "becomes": "dismissed"}),
    };
    let by = match case.agreed(&intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let operator = &case.args.operator;
    let word = operator.record(&by, did::DISMISS, Some(about), edge::now());
    let closed = case
        .store
        .dismiss_disagreement(observed, &word, case.deadline());
    Ok(done(&closed.await.map_err(table::unwritten)?, says, intent))
}

async fn supersede(
    case: &Case<'_>,
    job: &JobRef,
    story: &JobStory,
    observed: &ObservedRecord,
) -> Result<Done, CommandError> {
    let name = escaped(&job.to_string());
    let Some(record) = &story.job else {
        return Ok(Done::refused(format!(
            "the table knows no binding of {name}"
        )));
    };
    let Some(ended) = record.ended.as_ref() else {
        return Ok(Done::refused(format!(
            "{name} has not ended: what disagrees with its binding cannot become its end; bind a new attempt, or dismiss it"
        )));
    };
    let seen = &observed.seen;
    if !observed.is_of_outcome() {
        return Ok(Done::refused(OTHER));
    }
    if let Err(mismatch) = ackbox_domain::job::agree(&record.binding, seen) {
        let why = escaped(&mismatch.to_string());
        return Ok(Done::refused(format!(
            "it does not agree with the binding: {why}; bind a new attempt, or dismiss it"
        )));
    }
    let says = format!(
        "The job {name} has ended as {} instead of {}, and the steps that wait for that are started.",
        seen.outcome, ended.outcome
    );
    let intent = Intent {
        says: says.clone(),
        json: json!({
            "job": name,
            "conflict": observed.print(),
            "was": ended.outcome,
            "becomes": seen.outcome,
        }),
    };
    let by = match case.agreed(&intent).await? {
        Agreed::By(by) => by,
        Agreed::Not(done) => return Ok(done),
    };
    let detail = format!("{} instead of {}", seen.outcome, ended.outcome);
    let operator = &case.args.operator;
    let word = operator.record(&by, did::SUPERSEDE, Some(detail), edge::now());
    let timing = &case.config.delivery.timing;
    let superseded = case
        .store
        .supersede_end(record, observed, &word, timing, case.deadline());
    Ok(match superseded.await.map_err(table::unwritten)? {
        Superseded::Written(actions) => {
            let mut json = intent.json;
            let made = actions.iter().map(
                |(key, acceptance)| json!({"key": key.as_str(), "outcome": acceptance.word()}),
            );
            json["actions"] = made.collect();
            let made = actions
                .iter()
                .map(|(key, acceptance)| format!("\n  {key} {}", acceptance.word()));
            Done::written(format!("{says}{}", made.collect::<String>()), json)
        }
        Superseded::Moved => Done::refused("somebody was faster: the job has changed"),
        Superseded::Other => Done::refused(OTHER),
        Superseded::Unfit(mismatch) => Done::refused(escaped(&mismatch.to_string())),
    })
}

const OTHER: &str = "it disagrees with the binding, and not only in how the job ended: bind a new attempt, or dismiss it";

fn done(heard: &Heard, says: String, intent: Intent) -> Done {
    match deed::unheard(heard) {
        None => Done::written(says, intent.json),
        Some(why) => Done::refused(why),
    }
}

fn about(job: &JobRef, observed: &ObservedRecord) -> String {
    format!(
        "{} of the job {} by {}",
        observed.seen.outcome,
        escaped(&job.to_string()),
        observed.seen.source
    )
}

fn found<'a>(story: &'a JobStory, print: &str) -> Result<&'a ObservedRecord, String> {
    let open = story
        .observed
        .iter()
        .filter(|observed| observed.kind == Observed::Disagrees);
    let mut fitting = open.clone().filter(|one| one.print().starts_with(print));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => match &one.resolved {
            None => Ok(one),
            Some((how, at)) => Err(format!("it was {} at {at} already", escaped(how))),
        },
        (Some(_), Some(_)) => Err(format!("several begin with {print}: write more of it")),
        (None, _) => {
            let known: Vec<&str> = open.map(ObservedRecord::print).collect();
            Err(match known.is_empty() {
                true => "nothing on the record disagrees with this job".to_owned(),
                false => format!("there is no {print}; there is {}", known.join(", ")),
            })
        }
    }
}
