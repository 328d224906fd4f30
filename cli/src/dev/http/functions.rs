//! What answers on the one port: a request comes in, the function whose path it is answers. In the cloud
//! the registrar stands behind IAM; here a token stands in for it, and without that nothing reaches it.

use ackbox_receiver::Receiver;
use ackbox_registrar::{BODY_MAX, Registrar};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use lambda_http::{Body, Request};
use subtle::ConstantTimeEq as _;

use super::OUTCOME;

/// The functions, and who may call the registrar.
#[derive(Clone)]
pub(in crate::dev) struct Functions {
    /// Answers everywhere else.
    pub receiver: Receiver,
    /// Answers its own paths.
    pub registrar: Registrar,
    /// What its callers must show; none: nobody may.
    pub token: Option<String>,
}

impl Functions {
    /// How many bytes of a body at this path are wanted, where a source allows `largest`.
    pub(super) fn limit(path: &str, largest: usize) -> usize {
        if Registrar::owns(path) {
            BODY_MAX
        } else {
            largest
        }
    }

    /// The answer of the function whose path it is.
    pub(super) async fn answer(&self, request: Request) -> Response<Body> {
        if !Registrar::owns(request.uri().path()) {
            self.receiver.receive(request, None).await
        } else if self.may(request.headers()) {
            self.registrar.handle(request, None).await
        } else {
            refused()
        }
    }

    /// Whether the token is shown.
    fn may(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let shown = shown.and_then(|shown| shown.split_at_checked(b"Bearer ".len()));
        match (shown, &self.token) {
            (Some((kind, shown)), Some(token)) => {
                kind.eq_ignore_ascii_case(b"Bearer ") && shown.ct_eq(token.as_bytes()).into()
            }
            _ => false,
        }
    }
}

fn refused() -> Response<Body> {
    let body = r#"{"outcome":"refused","error":"send Authorization: Bearer <the token>; `ackbox dev` says at its start where it is"}"#;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    for (name, value) in [
        (OUTCOME, "refused"),
        (WWW_AUTHENTICATE, "Bearer"),
        (CONTENT_TYPE, "application/json"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
