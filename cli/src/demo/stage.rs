//! What a run needs: the engine in memory, the runtime on it, the destinations and the senders; and what
//! can be seen of it from outside, awaited by conditions and gathered as evidence at the end.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use ackbox_config::DestinationConfig;
use ackbox_domain::{ActionKey, EntryState, Idempotency, StoredBody};
use ackbox_secrets::{SecretError, Secrets};
use ackbox_signature::{Headers, Message, Scheme, Secret, SecretFormError};
use ackbox_store::{Class, StoreError};
use futures_util::future;

use super::destination::{Destination, Received};
use super::evidence::{Attempt, Evidence, Question, Standing};
use super::sender::{SenderError, Senders};
use super::setting::{Setting, SettingError, random_environment};
use crate::dev::{Engine, EngineError, Options, Runtime, StartError, StreamMode};
use crate::edge;

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
    /// Receiver, dispatcher and sweeper.
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
        let runtime = Runtime::start(Options {
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
        })
        .await?;
        let url = runtime.url();
        let senders = Senders::new(&url, &setting.config, &secrets, edge::clock()).await?;
        Ok(Self {
            setting,
            senders,
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

    /// Gathers what the verdict looks at.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub async fn evidence(&self) -> Result<Evidence, StageError> {
        Ok(Evidence {
            sent: self.senders.ledger.pages(),
            attempts: self.attempts().await?,
            questions: self.questions(),
            standing: self.standing().await?,
        })
    }

    async fn attempts(&self) -> Result<Vec<Attempt>, StageError> {
        let mut attempts = Vec::new();
        for (name, destination) in &self.setting.destinations {
            let Some(configured) = self.setting.config.destinations.get(name) else {
                continue;
            };
            let verifier = self.verifier(configured).await?;
            let read_at = destination.read_at();
            for ((received, answered), at) in destination.exchanges().into_iter().zip(read_at) {
                attempts.push(Attempt {
                    destination: name.as_str().to_owned(),
                    at,
                    breaker: configured.breaker,
                    keeps_keys: configured.policy.idempotency != Idempotency::None,
                    genuine: verifier
                        .as_ref()
                        .map(|verifier| verifier.accepts(&received)),
                    key: received.key,
                    body: received.body,
                    answered,
                });
            }
        }
        Ok(attempts)
    }

    fn questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        for (name, destination) in &self.setting.destinations {
            questions.extend(destination.asked().into_iter().map(|asked| Question {
                destination: name.as_str().to_owned(),
                key: asked.question.key,
                after: asked.question.after,
                reply: asked.reply,
            }));
        }
        questions
    }

    async fn verifier(&self, of: &DestinationConfig) -> Result<Option<Verifier>, StageError> {
        let Some(scheme) = Scheme::builtin("standard-webhooks") else {
            return Ok(None);
        };
        let mut secrets = Vec::new();
        let Some(http) = of.to.http() else {
            return Ok(None);
        };
        for value in self.secrets.resolve(&http.signing).await? {
            secrets.push(scheme.secret(of.name.as_str(), value.expose())?);
        }
        Ok((!secrets.is_empty()).then_some(Verifier { scheme, secrets }))
    }

    /// Every key that the table lists as waiting, or as given up: for actions that no destination saw.
    async fn keys_kept(&self) -> Result<BTreeSet<ActionKey>, StoreError> {
        /// Far more than a demo has.
        const ALL: usize = 1000;
        const CLASSES: [Class; 4] = [Class::Open, Class::Unknown, Class::Held, Class::Dead];
        let store = self.runtime.store();
        let names = self.setting.destinations.keys();
        let lists = names.flat_map(|name| CLASSES.map(|class| store.list(class, name, ALL)));
        let listed = future::try_join_all(lists).await?;
        Ok(listed
            .into_iter()
            .flatten()
            .map(|listed| listed.key)
            .collect())
    }

    async fn standing(&self) -> Result<Vec<Standing>, StoreError> {
        let store = self.runtime.store();
        let mut keys = self.keys_seen();
        if keys.len() < self.senders.ledger.accepted() {
            keys.extend(self.keys_kept().await?);
        }
        let mut standing = Vec::new();
        for key in keys {
            let Some(entry) = store.entry(&key).await? else {
                continue;
            };
            let body = match entry.body {
                StoredBody::Inline(body) => Some(body),
                StoredBody::Payload => store.payload(&key).await?,
            };
            standing.push(Standing {
                key: key.as_str().to_owned(),
                state: entry.state,
                body: body.map(|body| body.bytes).unwrap_or_default(),
            });
        }
        Ok(standing)
    }
}

/// A destination that looks at signatures.
struct Verifier {
    scheme: std::sync::Arc<Scheme>,
    secrets: Vec<Secret>,
}

impl Verifier {
    fn accepts(&self, received: &Received) -> bool {
        let lines = received.headers.iter();
        let headers: Headers = lines.map(|(name, value)| (name, value)).collect();
        let message = Message {
            method: "POST",
            url: &received.path,
            headers: &headers,
            body: &received.body,
        };
        let now = edge::now().unix_ms();
        let verified = self.scheme.verify(&message, &self.secrets, now, None);
        verified.is_ok()
    }
}
