//! An engine's HTTP: connections come in, answers as DynamoDB gives them go out. What the guard does not
//! allow is refused before its body is read, and without a word to browsers.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dynoxide::Database;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::guard::Guard;
use super::operations;

/// How long requests that run may take to end once the engine stops.
const GRACE: Duration = Duration::from_secs(2);

/// The most bytes of a request's body, as in DynamoDB.
const LARGEST: usize = 16 * 1024 * 1024;

const REFUSED: &str = r#"{"__type":"com.amazon.coral.service#AccessDeniedException","message":"this engine answers only to the ackbox commands of its user, by the key that is beside its table file"}"#;
const UNKNOWN: &str = r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;
const UNREADABLE: &str = r#"{"__type":"com.amazon.coral.service#SerializationException"}"#;

/// What every connection needs.
struct Served {
    database: Database,
    guard: Option<Guard>,
}

/// Answers until `stopped`, and then until what runs is answered, but not for long.
pub(super) async fn serve(
    listener: TcpListener,
    database: Database,
    guard: Option<Guard>,
    mut stopped: oneshot::Receiver<()>,
) {
    let served = Arc::new(Served { database, guard });
    let (tell, stop) = watch::channel(false);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            // Told, or dropped.
            _ = &mut stopped => break,
            // Ended ones are collected as they end, so that they do not pile up.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(Arc::clone(&served), stream, stop.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "engine.connection_lost");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    tell.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    // Those that still run go with the runtime.
    let _ = tokio::time::timeout(GRACE, ended).await;
}

async fn connection(served: Arc<Served>, stream: TcpStream, mut stop: watch::Receiver<bool>) {
    // Answers are small and go out at once.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&served), request));
    let http = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let mut http = pin!(http);
    let stopping = async {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    let ended = tokio::select! {
        ended = http.as_mut() => ended,
        () = stopping => {
            http.as_mut().graceful_shutdown();
            http.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "engine.connection_ended");
    }
}

async fn answer(
    served: Arc<Served>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let is_allowed = served
        .guard
        .as_ref()
        .is_none_or(|guard| guard.allows(&head));
    if !is_allowed {
        return Ok(closing(StatusCode::FORBIDDEN, REFUSED));
    }
    match Limited::new(body, LARGEST).collect().await {
        Ok(body) => Ok(operate(&served.database, &head, &body.to_bytes())),
        Err(_) => Ok(closing(StatusCode::BAD_REQUEST, UNREADABLE)),
    }
}

fn operate(database: &Database, head: &Parts, body: &[u8]) -> Response<Full<Bytes>> {
    let target = head.headers.get("x-amz-target");
    let target = target.and_then(|target| target.to_str().ok());
    match target.and_then(|target| operations::run(database, target, body)) {
        Some(Ok(json)) => response(StatusCode::OK, json),
        Some(Err(error)) => {
            let status = StatusCode::from_u16(error.status_code());
            response(status.unwrap_or(StatusCode::BAD_REQUEST), error.to_json())
        }
        None => response(StatusCode::BAD_REQUEST, UNKNOWN),
    }
}

fn response(status: StatusCode, json: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(json.into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/x-amz-json-1.0");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer before the body has been read to its end.
fn closing(status: StatusCode, json: &'static str) -> Response<Full<Bytes>> {
    let mut response = response(status, json);
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}
