//! A request's body comes in, within a size and a time. No more of it is ever kept than the size and
//! one byte, however much is sent.

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use tokio::time::{Instant, timeout_at};

/// How much of a body that is too large is read and thrown away, so that a client that sends before it
/// reads sees the answer and not a broken connection.
const THROWN_AWAY_MAX: usize = 32 * 1024 * 1024;

/// What came.
#[derive(Debug)]
pub(super) enum Received {
    /// All of it.
    Whole(Vec<u8>),
    /// More than the limit. One byte more than the limit stands for it, so that the receiver sees it as
    /// what it is: it answers by the path and the method first, as it would there.
    TooLarge(Vec<u8>),
    /// It was not whole in time.
    TooSlow,
    /// The client went away.
    Broken,
}

/// Receives the body, `limit` bytes at most, until the deadline.
pub(super) async fn body(
    head: &Parts,
    body: &mut Incoming,
    limit: usize,
    deadline: Instant,
) -> Received {
    let is_announced_too_large = body.size_hint().lower() > limit as u64;
    let asks_first = head.headers.contains_key(EXPECT);
    if is_announced_too_large {
        if !asks_first {
            throw_away(body, deadline).await;
        }
        return Received::TooLarge(vec![0; limit + 1]);
    }
    let mut bytes = Vec::new();
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => return Received::TooSlow,
            Ok(None) => return Received::Whole(bytes),
            Ok(Some(Err(_))) => return Received::Broken,
            Ok(Some(Ok(frame))) => frame,
        };
        let Some(data) = frame.data_ref() else {
            // Trailers: a function URL has no place for them.
            continue;
        };
        let room = limit + 1 - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if bytes.len() > limit {
            throw_away(body, deadline).await;
            return Received::TooLarge(bytes);
        }
    }
}

async fn throw_away(body: &mut Incoming, deadline: Instant) {
    let mut thrown = 0;
    while thrown < THROWN_AWAY_MAX {
        match timeout_at(deadline, body.frame()).await {
            Ok(Some(Ok(frame))) => thrown += frame.data_ref().map_or(0, bytes::Bytes::len),
            _ => return,
        }
    }
}
