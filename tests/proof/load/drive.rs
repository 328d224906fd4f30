//! Drives environments side by side through a list of events: how long each took, and how much of the
//! processor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ackbox_tests::function::{Function, Invoked};
use ackbox_tests::requests::Host;
use ackbox_tests::sender::Webhook;
use ackbox_tests::world::{World, order};
use futures_util::future::try_join_all;
use serde_json::Value;

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    took: Vec<Duration>,
    wall: Duration,
    processor: Duration,
}

impl Measured {
    pub(crate) fn add(&mut self, other: Self) {
        self.took.extend(other.took);
        self.wall += other.wall;
        self.processor += other.processor;
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.took.len() as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        let at = (took.len() * percent / 100).min(took.len().saturating_sub(1));
        took.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn processor_time_each(&self) -> Duration {
        let many = u32::try_from(self.took.len()).unwrap_or(u32::MAX);
        self.processor.checked_div(many).unwrap_or_default()
    }
}

/// Events of which so many are repetitions.
pub(crate) struct Mix<'w> {
    world: &'w World,
    duplicates: u8,
    made: usize,
}

impl<'w> Mix<'w> {
    pub(crate) fn new(world: &'w World, duplicates: u8) -> Self {
        Self {
            world,
            duplicates,
            made: 0,
        }
    }

    /// The next events, signed now.
    pub(crate) fn next(&mut self, many: usize) -> Vec<Value> {
        let source = &self.world.config.sources["orders"];
        let events = (0..many).map(|_| {
            let repeats = self.made > 0 && fastrand::u8(..100) < self.duplicates;
            let number = if repeats {
                fastrand::usize(..self.made)
            } else {
                self.made += 1;
                self.made - 1
            };
            let (id, body) = (format!("msg_{number}"), order(number as u64));
            let webhook = Webhook::new(source, &id, body, ackbox::edge::now());
            webhook.wire().event(Host::FunctionUrl)
        });
        events.collect()
    }
}

/// Every event once, each by whichever environment is free.
pub(crate) async fn drive(
    functions: &[Function],
    events: &Arc<[Value]>,
) -> Result<Measured, String> {
    let next = AtomicUsize::new(0);
    let used = used(functions)?;
    let began = Instant::now();
    let each = functions
        .iter()
        .map(|function| one(function, events, &next));
    let took = try_join_all(each).await?;
    let wall = began.elapsed();
    Ok(Measured {
        took: took.into_iter().flatten().collect(),
        wall,
        processor: self::used(functions)?.saturating_sub(used),
    })
}

async fn one(
    function: &Function,
    events: &[Value],
    next: &AtomicUsize,
) -> Result<Vec<Duration>, String> {
    let mut took = Vec::new();
    while let Some(event) = events.get(next.fetch_add(1, Ordering::Relaxed)) {
        let began = Instant::now();
        let invoked = function
            .invoke_unfrozen(event, Duration::from_secs(60))
            .await;
        took.push(began.elapsed());
        match invoked {
            Invoked::Answered(answer) if answer["statusCode"] == 200 => {}
            other => {
                return Err(format!(
                    "an event was not taken: {other:?}\n{}",
                    function.log()
                ));
            }
        }
    }
    Ok(took)
}

fn used(functions: &[Function]) -> Result<Duration, String> {
    functions.iter().map(Function::processor_time).sum()
}
