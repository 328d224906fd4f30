//! One request goes out on a connection that stands, one answer's head and beginning come back; or
//! whether the request may have left. A request that was offered to the connection, even one byte of
//! it, is never reported as not sent.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{HeaderMap, Request, StatusCode};
use ackbox_domain::causes::in_one_line;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, timeout_at};

use crate::connect::Stream;
use crate::deadline::Deadline;

/// How much of a delivery's answer is read, in bytes.
pub(crate) const EXCERPT_MAX: usize = 4096;
/// How long the body of a delivery's answer is read. Its status is known by then, and a lease is running.
const EXCERPT_TIME: Duration = Duration::from_secs(1);
/// The longest head of an answer, in bytes.
pub(crate) const HEAD_MAX: usize = 32 * 1024;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The first bytes of the body, as far as they came in time.
    pub(crate) excerpt: Vec<u8>,
    /// Whether that is all of the body: it came to its end, in time and within what is read.
    pub(crate) is_whole: bool,
}

/// How much of a body is read.
#[derive(Clone, Copy)]
struct Reading {
    max: usize,
    /// For how long, at most, once its head is there.
    time: Duration,
}

/// Nothing came back that could be read.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) may_have_left: bool,
    pub(crate) why: String,
}

/// Sends a request, and waits for its answer until the deadline. Of its body at most `excerpt_max`
/// bytes are read, for a short time: the head alone decides.
pub(crate) async fn exchange(
    stream: Stream,
    request: Request<Full<Bytes>>,
    excerpt_max: usize,
    deadline: &Deadline,
) -> Result<Answer, NoAnswer> {
    let reading = Reading {
        max: excerpt_max,
        time: EXCERPT_TIME,
    };
    conversation(stream, request, reading, deadline).await
}

/// The same for an answer whose body decides: it is read until the deadline, up to `max` bytes.
pub(crate) async fn exchange_whole(
    stream: Stream,
    request: Request<Full<Bytes>>,
    max: usize,
    deadline: &Deadline,
) -> Result<Answer, NoAnswer> {
    let reading = Reading {
        max,
        time: deadline.total(),
    };
    conversation(stream, request, reading, deadline).await
}

async fn conversation(
    stream: Stream,
    request: Request<Full<Bytes>>,
    reading: Reading,
    deadline: &Deadline,
) -> Result<Answer, NoAnswer> {
    let offered = Arc::new(AtomicBool::new(false));
    let io = TokioIo::new(Watched {
        stream,
        offered: Arc::clone(&offered),
    });
    let answer = async {
        // Reads and writes nothing yet.
        let (sender, connection) = client()
            .handshake(io)
            .await
            .map_err(|error| in_one_line(&error))?;
        driven(connection, ask(sender, request, reading, deadline)).await
    };
    answer.await.map_err(|why| NoAnswer {
        may_have_left: offered.load(Ordering::Relaxed),
        why,
    })
}

/// The status line alone decides, so an odd header line must not turn a success into an unknown.
fn client() -> Builder {
    let mut client = Builder::new();
    client
        .max_buf_size(HEAD_MAX)
        .max_header_size(HEAD_MAX)
        .ignore_invalid_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true);
    client
}

/// Polls the connection for as long as the conversation needs it, in the same task: when the
/// conversation ends, or is dropped, the connection is closed, and nothing goes on in the background.
async fn driven<T>(connection: impl Future, conversation: impl Future<Output = T>) -> T {
    let (mut connection, mut conversation) = (pin!(connection), pin!(conversation));
    tokio::select! {
        biased;
        ended = &mut conversation => ended,
        // What ended the connection reaches the conversation too.
        _ = &mut connection => conversation.await,
    }
}

async fn ask(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    reading: Reading,
    deadline: &Deadline,
) -> Result<Answer, String> {
    let response = timeout_at(deadline.at(), sender.send_request(request))
        .await
        .map_err(|_| format!("no answer within {:?}", deadline.total()))?
        .map_err(|error| in_one_line(&error))?;
    let (head, body) = response.into_parts();
    let (excerpt, is_whole) = excerpt(body, reading, deadline).await;
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        excerpt,
        is_whole,
    })
}

/// The beginning of a body, and whether that is all of it. One that stalls, breaks or goes on changes
/// nothing about the head.
async fn excerpt(mut body: Incoming, reading: Reading, deadline: &Deadline) -> (Vec<u8>, bool) {
    let until = deadline.at().min(Instant::now() + reading.time);
    let mut read = Vec::new();
    loop {
        let frame = match timeout_at(until, body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => return (read, true),
            Ok(Some(Err(_))) | Err(_) => return (read, false),
        };
        if let Ok(data) = frame.into_data() {
            let room = reading.max - read.len();
            read.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                return (read, false);
            }
        }
    }
}

/// A connection that notes when bytes of the request are first offered to it. They may have left even
/// where writing then fails: below may be TLS, which hands them on in pieces.
struct Watched {
    stream: Stream,
    offered: Arc<AtomicBool>,
}

impl Watched {
    fn below(self: Pin<&mut Self>) -> Pin<&mut Stream> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.below().poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.offered.store(true, Ordering::Relaxed);
        self.below().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.offered.store(true, Ordering::Relaxed);
        self.below().poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.below().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.below().poll_shutdown(context)
    }
}
