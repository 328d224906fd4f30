//! What shows that the promise holds, beyond the tests: the crash matrix, the soak and the load, and
//! the performance figures. Each prints what it found, and exits non-zero where a promise is broken or
//! a goal missed. Nothing is compared with a clock on a wall: two things of one run are.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command: its output is what it is for"
)]

mod destination;
mod engine;
mod figures;
mod load;
mod matrix;
mod pool;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use matrix::Document;

/// Shows that the promise holds.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs an embedded engine until standard input ends.
    Engine,
    /// Measures the performance figures.
    Figures {
        /// Only the dispatcher's start, beside that of another build of it: a path.
        #[arg(long)]
        against: Option<PathBuf>,
    },
    /// Drives the functions beside bare ones.
    Load,
    /// Sends many events while environments are killed.
    Soak {
        /// How many messages.
        #[arg(long, default_value_t = 5000)]
        messages: usize,
    },
    /// Disturbs the functions at every call.
    CrashMatrix {
        /// Only cells whose line holds this text.
        #[arg(long, default_value = "")]
        only: String,
        /// Where the table is written as a document.
        #[arg(long, conflicts_with = "compare")]
        document: Option<PathBuf>,
        /// A document that is to list the same cells.
        #[arg(long)]
        compare: Option<PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let kept = match Arguments::parse().command {
        Command::Engine => return engine::serve().await,
        Command::Figures { against: None } => figures::measure().await,
        Command::Figures {
            against: Some(other),
        } => figures::measure_start(&other).await,
        Command::Load => load::play().await,
        Command::Soak { messages } => soak::play(messages).await,
        Command::CrashMatrix {
            only,
            document,
            compare,
        } => {
            let document = document
                .map(Document::Write)
                .or(compare.map(Document::Compare));
            matrix::play(&only, document).await
        }
    };
    match kept {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}
