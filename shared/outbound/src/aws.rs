//! What the destinations have in common that AWS answers: a request of the SDK comes in, what is known
//! of it goes out.
//!
//! The SDK says what a request looks like, signs it and reads the answer. The connection is ours
//! ([`line`]): one fresh connection for one request, as for HTTP, so that what left and what did not can
//! be told apart, and `may_begin` is asked right before the first byte. The SDK's own retries, timeouts
//! and connections are not used.
//!
//! A client is built when the first attempt needs it, and none where the configuration names no such
//! destination.

mod line;
mod refusal;

use std::sync::{Arc, OnceLock};

use ackbox_domain::{AttemptOutcome, OutcomeKind, Unfit};
use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::display::DisplayErrorContext;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use tokio::time::timeout_at;

pub(crate) use self::line::Line;
use self::line::{Asked, Seen};
pub(crate) use self::refusal::{Refusal, Service};
use crate::deadline::Deadline;
use crate::{Delivery, NotSent, Shared};

/// The clients, each built when it is first needed.
pub(crate) struct Aws {
    sdk: SdkConfig,
    sqs: OnceLock<aws_sdk_sqs::Client>,
    step_functions: OnceLock<aws_sdk_sfn::Client>,
    lambda: OnceLock<aws_sdk_lambda::Client>,
}

impl Aws {
    /// Clients of this configuration: region, credentials, endpoints. Costs nothing yet.
    pub(crate) fn new(sdk: SdkConfig) -> Self {
        let sdk = sdk
            .into_builder()
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .build();
        Self {
            sdk,
            sqs: OnceLock::new(),
            step_functions: OnceLock::new(),
            lambda: OnceLock::new(),
        }
    }

    pub(crate) fn sqs(&self) -> &aws_sdk_sqs::Client {
        self.sqs.get_or_init(|| aws_sdk_sqs::Client::new(&self.sdk))
    }

    pub(crate) fn step_functions(&self) -> &aws_sdk_sfn::Client {
        self.step_functions
            .get_or_init(|| aws_sdk_sfn::Client::new(&self.sdk))
    }

    pub(crate) fn lambda(&self) -> &aws_sdk_lambda::Client {
        self.lambda
            .get_or_init(|| aws_sdk_lambda::Client::new(&self.sdk))
    }
}

/// The clients, where there are any.
pub(crate) fn of(shared: &Shared) -> Result<&Aws, NotSent> {
    shared.aws.as_ref().ok_or_else(|| {
        NotSent("no AWS configuration was given: there is nothing to sign requests by".to_owned())
    })
}

/// What came of one request.
#[derive(Debug)]
pub(crate) enum Reply<T> {
    /// A 2xx head came; the answer, where it could be read.
    Done(u16, Option<T>),
    /// The service said no.
    Refused(Refusal),
    /// Nothing left.
    NotSent(String),
    /// It may have left, and no head came.
    Unknown(String),
}

/// One attempt: makes the request by this line, asks `may_begin` when the connection stands, and waits
/// until the attempt's time is up.
pub(crate) async fn attempt<T, E>(
    line: &Line,
    asked: Asked,
    may_begin: impl FnOnce() -> bool + Send,
    request: impl Future<Output = Result<T, SdkError<E, HttpResponse>>> + Send,
) -> Reply<T>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    // Boxed: what the SDK does inside is a large type, and the same for everybody.
    let mut request = Box::pin(timeout_at(line.deadline().at(), request));
    let done = tokio::select! {
        biased;
        done = &mut request => done,
        question = asked => {
            if let Ok(answer) = question {
                // Nobody waits for the answer where the time was up in between.
                let _ = answer.send(may_begin());
            }
            request.await
        }
    };
    reply(line, done.ok())
}

/// One question on the way of an attempt, which changes nothing there.
pub(crate) async fn question<T, E>(
    line: &Line,
    request: impl Future<Output = Result<T, SdkError<E, HttpResponse>>> + Send,
) -> Reply<T>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let done = Box::pin(timeout_at(line.deadline().at(), request)).await;
    reply(line, done.ok())
}

/// What the connection saw decides; what the SDK made of it only fills in the words.
fn reply<T, E>(line: &Line, done: Option<Result<T, SdkError<E, HttpResponse>>>) -> Reply<T>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let total = line.deadline().total();
    match line.seen() {
        Seen::Answered {
            status,
            code,
            retry_after,
        } => match done {
            Some(Ok(answer)) => Reply::Done(status, Some(answer)),
            _ if (200..300).contains(&status) => Reply::Done(status, None),
            Some(Err(error)) => Reply::Refused(Refusal {
                status,
                code: error
                    .code()
                    .map(ToOwned::to_owned)
                    .or(code)
                    .unwrap_or_default(),
                message: line.scrub(error.message().unwrap_or_default()),
                retry_after,
            }),
            None => Reply::Unknown(format!("the answer was not read within {total:?}")),
        },
        Seen::Lost(why) => Reply::Unknown(line.scrub(&why)),
        Seen::Open => Reply::Unknown(format!("no answer within {total:?}")),
        Seen::NotSent(why) => Reply::NotSent(line.scrub(&why)),
        Seen::Nothing => Reply::NotSent(match done {
            // The SDK gave up before there was a connection: no credentials, no region.
            Some(Err(error)) => line.scrub(&DisplayErrorContext(error).to_string()),
            Some(Ok(_)) => "the SDK sent no request".to_owned(),
            None => format!("the time ({total:?}) was up before the request was signed"),
        }),
    }
}

/// How an attempt ends whose request was made by this line and not done.
pub(crate) fn undone<T>(reply: Reply<T>, service: &Service) -> AttemptOutcome {
    match reply {
        Reply::Refused(refusal) => refusal.outcome(service),
        Reply::NotSent(why) => NotSent(why).into(),
        Reply::Unknown(why) => unknown(None, &format!("the request may have arrived: {why}")),
        Reply::Done(status, _) => {
            AttemptOutcome::new(OutcomeKind::Succeeded, Some(status), &status.to_string())
        }
    }
}

pub(crate) fn succeeded(status: u16, evidence: &str) -> AttemptOutcome {
    let detail = format!("{status}: {evidence}");
    AttemptOutcome::new(OutcomeKind::Succeeded, Some(status), &detail)
}

pub(crate) fn unknown(status: Option<u16>, detail: &str) -> AttemptOutcome {
    AttemptOutcome::new(OutcomeKind::Unknown, status, detail)
}

/// Nothing is sent that the way cannot carry, or would carry as something else.
pub(crate) fn unfit(unfit: &Unfit) -> AttemptOutcome {
    let detail = format!("not sent: the body {unfit}");
    AttemptOutcome::new(OutcomeKind::Rejected, None, &detail)
}

/// A line for the attempt of a delivery.
pub(crate) fn line(shared: &Shared, deadline: Deadline, delivery: &Delivery<'_>) -> (Line, Asked) {
    Line::asking(Arc::clone(&shared.tls), deadline, delivery.now)
}
