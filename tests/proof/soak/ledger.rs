//! The senders' own ledger: what was sent, and what came back. It knows nothing of the table; the judge
//! compares both. A sender repeats a message until it has a 2xx, as senders do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackbox_config::Config;
use ackbox_tests::function::Invoked;
use ackbox_tests::requests::Host;
use ackbox_tests::sender::Webhook;
use ackbox_tests::world::parsed;
use tokio::sync::watch;

use crate::pool::Pool;

/// An event as its sender made it.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The message's id, from which the action's key comes.
    pub id: String,
    /// Whether it goes to the destination that keeps keys.
    pub keeps_keys: bool,
    /// The body.
    pub body: String,
    /// Whether it has had a 2xx.
    pub acknowledged: bool,
    /// How many other bodies were sent under its id.
    pub conflicts: usize,
}

/// What all senders know together.
#[derive(Debug)]
pub(crate) struct Ledger {
    config: Config,
    messages: usize,
    sent: watch::Sender<usize>,
    next: AtomicUsize,
    events: Mutex<Vec<Event>>,
    counts: Mutex<Counts>,
}

/// What was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub accepted: usize,
    pub duplicates: usize,
    pub conflicts: usize,
    pub repeated: usize,
    /// Answers that must not be.
    pub wrong: Vec<String>,
}

/// What a sender does next.
enum Kind {
    New,
    Again(usize),
    Conflicting(usize),
}

impl Ledger {
    pub(crate) fn new(config: &str, messages: usize) -> Self {
        Self {
            config: parsed(config),
            messages,
            sent: watch::Sender::new(0),
            next: AtomicUsize::new(0),
            events: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        locked(&self.events).clone()
    }

    pub(crate) fn counts(&self) -> Counts {
        locked(&self.counts).clone()
    }

    /// Waits until so many messages have been sent.
    pub(crate) async fn until_sent(&self, many: usize) {
        let _ = self.sent.subscribe().wait_for(|sent| *sent >= many).await;
    }

    /// Whether half of the messages are sent.
    pub(crate) fn is_half_sent(&self) -> bool {
        *self.sent.borrow() * 2 >= self.messages
    }

    /// 68 of a hundred are new, 30 come again, 2 say something else under a known id.
    fn choose(&self) -> Option<Kind> {
        if self.next.fetch_add(1, Ordering::Relaxed) >= self.messages {
            return None;
        }
        let events = locked(&self.events);
        let many = events.len();
        // Mostly a recent one: senders repeat soon.
        let recent = |window: usize| many - 1 - fastrand::usize(..window.min(many));
        Some(match fastrand::u8(..100) {
            _ if many == 0 => Kind::New,
            0..68 => Kind::New,
            68..93 => Kind::Again(recent(50)),
            93..98 => Kind::Again(recent(many)),
            _ => {
                let at = recent(500);
                // A conflict with what is not accepted yet would be the original.
                if events[at].acknowledged {
                    Kind::Conflicting(at)
                } else {
                    Kind::Again(at)
                }
            }
        })
    }

    fn new_event(&self) -> usize {
        let mut events = locked(&self.events);
        let number = events.len();
        let keeps_keys = fastrand::u8(..10) < 8;
        let name = if keeps_keys { "warehouse" } else { "printer" };
        // One in ten has a body that is an item of its own.
        let size = if fastrand::u8(..10) == 0 { 1500 } else { 20 };
        let noise: String = (0..size).map(|_| fastrand::alphanumeric()).collect();
        events.push(Event {
            id: format!("msg_{number:08}"),
            keeps_keys,
            body: format!(r#"{{"type":"order.{name}","order":{number},"noise":"{noise}"}}"#),
            acknowledged: false,
            conflicts: 0,
        });
        number
    }
}

/// One sender.
pub(crate) struct Sender {
    ledger: Arc<Ledger>,
    receivers: Arc<Pool>,
}

impl Sender {
    pub(crate) fn new(ledger: Arc<Ledger>, receivers: Arc<Pool>) -> Self {
        Self { ledger, receivers }
    }

    /// Sends until all messages are sent.
    pub(crate) async fn run(self) -> Result<(), String> {
        while let Some(kind) = self.ledger.choose() {
            match kind {
                Kind::New => {
                    let at = self.ledger.new_event();
                    self.deliver(at).await?;
                }
                Kind::Again(at) => self.deliver(at).await?,
                Kind::Conflicting(at) => self.conflict(at).await?,
            }
            self.ledger.sent.send_modify(|sent| *sent += 1);
        }
        Ok(())
    }

    async fn deliver(&self, at: usize) -> Result<(), String> {
        let event = locked(&self.ledger.events)[at].clone();
        let outcome = self.until_taken(&event.id, &event.body).await?;
        let mut counts = locked(&self.ledger.counts);
        match outcome.as_str() {
            "accepted" => counts.accepted += 1,
            "duplicate" => counts.duplicates += 1,
            other => counts.wrong.push(format!("{}: {other}", event.id)),
        }
        drop(counts);
        locked(&self.ledger.events)[at].acknowledged = true;
        Ok(())
    }

    async fn conflict(&self, at: usize) -> Result<(), String> {
        let event = {
            let mut events = locked(&self.ledger.events);
            events[at].conflicts += 1;
            events[at].clone()
        };
        let name = if event.keeps_keys {
            "warehouse"
        } else {
            "printer"
        };
        let number = event.conflicts;
        let other = format!(r#"{{"type":"order.{name}","other":{number}}}"#);
        let outcome = self.until_taken(&event.id, &other).await?;
        let mut counts = locked(&self.ledger.counts);
        match outcome.as_str() {
            "conflict" => counts.conflicts += 1,
            wrong => counts.wrong.push(format!("{} changed: {wrong}", event.id)),
        }
        Ok(())
    }

    /// Sends until there is a 2xx, signed anew every time.
    async fn until_taken(&self, id: &str, body: &str) -> Result<String, String> {
        let source = &self.ledger.config.sources["orders"];
        for _ in 0..100 {
            let webhook = Webhook::new(source, id, body, ackbox::edge::now());
            let event = webhook.wire().event(Host::FunctionUrl);
            let invoked = self
                .receivers
                .invoke(&event, Duration::from_secs(20))
                .await?;
            if let Invoked::Answered(answer) = invoked {
                let outcome = answer["headers"]["ackbox-outcome"].as_str();
                let outcome = outcome.unwrap_or_default().to_owned();
                match answer["statusCode"].as_u64() {
                    Some(200) => return Ok(outcome),
                    Some(503) => {}
                    other => {
                        let wrong = format!("{id}: {other:?} {outcome}");
                        locked(&self.ledger.counts).wrong.push(wrong);
                    }
                }
            }
            locked(&self.ledger.counts).repeated += 1;
        }
        Err(format!("{id} was not taken in a hundred tries"))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
