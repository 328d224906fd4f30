//! The engine as a process of its own: this program started once more. It ends with the one that
//! started it, since it waits for the end of its standard input.

use std::process::{ExitCode, Stdio};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Runs an engine, says where, and stays until standard input ends.
pub(crate) async fn serve() -> ExitCode {
    let engine = match ackbox::dev::Engine::unguarded_memory().await {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("the engine did not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", engine.endpoint());
    let mut rest = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    engine.stop().await;
    ExitCode::SUCCESS
}

/// A running engine process.
#[derive(Debug)]
pub(crate) struct Process {
    endpoint: String,
    /// Its standard input is a pipe from here: it ends when this is dropped.
    _child: Child,
}

impl Process {
    /// Starts this program as an engine.
    pub(crate) async fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the engine's process: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg("engine")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().ok_or("the engine has no output")?;
        let endpoint = BufReader::new(output)
            .lines()
            .next_line()
            .await
            .map_err(failed)?
            .ok_or("the engine's process ended before it was ready")?;
        Ok(Self {
            endpoint,
            _child: child,
        })
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }
}
