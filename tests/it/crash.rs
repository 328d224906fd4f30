//! The dispatcher dies at every step that touches the network, and after the lease another one sweeps:
//! every entry ends delivered or honestly held, none is lost, and every request is explained.
//!
//! | dies | the table then holds | keeps keys | keeps none |
//! | --- | --- | --- | --- |
//! | before the claim | pending | delivered, 1 request | delivered, 1 request |
//! | after the claim | claimed | delivered, 1 | held, 0 |
//! | while the payload is read | claimed | delivered, 1 | held, 0 |
//! | while the destination works | claimed | delivered, 2 | held, 1 |
//! | after the answer, before the settle | claimed | delivered, 2 | held, 1 |
//! | after the settle | delivered | delivered, 1 | delivered, 1 |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ackbox_domain::{EntryState, OutboxEntry};
use ackbox_tests::destination::{Behaviour, Destination, Received};
use ackbox_tests::events;
use ackbox_tests::evidence::explained;
use ackbox_tests::faults::{Fault, Rule};
use ackbox_tests::world::{World, orders, orders_without_keys};
use tokio::time::Instant;

/// Longer than a lease and its skew, and than what a fresh entry waits for the stream.
const LEASE_OVER: Duration = Duration::from_secs(61);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dies {
    BeforeClaim,
    AfterClaim,
    ReadingPayload,
    MidRequest,
    BeforeSettle,
    AfterSettle,
}

impl Dies {
    const ALL: [Dies; 6] = [
        Self::BeforeClaim,
        Self::AfterClaim,
        Self::ReadingPayload,
        Self::MidRequest,
        Self::BeforeSettle,
        Self::AfterSettle,
    ];

