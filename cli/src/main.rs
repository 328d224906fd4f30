//! The `ackbox` command: hands the command line to the library, and its exit code to the shell.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    ackbox::run(std::env::args_os()).await
}
