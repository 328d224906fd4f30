//! A table for commands and for the test itself: on the engine that the environment names, else in a file that
//! the commands open, or on an engine that the test serves, where several commands run at once.

use std::time::Duration;

use ackbox::dev::{Clients, Engine};
use ackbox_domain::Action;
use ackbox_store::Store;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::support::{Ended, Place};

const ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// A place, and its table.
pub(crate) struct Tabled {
    pub(crate) place: Place,
    table: String,
    runtime: Runtime,
    /// Where it is served, and by what, where that is the test's.
    served: Option<(String, Option<Engine>)>,
}

impl Tabled {
    /// An empty table, in a file where the environment names no engine.
    pub(crate) fn new(place: Place) -> Self {
        let served = engine_of_environment().map(|endpoint| (endpoint, None));
        Self::on(place, served)
    }

    /// The same at an endpoint, whatever the environment says.
    pub(crate) fn served(place: Place) -> Self {
        Self::on(place, Some(engine()))
    }

    fn on(place: Place, served: Option<(String, Option<Engine>)>) -> Self {
        let place = match &served {
            Some((endpoint, _)) => place.with(ENDPOINT, endpoint),
            None => place,
        };
        let tabled = Self {
            place: place.with("USER", "ada"),
            table: table(),
            runtime: Runtime::new().unwrap(),
            served,
        };
        tabled.with(async |store, _| store.create_table().await.unwrap());
        tabled
    }

    /// Does this with the table. In a file, no command can run meanwhile.
    pub(crate) fn with<T>(&self, work: impl AsyncFnOnce(Store, Clients) -> T) -> T {
        self.runtime.block_on(async {
            let engine = match &self.served {
                Some(_) => None,
                None => Some(Engine::file(&self.place.path("table.db")).await.unwrap()),
            };
            let clients = match (&self.served, &engine) {
                (Some((endpoint, _)), _) => Clients::local(endpoint).await,
                (None, Some(engine)) => engine.clients().await,
                (None, None) => unreachable!("either there is"),
            };
            let store = Store::new(clients.dynamodb.clone(), &self.table);
            let done = work(store, clients).await;
            if let Some(engine) = engine {
                engine.stop().await;
            }
            done
        })
    }

    /// Where it is served.
    pub(crate) fn endpoint(&self) -> String {
        let served = self.served.as_ref();
        served.expect("it is served").0.clone()
    }

    pub(crate) fn accept(&self, action: &Action) {
        let timing = ackbox_config::DeliverySettings::default().timing;
        self.with(async |store, _| store.accept(action, &timing, soon()).await.unwrap());
    }

    /// The arguments with those that name the table.
    pub(crate) fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut all = arguments.to_vec();
        all.extend(["--table", self.table.as_str()]);
        if self.served.is_none() {
            all.extend(["--db", "table.db"]);
        }
        all
    }

    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.place.run(&self.arguments(arguments))
    }

    /// The one JSON object of a command that ends with this code.
    #[track_caller]
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> serde_json::Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ended.code, Some(code), "{ended:?}");
        ended.json()
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// The endpoint of the engine that the environment names, else of one that the test serves.
pub(crate) fn engine() -> (String, Option<Engine>) {
    let named = engine_of_environment().map(|endpoint| (endpoint, None));
    named.unwrap_or_else(|| {
        let runtime = Runtime::new().unwrap();
        let engine = runtime.block_on(Engine::unguarded_memory()).unwrap();
        (engine.endpoint().to_owned(), Some(engine))
    })
}

/// The name of a table that no other test has.
pub(crate) fn table() -> String {
    let suffix: String = (0..12).map(|_| fastrand::alphanumeric()).collect();
    format!("ackbox-test-{suffix}")
}

#[allow(clippy::disallowed_methods, reason = "the tests' edge: which engine")]
fn engine_of_environment() -> Option<String> {
    std::env::var(ENDPOINT).ok()
}
