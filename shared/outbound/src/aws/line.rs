//! The SDK's connection, as ours: one signed request comes in, goes out on a fresh connection, and the
//! answer comes back. What was seen is kept, since only the connection knows whether anything left.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackbox_domain::Timestamp;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Request, Uri};
use http_body_util::Full;
use tokio::sync::oneshot;
use url::{Position, Url};

use crate::NotSent;
use crate::connect::{Stream, connect};
use crate::deadline::Deadline;
use crate::exchange::{Answer, exchange};
use crate::http::answer::retry_after;
use crate::redact::Redactor;
use crate::tls::Tls;

/// The most of an answer that is read, in bytes: a state machine's input and output, each escaped.
const ANSWER_MAX: usize = 2 << 20;

const ONE_REQUEST: &str = "one attempt sends one request";

/// Asks whether the request may begin; the answer is sent back.
pub(crate) type Asked = oneshot::Receiver<oneshot::Sender<bool>>;

/// What the connection saw.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// No request yet.
    Nothing,
    /// Something stood in the way before the first byte.
    NotSent(String),
    /// The request may be on its way.
    Open,
    /// The request may have left, and no head came back.
    Lost(String),
    /// A head came.
    Answered {
        status: u16,
        /// The service's code, where the head has it: a body may be cut.
        code: Option<String>,
        retry_after: Option<Duration>,
    },
}

/// Who must say yes before the first byte.
#[derive(Debug)]
enum Pass {
    Asks(oneshot::Sender<oneshot::Sender<bool>>),
    Free,
    Used,
}

/// The connection for one request. Cloning shares it: a second request on it is refused.
#[derive(Clone)]
pub(crate) struct Line(Arc<Inner>);

struct Inner {
    tls: Arc<Tls>,
    deadline: Deadline,
    now: Timestamp,
    pass: Mutex<Pass>,
    seen: Mutex<Seen>,
    redactor: Mutex<Redactor>,
}

impl Line {
    /// A line whose request asks before it begins.
    pub(crate) fn asking(tls: Arc<Tls>, deadline: Deadline, now: Timestamp) -> (Self, Asked) {
        let (ask, asked) = oneshot::channel();
        (Self::with(tls, deadline, now, Pass::Asks(ask)), asked)
    }

    /// A line for one more request in the time of this one, which asks nobody: for questions.
    pub(crate) fn again(&self) -> Self {
        let inner = &self.0;
        Self::with(
            Arc::clone(&inner.tls),
            inner.deadline,
            inner.now,
            Pass::Free,
        )
    }

    fn with(tls: Arc<Tls>, deadline: Deadline, now: Timestamp, pass: Pass) -> Self {
        Self(Arc::new(Inner {
            tls,
            deadline,
            now,
            pass: Mutex::new(pass),
            seen: Mutex::new(Seen::Nothing),
            redactor: Mutex::default(),
        }))
    }

    /// The time that the request has.
    pub(crate) fn deadline(&self) -> Deadline {
        self.0.deadline
    }

    /// What was seen.
    pub(crate) fn seen(&self) -> Seen {
        held(&self.0.seen).clone()
    }

    /// A text that came back, without what is secret in our request.
    pub(crate) fn scrub(&self, text: &str) -> String {
        held(&self.0.redactor).scrub(text)
    }
}

