//! The `ackbox` command: a command line comes in, an exit code goes out; one file per command.
//!
//! What is asked for is written to standard output, what went wrong to standard error. Exit codes: 0
//! where all is well, 1 for a failed verdict or a refusal, 2 for a wrong command line or configuration.
//! Nothing from outside reaches a terminal with its control characters, and no secret is ever printed.

pub mod cli;
pub mod commands;
pub mod demo;
pub mod dev;
pub mod output;

pub use ackbox_edge as edge;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::commands::CommandError;
use crate::output::Terminal;

/// Runs one command line, the program's name first.
pub async fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(told) => {
            // Help and version are told this way too, on standard output and with 0.
            let _ = told.print();
            return u8::try_from(told.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let terminal = Terminal::detect();
    match dispatch(cli.command, &terminal).await {
        Ok(code) => code,
        Err(error) => {
            output::error(&error);
            error.exit_code()
        }
    }
}

async fn dispatch(command: Command, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    match command {
        Command::Demo(args) => demo::run(args, terminal).await,
        Command::Dev(args) => dev::run(args, terminal).await,
        Command::Send(args) => commands::send::run(args, terminal).await,
        Command::Check(args) => commands::check::run(args, terminal).await,
        Command::Verify(args) => commands::verify::run(args, terminal).await,
        Command::List(args) => commands::list::run(args, terminal).await,
        Command::Stats(args) => commands::stats::run(args, terminal).await,
        Command::Pause(args) => commands::pause::run(args, terminal).await,
        Command::Resume(args) => commands::resume::run(args, terminal).await,
        Command::Show(args) => commands::show::run(args, terminal).await,
        Command::Redrive(args) => commands::redrive::run(args, terminal).await,
        Command::Resolve(args) => commands::resolve::run(args, terminal).await,
        Command::Redact(args) => commands::redact::run(args, terminal).await,
        Command::Job(args) => commands::job::run(args, terminal).await,
    }
}
