//! One of the functions as Lambda runs it: its binary as a process behind a runtime interface of its
//! own, frozen between invocations, killed where it outstays its time. In come events, out comes what
//! the function made of them, or that its process is gone.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::runtime_api::{Ended, RuntimeApi};
use crate::sender::secret;

/// What a function's process finds in its environment.
#[derive(Debug)]
pub struct Setting {
    config: NamedTempFile,
    table: String,
    more: Vec<(String, String)>,
}

impl Setting {
    /// This `ackbox.toml` and this table.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn new(config: &str, table: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the configuration's file: {error}");
        let file = NamedTempFile::new().map_err(failed)?;
        std::fs::write(file.path(), config).map_err(failed)?;
        Ok(Self {
            config: file,
            table: table.to_owned(),
            more: Vec::new(),
        })
    }

    /// With one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.more.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The variables, with the engine at `endpoint`.
    fn environment(&self, endpoint: &str) -> Vec<(String, String)> {
        let config = self.config.path().display().to_string();
        [
            ("ACKBOX_CONFIG", config.as_str()),
            ("ACKBOX_TABLE", &self.table),
            ("ORDERS", &secret("ORDERS")),
            ("AWS_ENDPOINT_URL_DYNAMODB", endpoint),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "local"),
            ("AWS_SECRET_ACCESS_KEY", "local"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}

/// What became of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum Invoked {
    /// The function answered.
    Answered(Value),
    /// The function reported an error.
    Failed(Value),
    /// Its process ended on the way.
    Died,
    /// It did not answer in time, and was killed as Lambda does.
    TimedOut,
}

/// A function's process. Dropping it kills it.
#[derive(Debug)]
pub struct Function {
    api: RuntimeApi,
    pid: Pid,
    ended: watch::Receiver<bool>,
    waiting: AbortHandle,
    log: NamedTempFile,
    ready_after: Duration,
}

impl Function {
    /// Starts a program and waits until it asks for its first invocation.
    ///
    /// # Errors
    /// It could not be started, said why it cannot start, or ended before it was ready.
    pub async fn start(program: &Path, setting: &Setting, endpoint: &str) -> Result<Self, String> {
        let name = program.display();
        let failed = |error: std::io::Error| format!("{name}: {error}");
        let api = RuntimeApi::start().await.map_err(failed)?;
        let log = NamedTempFile::new().map_err(failed)?;
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(api.environment("tests"))
            .envs(setting.environment(endpoint))
            .envs(setting.more.clone())
            .stdin(Stdio::null())
            .stdout(log.reopen().map_err(failed)?)
            .stderr(log.reopen().map_err(failed)?)
            .kill_on_drop(true);
        let began = Instant::now();
        let mut child = command.spawn().map_err(failed)?;
        let pid = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| format!("{name} has no process id"))?;
        let (has_ended, ended) = watch::channel(false);
        let waiting = tokio::spawn(async move {
            let _ = child.wait().await;
            has_ended.send_replace(true);
        });
        let ready_after = tokio::select! {
            ready = api.ready() => match ready {
                Ok(()) => Ok(began.elapsed()),
                Err(why) => Err(format!("{name} could not start: {why}")),
            },
            () = until_ended(&ended) => Err(format!("{name} ended before it was ready")),
        };
        let ready_after = ready_after.map_err(|why| {
            let log = std::fs::read_to_string(log.path()).unwrap_or_default();
            format!("{why}\n{log}")
        })?;
        Ok(Self {
            api,
            pid,
            ended,
            waiting: waiting.abort_handle(),
            log,
            ready_after,
        })
    }

    /// From before it was spawned until it asked for work.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// One invocation that may take `remaining`: the process runs for it, and is frozen after it.
    pub async fn invoke(&self, event: &Value, remaining: Duration) -> Invoked {
        self.thaw();
        let invoked = self.invoke_unfrozen(event, remaining).await;
        if matches!(invoked, Invoked::Answered(_) | Invoked::Failed(_)) {
            // An environment is frozen once it asks for the next invocation, not with its answer.
            tokio::select! {
                () = self.api.idle() => self.freeze(),
                () = until_ended(&self.ended) => {}
            }
        }
        invoked
    }

    /// One invocation of a process that is never frozen: nothing but the invocation itself.
    pub async fn invoke_unfrozen(&self, event: &Value, remaining: Duration) -> Invoked {
        tokio::select! {
            invoked = self.api.invoke(event, remaining) => match invoked {
                Some(Ended::Answered(answer)) => Invoked::Answered(answer),
                Some(Ended::Failed(error)) => Invoked::Failed(error),
                None => Invoked::Died,
            },
            () = until_ended(&self.ended) => Invoked::Died,
            () = tokio::time::sleep(remaining) => {
                self.kill().await;
                Invoked::TimedOut
            }
        }
    }

    /// Stops the process where it is (SIGSTOP).
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills it (SIGKILL), and waits until it is gone.
    pub async fn kill(&self) {
        self.signal(Signal::KILL);
        until_ended(&self.ended).await;
    }

    /// Whether its process is gone.
    pub fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    fn signal(&self, signal: Signal) {
        // Its number may be another's once it is gone.
        if !self.has_ended() {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    /// What it occupies, in MiB.
    ///
    /// # Errors
    /// The machine does not say so as Linux does.
    pub fn resident_mb(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.pid.as_raw_nonzero());
        let status = std::fs::read_to_string(path)
            .map_err(|error| format!("resident memory is read from /proc: {error}"))?;
        let kilobytes: Option<f64> = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .and_then(|kilobytes| kilobytes.parse().ok());
        kilobytes
            .map(|kilobytes| kilobytes / 1024.0)
            .ok_or_else(|| "/proc has no VmRSS".to_owned())
    }

    /// How much processor time it has used.
    ///
    /// # Errors
    /// The machine does not say so as Linux does.
    pub fn processor_time(&self) -> Result<Duration, String> {
        let failed = |error: std::io::Error| format!("processor time is read from /proc: {error}");
        let threads = format!("/proc/{}/task", self.pid.as_raw_nonzero());
        let mut used = Duration::ZERO;
        for thread in std::fs::read_dir(threads).map_err(failed)? {
            let path = thread.map_err(failed)?.path().join("schedstat");
            let stat = std::fs::read_to_string(path).map_err(failed)?;
            let nanoseconds = stat.split(' ').next().and_then(|first| first.parse().ok());
            used += Duration::from_nanos(nanoseconds.unwrap_or_default());
        }
        Ok(used)
    }
}

async fn until_ended(ended: &watch::Receiver<bool>) {
    // A sender that is gone says the same.
    let _ = ended.clone().wait_for(|ended| *ended).await;
}

impl Drop for Function {
    fn drop(&mut self) {
        // The child goes with its task, and is killed with it.
        self.waiting.abort();
    }
}

/// A binary that was built beside this one.
///
/// # Errors
/// It is not there.
pub fn beside(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name(name);
    if program.is_file() {
        return Ok(program);
    }
    Err(format!(
        "{} is not there; build it first: cargo build --workspace --bins (with --release, if this is)",
        program.display()
    ))
}
