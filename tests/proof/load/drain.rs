//! The dispatcher beside its destination: a backlog drained by the sweep, to the same requests sent by
//! a bare client; and a batch to a slow destination, to the same batch to a fast one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ackbox_store::schema::kind;
use ackbox_tests::backlog::like;
use ackbox_tests::engine::{self, Engine};
use ackbox_tests::events;
use ackbox_tests::function::{Function, Invoked, Setting, beside};
use ackbox_tests::world::{World, order, orders_source};
use futures_util::{StreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::destination::{Destination, Reply};
use crate::figures::Figure;

/// How many entries wait.
const BACKLOG: usize = 10_000;
/// How many requests are under way at once: the configuration's default.
const CONCURRENCY: usize = 64;
/// How many records a batch of the stream has.
const BATCH: usize = 100;
/// How long a slow destination takes.
const SLOW: Duration = Duration::from_millis(100);

fn config(destination: &Destination) -> String {
    format!(
        r#"{}
[destination.warehouse]
url = "{}"
idempotency = {{ window = "24h" }}
timeout = "20s"
allow_private = true

[delivery]
lease = "60s"
first_due = "61s"
function_timeout = "15m"
"#,
        orders_source(),
        destination.url()
    )
}

/// A world with so many entries that are due at once.
struct Backlog {
    world: World,
    dispatcher: Function,
}

impl Backlog {
    async fn new(endpoint: &str, destination: &Destination, many: usize) -> Result<Self, String> {
        let (config, table) = (config(destination), engine::table_name());
        let world = World::on(Engine::at(endpoint), &table, &config).await;
        // The world's own clock stands in the past: what it accepts is due by the real one.
        let answer = world.webhook("orders", "m0", order(0));
        let answer = answer.to(&world.receiver().await).await;
        if answer.said() != (200, "accepted") {
            return Err(format!("the first was answered {answer:?}"));
        }
        let item = world.table.of_kind(kind::OUTBOX).await.remove(0);
        world.table.put(like(&item, many - 1)).await;
        let setting = Setting::new(&config, &table)?;
        let dispatcher = Function::start(&beside("dispatcher")?, &setting, endpoint).await?;
        Ok(Self { world, dispatcher })
    }
}

/// The sweep's time for a backlog over the bare client's for the same requests.
pub(crate) async fn backlog(endpoint: &str) -> Result<Figure, String> {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let destination = Destination::unlogged(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::Status(200)
    });
    let destination = destination.await.map_err(|e| e.to_string())?;
    let backlog = Backlog::new(endpoint, &destination, BACKLOG).await?;
    let began = Instant::now();
    for _ in 0..20 {
        let swept = backlog
            .dispatcher
            .invoke(&events::schedule(), Duration::from_secs(900))
            .await;
        if !matches!(swept, Invoked::Answered(_)) {
            return Err(format!("the sweep: {swept:?}"));
        }
        if seen.load(Ordering::Relaxed) >= BACKLOG {
            break;
        }
    }
    let swept = began.elapsed();
    if seen.load(Ordering::Relaxed) != BACKLOG {
        return Err(format!(
            "{} of {BACKLOG} were sent",
            seen.load(Ordering::Relaxed)
        ));
    }
    let began = Instant::now();
    stream::iter(0..BACKLOG)
        .map(|number| post(&destination, number))
        .buffer_unordered(CONCURRENCY)
        .for_each(|_| async {})
        .await;
    let bare = began.elapsed();
    Ok(Figure {
        name: "a backlog of 10,000, to the destination's own speed",
        value: swept.as_secs_f64() / bare.as_secs_f64(),
        goal: f64::INFINITY,
        unit: "x",
        detail: format!("{swept:.1?} to {bare:.1?}; the table's calls are three an entry"),
    })
}

/// One request as a client without a table sends it.
async fn post(destination: &Destination, number: usize) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(destination.address()).await?;
    stream.set_nodelay(true)?;
    let body = order(number as u64);
    let head = format!(
        "POST /orders HTTP/1.1\r\nhost: there\r\nidempotency-key: {number}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.map(|_| ())
}

/// How much longer a batch takes where each request takes 100 ms, over 100 ms.
pub(crate) async fn batch(endpoint: &str) -> Result<Figure, String> {
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        fast.push(one_batch(endpoint, Duration::ZERO).await?);
        slow.push(one_batch(endpoint, SLOW).await?);
    }
    let (fast, slow) = (
        crate::figures::median(&mut fast),
        crate::figures::median(&mut slow),
    );
    Ok(Figure {
        name: "a batch of 100 at 100 ms each, over 100 ms, table apart",
        value: slow.saturating_sub(fast).as_secs_f64() / SLOW.as_secs_f64(),
        goal: 4.0,
        unit: "x",
        detail: format!("{slow:.0?} where each takes 100 ms, {fast:.0?} where none takes any"),
    })
}

async fn one_batch(endpoint: &str, takes: Duration) -> Result<Duration, String> {
    let destination = Destination::unlogged(|_| Reply::Status(200));
    let destination = destination.await.map_err(|e| e.to_string())?;
    destination.take(takes);
    let backlog = Backlog::new(endpoint, &destination, BATCH).await?;
    let batch = backlog.world.stream().await;
    let began = Instant::now();
    let invoked = backlog
        .dispatcher
        .invoke(&batch, Duration::from_secs(900))
        .await;
    let took = began.elapsed();
    match invoked {
        Invoked::Answered(answer) if answer["batchItemFailures"] == serde_json::json!([]) => {
            Ok(took)
        }
        other => Err(format!("the batch: {other:?}")),
    }
}
