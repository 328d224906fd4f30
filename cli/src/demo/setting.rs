//! The setting of one run: the demo's configuration with its destinations on loopback, secrets that are
//! random and live as long as the process, and the scripts by which the destinations fail.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ackbox_config::{Config, Mistakes};
use ackbox_domain::Name;
use ackbox_domain::settlement::Word;

use super::destination::{Behaviour, Destination, Question, Received, Reply};
use super::status::StatusService;

/// Where the trouble is.
pub const DOWN_TWICE: &str = "deployer";
/// Takes the first request and hangs up; keeps keys.
pub const HANGS_UP: &str = "refunds";
/// Takes the first request and hangs up; keeps no keys.
pub const HANGS_UP_WITHOUT_KEYS: &str = "mailer";
/// The dispatcher is stopped while it waits here.
pub const STALLS: &str = "renderer";
/// Down for the first two requests of one action, and paused by the first.
pub const IS_PAUSED: &str = "tracker";
/// Takes the first request and hangs up; asked, it knows that it has the action.
pub const HAS_IT: &str = "screens";
/// Takes the first request and hangs up; asked, it knows that it does not have the action.
pub const HAS_IT_NOT: &str = "shipping";
/// Takes the first request and hangs up; asked, it never has a clear answer.
pub const CANNOT_SAY: &str = "support";
/// Does the steps of jobs, steadily.
pub const STUDIO: &str = "studio";

/// Where the status service is by the file.
const STATUS: &str = "openrouter-status";

/// A configuration and the destinations that it names.
#[derive(Debug)]
pub struct Setting {
    /// The configuration; its destinations are the ones beside it.
    pub config: Config,
    /// The destinations, by name.
    pub destinations: BTreeMap<Name, Destination>,
    /// Who is asked about jobs.
    pub status: StatusService,
}

/// Why there is no setting.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The configuration beside this file has a mistake.
    #[error("the demo's own configuration is wrong")]
    Config(#[from] Mistakes),
    /// A destination cannot listen on loopback.
    #[error("a destination cannot listen on loopback")]
    Listen(#[from] io::Error),
}

impl Setting {
    /// Starts every destination and the status service, and points the configuration at them.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn start() -> Result<Self, SettingError> {
        let mut destinations = BTreeMap::new();
        let mut text = TEXT.to_owned();
        for name in configuration(TEXT)?.destinations.into_keys() {
            let destination = start(name.as_str()).await?;
            text = text.replace(&address(name.as_str()), &destination.url(""));
            destinations.insert(name, destination);
        }
        let status = StatusService::start().await?;
        text = text.replace(&address(STATUS), &status.url(""));
        let config = configuration(&text)?;
        Ok(Self {
            config,
            destinations,
            status,
        })
    }
}

const TEXT: &str = include_str!("demo.toml");

fn configuration(text: &str) -> Result<Config, Mistakes> {
    Config::parse("demo.toml", text)
}

/// Where a destination is by the file; the run's own address takes its place.
fn address(destination: &str) -> String {
    format!("http://{destination}.localhost")
}

async fn start(name: &str) -> io::Result<Destination> {
    match replies(name) {
        Some(replies) => Destination::start_answering(script(name), replies).await,
        None => Destination::start(script(name)).await,
    }
}

