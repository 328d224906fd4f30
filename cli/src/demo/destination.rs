//! A destination on loopback that fails as its script says: requests come in over real HTTP/1.1, every
//! one is logged with its exact bytes, and is answered, stalled or dropped. One that can be asked takes
//! every GET for a question, and logs it apart. What must never happen: a request that was read and is
//! not in the log.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ackbox_domain::ActionKey;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

mod question;

pub use question::{Asked, Question, Reply};

/// One request, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The action's key: the value of `idempotency-key`, else of the first header that holds an action
    /// key; empty where none does.
    pub key: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The path, with its query.
    pub path: String,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// How many requests with this key there have been here, this one included.
    pub seen: usize,
}

/// What a script has the destination do with one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers.
    Answer {
        /// The status.
        status: u16,
        /// Headers of the answer.
        headers: Vec<(String, String)>,
        /// The body of the answer.
        body: String,
    },
    /// Reads the request, logs it, and closes the connection without an answer.
    DropAfterRequest,
    /// Reads the request, logs it, and answers 200 once [`Destination::release`] is called, if ever.
    Stall,
    /// The same, with this status.
    StallThen(u16),
}

impl Behaviour {
    /// An answer without headers and body.
    pub const fn status(status: u16) -> Self {
        Self::Answer {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }
}

/// What a logged request was answered with, as far as the destination got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// With this status.
    Status(u16),
    /// With nothing: the connection was closed.
    Dropped,
    /// With nothing so far.
    Stalled,
}

/// A scripted HTTP server on a loopback port of its own. It ends when it is dropped, with every
/// connection that is open then.
pub struct Destination {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

type Script = Box<dyn Fn(&Received) -> Behaviour + Send + Sync>;
type Replies = Box<dyn Fn(&Question) -> Reply + Send + Sync>;

struct Shared {
    script: Script,
    /// None: it cannot be asked, and every request is a delivery.
    replies: Option<Replies>,
    /// From when on requests are timed.
    began: Instant,
    log: watch::Sender<Log>,
    released: watch::Sender<u64>,
}

/// In the order of reading; `answered` and `read_at` stand beside `received`, one for one.
#[derive(Debug, Default)]
struct Log {
    received: Vec<Received>,
    answered: Vec<Answered>,
    read_at: Vec<Duration>,
    asked: Vec<Asked>,
}

impl Destination {
    /// Starts a destination. The script is asked once for every request, after it was read whole.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn start(
        script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::listen(Box::new(script), None).await
    }

    /// As [`Destination::start`], for one that can be asked: every GET is a question, and `replies` is
    /// asked once for each.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn start_answering(
        script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static,
        replies: impl Fn(&Question) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::listen(Box::new(script), Some(Box::new(replies))).await
    }

    async fn listen(script: Script, replies: Option<Replies>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            replies,
            began: Instant::now(),
            log: watch::Sender::default(),
            released: watch::Sender::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared))).abort_handle();
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    /// The URL of a path (with its leading slash) here.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request read so far, in the order of reading.
    pub fn received(&self) -> Vec<Received> {
        self.shared.log.borrow().received.clone()
    }

    /// Every request read so far, and what it was answered with.
    pub fn exchanges(&self) -> Vec<(Received, Answered)> {
        let log = self.shared.log.borrow();
        let answered = log.answered.iter().copied();
        log.received.iter().cloned().zip(answered).collect()
    }

    /// When each request was read, from when the destination was started.
    pub fn read_at(&self) -> Vec<Duration> {
        self.shared.log.borrow().read_at.clone()
    }

    /// Every question read so far, with its reply, in the order of reading.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.log.borrow().asked.clone()
    }

    /// Waits until so many questions have been read.
    pub async fn until_asked(&self, times: usize) {
        let mut log = self.shared.log.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let _ = log.wait_for(|log| log.asked.len() >= times).await;
    }

    /// Waits until the log meets the condition; asked at once, and again after every request.
    pub async fn until(&self, condition: impl Fn(&[Received]) -> bool) {
        let mut log = self.shared.log.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let _ = log.wait_for(|log| condition(&log.received)).await;
    }

    /// Answers every request that is stalled now.
    pub fn release(&self) {
        self.shared.released.send_modify(|round| *round += 1);
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let received = self.shared.log.borrow().received.len();
        f.debug_struct("Destination")
            .field("address", &self.address)
            .field("received", &received)
            .finish_non_exhaustive()
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and every connection with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // The peer went away between its SYN and here, or descriptors ran out for a moment.
                    tokio::task::yield_now().await;
                    continue;
                };
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(|request| answer(request, &shared));
    // An error of the service ends the connection without an answer: that is how it is dropped.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// The connection is to be closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the script drops the connection")]
