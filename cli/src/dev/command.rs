//! `ackbox dev`.

use std::process::ExitCode;

use crate::commands::CommandError;
use crate::output::Terminal;

/// The options of `ackbox dev`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let _ = (args, terminal);
    Err(CommandError::Usage("`ackbox dev` is not there yet".into()))
}
