//! What a run needs: the engine in memory, the runtime on it, the destinations and the senders; and what
//! can be seen of it from outside, awaited by conditions; `gather` makes evidence of it at the end.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use ackbox_domain::{ActionKey, EntryState};
use ackbox_secrets::{SecretError, Secrets};
use ackbox_signature::SecretFormError;
use ackbox_store::StoreError;

use super::application::Application;
use super::destination::Destination;
use super::sender::{SenderError, Senders};
use super::setting::{Setting, SettingError, random_environment, random_secret};
use crate::dev::{Engine, EngineError, Extras, Options, Runtime, StartError, StreamMode};
use crate::edge;

mod gather;

/// The table's name.
const TABLE: &str = "demo";

/// How often the sweeper and the reconciler are woken. Each time they ask for every destination, by every
/// shard of the index, which in a debug build is most of what the demo costs.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// How long a batch of the stream waits for more records.
const STREAM_WINDOW: Duration = Duration::from_millis(20);

/// The table tells nobody when something changes, so it is asked again and again.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Everything that runs in a demo.
pub struct Stage {
    /// Configuration and destinations.
    pub setting: Setting,
    /// Who sends.
    pub senders: Senders,
    /// Who submits jobs.
    pub application: Application,
    /// Receiver, registrar, dispatcher, sweeper and reconciler.
    pub runtime: Runtime,
    secrets: Secrets,
    engine: Engine,
}

/// Why the demo could not be set up, or not be seen to its end.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// No setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// No engine.
    #[error("the embedded engine does not start")]
    Engine(#[from] EngineError),
    /// No runtime.
    #[error("the runtime does not start")]
    Start(#[from] StartError),
    /// No senders.
    #[error(transparent)]
    Senders(#[from] SenderError),
    /// The table could not be asked where an entry stands.
    #[error("the table cannot be read")]
    Store(#[from] StoreError),
    /// A destination's secret cannot be had.
    #[error("a destination has no secret")]
    Secret(#[from] SecretError),
    /// A destination's secret has a form that cannot sign.
    #[error("a destination cannot use its secret")]
    Form(#[from] SecretFormError),
}

impl Stage {
    /// Sets everything up; when this returns, requests are answered.
    ///
    /// # Errors
    ///
    /// No loopback port can be had, or the engine does not start.
    pub async fn set() -> Result<Self, StageError> {
        let setting = Setting::start().await?;
        let secrets = Secrets::new(random_environment());
        let engine = Engine::memory().await?;
        let options = Options {
            config: setting.config.clone(),
            secrets: secrets.clone(),
            clients: engine.clients().await,
            table: TABLE.to_owned(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            clock: edge::clock(),
            sweep_every: SWEEP_EVERY,
            stream: StreamMode::On {
                window: STREAM_WINDOW,
                batch: 100,
            },
        };
        let token = random_secret();
        let extras = Extras {
            token: Some(token.clone()),
            ..Extras::default()
        };
        let runtime = Runtime::start_with(options, extras).await?;
        let url = runtime.url();
        let application = Application::new(&url, token).map_err(SenderError::from)?;
        let senders = Senders::new(&url, &setting.config, &secrets, edge::clock()).await?;
        Ok(Self {
            setting,
            senders,
            application,
            runtime,
            secrets,
            engine,
        })
    }

    /// Stops everything, in order.
    pub async fn strike(self) {
        self.runtime.stop().await;
        self.engine.stop().await;
    }

    /// The destination of this name.
    pub fn destination(&self, name: &str) -> Option<&Destination> {
        self.setting.destinations.get(name)
    }

    /// Waits until so many actions have been seen by destinations, and none of them is under way:
    /// each is delivered, given up, or waits for a person.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub async fn until_settled(&self, actions: usize) -> Result<(), StoreError> {
        let mut settled = BTreeSet::new();
        while settled.len() < actions {
            tokio::time::sleep(ASK_AGAIN).await;
            for key in self.keys_seen().difference(&settled.clone()) {
                let entry = self.runtime.store().entry(key).await?;
                let state = entry.map(|entry| entry.state);
                let is_under_way = matches!(
                    state,
                    Some(EntryState::Pending | EntryState::Claimed | EntryState::Unknown)
                );
                if !is_under_way {
                    settled.insert(key.clone());
                }
            }
        }
        Ok(())
    }

    /// Waits until the table says that a destination is paused.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub async fn until_paused(&self, destination: &str) -> Result<(), StoreError> {
        let names = self.setting.destinations.keys();
        for name in names.filter(|name| name.as_str() == destination) {
            while self.runtime.store().pause(name).await?.pause.is_none() {
                tokio::time::sleep(ASK_AGAIN).await;
            }
        }
        Ok(())
    }

    /// Every key that a destination has seen.
    fn keys_seen(&self) -> BTreeSet<ActionKey> {
        let destinations = self.setting.destinations.values();
        destinations
            .flat_map(Destination::received)
            .filter_map(|received| received.key.parse().ok())
            .collect()
    }
}
