//! Measures the search alone, on bowman for the pair (0, 1) as built for the tests.
//!
//! `raw_engine [PROCESSES [THREADS [early|correct [antichain]]]]`

#[path = "../tests/all/explore/bowman.rs"]
mod bowman;

use std::error::Error;

use bowman::{Exit, bowman};
use snapshot_explorer::search::{Exploration, SearchVerdict};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map(String::as_str);
    let processes = argument(0).map_or(Ok(4), str::parse)?;
    let threads = argument(1).map_or(Ok(2), str::parse)?;
    let exit = if argument(2) == Some("early") { Exit::Early } else { Exit::Correct };
    let antichain = argument(3) == Some("antichain");
    let exploration =
        Exploration { threads, antichain, memory: 16 << 30, ..Exploration::default() };
    let outcome = exploration.run(&bowman(processes, [0, 1], exit), &mut |progress| {
        eprintln!("{progress:?}");
    })?;
    let verdict = match &outcome.verdict {
        SearchVerdict::Violation { trace, .. } => {
            format!("violation of {} steps", trace.steps.len())
        }
        other => format!("{other:?}"),
    };
    println!(
        "{verdict}: {} states, {} transitions, depth {}, {:.2} s, {:.2} bytes per state, \
         {:.2} M states/s",
        outcome.states,
        outcome.transitions,
        outcome.depth,
        outcome.seconds,
        outcome.bytes_per_state(),
        outcome.states as f64 / outcome.seconds / 1e6,
    );
    Ok(())
}
