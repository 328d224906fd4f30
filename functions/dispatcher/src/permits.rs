//! How many attempts one invocation runs at once: an entry waits until there is room, for all and for its
//! own destination. A destination with little room must not take that of others while it waits.

use std::collections::BTreeMap;

use ackbox_config::Config;
use ackbox_domain::Name;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// The room of one invocation.
pub(crate) struct Permits<'a> {
    all: Semaphore,
    /// Of destinations that have a limit of their own.
    each: BTreeMap<&'a Name, Semaphore>,
}

/// Room for one attempt, until it is dropped.
pub(crate) struct Permit<'p> {
    _own: Option<SemaphorePermit<'p>>,
    _of_all: SemaphorePermit<'p>,
}

impl<'a> Permits<'a> {
    pub(crate) fn of(config: &'a Config) -> Self {
        let own = |(name, limit): (&'a Name, Option<usize>)| Some((name, Semaphore::new(limit?)));
        let destinations = config.destinations.iter();
        Self {
            all: Semaphore::new(config.delivery.concurrency),
            each: destinations
                .map(|(name, destination)| (name, destination.concurrency))
                .filter_map(own)
                .collect(),
        }
    }

    /// Waits for room; `None` where there was none until then.
    pub(crate) async fn room(&self, destination: &Name, until: Instant) -> Option<Permit<'_>> {
        let room = async {
            // The own first: whoever waits for it holds nothing that others wait for.
            let own = match self.each.get(destination) {
                Some(own) => Some(own.acquire().await.ok()?),
                None => None,
            };
            Some(Permit {
                _own: own,
                _of_all: self.all.acquire().await.ok()?,
            })
        };
        timeout_at(until, room).await.ok()?
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const CONFIG: &str = r#"
[destination.narrow]
url = "https://narrow.example.com/"
idempotency = "none"
concurrency = 1
[destination.wide]
url = "https://wide.example.com/"
idempotency = "none"
[delivery]
concurrency = 3
"#;

    #[tokio::test(start_paused = true)]
    async fn a_destination_takes_its_own_room_and_leaves_the_rest() {
        let config = Config::parse("f", CONFIG).unwrap();
        let permits = Permits::of(&config);
        let (narrow, wide) = ("narrow".parse().unwrap(), "wide".parse().unwrap());
        let until = Instant::now() + Duration::from_secs(1);
        let held = permits.room(&narrow, until).await.expect("room");
        assert!(permits.room(&narrow, until).await.is_none());
        let until = until + Duration::from_secs(1);
        let one = permits.room(&wide, until).await.expect("room for others");
        let two = permits.room(&wide, until).await.expect("room for others");
        assert!(permits.room(&wide, until).await.is_none(), "three in all");
        drop((one, two, held));
        let until = until + Duration::from_secs(1);
        assert!(permits.room(&narrow, until).await.is_some());
    }
}
