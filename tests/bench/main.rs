//! The performance figures, each a ratio of two things measured side by side in this run, or a count.
//! Nothing is compared with a clock on a wall: the machine's speed and load cancel out.
//!
//! The engine runs in a process of its own (`bench engine`), as DynamoDB does. Runs are interleaved,
//! and a figure is the median of its runs. Exits non-zero where a goal is missed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command: its output is what it is for"
)]

mod cost;
mod engine;
mod figure;
mod handler;
mod process;

use std::process::ExitCode;

use figure::Figure;

/// How often each of two things is measured, by turns.
const RUNS: usize = 60;

#[tokio::main]
async fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("engine") {
        return engine::serve().await;
    }
    match figures().await {
        Ok(figures) => {
            figure::print(&figures);
            let missed = figures.iter().any(|figure| !figure.is_met());
            ExitCode::from(u8::from(missed))
        }
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::from(2)
        }
    }
}

async fn figures() -> Result<Vec<Figure>, String> {
    let engine = engine::Process::start().await?;
    Ok(vec![
        handler::ratio(engine.endpoint()).await?,
        process::start(engine.endpoint()).await?,
        process::memory(engine.endpoint()).await?,
        cost::write_units(engine.endpoint()).await?,
    ])
}
