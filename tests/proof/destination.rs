//! A destination that can be stopped at every stage of one exchange, down to the half of an answer's
//! head. Requests come in over HTTP/1.1, each is logged once it was read whole, and is answered as the
//! script says. Asked about a key (`GET /ask/{key}`), it says truly whether it has read a request with it:
//! 200 or 404. What must never happen: a request that was read whole and is not in the log.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ackbox_tests::destination::Received;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// The path below which it is asked.
const ASK: &str = "/ask/";

/// How far an exchange has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The connection stands; nothing was read.
    Connected,
    /// The request's head was read.
    HeadRead,
    /// The whole request was read, and nothing was answered.
    Read,
    /// Half of the answer's status line is sent.
    HalfAnswered,
    /// The answer's head is sent, and its body is not.
    HeadAnswered,
}

/// What is done with a request that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Answered with this status.
    Status(u16),
    /// The connection is closed without an answer.
    Dropped,
}

/// A server on a loopback port of its own; it ends with every open connection when it is dropped.
#[derive(Debug)]
pub(crate) struct Destination {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

type Script = Box<dyn Fn(&Received) -> Reply + Send + Sync>;

struct Shared {
    script: Script,
    /// `None` where the script keeps what it wants itself.
    log: Option<Mutex<Vec<Received>>>,
    /// The next exchange that comes so far stays there.
    hold: Mutex<Option<Stage>>,
    /// Whether one has.
    held: watch::Sender<bool>,
    released: watch::Sender<bool>,
    /// How long it works on each request.
    takes: Mutex<Duration>,
    /// How many requests it has read and not finished with, and the most that ever were.
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("log", &self.log)
            .field("hold", &self.hold)
            .finish_non_exhaustive()
    }
}

impl Destination {
    /// Starts one whose script is asked once for every request.
    pub(crate) async fn start(
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with(Box::new(script), Some(Mutex::default())).await
    }

    /// Starts one without a log of its own, for many requests.
    pub(crate) async fn unlogged(
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with(Box::new(script), None).await
    }

    async fn with(script: Script, log: Option<Mutex<Vec<Received>>>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            log,
            hold: Mutex::default(),
            held: watch::Sender::default(),
            released: watch::Sender::default(),
            takes: Mutex::default(),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared))).abort_handle();
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/orders", self.address)
    }

    /// The URL at which it is asked about a key.
    pub(crate) fn question(&self) -> String {
        format!("http://{}{ASK}{{key}}", self.address)
    }

    /// Every request that was read whole, in the order of reading.
    pub(crate) fn received(&self) -> Vec<Received> {
        let log = self.shared.log.as_ref();
        log.map(|log| locked(log).clone()).unwrap_or_default()
    }

    /// The most requests that it had in hand at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on works so long on each request.
    pub(crate) fn take(&self, takes: Duration) {
        *locked(&self.shared.takes) = takes;
    }

    /// The next exchange stays at this stage until [`Destination::release`].
    pub(crate) fn hold_at(&self, stage: Stage) {
        self.shared.held.send_replace(false);
        self.shared.released.send_replace(false);
        *locked(&self.shared.hold) = Some(stage);
    }

    /// Waits until an exchange is held.
    pub(crate) async fn has_held(&self) {
        // The sender lives in `self`.
        let _ = self.shared.held.subscribe().wait_for(|held| *held).await;
    }

    /// Lets what is held go on, and holds nothing more.
    pub(crate) fn release(&self) {
        *locked(&self.shared.hold) = None;
        self.shared.released.send_replace(true);
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(exchange(stream, Arc::clone(&shared)));
        }
        while connections.try_join_next().is_some() {}
    }
}

/// One request and its answer; a peer that goes away ends it.
async fn exchange(mut stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    shared.pass(Stage::Connected).await;
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end + 4;
        }
        more(&mut stream, &mut bytes).await?;
    };
    shared.pass(Stage::HeadRead).await;
    let mut received = read_head(&bytes[..head]);
    let length = header(&received, "content-length").and_then(|length| length.parse().ok());
    let end = head + length.unwrap_or(0_usize);
    while bytes.len() < end {
        more(&mut stream, &mut bytes).await?;
    }
    received.body = bytes[head..end].to_vec();
    let _in_hand = InHand::of(&shared);
    let reply = shared.take(received);
    shared.pass(Stage::Read).await;
    let takes = *locked(&shared.takes);
    if !takes.is_zero() {
        tokio::time::sleep(takes).await;
    }
    let Reply::Status(status) = reply else {
        return Ok(());
    };
    let line = format!("HTTP/1.1 {status} As-Scripted\r\n");
    let (first, second) = line.as_bytes().split_at(5);
    stream.write_all(first).await?;
    shared.pass(Stage::HalfAnswered).await;
    stream.write_all(second).await?;
    let rest = b"content-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\n";
    stream.write_all(rest).await?;
    shared.pass(Stage::HeadAnswered).await;
    stream.write_all(b"ok").await?;
    stream.shutdown().await
}

/// A request that was read, until it is finished with.
struct InHand<'s>(&'s Shared);

impl<'s> InHand<'s> {
    fn of(shared: &'s Shared) -> Self {
        let now = 1 + shared.at_once.fetch_add(1, Ordering::SeqCst);
        shared.most_at_once.fetch_max(now, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

fn read_head(head: &[u8]) -> Received {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let path = lines.next().and_then(|line| line.split(' ').nth(1));
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut received = Received {
        key: String::new(),
        headers,
        path: path.unwrap_or_default().to_owned(),
        body: Vec::new(),
        seen: 0,
    };
    received.key = header(&received, "idempotency-key")
        .unwrap_or_default()
        .to_owned();
    received
}

fn header<'r>(received: &'r Received, name: &str) -> Option<&'r str> {
    let mut headers = received.headers.iter();
    let (_, value) = headers.find(|(have, _)| have == name)?;
    Some(value)
}

impl Shared {
    /// Logs a request and asks the script; a question is answered from the log.
    fn take(&self, received: Received) -> Reply {
        if let Some(key) = received.path.strip_prefix(ASK) {
            let has_it = self.log.as_ref().is_some_and(|log| {
                let log = locked(log);
                log.iter().any(|request| request.key == key)
            });
            return Reply::Status(if has_it { 200 } else { 404 });
        }
        let reply = (self.script)(&received);
        if let Some(log) = &self.log {
            locked(log).push(received);
        }
        reply
    }

    /// Goes on at once, unless this is where one is to be held.
    async fn pass(&self, stage: Stage) {
        let is_held = locked(&self.hold).take_if(|at| *at == stage).is_some();
        if is_held {
            self.held.send_replace(true);
            let mut released = self.released.subscribe();
            let _ = released.wait_for(|released| *released).await;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
