//! Asks a source about a job: a job's id goes out, what the source's answer means comes back. What must
//! never happen: that an answer which was cut off, or that no rule knows, is taken for an end.

use std::time::Duration;

use ackbox_config::{AskMethod, Lookup};
use ackbox_domain::Timestamp;
use ackbox_domain::job::LookupMeaning;
use ackbox_domain::settlement::{self, fitting};

use crate::ask::{HEARD, To, UNASKED, short};
use crate::exchange::Answer;
use crate::http::answer::retry_after;
use crate::redact::Redactor;
use crate::{NotSent, Shared};

/// What a source said of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedUp {
    /// What that means; `None`: nothing.
    pub means: Option<LookupMeaning>,
    /// The body of an answer that came whole.
    pub body: Vec<u8>,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
    /// What it said, or why it said nothing: up to 120 printable characters, without a secret.
    pub detail: String,
}

/// One question, in its stages.
pub(crate) async fn look_up(
    shared: &Shared,
    lookup: &Lookup,
    job_id: &str,
    now: Timestamp,
) -> LookedUp {
    let mut redactor = Redactor::default();
    match answered(shared, lookup, job_id, &mut redactor).await {
        Ok(answer) => heard(lookup, answer, now, &redactor),
        Err(NotSent(why)) => LookedUp {
            means: None,
            body: Vec::new(),
            retry_after: None,
            detail: short(&format!("{UNASKED}{}", redactor.scrub(&why))),
        },
    }
}

async fn answered(
    shared: &Shared,
    lookup: &Lookup,
    job_id: &str,
    redactor: &mut Redactor,
) -> Result<Answer, NotSent> {
    let url = lookup.url.url(job_id, &[]);
    let to = To {
        url: &url.map_err(|why| NotSent(why.to_string()))?,
        method: AskMethod::Get,
        headers: &lookup.headers,
        timeout: lookup.timeout,
        allow_private: lookup.allow_private,
    };
    to.answer(shared, redactor).await
}

fn heard(lookup: &Lookup, answer: Answer, now: Timestamp, redactor: &Redactor) -> LookedUp {
    let status = answer.status.as_u16();
    let judged = fitting(
        &lookup.answers,
        &settlement::Answer {
            status,
            body: &answer.excerpt,
            is_whole: answer.is_whole,
        },
    );
    let said = String::from_utf8_lossy(&answer.excerpt);
    let said = redactor.scrub(said.trim());
    let cut = || format!("{HEARD}it said {status}, but the answer was cut off: {said}");
    let (means, detail) = match judged {
        Ok(Some(LookupMeaning::Status)) if !answer.is_whole => (None, cut()),
        Ok(means) => (means.cloned(), format!("{HEARD}it said {status}: {said}")),
        Err(flaw) => (None, format!("{HEARD}it said {status}, but {flaw}: {said}")),
    };
    LookedUp {
        means,
        retry_after: retry_after(&answer.headers, now),
        body: answer.excerpt,
        detail: short(&detail),
    }
}
