//! `snapshot-verify replay`: an execution, step by step.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;
use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_verify::interpret::{Machine, MoveErrorKind, Trace, judge};

use super::input::Input;
use super::{UNKNOWN, WRONG, interrupt, print, trouble};

/// Bytes for each search of orders, should a history need one.
const MEMORY: usize = 1 << 30;

/// The most bytes of a trace.
const LARGEST: usize = 64 << 20;

/// Shows an execution step by step, with what each step changed, and judges it.
///
/// Made by an interpreter that shares no code with the search. Exit code: 1 if
/// the execution is not linearizable or the program goes wrong, 2 if the trace is bad,
/// 3 if it was interrupted, else 0.
#[derive(Debug, Args)]
pub struct Replay {
    /// A trace, as `check --trace` writes it (docs/traces.md).
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Show all cells and variables after each step, the changed ones marked.
    #[arg(long)]
    all: bool,
}

impl Replay {
    pub fn run(self) -> ExitCode {
        match self.replay() {
            Ok((text, code)) => {
                let printed = print(&text);
                if printed == ExitCode::SUCCESS { code } else { printed }
            }
            Err(code) => code,
        }
    }

    fn replay(&self) -> Result<(String, ExitCode), ExitCode> {
        let path = self.trace.display();
        let text = read_text(&self.trace, LARGEST, LINE_LIMIT)
            .map_err(|error| trouble(format_args!("cannot read {path}: {error}")))?;
        let trace: Trace =
            text.parse().map_err(|error| trouble(format_args!("{path}: {error}")))?;
        let input = Input::read(&trace.algorithm)?;
        let variant = input.variant(trace.bug.as_deref())?;
        let machine = Machine::new(&variant.program, trace.processes)
            .map_err(|error| trouble(format_args!("{path}: {error}")))?;
        let mut text = String::new();
        let stop = interrupt::listen();
        for scene in machine.replay(&trace.moves) {
            if stop.load(Ordering::Relaxed) {
                trouble(format_args!("{path}: interrupted"));
                return Err(ExitCode::from(UNKNOWN));
            }
            match scene {
                Ok(scene) => text.push_str(&scene.text(self.all)),
                Err(error) => {
                    let MoveErrorKind::Fault(fault) = &error.kind else {
                        return Err(trouble(format_args!("{path}: {error}")));
                    };
                    let source = input.algorithm.source();
                    let (line, column) = source.position(fault.span);
                    text.push_str(&format!(
                        "{:>4}  p{}  the program goes wrong at {}:{line}:{column}: {fault}\n",
                        error.number,
                        error.made.process,
                        source.name()
                    ));
                    return Ok((text, ExitCode::from(WRONG)));
                }
            }
        }
        let execution =
            machine.run(&trace.moves).map_err(|error| trouble(format_args!("{path}: {error}")))?;
        let report = judge(&execution.history(), MEMORY)
            .map_err(|error| trouble(format_args!("{path}: {error}")))?;
        let (verdict, code) = match report.explanation {
            None => ("The history is linearizable.\n", ExitCode::SUCCESS),
            Some(_) => ("The history is not linearizable.\n", ExitCode::from(WRONG)),
        };
        text.push('\n');
        text.push_str(verdict);
        Ok((text, code))
    }
}
