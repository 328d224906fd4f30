//! The receiver's binary as Lambda runs it, behind a runtime interface of our own: how soon it is ready
//! beside a bare one, and what it occupies after a thousand events.

use std::time::Duration;

use ackbox_tests::engine::{self, Engine};
use ackbox_tests::function::{Function, Invoked, Setting, beside};
use ackbox_tests::requests::Host;
use ackbox_tests::sender::Webhook;
use ackbox_tests::world::{World, order};

use super::figure::Figure;
use super::{RUNS, handler};

const START_GOAL: f64 = 1.3;
const MEMORY_GOAL_MB: f64 = 20.0;
const EVENTS: usize = 1000;

/// The receiver's start over the bare one's.
pub(crate) async fn start(endpoint: &str) -> Result<Figure, String> {
    let setting = Setting::new(&handler::config(), &engine::table_name())?;
    let (receiver, bare) = (beside("receiver")?, beside("bare")?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 3 {
        let one = Function::start(&receiver, &setting, endpoint).await?;
        let other = Function::start(&bare, &setting, endpoint).await?;
        // The first runs read the files from the disk.
        if run >= 3 {
            ours.push(one.ready_after());
            theirs.push(other.ready_after());
        }
        one.kill().await;
        other.kill().await;
    }
    let name = "receiver's start to ready, to a bare SDK client's";
    Ok(Figure::ratio(name, &mut ours, &mut theirs, START_GOAL))
}

/// What the receiver occupies after a thousand accepted events.
pub(crate) async fn memory(endpoint: &str) -> Result<Figure, String> {
    let (config, table) = (handler::config(), engine::table_name());
    let world = World::on(Engine::at(endpoint), &table, &config).await;
    let setting = Setting::new(&config, &table)?;
    let function = Function::start(&beside("receiver")?, &setting, endpoint).await?;
    for number in 0..EVENTS {
        accept(&function, &world, number).await?;
    }
    Ok(Figure {
        name: "receiver's resident memory after 1,000 events",
        value: function.resident_mb()?,
        goal: MEMORY_GOAL_MB,
        unit: "MB",
        detail: String::new(),
    })
}

async fn accept(function: &Function, world: &World, number: usize) -> Result<(), String> {
    let source = &world.config.sources["orders"];
    // The process reads the real clock.
    let now = ackbox::edge::now();
    let webhook = Webhook::new(source, &format!("msg_{number}"), order(number as u64), now);
    let event = webhook.wire().event(Host::FunctionUrl);
    match function.invoke(&event, Duration::from_secs(30)).await {
        Invoked::Answered(answer) if answer["statusCode"] == 200 => Ok(()),
        other => Err(format!(
            "the receiver did not accept event {number}: {other:?}"
        )),
    }
}
