//! The command-line program `snapshot-test`.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    snapshot_io::fault::guarded(cli::run)
}