    /// What comes of it, with and without keys: state and requests.
    fn becomes(self, keeps_keys: bool) -> (EntryState, usize) {
        use EntryState::{Delivered, Held};
        match (self, keeps_keys) {
            (Self::BeforeClaim | Self::AfterSettle, _) => (Delivered, 1),
            (Self::AfterClaim | Self::ReadingPayload, true) => (Delivered, 1),
            (Self::AfterClaim | Self::ReadingPayload, false) => (Held, 0),
            (Self::MidRequest | Self::BeforeSettle, true) => (Delivered, 2),
            (Self::MidRequest | Self::BeforeSettle, false) => (Held, 1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    ByStream,
    BySweep,
}

/// A world with one accepted order whose body is an item of its own.
struct Case {
    world: World,
    destination: Destination,
    /// How many requests from now on are never answered.
    stalls: Arc<AtomicUsize>,
}

impl Case {
    async fn new(keeps_keys: bool) -> Self {
        let stalls = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&stalls);
        let script = move |_: &Received| {
            let take = |left: usize| left.checked_sub(1);
            match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
                Ok(_) => Behaviour::Stall,
                Err(_) => Behaviour::status(200),
            }
        };
        let destination = Destination::start(script).await.unwrap();
        let config = if keeps_keys {
            orders(&destination)
        } else {
            orders_without_keys(&destination)
        };
        let world = World::new(&config).await;
        let receiver = world.receiver().await;
        let noise: String = (0..1500).map(|_| fastrand::alphanumeric()).collect();
        let body = format!(r#"{{"type":"order.paid","noise":"{noise}"}}"#);
        let answer = world.webhook("orders", "m1", body).to(&receiver).await;
        assert_eq!(answer.said(), (200, "accepted"));
        Self {
            world,
            destination,
            stalls,
        }
    }

    /// Wakes a dispatcher and kills it where it is to die, if it gets there.
    async fn die(&self, dies: Dies, woken: Woken) {
        let event = match woken {
            Woken::ByStream => self.world.stream().await,
            Woken::BySweep => {
                self.world.clock.advance(LEASE_OVER);
                events::schedule()
            }
        };
        let faults = &self.world.faults;
        // A claim is the update that takes the fence from where it stands; a settle writes attempts, and, as
        // it closes the entry, when the payload expires.
        let update = |settle: bool, fault| {
            let rule = if settle {
                Rule::operation("TransactWriteItems").containing("attempts")
            } else {
                Rule::operation("UpdateItem").containing("lease_until")
            };
            faults.inject(rule.once(), fault)
        };
        let seen = self.destination.received().len();
        let injected = match dies {
            Dies::BeforeClaim => Some(update(false, Fault::Stall)),
            Dies::AfterClaim => Some(update(false, Fault::StallAnswer)),
            Dies::BeforeSettle => Some(update(true, Fault::Stall)),
            Dies::AfterSettle => Some(update(true, Fault::StallAnswer)),
            Dies::ReadingPayload => {
                let rule = Rule::operation("GetItem").containing("PAYLOAD").once();
                Some(faults.inject(rule, Fault::Stall))
            }
            Dies::MidRequest => {
                self.stalls.store(1, Ordering::SeqCst);
                None
            }
        };
        let dispatcher = self.world.dispatcher().await;
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut running = tokio::spawn(async move { dispatcher.handle(event, deadline).await });
        let reached = async {
            match injected {
                Some(injected) => injected.hit().await,
                None => self.destination.until(|log| log.len() > seen).await,
            }
        };
        tokio::select! {
            () = reached => {
                running.abort();
                assert!(running.await.is_err_and(|end| end.is_cancelled()));
            }
            // It had nothing to do that goes so far.
            ended = &mut running => {
                ended.expect("no panic").expect("a known event");
            }
        }
        faults.clear();
        self.stalls.store(0, Ordering::SeqCst);
    }

    /// The lease runs out, and another dispatcher sweeps, once.
    async fn sweep(&self) -> (OutboxEntry, Vec<Received>) {
        self.world.clock.advance(LEASE_OVER);
        let dispatcher = self.world.dispatcher().await;
        self.world.sweep(&dispatcher).await;
        (self.world.entry().await, self.destination.received())
    }
}

async fn dies_once(woken: Woken) {
    for keeps_keys in [true, false] {
        for dies in Dies::ALL {
            let case = Case::new(keeps_keys).await;
            case.die(dies, woken).await;
            let (entry, received) = case.sweep().await;
            let found = (entry.state, received.len());
            let told = format!("{dies:?}, {woken:?}, keys: {keeps_keys}: {entry:#?}");
            assert_eq!(found, dies.becomes(keeps_keys), "{told}");
            explained(&entry, &received);
            if entry.state == EntryState::Held {
                assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"), "{told}");
                assert!(entry.first_uncertain_at.is_some(), "{told}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatcher_that_dies_at_any_step_of_a_stream_batch_loses_nothing() {
    dies_once(Woken::ByStream).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatcher_that_dies_at_any_step_of_a_sweep_loses_nothing() {
    dies_once(Woken::BySweep).await;
}

/// The second one dies while it repairs what the first one left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_deaths_at_any_two_steps_lose_nothing_and_repeat_nothing_that_may_not_be_repeated() {
    for keeps_keys in [true, false] {
        for first in Dies::ALL {
            for second in Dies::ALL {
                let case = Case::new(keeps_keys).await;
                case.die(first, Woken::ByStream).await;
                case.die(second, Woken::BySweep).await;
                let (entry, received) = case.sweep().await;
                let told = format!("{first:?}, then {second:?}, keys: {keeps_keys}: {entry:#?}");
                explained(&entry, &received);
                match entry.state {
                    EntryState::Delivered => assert!(!received.is_empty(), "{told}"),
                    EntryState::Held => assert!(!keeps_keys, "{told}"),
                    _ => panic!("left open: {told}"),
                }
                if !keeps_keys {
                    assert!(received.len() <= 1, "{told}");
                }
                assert!(received.len() <= 3, "{told}");
            }
        }
    }
}

/// A claim that was under way when its dispatcher died, and arrives later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_arrives_after_its_dispatcher_is_dead_counts_as_an_attempt() {
    let case = Case::new(false).await;
    let rule = Rule::operation("UpdateItem").once();
    let claim = case.world.faults.inject(rule, Fault::Stall);
    let (dispatcher, batch) = (case.world.dispatcher().await, case.world.stream().await);
    let deadline = Instant::now() + Duration::from_secs(60);
    let running = tokio::spawn(async move { dispatcher.handle(batch, deadline).await });
    claim.hit().await;
    running.abort();
    let _ = running.await;
    claim.release();
    while case.world.entry().await.state != EntryState::Claimed {
        tokio::task::yield_now().await;
    }
    let (entry, received) = case.sweep().await;
    assert_eq!((entry.state, received.len()), (EntryState::Held, 0));
}