/// How a destination behaves; `seen` counts the requests of one key.
fn script(destination: &str) -> fn(&Received) -> Behaviour {
    match destination {
        DOWN_TWICE => |request| match request.seen {
            1 | 2 => Behaviour::status(503),
            _ => Behaviour::status(200),
        },
        // By the action that pauses it: the other one is to come behind the probe.
        IS_PAUSED => |request| match (request.body.ends_with(br#""opened"}"#), request.seen) {
            (true, 1 | 2) => Behaviour::status(503),
            _ => Behaviour::status(200),
        },
        HANGS_UP | HANGS_UP_WITHOUT_KEYS | HAS_IT | HAS_IT_NOT | CANNOT_SAY => {
            |request| match request.seen {
                1 => Behaviour::DropAfterRequest,
                _ => Behaviour::status(200),
            }
        }
        STALLS => |request| match request.seen {
            1 => Behaviour::Stall,
            _ => Behaviour::status(200),
        },
        _ => |_| Behaviour::status(200),
    }
}

/// What a destination replies to questions; none, where it cannot be asked.
fn replies(destination: &str) -> Option<fn(&Question) -> Reply> {
    let replies: fn(&Question) -> Reply = match destination {
        HAS_IT => |_| Reply::says(Word::Applied, 200, r#"{"state":"on air"}"#),
        // Until it is sent once more: on a slow machine it may be asked about that, too.
        HAS_IT_NOT => |question| match question.after {
            0 | 1 => Reply::says(Word::NotApplied, 404, ""),
            _ => Reply::says(Word::Applied, 200, ""),
        },
        CANNOT_SAY => |question| match question.seen % 3 {
            1 => Reply::says(Word::StillUnknown, 200, r#"{"state":"queued"}"#),
            2 => Reply::says(Word::StillUnknown, 503, ""),
            _ => Reply::Nothing,
        },
        _ => return None,
    };
    Some(replies)
}

/// What a destination does, in words.
pub fn described(destination: &str) -> &'static str {
    match destination {
        DOWN_TWICE => "down for two attempts, then up",
        IS_PAUSED => "down for two attempts; paused after the first, and probed",
        HANGS_UP => "takes the first request and hangs up; keeps keys",
        HANGS_UP_WITHOUT_KEYS => "takes the first request and hangs up; keeps no keys",
        STALLS => "slow at first; the dispatcher is stopped while it waits",
        HAS_IT | HAS_IT_NOT | CANNOT_SAY => {
            "takes the first request and hangs up; no keys, but can be asked"
        }
        STUDIO => "always up; does the steps of jobs",
        _ => "always up; wants its deliveries signed",
    }
}

/// An environment in which every variable has a value of its own: a random secret in a form that any of
/// the schemes takes. Good enough for a few seconds on loopback, and for nothing else.
pub fn random_environment() -> impl Fn(&str) -> Option<String> + Clone + Send + Sync + 'static {
    let values: Arc<Mutex<HashMap<String, String>>> = Arc::default();
    move |name| {
        let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(name.to_owned()).or_insert_with(random_secret);
        Some(value.clone())
    }
}

/// 32 random bytes as Standard Webhooks writes them; the other senders take the text as it is.
pub fn random_secret() -> String {
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..))
        .take(32)
        .collect();
    format!("whsec_{}", data_encoding::BASE64.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_has_no_mistake_and_no_warning() {
        let config = configuration(TEXT).unwrap();
        assert_eq!(config.warnings, []);
        for name in [
            DOWN_TWICE,
            HANGS_UP,
            HANGS_UP_WITHOUT_KEYS,
            STALLS,
            IS_PAUSED,
            STUDIO,
        ] {
            assert!(config.destinations.contains_key(name), "{name}");
        }
        for (name, destination) in &config.destinations {
            let can_be_asked = replies(name.as_str()).is_some();
            assert_eq!(destination.reconcile.is_some(), can_be_asked, "{name}");
        }
    }

    #[tokio::test]
    async fn every_address_of_the_file_is_replaced_by_one_of_the_run() {
        let setting = Setting::start().await.unwrap();
        let reconcile = setting.config.destinations[HAS_IT].reconcile.clone();
        let asked = reconcile.unwrap().url.url("act_1", b"{}").unwrap();
        let own = setting.destinations[HAS_IT].url("/actions/act_1");
        assert_eq!(asked.as_str(), own);
        let shown = format!("{:?}", setting.config);
        assert!(!shown.contains(".localhost"), "{shown}");
    }

    #[test]
    fn a_variable_keeps_its_random_value_and_shares_it_with_no_other() {
        let environment = random_environment();
        assert_eq!(environment("A"), environment("A"));
        assert_ne!(environment("A"), environment("B"));
        assert_ne!(environment("A"), random_environment()("A"));
    }
}
