//! A race, first under threads of the operating system, then under shuttle: found, shrunk, and
//! reproduced from its text.
//!
//! ```text
//! cargo run --release -p snapshot-kit --features shuttle --example schedules
//! ```

use snapshot_kit::controlled::{Trial, explore};
use snapshot_kit::{noise, stress};

/// A scan that reads until two consecutive collects are equal, but compares two of three cells.
/// With the types of `std`, or those of shuttle, which have the same names.
macro_rules! object {
    ($name:ident, $($sync:ident)::+) => {
        mod $name {
            use $($sync)::+ as atomic;

            use atomic::{AtomicU64, Ordering::SeqCst};

            pub type Cells = [AtomicU64; 3];

            pub fn new() -> Cells {
                std::array::from_fn(|_| AtomicU64::new(0))
            }

            pub fn update(cells: &Cells, process: usize, value: u64) {
                cells[process].store(value, SeqCst);
            }

            pub fn scan(cells: &Cells, _process: usize) -> [u64; 3] {
                // The bug: the third cell is not compared, and may be newer than the others.
                let collect = || {
                    cells.each_ref().map(|cell| {
                        super::noise::point();
                        cell.load(SeqCst)
                    })
                };
                let mut first = collect();
                loop {
                    let second = collect();
                    if first[..2] == second[..2] {
                        return second;
                    }
                    first = second;
                }
            }
        }
    };
}

object!(real, std::sync::atomic);
object!(controlled, shuttle::sync::atomic);

fn main() {
    match stress(4).segments(3).rounds(2_000).seed(1).try_run(real::new(), real::update, real::scan)
    {
        Ok(summary) => println!("threads: {summary}"),
        Err(failure) => println!("threads: {failure}"),
    }
    let explored =
        explore(4).segments(3).try_run(controlled::new, controlled::update, controlled::scan);
    let found = match explored {
        Ok(explored) => return println!("shuttle: {explored}"),
        Err(found) => found,
    };
    println!("shuttle: {found}");
    // A trial is a text, so a test can contain it.
    let text = found.trial.to_string();
    let trial: Trial = match text.parse() {
        Ok(trial) => trial,
        Err(error) => return println!("{error}"),
    };
    let again = explore(4).segments(3).replay(trial).try_run(
        controlled::new,
        controlled::update,
        controlled::scan,
    );
    println!("again: {}", if again.is_err() { "the same violation" } else { "nothing" });
}
