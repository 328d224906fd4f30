//! The functions' binaries as Lambda runs them, behind a runtime interface of our own: how soon they are
//! ready beside a bare one, and what the receiver occupies after a thousand events.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ackbox_tests::engine::{self, Engine};
use ackbox_tests::function::{Function, Invoked, Setting, beside};
use ackbox_tests::requests::Host;
use ackbox_tests::sender::Webhook;
use ackbox_tests::world::{World, order};

use super::figure::Figure;
use super::{RUNS, handler};

const START_GOAL: f64 = 1.3;
const AGAINST_GOAL: f64 = 1.05;
const MEMORY_GOAL_MB: f64 = 20.0;
const EVENTS: usize = 1000;

/// The receiver's and the dispatcher's start over the bare one's. The configuration names one destination, by
/// HTTP: a client for another kind must cost nothing here.
pub(crate) async fn starts(endpoint: &str) -> Result<[Figure; 2], String> {
    let binaries = [beside("receiver")?, beside("dispatcher")?, beside("bare")?];
    let [mut receiver, mut dispatcher, mut bare] = ready_after(endpoint, binaries).await?;
    let of = |name, ours: &mut [Duration], bare: &mut [Duration]| {
        Figure::ratio(name, ours, bare, START_GOAL)
    };
    let ours = "receiver's start to ready, to a bare SDK client's";
    let theirs = "dispatcher's start to ready, to a bare SDK client's";
    Ok([
        of(ours, &mut receiver, &mut bare),
        of(theirs, &mut dispatcher, &mut bare),
    ])
}

/// The dispatcher's start over that of another build of it.
pub(crate) async fn start_against(endpoint: &str, other: &Path) -> Result<Figure, String> {
    let binaries = [beside("dispatcher")?, other.to_path_buf()];
    let [mut ours, mut theirs] = ready_after(endpoint, binaries).await?;
    let name = "dispatcher's start to ready, to the other build's";
    Ok(Figure::ratio(name, &mut ours, &mut theirs, AGAINST_GOAL))
}

/// How long each of these binaries takes to be ready, by turns.
async fn ready_after<const N: usize>(
    endpoint: &str,
    binaries: [PathBuf; N],
) -> Result<[Vec<Duration>; N], String> {
    let setting = Setting::new(&handler::config(), &engine::table_name())?;
    let mut taken = [const { Vec::new() }; N];
    for run in 0..RUNS + 3 {
        for at in 0..N {
            // Each is as often the first: what starts after a rest starts later.
            let which = (run + at) % N;
            let function = Function::start(&binaries[which], &setting, endpoint).await?;
            // The first runs read the files from the disk.
            if run >= 3 {
                taken[which].push(function.ready_after());
            }
            function.kill().await;
        }
    }
    Ok(taken)
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
