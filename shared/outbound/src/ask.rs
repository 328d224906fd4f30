//! Asks a destination what became of an action: a question comes in, what the destination says goes
//! out. Nothing is delivered here, and what cannot be read as a clear word stays unknown.

use std::time::Duration;

use ackbox_config::{AskMethod, Reconcile, SecretRef};
use ackbox_domain::AttemptOutcome;
use ackbox_domain::settlement::{self, Word, meaning};
use bytes::Bytes;
use http::header::{self, HeaderMap};
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use url::{Position, Url};

use crate::connect::connect;
use crate::deadline::Deadline;
use crate::exchange::{Answer, exchange_whole};
use crate::http::request::{USER_AGENT, carried, configured, hide_tokens, target};
use crate::redact::Redactor;
use crate::{Asked, NotSent, Question, Shared};

/// How much of an answer is read, in bytes: a status document, not an attempt's excerpt.
pub(crate) const ANSWER_MAX: usize = 64 * 1024;

/// How a detail begins that tells what was heard, behind `asked, `; and one that tells why nothing was.
pub(crate) const HEARD: &str = "asked, ";
pub(crate) const UNASKED: &str = "could not be asked: ";

impl Asked {
    /// Of an entry's last detail, what a question wrote there: `it said 404: none`, or `could not be asked:
    /// connecting timed out`. None: an attempt wrote it.
    pub fn told_in(detail: &str) -> Option<&str> {
        let unasked = || detail.starts_with(UNASKED).then_some(detail);
        detail.strip_prefix(HEARD).or_else(unasked)
    }
}

/// One question, in its stages.
pub(crate) async fn ask(shared: &Shared, reconcile: &Reconcile, question: &Question<'_>) -> Asked {
    let mut redactor = Redactor::default();
    match answered(shared, reconcile, question, &mut redactor).await {
        Ok(answer) => heard(reconcile, &answer, &redactor),
        Err(NotSent(why)) => Asked {
            word: Word::StillUnknown,
            status: None,
            detail: short(&format!("{UNASKED}{}", redactor.scrub(&why))),
        },
    }
}

async fn answered(
    shared: &Shared,
    reconcile: &Reconcile,
    question: &Question<'_>,
    redactor: &mut Redactor,
) -> Result<Answer, NotSent> {
    let key = question.key.as_str();
    let url = reconcile.url.url(key, &question.body.bytes);
    let to = To {
        url: &url.map_err(|why| NotSent(why.to_string()))?,
        method: reconcile.method,
        headers: &reconcile.headers,
        timeout: reconcile.timeout,
        allow_private: reconcile.allow_private,
    };
    to.answer(shared, redactor).await
}

/// Where a question goes, and how.
pub(crate) struct To<'q> {
    pub(crate) url: &'q Url,
    pub(crate) method: AskMethod,
    pub(crate) headers: &'q [(String, SecretRef)],
    pub(crate) timeout: Duration,
    pub(crate) allow_private: bool,
}

impl To<'_> {
    /// The answer, as far as it came.
    pub(crate) async fn answer(
        &self,
        shared: &Shared,
        redactor: &mut Redactor,
    ) -> Result<Answer, NotSent> {
        let deadline = Deadline::in_time(self.timeout);
        hide_tokens(self.url, redactor);
        let mut headers = HeaderMap::new();
        let configured = configured(&shared.secrets, self.headers, &mut headers, redactor);
        deadline.guard("resolving secrets", configured).await??;
        let request = request(self.method, self.url, headers)?;
        let stream = connect(&shared.tls, self.url, self.allow_private, &deadline).await?;
        let answer = exchange_whole(stream, request, ANSWER_MAX, &deadline).await;
        answer.map_err(|none| NotSent(none.why))
    }
}

fn request(
    method: AskMethod,
    url: &Url,
    mut headers: HeaderMap,
) -> Result<Request<Full<Bytes>>, NotSent> {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    headers.insert(header::HOST, carried("host", host)?);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    let json = HeaderValue::from_static("application/json");
    headers.entry(header::ACCEPT).or_insert(json);
    let mut request = Request::new(Full::new(Bytes::new()));
    *request.method_mut() = match method {
        AskMethod::Get => Method::GET,
        AskMethod::Post => {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
            Method::POST
        }
    };
    *request.uri_mut() = target(url)?;
    *request.headers_mut() = headers;
    Ok(request)
}

fn heard(reconcile: &Reconcile, answer: &Answer, redactor: &Redactor) -> Asked {
    let status = answer.status.as_u16();
    let judged = meaning(
        &reconcile.answers,
        &settlement::Answer {
            status,
            body: &answer.excerpt,
            is_whole: answer.is_whole,
        },
    );
    let said = String::from_utf8_lossy(&answer.excerpt);
    let said = redactor.scrub(said.trim());
    let (word, detail) = match judged {
        Ok(word) => (word, format!("{HEARD}it said {status}: {said}")),
        Err(flaw) => (
            Word::StillUnknown,
            format!("{HEARD}it said {status}, but {flaw}: {said}"),
        ),
    };
    Asked {
        word,
        status: Some(status),
        detail: short(&detail),
    }
}

/// As an attempt's detail is kept: short, on one line, printable.
pub(crate) fn short(text: &str) -> String {
    AttemptOutcome::new(ackbox_domain::OutcomeKind::Unknown, None, text).detail
}
