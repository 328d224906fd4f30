//! The deployment on one machine: options come in, a receiver and a registrar that answer, a pump and a timer that
//! invoke the dispatcher come out. It stops in order, and may be killed at any point.

pub(super) mod table;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ackbox_config::Config;
use ackbox_dispatcher::Dispatcher;
use ackbox_outbound::Outbound;
use ackbox_receiver::Receiver;
use ackbox_reconciler::Reconciler;
use ackbox_registrar::Registrar;
use ackbox_secrets::Secrets;
use ackbox_store::{Store, StoreError};
use aws_config::SdkConfig;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::clients::Clients;
use super::http;
use super::invoke::Invoker;
use super::pump::{self, Mapping, Origin};
use super::reconcile;
use super::sweep;
use crate::edge::Clock;

/// How long [`Runtime::stop`] waits for what runs, before it ends it.
const GRACE: Duration = Duration::from_secs(10);

/// How often a failed batch of the stream is repeated before it is left to the sweep.
pub(super) const RETRIES: u32 = 10;

/// The pause before the first repetition.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// What runs.
pub struct Options {
    /// Sources, destinations, timing.
    pub config: Config,
    /// Where the values of its secret references come from.
    pub secrets: Secrets,
    /// The engine.
    pub clients: Clients,
    /// The table's name. It is created if it is missing and may be created.
    pub table: String,
    /// Where the receiver listens. Port 0: any free one.
    pub listen: SocketAddr,
    /// The functions' clock.
    pub clock: Clock,
    /// How often the sweeper and the reconciler are woken; once at the start in any case.
    pub sweep_every: Duration,
    /// Whether the dispatcher is woken by the stream.
    pub stream: StreamMode,
}

/// Whether the dispatcher is woken by the table's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamMode {
    /// As by an event source mapping.
    On {
        /// How long a batch waits for more records.
        window: Duration,
        /// The most records of one batch.
        batch: usize,
    },
    /// Not at all: every delivery is the sweep's.
    Off,
}

/// What only a runtime that stays up needs.
#[derive(Clone, Default)]
pub struct Extras {
    /// The file that keeps how far the stream was read, over a restart. None: the stream is read from
    /// its oldest record on.
    pub checkpoints: Option<PathBuf>,
    /// How long the receiver waits for one whole request; then 408. None: 30 seconds.
    pub receive_within: Option<Duration>,
    /// What callers of the registrar must show. None: it answers nobody.
    pub token: Option<String>,
    /// How AWS is spoken to, for destinations that it answers. None: there are none.
    pub aws: Option<SdkConfig>,
}

/// Why it does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another process listens there.
    #[error("port {} on {} is taken by another process; choose another with --port (0 takes any free one)", at.port(), at.ip())]
    PortTaken {
        /// Where.
        at: SocketAddr,
    },
    /// It cannot be listened there.
    #[error("cannot listen on {at}; choose another port with --port")]
    Listen {
        /// Where.
        at: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// No engine answers.
    #[error(
        "no DynamoDB answers for the table {table:?}; check the endpoint and that the engine runs"
    )]
    Unreachable {
        /// The table's name.
        table: String,
        /// Why not.
        #[source]
        source: Box<aws_sdk_dynamodb::Error>,
    },
    /// The table cannot be used.
    #[error("the table {table:?} cannot be used")]
    Table {
        /// Its name.
        table: String,
        /// Why not.
        #[source]
        source: StoreError,
    },
    /// The table's stream cannot be found.
    #[error("the stream of the table {table:?} cannot be looked up")]
    Stream {
        /// The table's name.
        table: String,
        /// Why not.
        #[source]
        source: Box<aws_sdk_dynamodb::Error>,
    },
}

/// Everything, running. Dropping it ends it at once, as a kill would.
pub struct Runtime {
    at: SocketAddr,
    store: Store,
    functions: http::Functions,
    dispatcher: Dispatcher,
    invoker: Invoker,
    clock: Clock,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Runtime {
    /// Creates the table if it is missing, and starts the receiver, the stream pump and the timers of sweeper
    /// and reconciler.
    /// When this returns, requests are answered.
    ///
    /// # Errors
    ///
    /// The address is taken, or the table is not there, not ours, or cannot be reached.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        Self::start_with(options, Extras::default()).await
    }

