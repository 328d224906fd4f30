use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ackbox::demo::destination::{Behaviour, Destination};
use ackbox::dev::{Clients, Engine, Options, Runtime, StartError, StreamMode};
use ackbox::edge::Clock;
use ackbox_domain::Timestamp;
use ackbox_secrets::Secrets;

use crate::support::{SECRET, accepted, parsed, send};

const ON: StreamMode = StreamMode::On {
    window: Duration::ZERO,
    batch: 100,
};

/// So seldom that a test never sees the second.
const SELDOM: Duration = Duration::from_secs(86_400);

/// A clock that a test moves.
#[derive(Clone)]
struct Hands(Arc<AtomicU64>);

impl Hands {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_795_000_000_000)))
    }

    fn forward(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn clock(&self) -> Clock {
        let hands = self.clone();
        Arc::new(move || Timestamp::from_unix_ms(hands.0.load(Ordering::Relaxed)))
    }
}

async fn options(engine: &Engine, destination: &Destination, hands: &Hands) -> Options {
    Options {
        config: parsed(&destination.url("/in")),
        secrets: Secrets::new(|_| Some(SECRET.to_owned())),
        clients: engine.clients().await,
        table: "ackbox".to_owned(),
        listen: "127.0.0.1:0".parse().unwrap(),
        clock: hands.clock(),
        sweep_every: SELDOM,
        stream: ON,
    }
}

async fn up() -> Destination {
    Destination::start(|_| Behaviour::status(200))
        .await
        .unwrap()
}

#[tokio::test]
async fn what_is_accepted_is_delivered_by_way_of_the_stream() {
    let engine = Engine::memory().await.unwrap();
    let (destination, hands) = (up().await, Hands::new());
    let options = options(&engine, &destination, &hands).await;
    let runtime = Runtime::start(options).await.unwrap();
    for id in 0..20 {
        let body = format!("{{\"id\":\"{id}\"}}");
        assert_eq!(send(&runtime.url(), &body).await, accepted());
    }
    destination.until(|received| received.len() == 20).await;
    let mut bodies: Vec<_> = destination.received().into_iter().map(|r| r.body).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 20);
    assert_eq!(send(&runtime.url(), "{\"id\":\"7\"}").await.1, "duplicate");
    runtime.stop().await;
    assert_eq!(destination.received().len(), 20);
    engine.stop().await;
}

#[tokio::test]
async fn without_the_stream_the_sweep_delivers_once_the_time_has_come() {
    let engine = Engine::memory().await.unwrap();
    let (destination, hands) = (up().await, Hands::new());
    let mut options = options(&engine, &destination, &hands).await;
    options.stream = StreamMode::Off;
    let runtime = Runtime::start(options).await.unwrap();
    assert_eq!(send(&runtime.url(), "{\"id\":1}").await, accepted());
    assert_eq!(runtime.sweep_now().await["found"], 0);
    hands.forward(Duration::from_secs(10));
    let swept = runtime.sweep_now().await;
    assert_eq!(swept["attempted"], 1, "{swept}");
    assert_eq!(destination.received().len(), 1);
}

#[tokio::test]
async fn an_attempt_that_is_killed_is_made_again_under_the_same_key() {
    let engine = Engine::memory().await.unwrap();
    let hands = Hands::new();
    let destination = Destination::start(|request| match request.seen {
        1 => Behaviour::Stall,
        _ => Behaviour::status(200),
    });
    let destination = destination.await.unwrap();
    let options = options(&engine, &destination, &hands).await;
    let runtime = Runtime::start(options).await.unwrap();
    assert_eq!(send(&runtime.url(), "{\"id\":1}").await, accepted());
    destination.until(|received| received.len() == 1).await;
    runtime.kill_invocations();
    // The claim stands until its lease has run out: neither the repeated batch nor a sweep takes it.
    assert_eq!(runtime.sweep_now().await["attempted"], 0);
    hands.forward(Duration::from_secs(10));
    runtime.sweep_now().await;
    // The settled retry is due after its backoff.
    hands.forward(Duration::from_secs(10));
    runtime.sweep_now().await;
    destination.until(|received| received.len() == 2).await;
    let received = destination.received();
    assert_eq!(received[0].key, received[1].key);
    assert_eq!(received[0].body, received[1].body);
    runtime.stop().await;
}

#[tokio::test]
async fn a_runtime_that_ends_at_any_point_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.db");
    let (destination, hands) = (up().await, Hands::new());
    accept_and_drop(&path, &destination, &hands).await;
    let engine = Engine::file(&path).await.unwrap();
    let options = options(&engine, &destination, &hands).await;
    let runtime = Runtime::start(options).await.unwrap();
    destination.until(|received| received.len() == 1).await;
    assert_eq!(send(&runtime.url(), "{\"id\":1}").await.1, "duplicate");
    runtime.stop().await;
    engine.stop().await;
}

/// Accepts one event, and ends before anything delivers it.
async fn accept_and_drop(path: &Path, destination: &Destination, hands: &Hands) {
    let engine = Engine::file(path).await.unwrap();
    let mut options = options(&engine, destination, hands).await;
    options.stream = StreamMode::Off;
    let runtime = Runtime::start(options).await.unwrap();
    assert_eq!(send(&runtime.url(), "{\"id\":1}").await, accepted());
    drop(runtime);
    engine.stop().await;
}

#[tokio::test]
async fn a_start_that_cannot_be_says_why() {
    let engine = Engine::memory().await.unwrap();
    let (destination, hands) = (up().await, Hands::new());
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut on_taken = options(&engine, &destination, &hands).await;
    on_taken.listen = taken.local_addr().unwrap();
    let error = Runtime::start(on_taken).await.err().unwrap();
    assert!(matches!(error, StartError::PortTaken { .. }), "{error:?}");
    assert!(error.to_string().contains("--port"), "{error}");

    let mut unreachable = options(&engine, &destination, &hands).await;
    unreachable.clients = Clients::local("http://127.0.0.1:9").await;
    let error = Runtime::start(unreachable).await.err().unwrap();
    assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
}
