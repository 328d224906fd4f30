//! The Lambda runtime interface for one process: a function's binary asks it for invocations, and
//! answers them. What it must not do is anything that Lambda would not: one invocation at a time.
//!
//! Source: the developer guide's "Using the Lambda runtime API" (version 2018-06-01).

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// A running interface. Dropping it ends it; the function's process then ends by itself.
#[derive(Debug)]
pub struct RuntimeApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    invocations: mpsc::UnboundedSender<Invocation>,
    serving: JoinHandle<()>,
}

/// What a function made of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// It answered.
    Answered(Value),
    /// It reported an error.
    Failed(Value),
}

#[derive(Debug)]
struct Invocation {
    id: String,
    event: Bytes,
    remaining: Duration,
    ended: oneshot::Sender<Ended>,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<mpsc::UnboundedReceiver<Invocation>>,
    running: Mutex<HashMap<String, oneshot::Sender<Ended>>>,
    /// How often `next` was asked for.
    asked: watch::Sender<u64>,
    /// What the function said when it could not start.
    not_started: watch::Sender<Option<Value>>,
    number: AtomicU64,
}

impl RuntimeApi {
    /// Starts an interface on a port of its own.
    ///
    /// # Errors
    /// The listening socket could not be had.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (invocations, waiting) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            waiting: Mutex::new(waiting),
            running: Mutex::default(),
            asked: watch::Sender::new(0),
            not_started: watch::Sender::new(None),
            number: AtomicU64::new(0),
        });
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            invocations,
            serving,
        })
    }

    /// What a process needs in its environment to find this interface, and what Lambda always sets.
    pub fn environment(&self, function: &str) -> Vec<(String, String)> {
        [
            ("AWS_LAMBDA_RUNTIME_API", self.address.to_string().as_str()),
            ("AWS_LAMBDA_FUNCTION_NAME", function),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/tests"),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "tests"),
            ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    /// Waits until the process asks for its first invocation: it is ready.
    ///
    /// # Errors
    /// What it said when it could not start.
    pub async fn ready(&self) -> Result<(), Value> {
        let mut asked = self.shared.asked.subscribe();
        let mut not_started = self.shared.not_started.subscribe();
        tokio::select! {
            _ = asked.wait_for(|times| *times > 0) => Ok(()),
            why = not_started.wait_for(Option::is_some) => {
                Err(why.ok().and_then(|why| why.clone()).unwrap_or_default())
            }
        }
    }

    /// Waits until the process has answered every invocation so far and asks for the next.
    pub async fn idle(&self) {
        let handed_over = self.shared.number.load(Ordering::Relaxed);
        let mut asked = self.shared.asked.subscribe();
        // The sender lives as long as `self`.
        let _ = asked.wait_for(|times| *times > handed_over).await;
    }

    /// One invocation, which may take `remaining`; `None` where the interface or the process ended.
    pub async fn invoke(&self, event: &Value, remaining: Duration) -> Option<Ended> {
        let (ended, end) = oneshot::channel();
        let number = self.shared.number.fetch_add(1, Ordering::Relaxed);
        let invocation = Invocation {
            id: format!("00000000-0000-4000-8000-{number:012x}"),
            event: event.to_string().into(),
            remaining,
            ended,
        };
        self.invocations.send(invocation).ok()?;
        end.await.ok()
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

type Answer = Response<Full<Bytes>>;

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(|request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(&shared, request).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(shared: &Shared, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let path: Vec<&str> = head.uri.path().trim_matches('/').split('/').collect();
    let body = async {
        body.collect()
            .await
            .map(|b| b.to_bytes())
            .unwrap_or_default()
    };
    match (&head.method, path.as_slice()) {
        (&Method::GET, ["2018-06-01", "runtime", "invocation", "next"]) => next(shared).await,
        (&Method::POST, ["2018-06-01", "runtime", "invocation", id, "response"]) => {
            end(shared, id, Ended::Answered(json(&body.await))).await
        }
        (&Method::POST, ["2018-06-01", "runtime", "invocation", id, "error"]) => {
            end(shared, id, Ended::Failed(json(&body.await))).await
        }
        (&Method::POST, ["2018-06-01", "runtime", "init", "error"]) => {
            shared.not_started.send_replace(Some(json(&body.await)));
            plain(StatusCode::ACCEPTED)
        }
        _ => plain(StatusCode::NOT_FOUND),
    }
}

async fn next(shared: &Shared) -> Answer {
    shared.asked.send_modify(|times| *times += 1);
    let Some(invocation) = shared.waiting.lock().await.recv().await else {
        return plain(StatusCode::GONE);
    };
    let deadline = now_ms() + u64::try_from(invocation.remaining.as_millis()).unwrap_or(u64::MAX);
    let answer = Response::builder()
        .header("content-type", "application/json")
        .header("lambda-runtime-aws-request-id", &invocation.id)
        .header("lambda-runtime-deadline-ms", deadline)
        .header(
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:123456789012:function:tests",
        )
        .header(
            "lambda-runtime-trace-id",
            "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0",
        )
        .body(Full::new(invocation.event))
        .unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR));
    let mut running = shared.running.lock().await;
    running.insert(invocation.id, invocation.ended);
    answer
}

async fn end(shared: &Shared, id: &str, ended: Ended) -> Answer {
    match shared.running.lock().await.remove(id) {
        Some(waiting) => {
            let _ = waiting.send(ended);
            plain(StatusCode::ACCEPTED)
        }
        None => plain(StatusCode::NOT_FOUND),
    }
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

fn plain(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = status;
    answer
}

#[allow(
    clippy::disallowed_methods,
    reason = "Lambda tells a function its deadline by the real clock"
)]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
