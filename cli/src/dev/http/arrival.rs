//! When the request that is being received began: bytes pass through unchanged, and the time of the
//! first one is kept until the request has ended.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// When the request that a connection is receiving began. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrival(Arc<Mutex<Option<Instant>>>);

/// A connection whose arrival is watched.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    arrival: Arrival,
}

impl Arrival {
    pub(super) fn watch(stream: TcpStream) -> (Watched, Self) {
        let arrival = Self::default();
        let watched = Watched {
            stream,
            arrival: arrival.clone(),
        };
        (watched, arrival)
    }

    /// When the request began that has not ended.
    pub(super) fn began(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until when the request that has begun is to be whole.
    pub(super) fn whole_within(&self, within: Duration) -> Instant {
        // A request that came along with the one before it began when it is looked at.
        self.began().unwrap_or_else(Instant::now) + within
    }

    /// The request has ended; the next byte begins another.
    pub(super) fn ended(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn came(&self) {
        let mut began = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        began.get_or_insert_with(Instant::now);
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.arrival.came();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
