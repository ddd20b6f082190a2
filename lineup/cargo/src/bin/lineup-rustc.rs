//! The program `lineup-rustc`: see [`cargo_lineup::wrapper`].
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    cargo_lineup::wrapper::main(&arguments)
}
