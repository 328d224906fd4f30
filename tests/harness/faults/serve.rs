//! Takes HTTP/1.1 calls, counts them, lets a rule have its way, and forwards what is left to the engine.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

use super::ledger::Ledger;
use super::rule::{Fault, Injected, Rules};

#[derive(Debug)]
pub(super) struct Shared {
    upstream: String,
    pub(super) rules: Rules,
    pub(super) ledger: Ledger,
}

impl Shared {
    pub(super) fn new(upstream: &str) -> Self {
        Self {
            upstream: upstream.to_owned(),
            rules: Rules::default(),
            ledger: Ledger::default(),
        }
    }
}

/// Ends a connection without an answer: the server closes it where its service fails.
#[derive(Debug)]
struct Hangup(String);

impl fmt::Display for Hangup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Hangup {}

type Answer = Response<Full<Bytes>>;

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and the connections with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(|request| call(Arc::clone(&shared), request));
            // A connection that ends in an error is one whose caller went, or that we hung up.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn call(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Hangup> {
    let (head, body) = request.into_parts();
    let body = collected(body).await?;
    let operation = operation(&head.headers);
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    shared.ledger.note(&operation, &json);
    let call = Forward {
        shared: Arc::clone(&shared),
        headers: head.headers,
        operation,
        json,
        body,
    };
    let text = String::from_utf8_lossy(&call.body);
    match shared.rules.pick(&call.operation, &text) {
        None => call.forward().await,
        Some(injected) => call.through(injected).await,
    }
}

fn operation(headers: &HeaderMap) -> String {
    let target = headers
        .get("x-amz-target")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    target
        .rsplit_once('.')
        .map_or(target, |(_, operation)| operation)
        .to_owned()
}

struct Forward {
    shared: Arc<Shared>,
    headers: HeaderMap,
    operation: String,
    json: Value,
    body: Bytes,
}

impl Forward {
    async fn through(mut self, injected: Injected) -> Result<Answer, Hangup> {
        match injected.fault() {
            Fault::Refuse(refusal) => {
                injected.note();
                let (status, body) = refusal.on_the_wire();
                Ok(answer(status, body.to_string().into()))
            }
            Fault::Status(status) => {
                injected.note();
                Ok(answer(*status, Bytes::new()))
            }
            Fault::Drop => {
                injected.note();
                Err(Hangup("dropped before it was forwarded".to_owned()))
            }
            Fault::DropAnswer => {
                let _ = self.forward().await?;
                injected.note();
                Err(Hangup("carried out, its answer dropped".to_owned()))
            }
            Fault::StallAnswer => {
                let answer = self.forward().await?;
                injected.note();
                injected.until_released().await;
                Ok(answer)
            }
            Fault::Stall => self.stalled(injected.clone()).await,
            Fault::Alter(change) => {
                change(&mut self.json);
                self.body = self.json.to_string().into();
                injected.note();
                self.forward().await
            }
        }
    }

    /// In a task of its own, so that the call outlives the connection of a caller that is gone.
    async fn stalled(self, injected: Injected) -> Result<Answer, Hangup> {
        injected.note();
        let going_on = tokio::spawn(async move {
            injected.until_released().await;
            self.forward().await
        });
        going_on.await.map_err(|error| Hangup(error.to_string()))?
    }

    async fn forward(&self) -> Result<Answer, Hangup> {
        let measuring = self.shared.ledger.is_measuring() && self.json.is_object();
        let body = if measuring {
            let mut json = self.json.clone();
            json["ReturnConsumedCapacity"] = "TOTAL".into();
            json.to_string().into()
        } else {
            self.body.clone()
        };
        let answer = exchange(&self.shared.upstream, &self.headers, body).await?;
        if measuring {
            let (head, body) = answer.into_parts();
            let body = body
                .collect()
                .await
                .map(http_body_util::Collected::to_bytes);
            let body = body.unwrap_or_default();
            let json = serde_json::from_slice(&body).unwrap_or_default();
            self.shared.ledger.add(&self.operation, &json);
            return Ok(Response::from_parts(head, Full::new(body)));
        }
        Ok(answer)
    }
}

/// One request on a connection of its own: nothing of one call can fail another.
async fn exchange(upstream: &str, headers: &HeaderMap, body: Bytes) -> Result<Answer, Hangup> {
    let failed = |error: &dyn fmt::Display| Hangup(format!("the engine: {error}"));
    let stream = TcpStream::connect(upstream).await.map_err(|e| failed(&e))?;
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(&e))?;
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = http::Uri::from_static("/");
    for (name, value) in headers {
        if !matches!(
            name.as_str(),
            "content-length" | "transfer-encoding" | "connection"
        ) {
            request.headers_mut().append(name, value.clone());
        }
    }
    let conversation = async {
        let response = sender.send_request(request).await.map_err(|e| failed(&e))?;
        let (mut head, body) = response.into_parts();
        let body = collected(body).await?;
        for name in ["content-length", "transfer-encoding", "connection"] {
            head.headers.remove(name);
        }
        Ok(Response::from_parts(head, Full::new(body)))
    };
    let mut conversation = std::pin::pin!(conversation);
    tokio::select! {
        biased;
        answer = &mut conversation => answer,
        _ = connection => conversation.await,
    }
}

async fn collected(body: Incoming) -> Result<Bytes, Hangup> {
    body.collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .map_err(|error| Hangup(error.to_string()))
}

fn answer(status: u16, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let json = http::HeaderValue::from_static("application/x-amz-json-1.0");
    answer.headers_mut().insert("content-type", json);
    answer
}
