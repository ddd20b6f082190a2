//! The command-line program `snapshot-verify`.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    snapshot_io::fault::guarded(cli::run)
}
