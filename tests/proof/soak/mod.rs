//! The soak: many events, some of them repeated, some in conflict, to destinations that fail at random,
//! while environments are killed at random. In the end every acknowledged event is accounted for, from
//! the senders' own ledger, the destinations' own logs and the table; memory is watched on the way.

mod destination;
mod judge;
mod ledger;
mod memory;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ackbox::dev::{Clients, pump};
use ackbox_domain::Name;
use ackbox_store::{Class, Store};
use ackbox_tests::engine::{self, Table};
use ackbox_tests::events;
use ackbox_tests::function::{Function, Invoked, Setting, beside};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::engine::Process;
use crate::pool::Pool;
use destination::{Destinations, config};
use ledger::{Ledger, Sender};
use memory::Memory;

/// How many senders there are; as many receiver environments at most.
const SENDERS: usize = 4;
/// Dispatcher environments for the stream: the engine's has one shard.
const DISPATCHERS: usize = 1;
const FUNCTION_TIMEOUT: Duration = Duration::from_secs(30);

/// What runs.
struct Soak {
    receivers: Arc<Pool>,
    dispatchers: Arc<Pool>,
    sweepers: Arc<Pool>,
    ledger: Arc<Ledger>,
    over: AtomicBool,
    kills: AtomicUsize,
}

/// Plays it with so many messages, and says whether everything is accounted for.
pub(crate) async fn play(messages: usize) -> Result<bool, String> {
    let engine = Process::start().await?;
    let destinations = Destinations::start().await?;
    let config = config(&destinations);
    let table = engine::table_name();
    let store = Store::new(engine::client(engine.endpoint()).await, table.as_str());
    store.create_table().await.map_err(|e| e.to_string())?;
    let setting = Arc::new(Setting::new(&config, &table)?);
    let pool = async |program: &str, slots| {
        let program = beside(program)?;
        let pool = Pool::start(program, Arc::clone(&setting), engine.endpoint(), slots).await?;
        Ok::<_, String>(Arc::new(pool))
    };
    let soak = Arc::new(Soak {
        receivers: pool("receiver", SENDERS).await?,
        dispatchers: pool("dispatcher", DISPATCHERS).await?,
        sweepers: pool("dispatcher", 1).await?,
        ledger: Arc::new(Ledger::new(&config, messages)),
        over: AtomicBool::new(false),
        kills: AtomicUsize::new(0),
    });
    let began = Instant::now();
    let (stop, stopped) = watch::channel(false);
    let mut beside = JoinSet::new();
    let clients = Clients::local(engine.endpoint()).await;
    beside.spawn(stream(clients, table.clone(), stopped, Arc::clone(&soak)));
    beside.spawn(Arc::clone(&soak).sweep());
    beside.spawn(Arc::clone(&soak).kill());
    let memory = send(&soak, messages).await?;
    println!(
        "{messages} messages sent in {:.0?}; {} environments killed so far",
        began.elapsed(),
        soak.kills.load(Ordering::Relaxed)
    );
    drained(&store, &soak).await?;
    soak.over.store(true, Ordering::Relaxed);
    let _ = stop.send(true);
    while beside.join_next().await.is_some() {}
    println!("drained after {:.0?}", began.elapsed());
    soak.report();
    let table = Table::new(engine.endpoint(), &table).await;
    let sound = judge::judge(&soak.ledger, &destinations, &table).await;
    Ok(memory.report() && sound)
}

/// Sends everything, and watches the memory on the way.
async fn send(soak: &Arc<Soak>, messages: usize) -> Result<Memory, String> {
    let began = Instant::now();
    let mut memory = Memory::default();
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let sender = Sender::new(Arc::clone(&soak.ledger), Arc::clone(&soak.receivers));
        senders.spawn(sender.run());
    }
    let every = (messages / Memory::LOOKS).max(1);
    let mut next = every;
    loop {
        tokio::select! {
            ended = senders.join_next() => match ended {
                None => return Ok(memory),
                Some(ended) => ended.map_err(|error| error.to_string())??,
            },
            () = soak.ledger.until_sent(next) => {
                memory.look(next, soak.receivers.oldest(), soak.watched())?;
                if next.is_multiple_of(every * Memory::LOOKS / 10) {
                    println!("{next} sent after {:.0?}", began.elapsed());
                }
                next += every;
            }
        }
    }
}

/// The event source mapping.
async fn stream(clients: Clients, table: String, stop: watch::Receiver<bool>, soak: Arc<Soak>) {
    let ended = pump(clients, table, stop, move |event| {
        let soak = Arc::clone(&soak);
        async move {
            match soak.dispatchers.invoke(&event, FUNCTION_TIMEOUT).await {
                Ok(Invoked::Answered(answer)) => Ok(answer),
                other => Err(format!("{other:?}")),
            }
        }
    });
    if let Err(why) = ended.await {
        println!("the stream: {why}");
    }
}

/// Until nothing is open any more.
async fn drained(store: &Store, soak: &Soak) -> Result<(), String> {
    let mut left = usize::MAX;
    let mut idle = 0;
    loop {
        let mut open = 0;
        for name in ["warehouse", "printer"] {
            let name: Name = name.parse().map_err(|e| format!("{e}"))?;
            let listed = store.list(Class::Open, &name, 1000).await;
            open += listed.map_err(|e| e.to_string())?.len();
        }
        if open == 0 {
            return Ok(());
        }
        idle = if open < left { 0 } else { idle + 1 };
        left = open;
        if idle > 120 {
            // The judge names them.
            println!("{open} entries stay open");
            soak.over.store(true, Ordering::Relaxed);
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

impl Soak {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The schedule, faster than the real one as the leases are shorter.
    async fn sweep(self: Arc<Self>) {
        while !self.is_over() {
            let swept = self
                .sweepers
                .invoke(&events::schedule(), FUNCTION_TIMEOUT)
                .await;
            if let Err(why) = swept {
                println!("the sweeper: {why}");
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// The dispatcher, once it is spared.
    fn watched(&self) -> Option<Arc<Function>> {
        self.spares_dispatcher()
            .then(|| self.dispatchers.oldest())?
    }

    /// In the second half the stream's dispatcher lives, so that its memory can be watched.
    fn spares_dispatcher(&self) -> bool {
        self.ledger.is_half_sent()
    }

    /// Kills an environment now and then; of the receivers, never the oldest.
    async fn kill(self: Arc<Self>) {
        while !self.is_over() {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(100..1500))).await;
            let spared = usize::from(self.spares_dispatcher());
            let (pool, spared) = match fastrand::u8(..3) {
                0 => (&self.receivers, 1),
                1 => (&self.dispatchers, spared),
                _ => (&self.sweepers, 0),
            };
            if pool.kill_one(spared).await {
                self.kills.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn report(&self) {
        println!(
            "environments: {} receivers, {} dispatchers, {} sweepers; {} killed",
            self.receivers.started(),
            self.dispatchers.started(),
            self.sweepers.started(),
            self.kills.load(Ordering::Relaxed)
        );
    }
}
