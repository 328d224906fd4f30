//! Destination kind `lambda`: one `Invoke` with the stored body as its payload. An action and a function
//! come in, what is known of the attempt goes out.

use ackbox_config::{DestinationConfig, Invocation, LambdaDestination};
use ackbox_domain::AttemptOutcome;
use aws_sdk_lambda::config::{Config, Region};
use aws_sdk_lambda::operation::invoke::InvokeOutput;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvocationType;
use data_encoding::BASE64;
use serde_json::json;

use crate::aws::{self, Line, Reply, Service};
use crate::deadline::Deadline;
use crate::{Delivery, Shared};

/// The most bytes of an answer that are looked at: more than a detail keeps.
const WORDS_MAX: usize = 1024;

/// Codes of `Invoke` (AWS Lambda API Reference, "Invoke": Errors). What Lambda needs before a function can
/// run (its code, its network, its file system, its keys) failed before the function ran, whatever the
/// status; only reading and writing a file system (`EFSIOException`) may have failed in the middle.
const LAMBDA: Service = Service {
    refuses_body: &[
        "InvalidRequestContentException",
        "RequestEntityTooLargeException",
        "RequestTooLargeException",
        "SerializedRequestEntityTooLargeException",
        "UnsupportedMediaTypeException",
    ],
    later: &[
        "EC2ThrottledException",
        "ENILimitReachedException",
        "ENINotReadyException",
        "ResourceConflictException",
        "ResourceNotReadyException",
        "ServiceQuotaExceededException",
        "SnapStartNotReadyException",
        "SnapStartTimeoutException",
        "SubnetIPAddressLimitReachedException",
    ],
    not_begun: &[
        "CodeArtifactUserDeletedException",
        "CodeArtifactUserFailedException",
        "CodeArtifactUserPendingException",
        "EC2AccessDeniedException",
        "EC2UnexpectedException",
        "EFSMountConnectivityException",
        "EFSMountFailureException",
        "EFSMountTimeoutException",
        "InvalidRuntimeException",
        "InvalidSecurityGroupIDException",
        "InvalidSubnetIDException",
        "InvalidZipFileException",
        "KMSAccessDeniedException",
        "KMSDisabledException",
        "KMSInvalidStateException",
        "KMSNotFoundException",
        "S3FilesMountConnectivityException",
        "S3FilesMountFailureException",
        "S3FilesMountTimeoutException",
        "SnapStartException",
        "SnapStartRegenerationFailureException",
    ],
    may_have_run: &["EFSIOException"],
};

/// One attempt.
///
/// Lambda itself keeps no keys: every `Invoke` runs the function, and an event may run it more than once
/// by itself (AWS Lambda API Reference, "Invoke": "your function may receive the same event multiple
/// times"). So what the function does with the key decides, and only its author knows.
///
/// The payload is the body as it is. The key travels beside it in the client context, under `custom`:
/// `ackbox-key`, `ackbox-source`, `ackbox-attempt`. Lambda hands that to the function "for synchronous
/// invocations only" (the same page); an event's function finds the key in its body, where the rule says
/// `payload = "envelope"`, or not at all.
///
/// | outcome | when |
/// | --- | --- |
/// | `succeeded` | the function answered; the beginning of its answer is the evidence. For an event: Lambda queued it; the request id is the evidence |
/// | `rejected` | the body is no JSON of at most 6 MiB (1 MiB for an event), or Lambda refused it |
/// | `busy` | throttled, or not ready yet |
/// | `not_sent` | as for HTTP; and what was turned away before the function could run: access denied, no such function, a broken package |
/// | `unknown` | the request may have left and no answer came; a 5xx; or the function itself failed (`FunctionError`): it ran, and how far nobody says |
pub(crate) async fn deliver(
    shared: &Shared,
    destination: &DestinationConfig,
    lambda: &LambdaDestination,
    delivery: &Delivery<'_>,
    may_begin: impl FnOnce() -> bool + Send,
) -> AttemptOutcome {
    if let Err(unfit) = destination.to.carriage().check(delivery.body) {
        return aws::unfit(&unfit);
    }
    let clients = match aws::of(shared) {
        Ok(clients) => clients,
        Err(not_sent) => return not_sent.into(),
    };
    let (line, asked) = aws::line(
        shared,
        Deadline::in_time(destination.policy.timeout),
        delivery,
    );
    let invoke = clients
        .lambda()
        .invoke()
        .function_name(&lambda.function)
        .payload(Blob::new(delivery.body.bytes.clone()));
    let invoke = match lambda.invocation {
        Invocation::RequestResponse => invoke
            .invocation_type(InvocationType::RequestResponse)
            .client_context(context(delivery)),
        Invocation::Event => invoke.invocation_type(InvocationType::Event),
    };
    let mut here = Config::builder().http_client(line.clone());
    here.set_region(lambda.region.clone().map(Region::new));
    let request = invoke.customize().config_override(here).send();
    match aws::attempt(&line, asked, may_begin, request).await {
        Reply::Done(status, Some(answer)) => answered(&line, lambda.invocation, status, &answer),
        // Whether the function failed stands in the head; a head that cannot be read does not say.
        Reply::Done(status, None) => {
            aws::unknown(Some(status), "answered, and the answer could not be read")
        }
        other => aws::undone(other, &LAMBDA),
    }
}

/// What stands beside the payload: base64 of JSON, of which Lambda takes 3,583 bytes. Ours has under 300:
/// a key has 36 characters, a source's name at most 64.
fn context(delivery: &Delivery<'_>) -> String {
    let context = json!({
        "client": {},
        "custom": {
            "ackbox-key": delivery.key.as_str(),
            "ackbox-source": delivery.source.as_str(),
            "ackbox-attempt": delivery.attempt.to_string(),
        },
        "env": {},
    });
    BASE64.encode(context.to_string().as_bytes())
}

fn answered(
    line: &Line,
    invocation: Invocation,
    status: u16,
    answer: &InvokeOutput,
) -> AttemptOutcome {
    if let Some(error) = answer.function_error() {
        let detail = format!("the function failed ({error}): {}", words(answer));
        return aws::unknown(Some(status), &line.scrub(&detail));
    }
    let evidence = match invocation {
        Invocation::RequestResponse => match words(answer) {
            text if text.is_empty() => "the function answered nothing".to_owned(),
            text => text,
        },
        Invocation::Event => {
            use aws_sdk_lambda::operation::RequestId as _;
            let id = answer.request_id().unwrap_or("without an id");
            format!("queued, request {id}")
        }
    };
    aws::succeeded(status, &line.scrub(&evidence))
}

/// The beginning of what the function said.
fn words(answer: &InvokeOutput) -> String {
    let bytes = answer.payload().map(Blob::as_ref).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(WORDS_MAX)]);
    text.trim().to_owned()
}
