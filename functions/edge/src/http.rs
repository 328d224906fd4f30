//! A function behind an HTTP host, the same for each: the host's events come in, requests go to the
//! function and its answers back. What must never happen: that what a stranger wrote ends the process.

use std::time::Duration;

use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{
    Adapter, Body, LambdaEvent, Request, RequestExt as _, Response, Service as _, lambda_runtime,
    service_fn,
};

use crate::{Failure, host, left_until};

/// Waits for requests, and answers each. `answer` gets the time that is left of the invocation, where the host
/// says so.
pub async fn serve<Answer>(
    answer: impl Fn(Request, Option<Duration>) -> Answer,
) -> Result<(), Failure>
where
    Answer: Future<Output = Response<Body>> + Send,
{
    let answer = Adapter::from(service_fn(|request: Request| {
        let context = request.lambda_context_ref();
        let left = context.map(|context| left_until(context.deadline));
        let answer = answer(request, left);
        async { Ok::<_, Failure>(answer.await) }
    }));
    // As `lambda_http::run` does, with what a stranger wrote made harmless before it is a request.
    lambda_runtime::run(service_fn(|event: LambdaEvent<LambdaRequest>| {
        let LambdaEvent { payload, context } = event;
        let event = LambdaEvent::new(host::with_a_url(payload), context);
        answer.clone().call(event)
    }))
    .await
}

/// How long one request may take: `own`, or less where less is left of the invocation. Half a second is kept for the
/// answer itself, so that it is ours and not a gateway's timeout.
pub fn budget(own: Duration, left: Option<Duration>) -> Duration {
    const KEPT: Duration = Duration::from_millis(500);
    left.map_or(own, |left| own.min(left.saturating_sub(KEPT)))
}

/// The path of a request, without the stage of an API Gateway that it may start with.
pub fn path(request: &Request) -> &str {
    let path = request.uri().path();
    let Some(stage) = stage(request) else {
        return path;
    };
    match path.strip_prefix('/').and_then(|p| p.strip_prefix(stage)) {
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

/// The stage of an API Gateway request that its path starts with, where there is one.
fn stage(request: &Request) -> Option<&str> {
    let stage = match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.stage.as_deref(),
        RequestContext::ApiGatewayV1(context) => context.stage.as_deref(),
        _ => None,
    };
    stage.filter(|stage| !stage.is_empty() && *stage != "$default")
}

/// The bytes that the sender sent. The host decodes a base64 body before it gets here.
///
/// `None`: the type is open for bodies to come, and one that is not known here is not read as another.
pub fn bytes(body: Body) -> Option<Vec<u8>> {
    match body {
        Body::Empty => Some(Vec::new()),
        Body::Text(text) => Some(text.into_bytes()),
        Body::Binary(bytes) => Some(bytes),
        _ => None,
    }
}