impl Inner {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let pass = std::mem::replace(&mut *held(&self.pass), Pass::Used);
        if matches!(pass, Pass::Used) {
            // What the first request left behind stays seen.
            return Err(ConnectorError::other(ONE_REQUEST.into(), None));
        }
        match self.begin(request, pass).await {
            Ok((request, stream)) => {
                *held(&self.seen) = Seen::Open;
                match exchange(stream, request, ANSWER_MAX, &self.deadline).await {
                    Ok(answer) => self.answered(answer),
                    Err(none) if none.may_have_left => Err(self.ended(Seen::Lost(none.why))),
                    Err(none) => Err(self.ended(Seen::NotSent(none.why))),
                }
            }
            Err(NotSent(why)) => Err(self.ended(Seen::NotSent(why))),
        }
    }

    /// Everything before the first byte.
    async fn begin(
        &self,
        request: HttpRequest,
        pass: Pass,
    ) -> Result<(Request<Full<Bytes>>, Stream), NotSent> {
        let (url, request) = ours(request)?;
        self.hide(request.headers());
        // The endpoint is the SDK's own, never one that a message named: it may be private.
        let stream = connect(&self.tls, &url, true, &self.deadline).await?;
        if self.deadline.remaining().is_zero() {
            let total = self.deadline.total();
            return Err(NotSent(format!(
                "the time ({total:?}) was up before the request"
            )));
        }
        pass.given().await?;
        Ok((request, stream))
    }

    fn answered(&self, answer: Answer) -> Result<HttpResponse, ConnectorError> {
        let status = answer.status.as_u16();
        let now = self.now.plus(self.deadline.elapsed());
        *held(&self.seen) = Seen::Answered {
            status,
            code: code(&answer.headers),
            retry_after: retry_after(&answer.headers, now),
        };
        let mut response = http::Response::new(SdkBody::from(answer.excerpt));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        HttpResponse::try_from(response).map_err(|error| ConnectorError::other(error.into(), None))
    }

    fn ended(&self, seen: Seen) -> ConnectorError {
        *held(&self.seen) = seen;
        ConnectorError::other("no answer".into(), None)
    }

    /// A service that finds a signature wrong repeats what it should have been over.
    fn hide(&self, headers: &HeaderMap) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let mut redactor = held(&self.redactor);
        if let Some(token) = text("x-amz-security-token") {
            redactor.hide(token);
        }
        if let Some((_, signature)) = text("authorization").and_then(|a| a.split_once("Signature="))
        {
            redactor.hide(signature);
        }
    }
}

impl Pass {
    async fn given(self) -> Result<(), NotSent> {
        let ask = match self {
            Self::Free => return Ok(()),
            Self::Used => return Err(NotSent(ONE_REQUEST.to_owned())),
            Self::Asks(ask) => ask,
        };
        let (answer, answered) = oneshot::channel();
        // Nobody there to ask, or to answer, is no yes.
        if ask.send(answer).is_ok() && answered.await.unwrap_or_default() {
            Ok(())
        } else {
            Err(NotSent("the claim no longer covers the request".to_owned()))
        }
    }
}

/// The SDK's request as it goes out: its URL apart, and what belongs to the connection set.
fn ours(request: HttpRequest) -> Result<(Url, Request<Full<Bytes>>), NotSent> {
    let unsent = |why: String| NotSent(format!("the request cannot be sent: {why}"));
    let request = request
        .try_into_http1x()
        .map_err(|error| unsent(error.to_string()))?;
    let url = Url::parse(&request.uri().to_string()).map_err(|error| unsent(error.to_string()))?;
    let (mut head, body) = request.into_parts();
    let body = body
        .bytes()
        .map(Bytes::copy_from_slice)
        .ok_or_else(|| unsent("its body is no bytes".to_owned()))?;
    let text = |text: &str| HeaderValue::from_str(text).map_err(|error| unsent(error.to_string()));
    let host = text(&url[Position::BeforeHost..Position::AfterPort])?;
    head.headers.insert(header::HOST, host);
    head.headers
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    head.headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    // Path and query as the SDK wrote and signed them.
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    head.uri = target
        .parse::<Uri>()
        .map_err(|error| unsent(error.to_string()))?;
    Ok((url, Request::from_parts(head, Full::new(body))))
}

/// `EFSIOException:http://internal.amazon.com/..` is the code and what is not of interest (AWS restJson1 protocol,
/// "Operation error serialization").
fn code(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("x-amzn-errortype")?.to_str().ok()?;
    let code = value.split(':').next().unwrap_or_default().trim();
    (!code.is_empty()).then(|| code.to_owned())
}

/// What is held is whole after every line of code, so that a panic elsewhere leaves it whole.
fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpConnector for Line {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let inner = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move { inner.send(request).await })
    }
}

impl HttpClient for Line {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}