struct Dropped;

async fn answer(
    request: Request<Incoming>,
    shared: &Shared,
) -> Result<Response<Full<Bytes>>, Dropped> {
    let (parts, body) = request.into_parts();
    // A sender that stops midway has sent no request.
    let body = body.collect().await.map_err(|_| Dropped)?.to_bytes();
    let path = parts.uri.path_and_query().map(ToString::to_string);
    let path = path.unwrap_or_default();
    if let Some(replies) = &shared.replies
        && parts.method == Method::GET
    {
        return shared.asked(path, replies).response();
    }
    let (at, behaviour, round) = shared.take(&parts.headers, path, body.to_vec());
    let (status, headers, body) = match behaviour {
        Behaviour::Answer {
            status,
            headers,
            body,
        } => (status, headers, body),
        Behaviour::Stall | Behaviour::StallThen(_) => {
            let mut released = shared.released.subscribe();
            // The sender lives in `shared`; a peer that goes away ends this task instead.
            let _ = released.wait_for(|now| *now > round).await;
            let status = match behaviour {
                Behaviour::StallThen(status) => status,
                _ => 200,
            };
            (status, Vec::new(), String::new())
        }
        Behaviour::DropAfterRequest => return Err(Dropped),
    };
    shared.note(at, Answered::Status(status));
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    // A script with an impossible status or header drops the connection, which its test will notice.
    response
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| Dropped)
}

impl Shared {
    /// Asks the script and logs the request: where it stands in the log, what is to be done, and the
    /// round of releases that a stalled one waits behind.
    fn take(&self, headers: &HeaderMap, path: String, body: Vec<u8>) -> (usize, Behaviour, u64) {
        let key = key(headers);
        let headers = headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect();
        // Read before the request shows in the log: a release after that is meant for it.
        let round = *self.released.borrow();
        let mut taken = None;
        self.log.send_modify(|log| {
            let seen = 1 + log.received.iter().filter(|r| r.key == key).count();
            let received = Received {
                key,
                headers,
                path,
                body,
                seen,
            };
            let behaviour = (self.script)(&received);
            log.answered.push(match behaviour {
                Behaviour::DropAfterRequest => Answered::Dropped,
                _ => Answered::Stalled,
            });
            log.read_at.push(self.began.elapsed());
            taken = Some((log.received.len(), behaviour, round));
            log.received.push(received);
        });
        taken.expect("`send_modify` calls its closure before it returns")
    }

    fn note(&self, at: usize, answered: Answered) {
        self.log.send_modify(|log| {
            if let Some(entry) = log.answered.get_mut(at) {
                *entry = answered;
            }
        });
    }
}

fn key(headers: &HeaderMap) -> String {
    let is_key = |value: &&str| value.parse::<ActionKey>().is_ok();
    let named = headers
        .get("idempotency-key")
        .and_then(|value| value.to_str().ok());
    named
        .or_else(|| {
            headers
                .values()
                .filter_map(|value| value.to_str().ok())
                .find(is_key)
        })
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests;