    /// As [`Runtime::start`], with what only a runtime that stays up needs.
    ///
    /// # Errors
    ///
    /// As [`Runtime::start`].
    pub async fn start_with(options: Options, extras: Extras) -> Result<Self, StartError> {
        let listener = listen(options.listen).await?;
        let at = listener.local_addr().unwrap_or(options.listen);
        let store = Store::new(options.clients.dynamodb.clone(), options.table.clone());
        table::reach(&options.clients, &options.table).await?;
        table::ensure(&store).await?;
        let stream = match options.stream {
            StreamMode::Off => None,
            StreamMode::On { window, batch } => table::stream_arn(&options.clients, &options.table)
                .await?
                .map(|arn| (arn, mapping(window, batch))),
        };

        let Options {
            config,
            secrets,
            clients,
            clock,
            sweep_every,
            ..
        } = options;
        let timeout = config.delivery.function_timeout;
        let limits = http::Limits::of(&config, extras.receive_within);
        let outbound = match extras.aws {
            Some(aws) => Outbound::with_aws(secrets.clone(), aws),
            None => Outbound::new(secrets.clone()),
        };
        let reconciler = Reconciler::new(
            config.clone(),
            store.clone(),
            outbound.clone(),
            Arc::clone(&clock),
        );
        let dispatcher =
            Dispatcher::new(config.clone(), store.clone(), outbound, Arc::clone(&clock));
        let functions = http::Functions {
            registrar: Registrar::new(config.clone(), store.clone(), Arc::clone(&clock)),
            receiver: Receiver::new(config, store.clone(), secrets, Arc::clone(&clock)),
            token: extras.token,
        };
        let invoker = Invoker::new(dispatcher.clone(), timeout);
        let nudge = Arc::new(Notify::new());
        let (stop, stopped) = watch::channel(false);

        let mut tasks = JoinSet::new();
        tasks.spawn(http::serve(
            listener,
            functions.clone(),
            limits,
            Arc::clone(&nudge),
            stopped.clone(),
        ));
        tasks.spawn(sweep::run(
            invoker.clone(),
            Arc::clone(&clock),
            sweep_every,
            stopped.clone(),
        ));
        tasks.spawn(reconcile::run(
            reconciler,
            timeout,
            sweep_every,
            stopped.clone(),
        ));
        if let Some((stream_arn, mapping)) = stream {
            let origin = Origin {
                client: clients.streams,
                stream_arn,
                checkpoints: extras.checkpoints,
                nudge,
                stop: stopped,
            };
            tasks.spawn(pump(origin, mapping, invoker.clone()));
        }
        Ok(Self {
            at,
            store,
            functions,
            dispatcher,
            invoker,
            clock,
            stop,
            tasks,
        })
    }

    /// `http://127.0.0.1:PORT`, where the receiver answers.
    pub fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    /// The table.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The receiver that answers.
    pub fn receiver(&self) -> &Receiver {
        &self.functions.receiver
    }

    /// The registrar that answers.
    pub fn registrar(&self) -> &Registrar {
        &self.functions.registrar
    }

    /// The dispatcher that is invoked.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Ends every invocation of the dispatcher in flight, wherever it stands, as the end of its sandbox
    /// would: the pump repeats its batch, the timer goes on with its next tick.
    pub fn kill_invocations(&self) {
        self.invoker.kill();
    }

    /// One invocation by the schedule, awaited. Its answer, or the function error as Lambda words it
    /// (`errorType`, `errorMessage`).
    pub async fn sweep_now(&self) -> Value {
        let answer = self.invoker.invoke(sweep::scheduled(&self.clock)).await;
        answer.unwrap_or_else(|error| error.to_json())
    }

    /// Takes no more requests, wakes nobody any more, and returns when what runs has ended: requests,
    /// batches, a sweep. After ten seconds what still runs is ended.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("what still ran after {GRACE:?} was ended; the sweep takes it up");
            self.invoker.kill();
            self.tasks.shutdown().await;
        }
    }
}

/// The pump as the runtime runs it. A function, because its future must not borrow the invoker.
fn pump(
    origin: Origin,
    mapping: Mapping,
    invoker: Invoker,
) -> impl Future<Output = ()> + Send + 'static {
    pump::run(origin, mapping, move |event| {
        let invoker = invoker.clone();
        async move { invoker.invoke(event).await }
    })
}

fn mapping(window: Duration, batch: usize) -> Mapping {
    Mapping {
        batch: batch.max(1),
        window,
        retries: RETRIES,
        first_pause: FIRST_PAUSE,
    }
}

async fn listen(at: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(at).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            StartError::PortTaken { at }
        } else {
            StartError::Listen { at, source }
        }
    })
}
