//! `snapshot-verify explore`: executions made by hand, on a page for a browser.

mod server;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use clap::Args;
use snapshot_io::output;
use snapshot_verify::explore::{Explorer, MOST_MOVES};
use snapshot_verify::interpret::Trace;

use super::input::{Input, Variant};
use super::recorded::Recorded;
use super::{BUG, bounds, print, trouble};

/// Serves a page on which executions are made by hand, step by step (docs/how-to/explore.md).
///
/// Prints the address of the page, on this machine only, until Ctrl-C. The interpreter makes every
/// step; the history is judged after each. Exit code: 2 if an input is bad, else 0.
#[derive(Debug, Args)]
pub struct Explore {
    /// An algorithm of the corpus, or a file. With --trace it may be left out.
    #[arg(value_name = "ALGORITHM|FILE", required_unless_present = "trace")]
    input: Option<String>,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Value of `size` in the text, which must declare it (docs/language.md).
    #[arg(long, value_name = "N")]
    size: Option<u32>,
    /// Processes, and segments.
    #[arg(short = 'n', long = "processes", value_name = "N", default_value = "3",
          value_parser = bounds::size)]
    processes: usize,
    /// Begin with this execution, which names its algorithm; it may be left at any step.
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["bug", "size", "processes"])]
    trace: Option<PathBuf>,
    /// Port of the page (default: a free one).
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

impl Explore {
    pub fn run(self) -> ExitCode {
        match self.explore() {
            Ok(code) | Err(code) => code,
        }
    }

    fn explore(&self) -> Result<ExitCode, ExitCode> {
        let explorer = self.explorer()?;
        let listener = server::listen(self.port)?;
        let title = explorer.title.clone();
        let port = listener.local_addr().map_err(trouble)?.port();
        let printed = print(&format!("http://127.0.0.1:{port}/\n"));
        if printed != ExitCode::SUCCESS {
            return Err(printed);
        }
        output::report(format_args!(
            "{title}: open the address in a browser; press Ctrl-C to stop"
        ));
        Ok(server::serve(listener, port, Arc::new(explorer)))
    }

    /// Returns the algorithm, which can be explored.
    fn explorer(&self) -> Result<Explorer, ExitCode> {
        let (place, explorer) = match &self.trace {
            None => {
                let name = self.input.as_deref().unwrap_or_default();
                let input = Input::read(name)?.sized(self.size)?;
                let variant = input.variant(self.bug.as_deref())?;
                (None, self.beginning(&input, variant))
            }
            Some(path) => {
                let recorded = Recorded::read(path)?;
                self.require_explorable(&recorded)?;
                let Recorded { path, trace, input, variant, .. } = recorded;
                (Some(path), of(&input, variant, trace))
            }
        };
        explorer.validate().map_err(|error| {
            let place = place.unwrap_or_else(|| explorer.title.clone());
            let code = trouble(format_args!("{place}: {error}"));
            if error.is_ours() { ExitCode::from(BUG) } else { code }
        })?;
        Ok(explorer)
    }

    /// Returns an algorithm before its first step.
    fn beginning(&self, input: &Input, variant: Variant) -> Explorer {
        let trace = Trace {
            algorithm: input.name.clone(),
            bug: variant.bug.clone(),
            size: input.size,
            processes: self.processes,
            pair: None,
            operations: variant.program.operation_names(),
            points: false,
            program: None,
            linearizable: None,
            moves: Vec::new(),
            repeats: None,
            deeds: Default::default(),
        };
        of(input, variant, trace)
    }

    fn require_explorable(&self, recorded: &Recorded) -> Result<(), ExitCode> {
        let Recorded { path, trace, .. } = recorded;
        if let Some(input) = self.input.as_ref().filter(|input| **input != trace.algorithm) {
            return Err(trouble(format_args!(
                "{path} is an execution of {}, not of {input}: leave the algorithm out",
                trace.algorithm
            )));
        }
        let moves = trace.moves.len();
        if moves > MOST_MOVES {
            return Err(trouble(format_args!(
                "{path}: `explore` supports {MOST_MOVES} moves, and this execution has {moves}: \
                 `replay --step` walks along longer ones"
            )));
        }
        Ok(())
    }
}

fn of(input: &Input, variant: Variant, recorded: Trace) -> Explorer {
    let bug = variant.bug.as_ref().map_or_else(String::new, |bug| format!(" with {bug}"));
    Explorer {
        title: format!("{}{bug}, n = {}", variant.title, recorded.processes),
        source: input.algorithm.source().clone(),
        program: variant.program,
        recorded,
        threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
    }
}
