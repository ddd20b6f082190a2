//! Reads a recording without processing its events, and prints the speed:
//! `cargo run --release --example reading_speed -- FILE`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use snapshot_core::history::Action;
use snapshot_test::InputError;
use snapshot_test::input::{Input, InputReader};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: reading_speed FILE");
        return ExitCode::from(2);
    };
    let input = Input::File(PathBuf::from(path));
    let started = Instant::now();
    let counted = match input.open(None) {
        Ok(reader) => count(reader),
        Err(error) => {
            eprintln!("{}", error.report(&input.name()));
            return ExitCode::from(2);
        }
    };
    match counted {
        Ok((events, values)) => {
            let seconds = started.elapsed().as_secs_f64();
            let millions = events as f64 / seconds / 1e6;
            println!("{events} events, {values} values, {seconds:.3} s, {millions:.1} M events/s");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}", error.report(&input.name()));
            ExitCode::from(2)
        }
    }
}

/// Counts the events, and the values that scans returned.
fn count(mut reader: InputReader) -> Result<(u64, u64), InputError> {
    let (mut events, mut values) = (0, 0);
    while let Some(next) = reader.next_event() {
        let (_, event) = next?;
        events += 1;
        if let Action::RespondScan { values: returned } = event.action {
            values += returned.len() as u64;
        }
    }
    Ok((events, values))
}
