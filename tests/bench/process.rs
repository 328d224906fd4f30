//! The receiver's release binary as Lambda runs it, behind a runtime interface of our own: how soon it
//! is ready beside a bare one, and what it occupies after a thousand events.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ackbox_tests::engine::{self, Engine};
use ackbox_tests::requests::Host;
use ackbox_tests::runtime_api::{Ended, RuntimeApi};
use ackbox_tests::sender::{Webhook, secret};
use ackbox_tests::world::{World, order};
use tokio::process::{Child, Command};

use crate::RUNS;
use crate::figure::Figure;
use crate::handler;

const START_GOAL: f64 = 1.3;
const MEMORY_GOAL_MB: f64 = 20.0;
const EVENTS: usize = 1000;

/// A function's process with its runtime interface.
struct Function {
    api: RuntimeApi,
    child: Child,
    /// From before it was spawned until it asked for work.
    ready_after: Duration,
}

/// Where it finds its configuration and table.
struct Setting {
    config: tempfile::NamedTempFile,
    endpoint: String,
    table: String,
}

impl Setting {
    fn new(endpoint: &str, table: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the configuration's file: {error}");
        let config = tempfile::NamedTempFile::new().map_err(failed)?;
        std::fs::write(config.path(), handler::config()).map_err(failed)?;
        Ok(Self {
            config,
            endpoint: endpoint.to_owned(),
            table: table.to_owned(),
        })
    }
}

impl Function {
    async fn start(program: &Path, setting: &Setting) -> Result<Self, String> {
        let name = program.display();
        let api = RuntimeApi::start()
            .await
            .map_err(|error| format!("the runtime interface: {error}"))?;
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(api.environment("receiver"))
            .env("ACKBOX_CONFIG", setting.config.path())
            .env("ACKBOX_TABLE", &setting.table)
            .env("ORDERS", secret("ORDERS"))
            .env("AWS_ENDPOINT_URL_DYNAMODB", &setting.endpoint)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let began = Instant::now();
        let mut child = command.spawn().map_err(|error| {
            format!("{name}: {error}; build it first: cargo build --release -p ackbox-receiver -p ackbox-tests")
        })?;
        tokio::select! {
            ready = api.ready() => {
                ready.map_err(|why| format!("{name} could not start: {why}"))?;
            }
            ended = child.wait() => {
                return Err(format!("{name} ended before it was ready: {ended:?}"));
            }
        }
        let ready_after = began.elapsed();
        Ok(Self {
            api,
            child,
            ready_after,
        })
    }

    async fn stop(mut self) {
        let _ = self.child.kill().await;
    }
}

/// A binary that was built beside this one.
fn beside(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(own.with_file_name(name))
}

/// The receiver's start over the bare one's.
pub(crate) async fn start(endpoint: &str) -> Result<Figure, String> {
    let setting = Setting::new(endpoint, &engine::table_name())?;
    let (receiver, bare) = (beside("receiver")?, beside("bare")?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 3 {
        let one = Function::start(&receiver, &setting).await?;
        let ours_took = one.ready_after;
        one.stop().await;
        let other = Function::start(&bare, &setting).await?;
        let theirs_took = other.ready_after;
        other.stop().await;
        // The first runs read the files from the disk.
        if run >= 3 {
            ours.push(ours_took);
            theirs.push(theirs_took);
        }
    }
    let name = "receiver's start to ready, to a bare SDK client's";
    Ok(Figure::ratio(name, &mut ours, &mut theirs, START_GOAL))
}

/// What the receiver occupies after a thousand accepted events.
pub(crate) async fn memory(endpoint: &str) -> Result<Figure, String> {
    let world = World::on(
        Engine::at(endpoint),
        &engine::table_name(),
        &handler::config(),
    )
    .await;
    let setting = Setting::new(endpoint, world.table.name())?;
    let function = Function::start(&beside("receiver")?, &setting).await?;
    for number in 0..EVENTS {
        accept(&function, &world, number).await?;
    }
    let id = function.child.id().ok_or("the receiver has ended")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))
        .map_err(|error| format!("resident memory is read from /proc, as Linux has it: {error}"))?;
    let kb: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|kb| kb.parse().ok())
        .ok_or("/proc has no VmRSS")?;
    function.stop().await;
    Ok(Figure {
        name: "receiver's resident memory after 1,000 events",
        value: kb / 1024.0,
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
    let ended = function.api.invoke(&event, Duration::from_secs(30)).await;
    match ended {
        Some(Ended::Answered(answer)) if answer["statusCode"] == 200 => Ok(()),
        other => Err(format!(
            "the receiver did not accept event {number}: {other:?}"
        )),
    }
}
