//! `ackbox show`.

use std::process::ExitCode;

use crate::commands::CommandError;
use crate::output::Terminal;

/// The options of `ackbox show`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    let _ = (args, terminal);
    Err(CommandError::Usage("`ackbox show` is not there yet".into()))
}
