//! The functions' URLs on this machine: connections come in, the answers of receiver and registrar go out. It
//! decides three things only: whose a path is ([`functions`]), a request that is not whole in time gets 408 (`ackbox-outcome: too-slow`), and of a
//! body that is larger than is allowed no more is kept than the function needs to say so.
//!
//! Requests reach a function as a Lambda function URL would hand them over: see [`request`].
//! HTTP/1.1, plain. Nobody holds a connection by sending slowly: the time of a request runs from its
//! first byte to its last, and an idle connection is closed after the same time.

mod arrival;
mod functions;
mod receive;
mod request;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ackbox_config::Config;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use arrival::Arrival;
pub(super) use functions::Functions;
use receive::Received;

/// How long one whole request may take to arrive, where nothing else is said.
const RECEIVE_WITHIN: Duration = Duration::from_secs(30);

/// How many connections are open at once; more wait.
const CONNECTIONS: usize = 1024;

/// The header that says what became of a request.
const OUTCOME: HeaderName = HeaderName::from_static("ackbox-outcome");

/// What one request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most bytes of a body that any source allows.
    pub body: usize,
    /// From a request's first byte to its last.
    pub within: Duration,
}

impl Limits {
    pub(super) fn of(config: &Config, within: Option<Duration>) -> Self {
        let largest = config.sources.values().map(|source| source.source.max_body);
        Self {
            body: largest.max().unwrap_or(0),
            within: within.unwrap_or(RECEIVE_WITHIN),
        }
    }
}

/// What every connection needs.
struct Edge {
    functions: Functions,
    limits: Limits,
    /// Told after each request that was answered well: the stream may have something new.
    answered: Arc<Notify>,
}

/// Answers until told to stop, and then until the requests that are being received are answered.
pub(super) async fn serve(
    listener: TcpListener,
    functions: Functions,
    limits: Limits,
    answered: Arc<Notify>,
    mut stop: watch::Receiver<bool>,
) {
    let edge = Arc::new(Edge {
        functions,
        limits,
        answered,
    });
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break,
            // Ended ones are collected as they end, so that they do not pile up.
            Some(_) = connections.join_next() => continue,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (edge, stop) = (Arc::clone(&edge), stop.clone());
                connections.spawn(async move {
                    connection(edge, stream, stop).await;
                    drop(place);
                });
            }
            // Out of file handles, or a client that went away again: neither ends the server.
            Err(error) => {
                tracing::warn!(%error, "receive.connection_lost");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(edge: Arc<Edge>, stream: TcpStream, mut stop: watch::Receiver<bool>) {
    // Answers are small and go out at once.
    let _ = stream.set_nodelay(true);
    let within = edge.limits.within;
    let (stream, arrival) = Arrival::watch(stream);
    let service = service_fn({
        let arrival = arrival.clone();
        move |request| Box::pin(answer(Arc::clone(&edge), arrival.clone(), request))
    });
    let mut http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(within)
        .serve_connection(TokioIo::new(stream), service);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = &mut http => break ended,
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                std::pin::Pin::new(&mut http).graceful_shutdown();
            }
        }
    };
    match ended {
        Err(error) if error.is_timeout() && arrival.began().is_some() => {
            tracing::info!(part = "head", "receive.too_slow");
            let mut stream = http.into_parts().io.into_inner();
            // The client is told where it still listens.
            let _ = tokio::time::timeout(within, stream.write_all(TOO_SLOW_HEAD)).await;
            let _ = stream.shutdown().await;
        }
        // The client went away, or did not speak HTTP (and was told so).
        Err(error) => tracing::debug!(%error, "receive.connection_ended"),
        Ok(()) => {}
    }
}

const TOO_SLOW_HEAD: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    ackbox-outcome: too-slow\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

async fn answer(
    edge: Arc<Edge>,
    arrival: Arrival,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let deadline = arrival.whole_within(edge.limits.within);
    let (head, mut body) = request.into_parts();
    let limit = Functions::limit(head.uri.path(), edge.limits.body);
    let received = receive::body(&head, &mut body, limit, deadline).await;
    arrival.ended();
    let (bytes, is_whole) = match received {
        Received::Whole(bytes) => (bytes, true),
        Received::TooLarge(bytes) => (bytes, false),
        Received::TooSlow => {
            tracing::info!(part = "body", "receive.too_slow");
            return Ok(own(StatusCode::REQUEST_TIMEOUT, "too-slow"));
        }
        // Nobody is there to be answered.
        Received::Broken => return Ok(own(StatusCode::BAD_REQUEST, "malformed")),
    };
    let request = request::for_function(head, bytes);
    // A task: a client that goes away does not break off what is being accepted, as it does not there.
    let functions = edge.functions.clone();
    let answered = tokio::spawn(async move { functions.answer(request).await }).await;
    let Ok(answered) = answered else {
        return Ok(own(StatusCode::INTERNAL_SERVER_ERROR, "error"));
    };
    let mut response = answered.map(|body| Full::new(Bytes::from(body.to_vec())));
    if response.status().is_success() {
        edge.answered.notify_one();
    }
    if !is_whole {
        close(&mut response);
    }
    Ok(response)
}

/// An answer of this edge's own, after which the connection is of no more use.
fn own(status: StatusCode, outcome: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    let outcome = HeaderValue::from_static(outcome);
    response.headers_mut().insert(OUTCOME, outcome);
    close(&mut response);
    response
}

fn close(response: &mut Response<Full<Bytes>>) {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
}

#[cfg(test)]
mod tests;
